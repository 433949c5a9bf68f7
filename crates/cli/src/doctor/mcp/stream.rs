//! Server-sent events, up to the response that is waited for.

use reqwest::Response;
use serde_json::Value;
use tenon_net::sse::{SseEvent, SseParser};

use crate::doctor::http_client::{HttpProbe, MAX_BODY_BYTES, ProbeError};

/// A stream, and what has come of it and not been looked at.
pub(super) struct Stream {
    response: Response,
    parser: SseParser,
    waiting: std::collections::VecDeque<SseEvent>,
    bytes: usize,
}

impl Stream {
    pub(super) fn new(response: Response) -> Self {
        Self {
            response,
            parser: SseParser::new(MAX_BODY_BYTES),
            waiting: Default::default(),
            bytes: 0,
        }
    }

    /// The next event of this name. None: the stream ended.
    pub(super) async fn named(
        &mut self,
        wire: &HttpProbe,
        name: &str,
    ) -> Result<Option<SseEvent>, ProbeError> {
        wire.within(self.find(|event| (event.name == name).then(|| event.clone())))
            .await
    }

    /// The message that answers a request. None: the stream ended.
    pub(super) async fn answer(
        &mut self,
        wire: &HttpProbe,
        id: u64,
    ) -> Result<Option<Value>, ProbeError> {
        let is_it = |event: &SseEvent| {
            if !matches!(event.name.as_str(), "" | "message") {
                return None;
            }
            let message: Value = serde_json::from_str(&event.data).ok()?;
            // An error may have no id.
            let is_answer =
                message["id"] == id || (message["id"].is_null() && !message["error"].is_null());
            is_answer.then_some(message)
        };
        wire.within(self.find(is_it)).await
    }

    async fn find<T>(
        &mut self,
        wanted: impl Fn(&SseEvent) -> Option<T>,
    ) -> Result<Option<T>, ProbeError> {
        loop {
            while let Some(event) = self.waiting.pop_front() {
                if let Some(found) = wanted(&event) {
                    return Ok(Some(found));
                }
            }
            let chunk = self.response.chunk().await.map_err(|_| ProbeError::Cut)?;
            let mut events = Vec::new();
            let Some(chunk) = chunk else {
                self.parser.finish(&mut events);
                let found = events.iter().find_map(&wanted);
                return Ok(found);
            };
            self.bytes += chunk.len();
            let pushed = self.parser.push(&chunk, &mut events);
            if pushed.is_err() || self.bytes > MAX_BODY_BYTES {
                return Err(ProbeError::TooLong);
            }
            self.waiting.extend(events);
        }
    }
}
