//! `WS /api/ws`: the events of the chats a page has open, numbered and resumable.
//!
//! One task per chat a page follows. It watches first and reads the past
//! second, so that nothing falls between the two; what comes twice is skipped
//! by its number.

mod arm;

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::http::StatusCode;
use axum::response::Response;
use tenon_agent::feed::{Live, Next};
use tenon_domain::ChatId;
use tenon_sources::browser::{self, Frame, Registered};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, interval, timeout};

use arm::Arm;

use super::error::ApiError;
use super::wire::{ClientFrame, ServerFrame};
use crate::app::App;
use crate::auth::{CurrentUser, Ended};
use crate::sources::Told;
use crate::storage::StorageState;

/// The answer of a tool that a page called, of 16 MiB, written as Base64 in JSON, is
/// the longest that a page of ours says.
const MAX_FRAME: usize = 24 * 1024 * 1024;

/// How often a quiet socket is asked whether it is still there, and how long it may stay silent.
const PING: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(65);

/// A page that takes no bytes for so long is gone, whatever its socket says.
const STUCK: Duration = Duration::from_secs(30);

/// What a page is told whose log-in has ended: 401, as far as a socket can say it.
const LOGGED_OUT: u16 = 4401;

/// How many chats one page can follow.
const MAX_FOLLOWED: usize = 64;

/// How many frames wait for a slow page before the chats it follows wait.
const OUTBOX: usize = 64;

/// A page closes with this that connects again at once.
const AGAIN: u16 = 4000;

/// What is longer than this is read where nobody waits for the thread.
const READ_APART: usize = 256 * 1024;

/// How many events are read from the store at a time.
const PAGE: u64 = 500;

pub(super) async fn open(
    State(app): State<App>,
    user: CurrentUser,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|_| {
        ApiError::new(
            StatusCode::UPGRADE_REQUIRED,
            "websocket_only",
            "This address speaks WebSocket only.",
        )
    })?;
    let session = Session::new(app, user);
    Ok(upgrade
        .max_message_size(MAX_FRAME)
        .max_frame_size(MAX_FRAME)
        .on_upgrade(move |socket| session.run(socket)))
}

/// One page's connection.
struct Session {
    app: App,
    user: CurrentUser,
    endings: broadcast::Receiver<Ended>,
    news: broadcast::Receiver<Told>,
    followed: HashMap<ChatId, AbortHandle>,
    outbox: mpsc::Sender<ServerFrame>,
    frames: mpsc::Receiver<ServerFrame>,
    arm: Arm,
    orders: mpsc::Receiver<Frame>,
    changes: broadcast::Receiver<browser::Told>,
    storage: watch::Receiver<StorageState>,
}

impl Session {
    fn new(app: App, user: CurrentUser) -> Self {
        let (outbox, frames) = mpsc::channel(OUTBOX);
        let (arm, orders) = Arm::new(app.desk.clone(), &user, outbox.clone());
        let mut storage = app.storage.watch();
        if *storage.borrow() != StorageState::Ok {
            storage.mark_changed();
        }
        Self {
            arm,
            orders,
            changes: app.desk.news(),
            storage,
            endings: app.auth.endings(),
            news: app.sources.news(),
            app,
            user,
            followed: HashMap::new(),
            outbox,
            frames,
        }
    }

