//! What an MCP server behind answered to one call, as it wrote it.

use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;
use tenon_mcp::RpcError;
use tenon_tools::RemoteReply;

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
