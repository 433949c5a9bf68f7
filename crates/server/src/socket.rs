//! `WS /api/ws`: the events of the chats a page has open, numbered and resumable, and the feed of
//! its user.
//!
//! One task per chat a page follows. It watches first and reads the past
//! second, so that nothing falls between the two; what comes twice is skipped
//! by its number.

mod follow;
mod handshake;
mod incoming;
mod outgoing;
mod tools;

use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use futures::StreamExt;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tenon_domain::{ChatId, CodedError, ErrorDetail};
use tenon_sources::browser::{PageCommand, RegistrationResult};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, interval};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use follow::{ChatAccess, ChatFrame, Follower, Replay};
pub(crate) use handshake::Handshake;
use incoming::IncomingFrames;
use outgoing::{close, ping, refuse_frame, send, send_text};
use tools::SocketTools;

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::metrics::HttpMetrics;
use crate::wire::{ClientFrame, ServerFrame};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::budget::{BudgetError, BudgetShare, SMALL_BYTES};
use tenon_app::cluster::ClusterState;
use tenon_app::storage::StorageState;
use tenon_app::user_feed::{UserEvent, UserSubscription};

/// The answer of a tool that a page called, of 16 MiB, written as Base64 in JSON, is
/// the longest that a page of ours says.
const MAX_FRAME_BYTES: usize = 24 * 1024 * 1024;

/// Every socket has such a buffer.
const READ_BUFFER_BYTES: usize = 16 * 1024;

/// More pings and the like between two of ours are no sign of life: each leaves an answer
/// to be written.
const MAX_CONTROL_FRAMES: usize = 1_000;

/// How often a quiet socket is asked whether it is still there, and how long it may stay silent.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const SILENCE_TIMEOUT: Duration = Duration::from_secs(65);

/// Close code for an ended log-in, like HTTP status 401.
const LOGGED_OUT_CLOSE_CODE: u16 = 4401;

/// How many chats one page can follow.
const MAX_FOLLOWED: usize = 64;

/// How many frames wait for a slow page before the chats it follows wait.
const OUTBOX_FRAMES: usize = 64;

/// A page closes with this that connects again at once.
const RECONNECT_CLOSE_CODE: u16 = 4000;

type WebSocket = WebSocketStream<IncomingFrames<TokioIo<Upgraded>>>;

pub(crate) async fn open(
    State(app): State<App>,
    State(metrics): State<HttpMetrics>,
    user: CurrentUser,
    handshake: Handshake,
) -> Result<Response, ApiError> {
    let place = app.budget.socket(&user.id)?;
    let (response, upgrade) = handshake.accept();
    tokio::spawn(async move {
        let Ok(upgraded) = upgrade.await else {
            return;
        };
        let _open = metrics.socket();
        let session = SocketSession::new(app, user, place);
        let max = session.max_frame();
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .max_message_size(Some(max))
            .max_frame_size(Some(max));
        let (budget, user) = (session.app.budget.clone(), session.user.id.clone());
        let incoming = IncomingFrames::new(TokioIo::new(upgraded), budget, user, max);
        let socket = WebSocketStream::from_raw_socket(incoming, Role::Server, Some(config)).await;
        session.run(socket).await;
    });
    Ok(response)
}

/// One page's connection.
struct SocketSession {
    app: App,
    user: CurrentUser,
    user_events: UserSubscription,
    /// Whether the page asked for all of those.
    follows_user: bool,
    followed: HashMap<ChatId, AbortHandle>,
    outbox: mpsc::Sender<ServerFrame>,
    frames: mpsc::Receiver<ServerFrame>,
    tools: SocketTools,
    orders: mpsc::Receiver<PageCommand>,
    storage: watch::Receiver<StorageState>,
    cluster: watch::Receiver<ClusterState>,
    chats: mpsc::Sender<ChatFrame>,
    chat_frames: mpsc::Receiver<ChatFrame>,
    /// Its place in the user's limit of sockets.
    _place: BudgetShare,
}

/// A frame that is being parsed.
type FrameParseFuture = Pin<Box<dyn Future<Output = ParsedFrame> + Send>>;

/// What a page says, and the memory that it takes.
type ParsedFrame =
    Result<(Result<ClientFrame, serde_json::Error>, Option<BudgetShare>), BudgetError>;