    async fn run(mut self, mut socket: WebSocket) {
        let mut ping = interval(PING);
        let mut heard = Instant::now();
        loop {
            tokio::select! {
                Some(frame) = self.frames.recv() => {
                    if send(&mut socket, &frame).await.is_err() {
                        return;
                    }
                }
                Some(order) = self.orders.recv() => {
                    if send(&mut socket, &order.into()).await.is_err() {
                        return;
                    }
                }
                message = socket.recv() => {
                    heard = Instant::now();
                    match message {
                        Some(Ok(Message::Text(text))) => self.take(text).await,
                        Some(Ok(Message::Close(Some(frame)))) if frame.code == AGAIN => return,
                        // It says goodbye: it does not come back to what it owes.
                        Some(Ok(Message::Close(_))) => return self.arm.leave(),
                        Some(Err(_)) | None => return,
                        Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => {}
                    }
                }
                ended = self.endings.recv() => {
                    // One that was missed may have been this one.
                    if ended.as_ref().map_or(true, |ended| self.user.is_ended_by(ended))
                        && !self.may_stay().await
                    {
                        return close(&mut socket, LOGGED_OUT, "logged out").await;
                    }
                }
                told = self.news.recv() => {
                    if self.pass_on(&mut socket, told).await.is_err() {
                        return;
                    }
                }
                changed = self.changes.recv() => {
                    // What was missed may have been about this one.
                    let is_theirs = changed.as_ref().map_or(true, |told| told.0 == self.user.id);
                    if is_theirs && send(&mut socket, &ServerFrame::ToolsChanged).await.is_err() {
                        return;
                    }
                }
                Ok(()) = self.storage.changed() => {
                    let state = *self.storage.borrow_and_update();
                    if send(&mut socket, &ServerFrame::Storage { state }).await.is_err() {
                        return;
                    }
                }
                _ = ping.tick() => {
                    // Another process may have ended what they came by.
                    if !self.may_stay().await {
                        return close(&mut socket, LOGGED_OUT, "logged out").await;
                    }
                    let asked = timeout(STUCK, socket.send(Message::Ping(Default::default()))).await;
                    if heard.elapsed() > SILENCE || !matches!(asked, Ok(Ok(()))) {
                        return;
                    }
                }
                () = self.app.closing.cancelled() => {
                    return close(&mut socket, close_code::AWAY, "Tenon is shutting down").await;
                }
            }
        }
    }

    /// Tells a page about the servers its user sees; all of them, if it missed something.
    async fn pass_on(
        &self,
        socket: &mut WebSocket,
        told: Result<Told, RecvError>,
    ) -> Result<(), ()> {
        let news = match told {
            Ok(told) => self
                .app
                .sources
                .heard(&self.user, told)
                .into_iter()
                .collect(),
            Err(RecvError::Lagged(_)) => self.app.sources.all_news(&self.user),
            // It lives as long as the app, which this holds.
            Err(RecvError::Closed) => return Err(()),
        };
        for news in news {
            send(socket, &ServerFrame::Source(news)).await?;
        }
        Ok(())
    }

    /// A store that cannot be read throws nobody out: it is asked again soon.
    async fn may_stay(&self) -> bool {
        let counts = self.user.still_counts(&self.app.store).await;
        counts.unwrap_or(true)
    }

    async fn take(&mut self, text: Utf8Bytes) {
        match read(text).await {
            Ok(ClientFrame::Subscribe { chat_id, after }) => self.subscribe(chat_id, after).await,
            Ok(ClientFrame::Unsubscribe { chat_id }) => {
                if let Some(following) = self.followed.remove(&chat_id) {
                    following.abort();
                }
            }
            Ok(ClientFrame::Register(registration)) => {
                if let Err(why) = self.arm.register(registration) {
                    self.answer(ServerFrame::Registered(Registered::refused(why)));
                }
            }
            Ok(ClientFrame::Unregister { url }) => {
                if let Err(why) = self.arm.unregister(url) {
                    self.refuse(why);
                }
            }
            Ok(ClientFrame::Sign(sign)) => self.arm.sign(sign),
            Ok(ClientFrame::Answered(answered)) => self.arm.end(answered),
            Err(why) => self.refuse(format!("The frame cannot be used: {why}.")),
        }
    }

    fn refuse(&self, why: String) {
        self.answer(ServerFrame::Error {
            chat_id: None,
            error: ApiError::bad_request(why).detail(),
        });
    }

