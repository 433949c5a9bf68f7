//! The client side of one call of the bridge: its headers go along, and the server's own answer is kept.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_domain::{ErrorKind, FormAnswer, FormRequest, ToolResult};
use tenon_tools::{CallClient, ProgressUpdate, RemoteReply};

use crate::mcpo::fault::McpoFault;
use crate::mcpo::outcome;

/// Nobody can be asked over OpenAPI, so elicitations are declined.
#[derive(Debug, Default)]
pub(super) struct ReplyRecorder {
    headers: Vec<(String, String)>,
    reply: Mutex<Option<RecordedReply>>,
}

#[derive(Debug)]
enum RecordedReply {
    Result(Box<RawValue>),
    Error {
        code: i64,
        message: String,
        data: Option<Value>,
    },
}

impl ReplyRecorder {
    pub(super) fn new(headers: Vec<(String, String)>) -> Self {
        Self {
            headers,
            reply: Mutex::default(),
        }
    }

    /// What became of the call, in the words of its server where it has said any.
    pub(super) fn outcome(
        &self,
        result: ToolResult,
        arguments: Value,
    ) -> Result<Vec<u8>, McpoFault> {
        let mut reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner);
        match (reply.take(), result) {
            (Some(RecordedReply::Result(raw)), _) => outcome::from_mcp(&raw),
            (
                Some(RecordedReply::Error {
                    code,
                    message,
                    data,
                }),
                _,
            ) => Err(McpoFault::Rpc {
                code,
                message,
                data,
            }),
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
        let reply = match reply {
            RemoteReply::Result(raw) => RecordedReply::Result(raw.to_owned()),
            RemoteReply::Error {
                code,
                message,
                data,
            } => RecordedReply::Error {
                code,
                message: message.to_owned(),
                data: data.cloned(),
            },
        };
        *self.reply.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
    }
}
