//! Stores outputs that are too long to show.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use tenon_domain::{BlobId, UserId};

use crate::{CallContext, Error};

/// The tools that read stored outputs. The hub names them in its notes; `sources` has them
/// as built-ins.
pub const READ_RESULT: &str = "builtin_read_result";
pub const SEARCH_RESULT: &str = "builtin_search_result";

/// The same for tasks, whose tools have names of their own.
pub const VIEW_OVERLONG: &str = "local-view_overlong_tooloutput";
pub const SEARCH_OVERLONG: &str = "local-search_overlong_tooloutput";
pub const NAVIGATE_VIEW: &str = "local-view_overlong_tooloutput_navigate";
pub const NAVIGATE_SEARCH: &str = "local-search_overlong_tooloutput_navigate";

/// Tools that read a stored output on: one for pages, one to search, and what both call its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputReaders {
    pub(crate) read: &'static str,
    pub(crate) search: &'static str,
    pub(crate) id_field: &'static str,
}

/// In the order of preference.
pub(crate) const OUTPUT_READERS: [OutputReaders; 2] = [
    OutputReaders {
        read: READ_RESULT,
        search: SEARCH_RESULT,
        id_field: "blob_id",
    },
    OutputReaders {
        read: VIEW_OVERLONG,
        search: SEARCH_OVERLONG,
        id_field: "shortuuid",
    },
];

/// Stores bytes for their owner. Nobody else can read them back.
#[async_trait]
pub trait OutputStore: Send + Sync {
    /// Stores the output of a call, for the user it was made for.
    async fn put(
        &self,
        call: &CallContext,
        media_type: &str,
        bytes: Vec<u8>,
    ) -> Result<BlobId, Error>;

    async fn get(&self, owner: &UserId, blob: &BlobId) -> Result<Option<Vec<u8>>, Error>;
}

/// Keeps outputs in memory: for tests and benchmarks.
#[derive(Debug, Default)]
pub struct MemoryOutputStore {
    blobs: Mutex<HashMap<BlobId, (UserId, Vec<u8>)>>,
}

#[async_trait]
impl OutputStore for MemoryOutputStore {
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