    async fn subscribe(&mut self, chat_id: ChatId, after: i64) {
        self.followed
            .retain(|_, following| !following.is_finished());
        let full = self.followed.len() >= MAX_FOLLOWED && !self.followed.contains_key(&chat_id);
        let chat = match self.app.store.chat(&self.user.id, &chat_id).await {
            Err(error) => Err(ApiError::from(error)),
            Ok(_) if full => Err(ApiError::bad_request(
                "This page follows too many chats; unsubscribe from some.",
            )),
            Ok(chat) => Ok(chat),
        };
        let chat = match chat {
            Ok(chat) => chat,
            Err(error) => {
                self.answer(ServerFrame::Error {
                    chat_id: Some(chat_id),
                    error: error.detail(),
                });
                return;
            }
        };
        // A number from a future that was lost, as by a restored backup, must not mean silence.
        let after = after.clamp(0, chat.last_seq);
        let follower = follow(
            self.app.clone(),
            chat_id.clone(),
            after,
            self.outbox.clone(),
        );
        if let Some(former) = self
            .followed
            .insert(chat_id, tokio::spawn(follower).abort_handle())
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

impl Drop for Session {
    fn drop(&mut self) {
        self.followed.values().for_each(AbortHandle::abort);
    }
}

/// What a page says. The error is a sentence.
async fn read(text: Utf8Bytes) -> Result<ClientFrame, String> {
    let parse = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
    if text.len() <= READ_APART {
        return parse(&text);
    }
    let read = tokio::task::spawn_blocking(move || parse(&text)).await;
    read.unwrap_or_else(|_panic| Err("Tenon met a fault of its own in it".into()))
}

/// Follows a chat until the page is gone, or until there is a reason to tell it.
async fn follow(app: App, chat: ChatId, after: i64, outbox: mpsc::Sender<ServerFrame>) {
    let Err(Some(reason)) = stream(&app, &chat, after, &outbox).await else {
        return;
    };
    let error = reason.detail();
    let _ = outbox
        .send(ServerFrame::Error {
            chat_id: Some(chat),
            error,
        })
        .await;
}

/// Sends what happened after `last`, then what happens. Ends with an error
/// alone: none means that nobody reads any more.
async fn stream(
    app: &App,
    chat: &ChatId,
    mut last: i64,
    outbox: &mpsc::Sender<ServerFrame>,
) -> Result<Infallible, Option<ApiError>> {
    let send = async |frame| outbox.send(frame).await.map_err(|_| None);
    loop {
        let mut watch = app.agent.feed().watch(chat);
        loop {
            let page = app.store.events(chat, last, PAGE).await;
            let page = page.map_err(|error| Some(error.into()))?;
            let more = page.len() as u64 == PAGE;
            for event in page {
                last = event.seq;
                send(ServerFrame::Event(event)).await?;
            }
            if !more {
                break;
            }
        }
        for delta in std::mem::take(&mut watch.draft) {
            send(ServerFrame::Delta(delta)).await?;
        }
        if let Some(waiting) = watch.waiting.take() {
            send(ServerFrame::Waiting(waiting)).await?;
        }
        for progress in std::mem::take(&mut watch.progress) {
            send(ServerFrame::Progress(progress)).await?;
        }
        send(ServerFrame::CaughtUp {
            chat_id: chat.clone(),
            seq: last,
        })
        .await?;
        loop {
            match watch.next().await {
                Next::Live(Live::Event(event)) if event.seq <= last => {}
                // Another process wrote to this chat: the store knows what is between.
                Next::Live(Live::Event(event)) if event.seq > last + 1 => break,
                Next::Live(Live::Event(event)) => {
                    last = event.seq;
                    send(ServerFrame::Event((*event).clone())).await?;
                }
                Next::Live(Live::Delta(delta)) => {
                    send(ServerFrame::Delta((*delta).clone())).await?
                }
                Next::Live(Live::Waiting(waiting)) => {
                    send(ServerFrame::Waiting((*waiting).clone())).await?;
                }
                Next::Live(Live::Progress(progress)) => {
                    send(ServerFrame::Progress((*progress).clone())).await?;
                }
                Next::Behind => break,
                Next::Closed => return Err(Some(ApiError::not_found("This chat was deleted."))),
            }
        }
    }
}

async fn close(socket: &mut WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    let _ = timeout(STUCK, socket.send(Message::Close(Some(frame)))).await;
}

async fn send(socket: &mut WebSocket, frame: &ServerFrame) -> Result<(), ()> {
    let text = match serde_json::to_string(frame) {
        Ok(text) => text,
        Err(error) => {
            tracing::error!(%error, "a frame could not be written as JSON");
            return Err(());
        }
    };
    match timeout(STUCK, socket.send(Message::Text(text.into()))).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(()),
    }
}
