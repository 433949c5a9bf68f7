//! Responses that became streams of events.

use std::sync::Arc;

use futures::stream;
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::server::body::{self, ServerResponse};
use crate::server::endpoint::McpEndpoint;
use crate::server::event_stream::{EventStream, KEEP_ALIVE, KEEP_ALIVE_INTERVAL, message_event};
use crate::server::exchange::ServerMessage;
use crate::server::request_table::TableEntry;
use crate::server::running::{RunningRequest, Step};
use crate::server::service::McpService;
use crate::server::session_store::SessionLease;
use crate::server::stateless::{StatelessRequest, StatelessStep};

/// The first version whose clients know an event that only has an id.
const PRIMING_VERSION: &str = "2025-11-25";

/// A request of a session that goes on, whether its client stays on the line or comes back.
struct StreamedRequest<S: McpService> {
    server: McpEndpoint<S>,
    session: SessionLease<S::Caller>,
    /// Until it is answered, it can be cancelled.
    entry: TableEntry,
    id: Box<RawValue>,
    running: RunningRequest,
    stream: Arc<EventStream>,
}

impl<S: McpService> McpEndpoint<S> {
    pub(super) fn stream_response(
        &self,
        session: SessionLease<S::Caller>,
        entry: TableEntry,
        id: Box<RawValue>,
        running: RunningRequest,
        first: Option<ServerMessage>,
    ) -> ServerResponse {
        let has_priming = session.handshake.client.protocol == PRIMING_VERSION;
        let stream = session.add_stream(has_priming);
        let events = Arc::clone(&stream).read(None);
        let request = StreamedRequest {
            server: self.clone(),
            session,
            entry,
            id,
            running,
            stream,
        };
        tokio::spawn(request.drive(first));
        body::events(events)
    }
}

impl<S: McpService> StreamedRequest<S> {
    async fn drive(mut self, first: Option<ServerMessage>) {
        if let Some(message) = first {
            self.send(message);
        }
        let outcome = loop {
            let step = tokio::select! {
                step = self.running.step() => step,
                () = self.stream.abandoned() => Step::Cancelled,
                () = self.session.closed.cancelled() => Step::Cancelled,
            };
            match step {
                Step::Message(message) => self.send(message),
                Step::Done(outcome) => break Some(outcome),
                Step::Cancelled => break None,
            }
        };
        let Self {
            server,
            session,
            entry,
            id,
            running,
            stream,
        } = self;
        drop((running, entry));
        let is_answered = outcome.is_some();
        if let Some(outcome) = outcome {
            let writer = &server.engine.writer;
            let reply = writer.response(&id, &session.handshake.client, outcome);
            stream.push(&reply.json);
        }
        stream.finish();
        if is_answered {
            tokio::select! {
                () = stream.delivered() => {}
                () = session.closed.cancelled() => {}
            }
        }
        session.remove_stream(&stream);
    }

    fn send(&self, message: ServerMessage) {
        match message {
            ServerMessage::Notification(message) => self.stream.push(&message),
            ServerMessage::Request(input) => {
                self.stream.push(&self.session.requests.ask(input));
            }
            ServerMessage::CloseStream => self.stream.detach(),
        }
    }
}

/// The rest of a request of the stateless era; dropped, it is cancelled.
pub(super) fn stateless_response<S: McpService>(
    first: Option<String>,
    request: StatelessRequest<S>,
) -> ServerResponse {
    let events = stream::unfold((first, Some(request)), |(first, request)| async move {
        let mut request = request?;
        if let Some(message) = first {
            return Some((message_event(&message), (None, Some(request))));
        }
        match timeout(KEEP_ALIVE_INTERVAL, request.next()).await {
            Ok(StatelessStep::Notification(message)) => {
                Some((message_event(&message), (None, Some(request))))
            }
            Ok(StatelessStep::Response(reply)) => Some((message_event(&reply.json), (None, None))),
            Ok(StatelessStep::Cancelled) => None,
            Err(_) => Some((KEEP_ALIVE, (None, Some(request)))),
        }
    });
    body::events(events)
}
