//! The standalone stream of the handshake era (GET), on which a server sends what
//! belongs to no request.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue};
use tenon_net::sse::SseParser;

use super::endpoint::{self, HttpEndpoint, LAST_EVENT_ID, OutgoingRequest};
use super::post_queue::PostQueue;
use crate::error::Error;
use crate::jsonrpc::MAX_MESSAGE_BYTES;
use crate::pending::PendingRequests;

/// Between two attempts, at first and at most.
const MIN_RETRY: Duration = Duration::from_millis(500);
const MAX_RETRY: Duration = Duration::from_secs(60);

/// How often the wait is doubled.
const MAX_DOUBLINGS: u32 = 8;

/// A server that cannot be reached this often in a row is gone.
const MAX_FAILURES: u32 = 5;

/// Keeps the stream open as long as the server has one.
pub(super) async fn keep_open(
    endpoint: Arc<HttpEndpoint>,
    pending: Arc<PendingRequests>,
    queue: Arc<PostQueue>,
    headers: HeaderMap,
) {
    let mut parser = SseParser::new(MAX_MESSAGE_BYTES);
    let (mut was_open, mut failures, mut short_streams) = (false, 0, 0);
    loop {
        let begun = tokio::time::Instant::now();
        pending.set_stream_open(false);
        let mut request = OutgoingRequest::event_stream(endpoint.url.clone());
        request.headers.extend(headers.clone());
        if let Some(Ok(last)) = parser.last_id().map(HeaderValue::try_from) {
            request.headers.insert(LAST_EVENT_ID, last);
        }
        match endpoint.send(request).await {
            Ok(mut response) if endpoint::content_type(&response) == "text/event-stream" => {
                if was_open {
                    // Changes during the gap were not notified, so the tools are listed again.
                    pending.notify_tools_changed();
                }
                (was_open, failures) = (true, 0);
                pending.set_stream_open(true);
                while let Ok(Some(events)) = endpoint::next_events(&mut response, &mut parser).await
                {
                    for event in events.iter().filter(|event| !event.data.is_empty()) {
                        let outcome = pending.on_message(event.data.as_bytes(), None);
                        for reply in outcome.replies {
                            let mut post = OutgoingRequest::post(endpoint.url.clone(), reply);
                            post.headers.extend(headers.clone());
                            queue.push(post);
                        }
                    }
                }
            }
            Err(Error::NotSent(why) | Error::ConnectionLost(why)) => {
                failures += 1;
                if failures >= MAX_FAILURES {
                    return pending.close(why);
                }
            }
            Ok(_) | Err(_) => {
                // The server no longer offers the stream it had: listing the tools finds out why.
                if was_open {
                    pending.notify_tools_changed();
                }
                return;
            }
        }
        // A stream that never stays open is reopened with growing delays.
        short_streams = if begun.elapsed() > MAX_RETRY {
            0
        } else {
            (short_streams + 1).min(MAX_DOUBLINGS)
        };
        let doublings = failures.max(short_streams).saturating_sub(1);
        let wait = parser.retry().unwrap_or(MIN_RETRY * 2_u32.pow(doublings));
        tokio::time::sleep(wait.clamp(MIN_RETRY, MAX_RETRY)).await;
        parser = parser.resume();
    }
}
