//! Transports of a session: pipes of a program, Streamable HTTP, or legacy SSE.

use std::sync::Arc;

use serde_json::Value;
use url::Url;

use crate::error::Error;

mod endpoint;
pub(crate) mod header_params;
mod headers;
mod http;
pub(crate) mod line_reader;
mod notification_stream;
mod post_queue;
mod sse;
mod stdin_writer;
mod stdio;

pub(crate) use endpoint::HttpEndpoint;
pub use headers::check_header;
pub(crate) use http::StreamableHttp;
pub(crate) use sse::SseTransport;
pub(crate) use stdio::StdioTransport;

#[derive(Debug)]
pub(crate) enum Transport {
    Stdio(StdioTransport),
    Sse(Arc<SseTransport>),
    Http(Arc<StreamableHttp>),
}

/// One message on its way out.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) method: &'a str,
    pub(crate) name: Option<&'a str>,
    pub(crate) arguments: Option<&'a Value>,
    pub(crate) body: String,
    /// Its id, if it is a request.
    pub(crate) request_id: Option<u64>,
    pub(crate) call_id: Option<u64>,
    /// Additional HTTP headers from the caller.
    pub(crate) headers: &'a [(String, String)],
}

impl<'a> Outgoing<'a> {
    /// A message without a response.
    pub(crate) fn notification(method: &'a str, body: String) -> Self {
        Self {
            method,
            name: None,
            arguments: None,
            body,
            request_id: None,
            call_id: None,
            headers: &[],
        }
    }
}

impl Transport {
    /// Sends a message. For a request over HTTP it returns after the response has come.
    pub(crate) async fn send(&self, outgoing: Outgoing<'_>) -> Result<(), Error> {
        match self {
            Self::Stdio(stdio) => stdio.send(&outgoing.body).await,
            Self::Sse(sse) => sse.send(outgoing.body, outgoing.headers).await,
            Self::Http(http) => http.send(outgoing).await,
        }
    }

    /// The version that was negotiated, which requests over HTTP name from now on.
    pub(crate) fn set_version(&self, version: &str) {
        match self {
            Self::Stdio(_) => {}
            Self::Sse(sse) => sse.set_version(version),
            Self::Http(http) => http.set_version(version),
        }
    }

    /// The ids of the session and of the protocol version, where the transport knows them.
    pub(crate) fn session(&self) -> (Option<String>, Option<String>) {
        match self {
            Self::Stdio(_) => (None, None),
            Self::Sse(sse) => (None, sse.version()),
            Self::Http(http) => http.session(),
        }
    }

    /// Where the server is, unless it is a program of ours.
    pub(crate) fn url(&self) -> Option<&Url> {
        match self {
            Self::Stdio(_) => None,
            Self::Sse(sse) => Some(sse.url()),
            Self::Http(http) => Some(http.url()),
        }
    }

    /// Sends a notification or a response without waiting for it to be sent.
    pub(crate) fn queue(&self, body: String) {
        match self {
            Self::Stdio(stdio) => stdio.queue(&body),
            Self::Sse(sse) => sse.queue(body),
            Self::Http(http) => http.queue(body),
        }
    }

    /// Whether a request is cancelled by closing the stream its response would come on.
    pub(crate) fn cancels_by_closing(&self) -> bool {
        match self {
            Self::Stdio(_) | Self::Sse(_) => false,
            Self::Http(http) => http.is_stateless(),
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Stdio(stdio) => stdio.close().await,
            Self::Sse(sse) => sse.close(),
            Self::Http(http) => http.close().await,
        }
    }
}
