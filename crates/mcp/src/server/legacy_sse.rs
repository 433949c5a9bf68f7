//! Legacy HTTP with SSE (2024-11-05): one stream of events down, one POST for each message up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use http::{HeaderMap, StatusCode};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::body::{self, ServerResponse};
use super::channel::ClientChannel;
use super::engine::{Engine, StreamPermit};
use super::event_stream::{KEEP_ALIVE, KEEP_ALIVE_INTERVAL, message_event};
use super::message::MAX_REQUEST_BYTES;
use super::random_id;
use super::service::McpService;

/// The clients whose streams are open, by the ids they post with.
pub(super) struct SseConnections<S: McpService> {
    engine: Arc<Engine<S>>,
    channels: Mutex<HashMap<String, Arc<ClientChannel<S>>>>,
}

/// The stream of one client; dropped, the client is gone.
struct SseConnection<S: McpService> {
    connections: Arc<SseConnections<S>>,
    _permit: StreamPermit<S>,
    id: String,
    channel: Arc<ClientChannel<S>>,
    messages: mpsc::Receiver<String>,
}

impl<S: McpService> SseConnections<S> {
    pub(super) fn new(engine: &Arc<Engine<S>>) -> Self {
        Self {
            engine: Arc::clone(engine),
            channels: Mutex::default(),
        }
    }

    pub(super) fn open(
        connections: &Arc<Self>,
        headers: &HeaderMap,
        messages_path: &str,
        caller: S::Caller,
    ) -> ServerResponse {
        let engine = &connections.engine;
        if !engine.options.allows_host(headers) {
            return body::text(StatusCode::FORBIDDEN, "This host or origin is not allowed.");
        }
        let Some(permit) = engine.open_stream() else {
            let message = "Too many streams are open.";
            return body::text(StatusCode::SERVICE_UNAVAILABLE, message);
        };
        let (channel, messages) = ClientChannel::new(engine, caller);
        let id = random_id();
        let endpoint = format!("event: endpoint\ndata: {messages_path}?session_id={id}\n\n");
        connections
            .channels()
            .insert(id.clone(), Arc::clone(&channel));
        let connection = SseConnection {
            connections: Arc::clone(connections),
            _permit: permit,
            id,
            channel,
            messages,
        };
        let events = stream::unfold(connection, |mut connection| async move {
            let event = connection.next_event().await?;
            Some((event, connection))
        });
        body::events(stream::iter([Bytes::from(endpoint)]).chain(events))
    }

    pub(super) async fn post(
        &self,
        headers: &HeaderMap,
        session_id: &str,
        message: Bytes,
        caller: &S::Caller,
    ) -> ServerResponse {
        if !self.engine.options.allows_host(headers) {
            return body::text(StatusCode::FORBIDDEN, "This host or origin is not allowed.");
        }
        if message.len() > MAX_REQUEST_BYTES {
            return body::text(StatusCode::PAYLOAD_TOO_LARGE, "The message is too long.");
        }
        let channel = self.channels().get(session_id).cloned();
        // A client that stopped reading counts as gone, even while its connection is open.
        let is_open = |channel: &Arc<ClientChannel<S>>| !channel.closed.is_cancelled();
        let channel = channel.filter(|channel| channel.caller == *caller && is_open(channel));
        let Some(channel) = channel else {
            let message = "Unknown session: open the stream of events first.";
            return body::text(StatusCode::NOT_FOUND, message);
        };
        channel.on_message(&message).await;
        body::text(StatusCode::ACCEPTED, "Accepted")
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<String, Arc<ClientChannel<S>>>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: McpService> SseConnection<S> {
    /// None: the client did not read for too long.
    async fn next_event(&mut self) -> Option<Bytes> {
        let next = timeout(KEEP_ALIVE_INTERVAL, self.messages.recv());
        let message = self.channel.closed.run_until_cancelled(next).await?;
        match message {
            Ok(message) => Some(message_event(&message?)),
            Err(_) => Some(KEEP_ALIVE),
        }
    }
}

impl<S: McpService> Drop for SseConnection<S> {
    fn drop(&mut self) {
        self.channel.closed.cancel();
        self.connections.channels().remove(&self.id);
    }
}
