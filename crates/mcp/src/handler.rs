//! Interfaces that a client passes in: a handler for events of a call, access tokens, and an HTTP
//! client.

use std::fmt;

use async_trait::async_trait;
use reqwest::{Client, Request, Response};
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_net::RequestError;
use url::Url;

use crate::error::{ConnectionError, Error};

/// Receives progress of a call, and answers requests that the server makes during it.
#[async_trait]
pub trait CallHandler: Send + Sync + fmt::Debug {
    /// On whose behalf the call is made. A question that does not say which call it belongs to
    /// is passed on only while all running calls have the same owner.
    fn owner(&self) -> &str;

    fn progress(&self, progress: ProgressNotification);

    /// The server answered for the call, which goes on.
    fn is_alive(&self);

    /// Headers of this call alone, for servers that are reached over HTTP.
    fn headers(&self) -> &[(String, String)] {
        &[]
    }

    /// The result of the call as the server wrote it, for whoever passes it on.
    fn result(&self, _raw: &RawValue) {}

    /// Waits for a person, within a deadline of its own. What nobody can be asked is declined.
    async fn elicit(&self, request: Elicitation) -> ElicitationAnswer;

    /// Lets a model of the caller answer `sampling/createMessage`: takes its params and returns its
    /// result, in the format of the protocol. None if there is no model.
    async fn sample(&self, _params: Value) -> Option<Value> {
        None
    }
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressNotification {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// A server's request for input from a person, in the middle of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Elicitation {
    /// What it is about, in the words of the server.
    pub message: String,
    pub mode: ElicitationMode,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationMode {
    /// Fields to fill in: a flat JSON Schema of strings, numbers, booleans and choices.
    Form { schema: Value },
    /// A web page to visit. What is done there stays there.
    Url { url: String },
}

#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationAnswer {
    /// The fields by their names; nothing for a page that was visited.
    Accept {
        content: Value,
    },
    Decline,
    Cancel,
}

/// For calls that nobody watches: declines whatever is asked.
#[derive(Debug, Clone, Copy)]
pub struct NoHandler;

#[async_trait]
impl CallHandler for NoHandler {
    fn owner(&self) -> &str {
        ""
    }

    fn progress(&self, _progress: ProgressNotification) {}

    fn is_alive(&self) {}

    async fn elicit(&self, _request: Elicitation) -> ElicitationAnswer {
        ElicitationAnswer::Decline
    }
}

/// Access tokens for a server with OAuth. Many requests ask at the same time; whoever
/// implements this refreshes once for all of them.
#[async_trait]
pub trait TokenProvider: Send + Sync {
    /// A currently valid token. None if nobody has logged in.
    async fn access_token(&self) -> Option<String>;

    /// The server refused this one: another, if there is a way to get it without a person.
    async fn replace_token(&self, refused: &str) -> Option<String>;
}

/// Sends the HTTP requests of a connection. Bring one to send them by other rules, or to trace them.
#[async_trait]
pub trait HttpClient: Send + Sync + fmt::Debug {
    /// Gives any response as soon as its head is there, after the redirects that it follows.
    /// [`Error::NotSent`]: the server has not got the request.
    async fn execute(&self, request: Request) -> Result<Response, Error>;
}

#[async_trait]
impl HttpClient for Client {
    async fn execute(&self, request: Request) -> Result<Response, Error> {
        let url = request.url().clone();
        let sent = Client::execute(self, request).await;
        sent.map_err(|error| request_error(&error, &url))
    }
}

pub(crate) fn request_error(error: &reqwest::Error, url: &Url) -> Error {
    let why = ConnectionError::Request(RequestError::new(error, url));
    // A redirect proves that the request reached a server.
    if error.is_connect() && !error.is_redirect() {
        Error::NotSent(why)
    } else {
        Error::ConnectionLost(why)
    }
}
