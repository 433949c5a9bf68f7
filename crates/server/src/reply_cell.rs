//! Holds the unmodified reply of an MCP server to one call.

use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;
use tenon_mcp::RpcError;
use tenon_tools::RemoteReply;

/// A longer reply is not passed on unmodified: it is truncated as for models, and the whole is
/// stored.
pub(crate) const MAX_REPLY_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct ReplyCell(Mutex<Option<Result<Box<RawValue>, RpcError>>>);

impl ReplyCell {
    pub(crate) fn record(&self, reply: RemoteReply<'_>) {
        let reply = match reply {
            RemoteReply::Result(raw) => Ok(raw.to_owned()),
            RemoteReply::Error {
                code,
                message,
                data,
            } => Err(RpcError {
                code,
                message: message.to_owned(),
                data: data.cloned(),
            }),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
    }

    pub(crate) fn take(&self) -> Option<Result<Box<RawValue>, RpcError>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
