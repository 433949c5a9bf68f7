//! The client side of a running call: where progress goes, and whom an elicitation reaches.

use std::fmt;

use async_trait::async_trait;
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_domain::{FormAnswer, FormRequest};

/// Receives the progress of a call and answers its elicitations.
#[async_trait]
pub trait CallClient: Send + Sync + fmt::Debug {
    fn progress(&self, progress: ProgressUpdate);

    /// The call is at work, and says no more than that.
    fn keep_alive(&self) {}

    /// Asks a person, within a deadline of its own. Declines at once where there is no
    /// person to ask.
    async fn ask(&self, message: String, wants: FormRequest) -> FormAnswer;

    /// Has a model of its own answer, where a tool wants one: params and result of MCP's
    /// `sampling/createMessage`. None: it has no model for that.
    async fn sample(&self, _params: Value) -> Option<Value> {
        None
    }

    /// HTTP headers for this call alone, where its source is reached over HTTP.
    fn headers(&self) -> &[(String, String)] {
        &[]
    }

    /// What an MCP server answered, word for word, before it becomes the result of the call: for
    /// clients that pass it on in a protocol of their own.
    fn remote_reply(&self, _reply: RemoteReply<'_>) {}
}

/// The answer of an MCP server to a call.
#[derive(Debug, Clone, Copy)]
pub enum RemoteReply<'a> {
    /// A result of `tools/call`, which may be one of a failed tool.
    Result(&'a RawValue),
    /// A JSON-RPC error.
    Error {
        code: i64,
        message: &'a str,
        data: Option<&'a Value>,
    },
}

/// A progress notification of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressUpdate {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// Drops progress and declines elicitations.
#[derive(Debug, Clone, Copy)]
pub struct NoClient;

#[async_trait]
impl CallClient for NoClient {
    fn progress(&self, _progress: ProgressUpdate) {}

    async fn ask(&self, _message: String, _wants: FormRequest) -> FormAnswer {
        FormAnswer::Decline
    }
}
