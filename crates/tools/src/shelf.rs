//! Where outputs go that are too long to show.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use tenon_domain::{BlobId, UserId};

use crate::{CallContext, Error};

/// The tools that read what is kept. The hub names them in its notes;
/// `sources` offers them like any other tool.
pub const READ_RESULT: &str = "builtin_read_result";
pub const SEARCH_RESULT: &str = "builtin_search_result";

/// Keeps bytes for their owner. Nobody else can read them back.
#[async_trait]
pub trait Shelf: Send + Sync {
    /// Keeps the output of a call, for the user it was made for.
    async fn put(
        &self,
        call: &CallContext,
        media_type: &str,
        bytes: Vec<u8>,
    ) -> Result<BlobId, Error>;

    async fn get(&self, owner: &UserId, blob: &BlobId) -> Result<Option<Vec<u8>>, Error>;
}

/// A shelf that forgets: for tests and benchmarks.
#[derive(Debug, Default)]
pub struct MemoryShelf {
    blobs: Mutex<HashMap<BlobId, (UserId, Vec<u8>)>>,
}

#[async_trait]
impl Shelf for MemoryShelf {
    async fn put(
        &self,
        call: &CallContext,
        _media_type: &str,
        bytes: Vec<u8>,
    ) -> Result<BlobId, Error> {
        let mut blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        let id = BlobId(format!("blob-{}", blobs.len()));
        blobs.insert(id.clone(), (call.user.clone(), bytes));
        Ok(id)
    }

    async fn get(&self, owner: &UserId, blob: &BlobId) -> Result<Option<Vec<u8>>, Error> {
        let blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(blobs
            .get(blob)
            .filter(|(whose, _)| whose == owner)
            .map(|(_, bytes)| bytes.clone()))
    }
}
