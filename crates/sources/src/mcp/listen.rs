//! What a server says by itself: the common stream of the handshake era, and
//! `subscriptions/listen` of the stateless one.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::json;

use tenon_net::sse::SseParser;

use super::board::Board;
use super::courier::Courier;
use super::fault::Fault;
use super::message::{MAX_MESSAGE, Params, Refusal};
use super::site::{self, LAST_EVENT, Request, Site};
use super::talk::{Question, Talk};

/// Between two attempts, at first and at most.
const SHORTEST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);

/// How often the wait is doubled.
const MAX_SHORT: u32 = 8;

/// A server that cannot be reached this often in a row is gone.
const MAX_FAILED: u32 = 5;

/// Keeps the common stream open as long as the server has one.
pub(super) async fn common(
    site: Arc<Site>,
    board: Arc<Board>,
    courier: Arc<Courier>,
    headers: HeaderMap,
) {
    let mut parser = SseParser::new(MAX_MESSAGE);
    let (mut opened, mut failed, mut short) = (false, 0, 0);
    loop {
        let began = tokio::time::Instant::now();
        board.set_streams(false);
        let mut request = Request::stream(site.url.clone());
        request.headers.extend(headers.clone());
        if let Some(Ok(last)) = parser.last_id().map(HeaderValue::try_from) {
            request.headers.insert(LAST_EVENT, last);
        }
        match site.send(request).await {
            Ok(mut response) if site::content_type(&response) == "text/event-stream" => {
                if opened {
                    // What changed meanwhile was told to nobody.
                    board.change();
                }
                (opened, failed) = (true, 0);
                board.set_streams(true);
                while let Ok(Some(events)) = site::next_events(&mut response, &mut parser).await {
                    for event in events.iter().filter(|event| !event.data.is_empty()) {
                        for reply in board.hear(event.data.as_bytes(), None).replies {
                            let mut answer = Request::post(site.url.clone(), reply);
                            answer.headers.extend(headers.clone());
                            courier.send(answer);
                        }
                    }
                }
            }
            Err(Fault::Unreached(why) | Fault::Broken(why)) => {
                failed += 1;
                if failed >= MAX_FAILED {
                    return board.end(why);
                }
            }
            Ok(_) | Err(_) => {
                // It had such a stream, and has none any more: the next question finds out why.
                if opened {
                    board.change();
                }
                return;
            }
        }
        // One that never stays open is opened ever later.
        short = if began.elapsed() > LONGEST {
            0
        } else {
            (short + 1).min(MAX_SHORT)
        };
        let steps = failed.max(short).saturating_sub(1);
        let wait = parser.retry().unwrap_or(SHORTEST * 2_u32.pow(steps));
        tokio::time::sleep(wait.clamp(SHORTEST, LONGEST)).await;
        parser = parser.resume();
    }
}

/// How long the tools are not asked for because the server has not promised yet
/// to tell when they change.
pub(super) const PROMISE: Duration = Duration::from_secs(2);

/// Asks to be told about changes, again and again.
pub(super) async fn subscribe(talk: Arc<Talk>) {
    let mut wait = SHORTEST;
    loop {
        let wanted = Params::new().with("notifications", &json!({ "toolsListChanged": true }));
        let began = tokio::time::Instant::now();
        let asked = talk
            .keep_asking(Question::new("subscriptions/listen", wanted))
            .await;
        talk.board.set_streams(false);
        match asked {
            Err(Fault::Refused(refusal))
                if matches!(
                    refusal.code,
                    Refusal::METHOD_NOT_FOUND | Refusal::INVALID_PARAMS
                ) =>
            {
                return;
            }
            Err(Fault::LogIn { .. } | Fault::Status(400..=499, _)) => return,
            Ok(_) | Err(_) => {}
        }
        // One that lasted is begun anew soon, one that fails at once ever later.
        wait = match began.elapsed() > LONGEST {
            true => SHORTEST,
            false => (wait * 2).min(LONGEST),
        };
        tokio::time::sleep(wait).await;
    }
}
