//! The [`CallClient`] of a call over MCP: progress, forms and sampling go to the client that
//! called, and so does what an MCP server behind answers.

use std::fmt;

use async_trait::async_trait;
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_domain::{FormAnswer, FormRequest};
use tenon_mcp::server::RequestContext;
use tenon_mcp::{Elicitation, ElicitationAnswer, ElicitationMode, ProgressNotification, RpcError};
use tenon_tools::{CallClient, ProgressUpdate, RemoteReply};

use crate::reply_cell::ReplyCell;

#[derive(Debug)]
pub(crate) struct McpCallClient<C> {
    context: RequestContext<C>,
    reply: ReplyCell,
}

impl<C> McpCallClient<C> {
    pub(crate) fn new(context: RequestContext<C>) -> Self {
        let reply = ReplyCell::default();
        Self { context, reply }
    }

    pub(crate) fn take_reply(&self) -> Option<Result<Box<RawValue>, RpcError>> {
        self.reply.take()
    }
}

#[async_trait]
impl<C: fmt::Debug + Send + Sync + 'static> CallClient for McpCallClient<C> {
    fn progress(&self, update: ProgressUpdate) {
        self.context.progress(&ProgressNotification {
            progress: update.progress,
            total: update.total,
            message: update.message,
        });
    }

    fn remote_reply(&self, reply: RemoteReply<'_>) {
        self.reply.record(reply);
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
