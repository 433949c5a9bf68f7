//! Streams of notifications: GET in a session, `subscriptions/listen` without one.

use bytes::Bytes;
use futures::stream::{self, BoxStream, Stream, StreamExt};
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::{AcceptedTypes, LAST_EVENT_ID, header};
use crate::jsonrpc::RpcError;
use crate::server::body::{self, ServerResponse};
use crate::server::endpoint::McpEndpoint;
use crate::server::event_stream::{KEEP_ALIVE, KEEP_ALIVE_INTERVAL, message_event, parse_event_id};
use crate::server::notification::{self, SubscriptionFilter};
use crate::server::reply::Reply;
use crate::server::service::{McpService, ServerChange};
use crate::server::session_store::{ServerSession, SessionLease};

impl<S: McpService> McpEndpoint<S> {
    pub(super) fn get(
        &self,
        headers: &HeaderMap,
        session: SessionLease<S::Caller>,
        caller: S::Caller,
    ) -> ServerResponse {
        if !AcceptedTypes::read(headers).events {
            let message = "Accept must have text/event-stream.";
            return body::text(StatusCode::NOT_ACCEPTABLE, message);
        }
        let Some(permit) = self.engine.open_stream() else {
            return too_many_streams();
        };
        let lost = header(headers, &LAST_EVENT_ID).and_then(parse_event_id);
        if let Some((number, event)) = lost {
            // 204 ends reconnecting. Listening instead would replace the stream that listens.
            let Some(stream) = session.stream(number) else {
                return body::empty(StatusCode::NO_CONTENT);
            };
            let kept = (session, permit);
            return body::events(stream.read(Some(event)).map(move |bytes| {
                let _ = &kept;
                bytes
            }));
        }
        let ended = session.begin_listening();
        let changes = self.engine.service.changes(&caller);
        let capabilities = self.engine.service.capabilities(&caller);
        let events = with_keep_alive(changes, ended, move |change| {
            let _ = &permit;
            let follows = session.handshake.follows(change, capabilities);
            follows.then(|| notification::message(change, None))
        });
        body::events(events)
    }

    pub(super) async fn listen(
        &self,
        id: &RawValue,
        filter: SubscriptionFilter,
        caller: &S::Caller,
    ) -> ServerResponse {
        let Some(permit) = self.engine.open_stream() else {
            return too_many_streams();
        };
        let id = id.to_owned();
        let changes = self.engine.service.changes(caller);
        let filter = self.engine.follow(caller, filter).await;
        let first = message_event(&notification::acknowledgement(&id, &filter));
        let events = with_keep_alive(changes, CancellationToken::new(), move |change| {
            let _ = &permit;
            let message = || notification::message(change, Some(&id));
            filter.includes(change).then(message)
        });
        body::events(stream::iter([first]).chain(events))
    }
}

impl<C> ServerSession<C> {
    pub(super) fn on_notification(&self, method: &str, params: Option<&RawValue>) {
        if let Some(id) = notification::cancelled_request(method, params) {
            self.requests.cancel(id);
        }
    }
}

fn too_many_streams() -> ServerResponse {
    let error = RpcError::new(RpcError::INTERNAL_ERROR, "Too many streams are open.");
    body::json(StatusCode::SERVICE_UNAVAILABLE, Reply::error(None, error))
}

/// The changes that have a message, as events.
fn with_keep_alive(
    changes: BoxStream<'static, ServerChange>,
    ended: CancellationToken,
    message: impl Fn(&ServerChange) -> Option<String> + Send + 'static,
) -> impl Stream<Item = Bytes> + Send + 'static {
    stream::unfold(
        (changes, ended, message),
        |(mut changes, ended, message)| async move {
            let event = loop {
                tokio::select! {
                    () = ended.cancelled() => return None,
                    () = tokio::time::sleep(KEEP_ALIVE_INTERVAL) => break KEEP_ALIVE,
                    change = changes.next() => {
                        if let Some(message) = message(&change?) {
                            break message_event(&message);
                        }
                    }
                }
            };
            Some((event, (changes, ended, message)))
        },
    )
}