impl SocketSession {
    fn new(app: App, user: CurrentUser, place: BudgetShare) -> Self {
        let (outbox, frames) = mpsc::channel(OUTBOX_FRAMES);
        let (chats, chat_frames) = mpsc::channel(OUTBOX_FRAMES);
        let (tools, orders) = SocketTools::new(app.devices.clone(), &user, outbox.clone());
        let mut storage = app.storage.watch();
        if *storage.borrow() != StorageState::Ok {
            storage.mark_changed();
        }
        let mut cluster = app.cluster.watch();
        if *cluster.borrow() != ClusterState::Ok {
            cluster.mark_changed();
        }
        Self {
            tools,
            orders,
            storage,
            cluster,
            user_events: app.user_feed.subscribe(&user),
            follows_user: false,
            app,
            user,
            followed: HashMap::new(),
            outbox,
            frames,
            chats,
            chat_frames,
            _place: place,
        }
    }

    /// Clients that cannot run tools only send short frames.
    fn max_frame(&self) -> usize {
        if self.tools.may_run() {
            MAX_FRAME_BYTES
        } else {
            SMALL_BYTES
        }
    }

    async fn run(mut self, mut socket: WebSocket) {
        let mut ping_timer = interval(PING_INTERVAL);
        let mut heard = Instant::now();
        let mut control_frames = 0;
        // While a frame is parsed the next one waits, and everything else goes on.
        let mut parsing: Option<FrameParseFuture> = None;
        // Mark the accounts as changed, to notice a log-in that ended after the request was
        // authorized.
        let mut accounts = self.app.store.watch_accounts();
        accounts.mark_changed();
        loop {
            tokio::select! {
                Some(frame) = self.frames.recv() => {
                    if send(&mut socket, &frame).await.is_err() {
                        return;
                    }
                }
                Some(frame) = self.chat_frames.recv() => {
                    if send_text(&mut socket, frame.text).await.is_err() {
                        return;
                    }
                }
                Some(order) = self.orders.recv() => {
                    if send(&mut socket, &order.into()).await.is_err() {
                        return;
                    }
                }
                message = socket.next(), if parsing.is_none() => {
                    heard = Instant::now();
                    let received = socket.get_mut().take_reservation();
                    match message {
                        Some(Ok(Message::Text(text))) => parsing = Some(self.parse(text, received)),
                        Some(Ok(Message::Close(Some(frame)))) if u16::from(frame.code) == RECONNECT_CLOSE_CODE => return,
                        // A clean close: it does not come back to its pending calls.
                        Some(Ok(Message::Close(_))) => return self.tools.leave(),
                        Some(Err(error)) => return refuse_frame(&mut socket, &error).await,
                        None => return,
                        Some(Ok(
                            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_),
                        )) => {
                            control_frames += 1;
                            if control_frames > MAX_CONTROL_FRAMES {
                                return close(&mut socket, CloseCode::Policy, "too many pings").await;
                            }
                        }
                    }
                }
                parsed = parsed(&mut parsing), if parsing.is_some() => {
                    parsing = None;
                    heard = Instant::now();
                    self.take(parsed);
                }
                // The query must run to its end: a query paused beside a slow client would block
                // its database connection for everybody.
                Ok(()) = accounts.changed() => {
                    // A store that cannot be read ends nothing.
                    if !self.user.is_valid(&self.app.store).await.unwrap_or(true) {
                        return close(&mut socket, LOGGED_OUT_CLOSE_CODE.into(), "logged out").await;
                    }
                }
                event = self.user_events.next() => {
                    // State changes of sources are sent to every page, also without a subscription.
                    let is_wanted = self.follows_user
                        || matches!(event, UserEvent::Source(_) | UserEvent::Resync);
                    if is_wanted && send(&mut socket, &event.into()).await.is_err() {
                        return;
                    }
                }
                Ok(()) = self.storage.changed() => {
                    let state = *self.storage.borrow_and_update();
                    if send(&mut socket, &ServerFrame::Storage { state }).await.is_err() {
                        return;
                    }
                }
                Ok(()) = self.cluster.changed() => {
                    let state = *self.cluster.borrow_and_update();
                    if send(&mut socket, &ServerFrame::Cluster { state }).await.is_err() {
                        return;
                    }
                }
                _ = ping_timer.tick() => {
                    control_frames = 0;
                    // Log-ins expire, too.
                    if !self.may_stay().await {
                        return close(&mut socket, LOGGED_OUT_CLOSE_CODE.into(), "logged out").await;
                    }
                    let asked = ping(&mut socket).await;
                    let is_silent = heard.elapsed() > SILENCE_TIMEOUT && !socket.get_ref().is_receiving();
                    if is_silent || asked.is_err() {
                        return;
                    }
                }
                () = self.app.closing.cancelled() => {
                    return close(&mut socket, CloseCode::Away, "Tenon is shutting down").await;
                }
            }
        }
    }

    /// Whether the session is still valid. If the store cannot be read, the page may stay; it is
    /// checked again soon.
    async fn may_stay(&self) -> bool {
        let counts = self.user.is_valid(&self.app.store).await;
        counts.unwrap_or(true)
    }

    /// The room that a frame was received into is given back once it is parsed.
    fn parse(&self, text: Utf8Bytes, received: Option<BudgetShare>) -> FrameParseFuture {
        let (budget, user) = (self.app.budget.clone(), self.user.id.clone());
        Box::pin(async move {
            let parsed = budget.parse(&user, text, |text| serde_json::from_slice(text));
            let parsed = parsed.await;
            drop(received);
            parsed
        })
    }

    fn take(&mut self, parsed: ParsedFrame) {
        let (frame, memory) = match parsed {
            Ok(parsed) => parsed,
            Err(exceeded) => {
                let error = ApiError::from(exceeded).detail();
                return self.answer(ServerFrame::Error {
                    chat_id: None,
                    error,
                });
            }
        };
        match frame {
            Ok(ClientFrame::Subscribe {
                chat_id,
                after,
                batched,
            }) => self.subscribe(chat_id, after, Replay::new(batched)),
            Ok(ClientFrame::Unsubscribe { chat_id }) => {
                if let Some(following) = self.followed.remove(&chat_id) {
                    following.abort();
                }
            }
            Ok(ClientFrame::SubscribeUser) => {
                self.follows_user = true;
                self.answer(ServerFrame::Resync);
            }
            Ok(ClientFrame::Ping) => self.answer(ServerFrame::Pong),
            Ok(ClientFrame::Register(registration)) => {
                if let Err(why) = self.tools.register(registration, memory) {
                    self.answer(ServerFrame::Registered(RegistrationResult::refused(
                        why.detail(),
                    )));
                }
            }
            Ok(ClientFrame::Unregister { url }) => {
                if let Err(why) = self.tools.unregister(url) {
                    self.refuse(why.detail());
                }
            }
            Ok(ClientFrame::ToolProgress(progress)) => self.tools.progress(progress),
            Ok(ClientFrame::ToolResult(answered)) => self.tools.end(answered),
            Err(why) => {
                let why = why.to_string();
                self.refuse(ApiFault::FrameInvalid { why });
            }
        }
    }

    fn refuse(&self, fault: impl Into<ErrorDetail>) {
        self.answer(ServerFrame::Error {
            chat_id: None,
            error: fault.into(),
        });
    }

    fn subscribe(&mut self, chat_id: ChatId, after: i64, replay: Replay) {
        self.followed
            .retain(|_, following| !following.is_finished());
        let full = self.followed.len() >= MAX_FOLLOWED && !self.followed.contains_key(&chat_id);
        if full {
            let error = ApiError::bad_request(ApiFault::TooManySubscriptions).detail();
            return self.answer(ServerFrame::Error {
                chat_id: Some(chat_id),
                error,
            });
        }
        let follower = Follower {
            app: self.app.clone(),
            user: self.user.id.clone(),
            chat: chat_id.clone(),
            outbox: self.chats.clone(),
            last: after,
            replay,
            room: None,
            former: None,
            access: ChatAccess::Unknown,
            outage: None,
        };
        if let Some(former) = self
            .followed
            .insert(chat_id, tokio::spawn(follower.follow()).abort_handle())
        {
            former.abort();
        }
    }

    /// Puts a frame into our own outbox, which only this task empties: it must not wait for room.
    fn answer(&self, frame: ServerFrame) {
        if self.outbox.try_send(frame).is_err() {
            tracing::debug!("a page asks faster than it reads; an answer was dropped");
        }
    }
}

impl From<UserEvent> for ServerFrame {
    fn from(event: UserEvent) -> Self {
        match event {
            UserEvent::Chat(chat) => Self::ChatChanged { chat },
            UserEvent::ChatGone(chat_id) => Self::ChatGone { chat_id },
            UserEvent::Source(update) => Self::Source(update),
            UserEvent::Changed(topic) => Self::Changed { topic },
            UserEvent::Resync => Self::Resync,
        }
    }
}

impl Drop for SocketSession {
    fn drop(&mut self) {
        self.followed.values().for_each(AbortHandle::abort);
    }
}

async fn parsed(parsing: &mut Option<FrameParseFuture>) -> ParsedFrame {
    match parsing {
        Some(parsing) => parsing.await,
        None => std::future::pending().await,
    }
}
