//! The [`CallClient`] of a call over MCP: progress, forms and sampling go to the client that called,
//! and so does what an MCP server answers.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_domain::{FormAnswer, FormRequest};
use tenon_mcp::server::RequestContext;
use tenon_mcp::{Elicitation, ElicitationAnswer, ElicitationMode, ProgressNotification};
use tenon_tools::{CallClient, ProgressUpdate, RemoteReply};

use super::hub_caller::HubCaller;

/// A longer result is cut as it is for models, and the whole of it is linked.
const MAX_REPLY_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct McpCallClient {
    context: RequestContext<HubCaller>,
    /// The result of an MCP server behind, as it wrote it.
    reply: Mutex<Option<Box<RawValue>>>,
}

impl McpCallClient {
    pub(super) fn new(context: RequestContext<HubCaller>) -> Self {
        let reply = Mutex::default();
        Self { context, reply }
    }

    pub(super) fn take_reply(&self) -> Option<Box<RawValue>> {
        let mut reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner);
        reply.take()
    }
}

#[async_trait]
impl CallClient for McpCallClient {
    fn progress(&self, update: ProgressUpdate) {
        self.context.progress(&ProgressNotification {
            progress: update.progress,
            total: update.total,
            message: update.message,
        });
    }

    fn remote_reply(&self, reply: RemoteReply<'_>) {
        match reply {
            RemoteReply::Result(raw) if raw.get().len() <= MAX_REPLY_BYTES => {
                let mut reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner);
                *reply = Some(raw.to_owned());
            }
            // What the call makes of it says as much.
            RemoteReply::Result(_) | RemoteReply::Error { .. } => {}
        }
    }

    async fn ask(&self, message: String, wants: FormRequest) -> FormAnswer {
        let mode = match wants {
            FormRequest::Fields { schema } => ElicitationMode::Form { schema },
            FormRequest::Visit { url } => ElicitationMode::Url { url },
        };
        match self.context.elicit(&Elicitation { message, mode }).await {
            Ok(ElicitationAnswer::Accept { content }) => FormAnswer::Accept { content },
            Ok(ElicitationAnswer::Decline) => FormAnswer::Decline,
            Ok(ElicitationAnswer::Cancel) => FormAnswer::Cancel,
            Err(error) => {
                tracing::debug!(%error, "an MCP client gave no answer to a form");
                FormAnswer::Decline
            }
        }
    }

    async fn sample(&self, params: Value) -> Option<Value> {
        let sampled = self.context.sample(params).await;
        sampled
            .inspect_err(|error| tracing::debug!(%error, "an MCP client has not sampled"))
            .ok()
    }
}
