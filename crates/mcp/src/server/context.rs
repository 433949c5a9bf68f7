//! The context of a running request: facts about the client, and how to notify or ask it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::client_profile::{ClientProfile, LogLevel};
use super::exchange::RequestExchange;
use crate::handler::{Elicitation, ElicitationAnswer, ElicitationMode, ProgressNotification};
use crate::jsonrpc::RpcError;

/// People take their time to answer a form.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

/// The request that is being answered: who asks, and the way back to them.
#[derive(Debug, Clone)]
pub struct RequestContext<C> {
    caller: C,
    exchange: Arc<RequestExchange>,
    input_key: Option<String>,
}

/// Why a client gave no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClientRequestError {
    #[error("The client did not declare the capability `{0}`.")]
    Unsupported(&'static str),
    #[error("Too many requests wait for the client.")]
    TooMany,
    #[error("The client did not answer in time.")]
    TimedOut,
    #[error("The client is gone.")]
    Disconnected,
    #[error("The client refused: {0}")]
    Refused(RpcError),
    #[error("The client's answer is not what was asked for.")]
    Unreadable,
}

impl<C> RequestContext<C> {
    pub(super) fn new(caller: C, exchange: Arc<RequestExchange>) -> Self {
        Self {
            caller,
            exchange,
            input_key: None,
        }
    }

    /// Names the next question among those of its request, as clients of the stateless era see it.
    pub fn with_input_key(self, key: &str) -> Self {
        Self {
            input_key: Some(key.to_owned()),
            ..self
        }
    }

    pub fn caller(&self) -> &C {
        &self.caller
    }

    pub fn client(&self) -> &ClientProfile {
        &self.exchange.client
    }

    /// Cancelled with the request, and over with it. Its future is dropped then as well: the token is for work that
    /// goes on elsewhere.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.exchange.cancellation
    }

    /// Whether the request asked to hear how far it is.
    pub fn wants_progress(&self) -> bool {
        self.exchange.wants_progress()
    }

    /// Goes nowhere unless the request asked for it. A client that reads slowly hears of the latest.
    pub fn progress(&self, progress: &ProgressNotification) {
        self.exchange.send_progress(progress);
    }

    /// Goes nowhere if the client wants only what is more serious.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: &Value) {
        self.exchange.send_log(level, logger, data);
    }

    /// Asks a person at the client.
    pub async fn elicit(
        &self,
        elicitation: &Elicitation,
    ) -> Result<ElicitationAnswer, ClientRequestError> {
        let client = self.client();
        let (is_supported, params) = match &elicitation.mode {
            ElicitationMode::Form { schema } => (
                client.elicitation,
                json!({ "message": elicitation.message, "requestedSchema": schema }),
            ),
            ElicitationMode::Url { url } => (
                client.url_elicitation,
                json!({
                    "mode": "url",
                    "message": elicitation.message,
                    "url": url,
                    "elicitationId": super::random_id(),
                }),
            ),
        };
        if !is_supported {
            return Err(ClientRequestError::Unsupported("elicitation"));
        }
        let answer = self.request("elicitation/create", params).await?;
        match answer.get("action").and_then(Value::as_str) {
            Some("accept") => Ok(ElicitationAnswer::Accept {
                content: answer.get("content").cloned().unwrap_or_default(),
            }),
            Some("decline") => Ok(ElicitationAnswer::Decline),
            Some("cancel") => Ok(ElicitationAnswer::Cancel),
            _ => Err(ClientRequestError::Unreadable),
        }
    }

    /// Asks the client's model: params and result of `sampling/createMessage`.
    pub async fn sample(&self, params: Value) -> Result<Value, ClientRequestError> {
        if !self.client().sampling {
            return Err(ClientRequestError::Unsupported("sampling"));
        }
        self.request("sampling/createMessage", params).await
    }

    /// The result of `roots/list`.
    pub async fn list_roots(&self) -> Result<Value, ClientRequestError> {
        if !self.client().roots {
            return Err(ClientRequestError::Unsupported("roots"));
        }
        self.request("roots/list", json!({})).await
    }

    /// Ends the HTTP stream of the response, and goes on. A client of 2025-11-25 comes back for the
    /// rest of it. Elsewhere nothing happens.
    pub fn close_stream(&self) {
        self.exchange.close_stream();
    }

    async fn request(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<Value, ClientRequestError> {
        let key = self.input_key.as_deref();
        let answer = self.exchange.send_request(key, method, params);
        let answer = answer.ok_or(ClientRequestError::TooMany)?;
        match tokio::time::timeout(ANSWER_TIMEOUT, answer).await {
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err(error))) => Err(ClientRequestError::Refused(error)),
            Ok(Err(_)) => Err(ClientRequestError::Disconnected),
            Err(_) => Err(ClientRequestError::TimedOut),
        }
    }
}

/// For a call that cannot go on without the client.
impl From<ClientRequestError> for RpcError {
    fn from(error: ClientRequestError) -> Self {
        match error {
            ClientRequestError::Unsupported(capability) => {
                Self::new(Self::MISSING_CAPABILITY, error.to_string())
                    .with_data(json!({ "requiredCapabilities": { capability: {} } }))
            }
            ClientRequestError::Unreadable => Self::invalid_params(error.to_string()),
            ClientRequestError::Refused(refusal) => refusal,
            ClientRequestError::TooMany
            | ClientRequestError::TimedOut
            | ClientRequestError::Disconnected => {
                Self::new(Self::INTERNAL_ERROR, error.to_string())
            }
        }
    }
}
