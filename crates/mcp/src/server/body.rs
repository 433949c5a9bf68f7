//! Responses over HTTP, without a web framework.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::stream::{BoxStream, Stream, StreamExt};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};

use super::reply::Reply;

/// The body of a response: all there is, or events as they come.
pub struct ServerBody(BodyContent);

enum BodyContent {
    Full(Option<Bytes>),
    Events(BoxStream<'static, Bytes>),
}

pub type ServerResponse = Response<ServerBody>;

impl ServerBody {
    /// The whole body, where it is no stream.
    pub fn into_bytes(self) -> Result<Bytes, Self> {
        match self.0 {
            BodyContent::Full(bytes) => Ok(bytes.unwrap_or_default()),
            events @ BodyContent::Events(_) => Err(Self(events)),
        }
    }
}

impl Body for ServerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            BodyContent::Full(bytes) => {
                Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))))
            }
            BodyContent::Events(events) => {
                let next = Pin::new(events).poll_next(context);
                next.map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, BodyContent::Full(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodyContent::Full(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            BodyContent::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for ServerBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBody").finish_non_exhaustive()
    }
}

pub(super) fn empty(status: StatusCode) -> ServerResponse {
    respond(status, None, BodyContent::Full(None))
}

pub(super) fn json(status: StatusCode, reply: Reply) -> ServerResponse {
    let bytes = Bytes::from(reply.json);
    let kind = HeaderValue::from_static("application/json");
    respond(status, Some(kind), BodyContent::Full(Some(bytes)))
}

pub(super) fn text(status: StatusCode, text: &'static str) -> ServerResponse {
    let bytes = Bytes::from_static(text.as_bytes());
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    respond(status, Some(kind), BodyContent::Full(Some(bytes)))
}

pub(super) fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> ServerResponse {
    let kind = HeaderValue::from_static("text/event-stream");
    let body = BodyContent::Events(events.boxed());
    let mut response = respond(StatusCode::OK, Some(kind), body);
    // Some proxies hold back what they could pass on.
    response
        .headers_mut()
        .insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn respond(status: StatusCode, kind: Option<HeaderValue>, body: BodyContent) -> ServerResponse {
    let mut response = Response::new(ServerBody(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(kind) = kind {
        headers.insert(CONTENT_TYPE, kind);
    }
    response
}
