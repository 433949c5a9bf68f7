//! The client side of one call over OpenAPI: its headers go along, and what an MCP server behind
//! answers is kept as it wrote it.

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{ErrorKind, FormAnswer, FormRequest, ToolResult};
use tenon_tools::{CallClient, ProgressUpdate, RemoteReply};

use super::fault::McpoFault;
use super::outcome;
use crate::reply_cell::ReplyCell;

/// Nobody can be asked over OpenAPI, so elicitations are declined.
#[derive(Debug)]
pub(crate) struct ReplyRecorder {
    headers: Vec<(String, String)>,
    reply: ReplyCell,
    max_reply_bytes: usize,
}

impl ReplyRecorder {
    pub(crate) fn new(headers: Vec<(String, String)>) -> Self {
        Self {
            headers,
            reply: ReplyCell::default(),
            max_reply_bytes: usize::MAX,
        }
    }

    /// What is longer is not passed on as it came, but cut as it is for models.
    pub(crate) fn limited_to(self, max_reply_bytes: usize) -> Self {
        Self {
            max_reply_bytes,
            ..self
        }
    }

    /// What became of the call, in the words of its server where it has said any.
    pub(crate) fn outcome(
        &self,
        result: ToolResult,
        arguments: Value,
    ) -> Result<Vec<u8>, McpoFault> {
        let reply = self.reply.take();
        let reply = reply
            .filter(|reply| !matches!(reply, Ok(raw) if raw.get().len() > self.max_reply_bytes));
        match (reply, result) {
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
