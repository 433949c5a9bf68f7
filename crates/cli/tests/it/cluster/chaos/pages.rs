//! A page: it follows chats over a socket, and comes back to where it was whenever that breaks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::servers::{Access, RETRY_PAUSE};

/// A page sends a ping when it hears nothing, and connects again when nothing comes back, as ours does.
const SILENCE: Duration = Duration::from_secs(5);

/// After the last fault, and a while for turns to end.
const LAST_LOOK: Duration = Duration::from_secs(60);

/// What a page has seen: of each chat the number of the last event.
#[derive(Debug)]
pub struct SeenEvents(BTreeMap<String, i64>);

impl SeenEvents {
    /// It has seen all there is. How many that are.
    pub fn check(&self, last: &BTreeMap<String, i64>) -> i64 {
        for (chat, seen) in &self.0 {
            assert_eq!(*seen, last[chat], "a page is stuck in {chat}");
        }
        self.0.values().sum()
    }
}

/// Follows until nothing comes any more after all is over.
pub async fn follow(access: Access, chats: Vec<String>, is_over: Arc<AtomicBool>) -> SeenEvents {
    let mut seen: BTreeMap<String, i64> = chats.into_iter().map(|chat| (chat, 0)).collect();
    let mut over_since = None;
    loop {
        if let Some(socket) = connect(&access, &seen).await {
            read(socket, &mut seen, &is_over, &mut over_since).await;
        }
        if over_since.is_some_and(|since: Instant| since.elapsed() > LAST_LOOK) {
            return SeenEvents(seen);
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn connect(access: &Access, seen: &BTreeMap<String, i64>) -> Option<Socket> {
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

async fn read(
    mut socket: Socket,
    seen: &mut BTreeMap<String, i64>,
    is_over: &AtomicBool,
    over_since: &mut Option<Instant>,
) {
    let mut is_asked = false;
    loop {
        if is_over.load(Ordering::SeqCst) {
            over_since.get_or_insert_with(Instant::now);
        }
        if over_since.is_some_and(|since| since.elapsed() > LAST_LOOK) {
            return;
        }
        let message = match timeout(SILENCE, socket.next()).await {
            Ok(Some(Ok(message))) => message,
            Ok(_) => return,
            Err(_) if is_asked => return,
            Err(_) => {
                is_asked = true;
                let ping = Message::text(r#"{"type": "ping"}"#);
                if socket.send(ping).await.is_err() {
                    return;
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
                // It could not be followed for now, as when the database was away.
                Some("error") => return,
                _ => {}
            }
        }
    }
}

/// In order, without a gap and never twice.
fn take(seen: &mut BTreeMap<String, i64>, event: &Value) {
    let chat = event["chatId"].as_str().unwrap();
    let seq = event["seq"].as_i64().unwrap();
    let last = seen.get_mut(chat).unwrap();
    assert_eq!(seq, *last + 1, "in {chat}");
    *last = seq;
}
