//! Server-sent events, up to the one that is waited for.

use std::collections::VecDeque;

use reqwest::Response;
use tenon_mcp::message::RpcResponse;
use tenon_net::sse::{SseEvent, SseParser};

use crate::doctor::http_client::{HttpProbe, MAX_BODY_BYTES, ProbeError};

/// A stream, and the events of it that were not looked at.
pub(super) struct EventStream {
    response: Response,
    parser: SseParser,
    events: VecDeque<SseEvent>,
    bytes: usize,
}

impl EventStream {
    pub(super) fn new(response: Response) -> Self {
        Self {
            response,
            parser: SseParser::new(MAX_BODY_BYTES),
            events: VecDeque::new(),
            bytes: 0,
        }
    }

    /// The response to a request. None: the stream ended.
    pub(super) async fn response(
        &mut self,
        http: &HttpProbe,
        id: u64,
    ) -> Result<Option<RpcResponse>, ProbeError> {
        let wanted = |event: SseEvent| {
            let is_message = matches!(event.name.as_str(), "" | "message");
            let response = RpcResponse::read(event.data.as_bytes()).filter(|_| is_message)?;
            // An error may have no id.
            let is_error = response.id.is_none() && matches!(response.outcome, Some(Err(_)));
            (response.id == Some(id) || is_error).then_some(response)
        };
        self.find(http, wanted).await
    }

    /// The next event that is wanted. None: the stream ended.
    pub(super) async fn find<T>(
        &mut self,
        http: &HttpProbe,
        wanted: impl Fn(SseEvent) -> Option<T>,
    ) -> Result<Option<T>, ProbeError> {
        http.within(self.find_without_timeout(wanted)).await
    }

    async fn find_without_timeout<T>(
        &mut self,
        wanted: impl Fn(SseEvent) -> Option<T>,
    ) -> Result<Option<T>, ProbeError> {
        loop {
            while let Some(event) = self.events.pop_front() {
                if let Some(found) = wanted(event) {
                    return Ok(Some(found));
                }
            }
            let mut events = Vec::new();
            let chunk = self.response.chunk().await.map_err(|_| ProbeError::Cut)?;
            let Some(chunk) = chunk else {
                self.parser.finish(&mut events);
                return Ok(events.into_iter().find_map(&wanted));
            };
            self.bytes += chunk.len();
            let pushed = self.parser.push(&chunk, &mut events);
            if pushed.is_err() || self.bytes > MAX_BODY_BYTES {
                return Err(ProbeError::TooLong);
            }
            self.events.extend(events);
        }
    }
}
