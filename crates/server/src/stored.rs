//! The hub's id book and shelf, kept in the store.

use async_trait::async_trait;
use tenon_domain::{BlobId, SourceInfo, ToolId, UserId};
use tenon_store::{Blob, Store};
use tenon_tools::{CallContext, Error, IdBook, Shelf};

#[derive(Debug)]
pub(crate) struct Stored(pub(crate) Store);

#[async_trait]
impl IdBook for Stored {
    async fn ids(&self, source: &SourceInfo, names: &[&str]) -> Result<Vec<ToolId>, Error> {
        self.0.tool_ids(source, names).await.map_err(hub_error)
    }
}

#[async_trait]
impl Shelf for Stored {
    async fn put(
        &self,
        call: &CallContext,
        media_type: &str,
        bytes: Vec<u8>,
    ) -> Result<BlobId, Error> {
        let blob = Blob {
            media_type: media_type.into(),
            data: bytes,
        };
        self.0
            .put_blob(&call.user, &call.call_id, blob)
            .await
            .map_err(hub_error)
    }

    async fn get(&self, owner: &UserId, blob: &BlobId) -> Result<Option<Vec<u8>>, Error> {
        match self.0.blob(owner, blob).await {
            Ok(blob) => Ok(Some(blob.data)),
            Err(tenon_store::Error::NotFound(_)) => Ok(None),
            Err(error) => Err(hub_error(error)),
        }
    }
}

fn hub_error(error: tenon_store::Error) -> Error {
    Error(Box::new(error))
}
