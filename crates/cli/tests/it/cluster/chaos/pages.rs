//! A page: it follows chats over a socket, and comes back to where it was whenever that breaks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::servers::{Access, RETRY_PAUSE};

/// A page sends a ping when it hears nothing, and connects again when nothing comes back, as ours
/// does.
const SILENCE: Duration = Duration::from_secs(5);

/// So long after everything has an end a page has seen it: it notices a dead connection, and makes
/// another one.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(20);

/// Of each chat the number of its last event.
pub type LastEvents = BTreeMap<String, i64>;

/// Follows until it has seen all there is, once that is known. How many events that are.
pub async fn follow(
    access: Access,
    chats: Vec<String>,
    mut last: watch::Receiver<Option<LastEvents>>,
) -> i64 {
    let mut seen: LastEvents = chats.into_iter().map(|chat| (chat, 0)).collect();
    loop {
        if let Some(socket) = connect(&access, &seen).await {
            let reading = read(socket, &mut seen, &mut last);
            assert!(reading.await, "a page is stuck at {seen:?}: {last:?}");
        }
        if has_all(&seen, &last) {
            return seen.values().sum();
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

fn has_all(seen: &LastEvents, last: &watch::Receiver<Option<LastEvents>>) -> bool {
    let last = last.borrow();
    let Some(last) = &*last else { return false };
    seen.iter().all(|(chat, seen)| *seen == last[chat])
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn connect(access: &Access, seen: &LastEvents) -> Option<Socket> {
    let url = format!("ws://{}/api/ws", access.address);
    let mut request = url.into_client_request().unwrap();
    let cookie = access.cookie.parse().unwrap();
    request.headers_mut().insert("cookie", cookie);
    let connecting = tokio_tungstenite::connect_async(request);
    let (mut socket, _) = timeout(SILENCE, connecting).await.ok()?.ok()?;
    for (chat, after) in seen {
        let subscribe =
            json!({"type": "subscribe", "chatId": chat, "after": after, "batched": true});
        socket
            .send(Message::text(subscribe.to_string()))
            .await
            .ok()?;
    }
    Some(socket)
}

/// Until the connection is lost, or all is seen. False: it is there, and what has happened does not
/// come.
async fn read(
    mut socket: Socket,
    seen: &mut LastEvents,
    last: &mut watch::Receiver<Option<LastEvents>>,
) -> bool {
    let mut is_asked = false;
    let mut known_since = None;
    while !has_all(seen, last) {
        if last.borrow().is_some() {
            let since = known_since.get_or_insert_with(Instant::now);
            if since.elapsed() > CATCH_UP_TIMEOUT {
                return false;
            }
        }
        let next = tokio::select! {
            next = timeout(SILENCE, socket.next()) => next,
            Ok(()) = last.changed() => continue,
        };
        let message = match next {
            Ok(Some(Ok(message))) => message,
            Ok(_) => return true,
            Err(_) if is_asked => return true,
            Err(_) => {
                is_asked = true;
                let ping = Message::text(r#"{"type": "ping"}"#);
                if socket.send(ping).await.is_err() {
                    return true;
                }
                continue;
            }
        };
        is_asked = false;
        if let Message::Text(text) = message {
            let frame: Value = serde_json::from_str(&text).unwrap();
            match frame["type"].as_str() {
                Some("event") => take(seen, &frame),
                Some("events") => {
                    let events = frame["events"].as_array().unwrap();
                    events.iter().for_each(|event| take(seen, event));
                }
                // Also an error, as while the database is away: what follows comes by itself.
                _ => {}
            }
        }
    }
    true
}

/// In order, without a gap and never twice.
fn take(seen: &mut LastEvents, event: &Value) {
    let chat = event["chatId"].as_str().unwrap();
    let seq = event["seq"].as_i64().unwrap();
    let last = seen.get_mut(chat).unwrap();
    assert_eq!(seq, *last + 1, "in {chat}");
    *last = seq;
}
