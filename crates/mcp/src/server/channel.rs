//! A client at the other end of one stream of messages: a pipe, or legacy SSE.
//!
//! Both eras may use it. Requests run side by side, and whatever goes to the client goes through one
//! bounded queue.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::StreamExt;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::batch::read_batch;
use super::client_profile::ClientProfile;
use super::engine::{Begin, Engine, method_not_found};
use super::exchange::ServerMessage;
use super::handshake::HandshakeState;
use super::message::{ClientRequest, InboundMessage, MessageError};
use super::notification::{self, SubscriptionFilter};
use super::reply::Reply;
use super::request_table::{RequestTable, TableEntry};
use super::running::{RunningRequest, Step};
use super::service::McpService;
use super::stateless::{StatelessRequest, StatelessStep};
use crate::jsonrpc::RpcError;

/// How many messages wait for a client that does not read.
const MAX_WAITING_MESSAGES: usize = 256;

/// A client that does not read for so long is gone.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct ClientChannel<S: McpService> {
    engine: Arc<Engine<S>>,
    pub(super) caller: S::Caller,
    handshake: OnceLock<HandshakeState>,
    requests: Arc<RequestTable>,
    outgoing: mpsc::Sender<String>,
    pub(super) closed: CancellationToken,
    /// Requests that are not answered yet.
    pub(super) tasks: TaskTracker,
}

