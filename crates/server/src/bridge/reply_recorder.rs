//! The client side of one call of the bridge: its headers go along, and the server's own answer is
//! kept.

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{ErrorKind, FormAnswer, FormRequest, ToolResult};
use tenon_tools::{CallClient, ProgressUpdate, RemoteReply};

use crate::mcpo::fault::McpoFault;
use crate::mcpo::outcome;
use crate::reply_cell::ReplyCell;

/// Nobody can be asked over OpenAPI, so elicitations are declined.
#[derive(Debug, Default)]
pub(super) struct ReplyRecorder {
    headers: Vec<(String, String)>,
    reply: ReplyCell,
}

impl ReplyRecorder {
    pub(super) fn new(headers: Vec<(String, String)>) -> Self {
        Self {
            headers,
            reply: ReplyCell::default(),
        }
    }

    /// What became of the call, in the words of its server where it has said any.
    pub(super) fn outcome(
        &self,
        result: ToolResult,
        arguments: Value,
    ) -> Result<Vec<u8>, McpoFault> {
        match (self.reply.take(), result) {
            (Some(Ok(raw)), _) => outcome::from_mcp(&raw),
            (Some(Err(error)), _) => Err(McpoFault::Rpc(error)),
            (None, Ok(output)) => Ok(outcome::from_output(&output)),
            (None, Err(error)) if error.kind == ErrorKind::InvalidInput => {
                Err(McpoFault::Schema(Box::new(error), arguments))
            }
            (None, Err(error)) => Err(McpoFault::Call(Box::new(error))),
        }
    }
}

#[async_trait]
impl CallClient for ReplyRecorder {
    fn progress(&self, _progress: ProgressUpdate) {}

    async fn ask(&self, _message: String, _wants: FormRequest) -> FormAnswer {
        FormAnswer::Decline
    }

    fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    fn remote_reply(&self, reply: RemoteReply<'_>) {
        self.reply.record(reply);
    }
}
