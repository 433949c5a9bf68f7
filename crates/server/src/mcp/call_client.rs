//! The [`CallClient`] of a call over MCP: progress, forms and sampling go to the client that called.

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{FormAnswer, FormRequest};
use tenon_mcp::server::RequestContext;
use tenon_mcp::{Elicitation, ElicitationAnswer, ElicitationMode, ProgressNotification};
use tenon_tools::{CallClient, ProgressUpdate};

use super::hub_caller::HubCaller;

#[derive(Debug)]
pub(super) struct McpCallClient(pub(super) RequestContext<HubCaller>);

#[async_trait]
impl CallClient for McpCallClient {
    fn progress(&self, update: ProgressUpdate) {
        self.0.progress(&ProgressNotification {
            progress: update.progress,
            total: update.total,
            message: update.message,
        });
    }

    async fn ask(&self, message: String, wants: FormRequest) -> FormAnswer {
        let mode = match wants {
            FormRequest::Fields { schema } => ElicitationMode::Form { schema },
            FormRequest::Visit { url } => ElicitationMode::Url { url },
        };
        match self.0.elicit(&Elicitation { message, mode }).await {
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
        let sampled = self.0.sample(params).await;
        sampled
            .inspect_err(|error| tracing::debug!(%error, "an MCP client has not sampled"))
            .ok()
    }
}