impl<S: McpService> ClientChannel<S> {
    /// The channel, and what is to be sent to its client.
    pub(super) fn new(
        engine: &Arc<Engine<S>>,
        caller: S::Caller,
    ) -> (Arc<Self>, mpsc::Receiver<String>) {
        let (outgoing, messages) = mpsc::channel(MAX_WAITING_MESSAGES);
        let channel = Self {
            engine: Arc::clone(engine),
            caller,
            handshake: OnceLock::new(),
            requests: Arc::default(),
            outgoing,
            closed: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        (Arc::new(channel), messages)
    }

    /// Takes in one message, or several in a batch.
    pub(super) async fn on_message(self: &Arc<Self>, text: &[u8]) {
        if !text.trim_ascii_start().starts_with(b"[") {
            return self.on_single(text).await;
        }
        let allows_batches = self
            .handshake
            .get()
            .is_some_and(HandshakeState::allows_batches);
        match read_batch(text, allows_batches) {
            Ok(messages) => {
                for message in messages {
                    self.on_single(message.get().as_bytes()).await;
                }
            }
            Err(error) => self.send(Reply::error(None, error).json).await,
        }
    }

    /// What came is longer than a message may be.
    pub(super) async fn on_oversized_message(&self) {
        let error = RpcError::new(RpcError::INVALID_REQUEST, "The message is too long.");
        self.send(Reply::error(None, error).json).await;
    }

    async fn on_single(self: &Arc<Self>, text: &[u8]) {
        match InboundMessage::read(text) {
            Ok(InboundMessage::Request(request)) => {
                if let Err(error) = self.on_request(&request).await {
                    self.send(Reply::error(Some(request.id), error).json).await;
                }
            }
            Ok(InboundMessage::Notification { method, params }) => {
                if let Some(id) = notification::cancelled_request(&method, params) {
                    self.requests.cancel(id);
                }
                if method == "notifications/initialized" {
                    let channel = Arc::clone(self);
                    tokio::spawn(async move { channel.send_changes().await });
                }
            }
            Ok(InboundMessage::Response { id, answer }) => self.requests.on_answer(id, answer),
            Err(MessageError { id, error }) => {
                self.send(Reply::error(id.as_deref(), error).json).await;
            }
        }
    }

    async fn on_request(self: &Arc<Self>, request: &ClientRequest<'_>) -> Result<(), RpcError> {
        if request.params.meta.protocol_version.is_some() {
            let client = request.params.stateless_client()?;
            return self.on_stateless_request(client, request).await;
        }
        if request.method == "initialize" {
            return self.initialize(request).await;
        }
        let Some(handshake) = self.handshake.get() else {
            if request.method == "ping" {
                let client = ClientProfile::default();
                let json = self.engine.writer.empty(request.id, &client);
                self.send(json).await;
                return Ok(());
            }
            // Says what is missing in its `_meta`.
            request.params.stateless_client()?;
            return Err(method_not_found(&request.method));
        };
        let begin = self
            .engine
            .begin_handshake(&self.caller, handshake, request)
            .await?;
        match begin {
            Begin::Reply(reply) => self.send(reply.json).await,
            Begin::Listen(_) => return Err(method_not_found(&request.method)),
            Begin::Run(running) => {
                let cancellation = &running.exchange.cancellation;
                let entry = self.requests.insert(request.id, cancellation)?;
                let channel = Arc::clone(self);
                let id = request.id.to_owned();
                self.spawn(async move { channel.answer(&id, running, entry).await });
            }
        }
        Ok(())
    }

    async fn initialize(&self, request: &ClientRequest<'_>) -> Result<(), RpcError> {
        let client = request.params.handshake_client();
        let members = self.engine.initialize_members(&self.caller, &client);
        let json = self.engine.writer.result(request.id, &client, &members);
        if self.handshake.set(HandshakeState::new(client)).is_err() {
            let message = "`initialize` was sent before.";
            return Err(RpcError::new(RpcError::INVALID_REQUEST, message));
        }
        self.send(json).await;
        Ok(())
    }

    async fn on_stateless_request(
        self: &Arc<Self>,
        client: ClientProfile,
        request: &ClientRequest<'_>,
    ) -> Result<(), RpcError> {
        match StatelessRequest::begin(&self.engine, &self.caller, client, request)? {
            Begin::Reply(reply) => self.send(reply.json).await,
            Begin::Run(running) => {
                let cancellation = running.cancellation();
                let entry = self.requests.insert(request.id, &cancellation)?;
                let channel = Arc::clone(self);
                self.spawn(async move { channel.answer_stateless(running, entry).await });
            }
            Begin::Listen(filter) => {
                let cancellation = self.closed.child_token();
                let entry = self.requests.insert(request.id, &cancellation)?;
                let channel = Arc::clone(self);
                let id = request.id.to_owned();
                // It ends with the channel; nobody waits for it.
                tokio::spawn(async move {
                    cancellation
                        .run_until_cancelled(channel.listen(&id, filter))
                        .await;
                    drop(entry);
                });
            }
        }
        Ok(())
    }

    async fn answer(&self, id: &RawValue, mut running: RunningRequest, entry: TableEntry) {
        loop {
            match running.step().await {
                Step::Message(ServerMessage::Notification(message)) => self.send(message).await,
                Step::Message(ServerMessage::Request(input)) => {
                    self.send(self.requests.ask(input)).await;
                }
                Step::Message(ServerMessage::CloseStream) => {}
                Step::Cancelled => return,
                Step::Done(outcome) => {
                    drop(entry);
                    let client = &running.exchange.client;
                    let reply = self.engine.writer.response(id, client, outcome);
                    return self.send(reply.json).await;
                }
            }
        }
    }

    async fn answer_stateless(&self, mut request: StatelessRequest<S>, entry: TableEntry) {
        loop {
            match request.next().await {
                StatelessStep::Notification(message) => self.send(message).await,
                StatelessStep::Cancelled => return,
                StatelessStep::Response(reply) => {
                    drop(entry);
                    return self.send(reply.json).await;
                }
            }
        }
    }

    async fn listen(&self, id: &RawValue, filter: SubscriptionFilter) {
        let mut changes = self.engine.service.changes(&self.caller);
        let filter = self.engine.follow(&self.caller, filter).await;
        self.send(notification::acknowledgement(id, &filter)).await;
        while let Some(change) = changes.next().await {
            if filter.includes(&change) {
                self.send(notification::message(&change, Some(id))).await;
            }
        }
    }

    /// Sends change notifications to a client of the handshake era, as long as it is connected.
    async fn send_changes(&self) {
        let Some(handshake) = self.handshake.get() else {
            return;
        };
        let capabilities = self.engine.service.capabilities(&self.caller);
        let mut changes = self.engine.service.changes(&self.caller);
        while let Some(Some(change)) = self.closed.run_until_cancelled(changes.next()).await {
            if handshake.follows(&change, capabilities) {
                self.send(notification::message(&change, None)).await;
            }
        }
    }

    /// A client that does not take it in time is taken for gone.
    async fn send(&self, message: String) {
        let sending = self.outgoing.send_timeout(message, SEND_TIMEOUT);
        if let Some(Err(_)) = self.closed.run_until_cancelled(sending).await {
            self.closed.cancel();
        }
    }

    fn spawn(&self, answering: impl Future<Output = ()> + Send + 'static) {
        let closed = self.closed.clone();
        self.tasks.spawn(async move {
            closed.run_until_cancelled(answering).await;
        });
    }
}
