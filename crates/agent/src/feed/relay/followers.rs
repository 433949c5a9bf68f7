//! The servers that follow chats of this one, and what waits to be sent to them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tenon_bus::{Bus, MAX_NOTE_BYTES, json_batches};
use tenon_domain::ChatId;
use tokio::sync::Notify;
use tokio::time::interval;

use super::{LIVE, RelayedUpdate};
use crate::lock::lock;

/// How long updates are collected into one message: short enough not to be noticed.
const COLLECT_TIME: Duration = Duration::from_millis(40);

/// A follower that does not renew within this time is dropped.
const FOLLOW_TIME: Duration = Duration::from_secs(30);

/// A batch that is longer goes out at once; one update alone may take as much again.
const MAX_BATCH_BYTES: usize = MAX_NOTE_BYTES / 4;

/// For each other server: what does not fit is dropped, and shows by its offset.
const MAX_WAITING_UPDATES: usize = 20_000;

#[derive(Debug, Clone)]
pub(super) struct Followers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bus: Bus,
    /// How many chats are followed: asked for every delta.
    count: AtomicUsize,
    chats: Mutex<HashMap<ChatId, HashMap<Arc<str>, Instant>>>,
    waiting: Mutex<HashMap<Arc<str>, Vec<RelayedUpdate>>>,
    wake: Arc<Notify>,
}

impl Followers {
    pub(super) fn new(bus: Bus) -> Self {
        Self(Arc::new(Inner {
            bus,
            count: AtomicUsize::new(0),
            chats: Mutex::default(),
            waiting: Mutex::default(),
            wake: Arc::default(),
        }))
    }

    pub(super) fn start(&self) {
        let inner = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            let mut sweep = interval(FOLLOW_TIME);
            loop {
                let Some(wake) = inner.upgrade().map(|inner| inner.wake.clone()) else {
                    return;
                };
                let is_sweep = tokio::select! {
                    () = wake.notified() => false,
                    _ = sweep.tick() => true,
                };
                if !is_sweep {
                    tokio::time::sleep(COLLECT_TIME).await;
                }
                let Some(inner) = inner.upgrade() else { return };
                if is_sweep {
                    inner.drop_expired();
                } else {
                    inner.send_waiting();
                }
            }
        });
    }

    pub(super) fn has(&self, chat: &ChatId) -> bool {
        self.0.count.load(Ordering::Relaxed) > 0 && lock(&self.0.chats).contains_key(chat)
    }

    pub(super) fn add(&self, chat: &ChatId, server: &Arc<str>) {
        let mut chats = lock(&self.0.chats);
        let until = Instant::now() + FOLLOW_TIME;
        let servers = chats.entry(chat.clone()).or_default();
        servers.insert(server.clone(), until);
        self.0.count.store(chats.len(), Ordering::Relaxed);
    }

    pub(super) fn remove(&self, chat: &ChatId, server: &Arc<str>) {
        let mut chats = lock(&self.0.chats);
        if let Some(servers) = chats.get_mut(chat) {
            servers.remove(server);
            if servers.is_empty() {
                chats.remove(chat);
            }
        }
        self.0.count.store(chats.len(), Ordering::Relaxed);
    }

    pub(super) fn pass(&self, update: RelayedUpdate) {
        if self.0.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let servers: Vec<Arc<str>> = {
            let chats = lock(&self.0.chats);
            let Some(servers) = chats.get(update.chat()) else {
                return;
            };
            servers.keys().cloned().collect()
        };
        let mut waiting = lock(&self.0.waiting);
        for server in servers {
            let updates = waiting.entry(server).or_default();
            if !merge(updates, &update) && updates.len() < MAX_WAITING_UPDATES {
                updates.push(update.clone());
            }
        }
        drop(waiting);
        self.0.wake.notify_one();
    }
}

impl Inner {
    fn drop_expired(&self) {
        let mut chats = lock(&self.chats);
        let now = Instant::now();
        chats.retain(|_, servers| {
            servers.retain(|_, until| *until > now);
            !servers.is_empty()
        });
        self.count.store(chats.len(), Ordering::Relaxed);
    }

    fn send_waiting(&self) {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        for (server, updates) in waiting {
            for batch in json_batches(updates, MAX_BATCH_BYTES) {
                self.bus.notify(&server, LIVE, batch);
            }
        }
    }
}

/// Adds a delta to the one that it goes on with.
fn merge(updates: &mut [RelayedUpdate], update: &RelayedUpdate) -> bool {
    let RelayedUpdate::Delta(delta) = update else {
        return false;
    };
    let of_chat = |update: &&mut RelayedUpdate| *update.chat() == delta.chat_id;
    // Not across anything else that happened in the chat.
    match updates.iter_mut().rev().take(64).find(of_chat) {
        Some(RelayedUpdate::Delta(last))
            if last.message_id == delta.message_id
                && last.part == delta.part
                && last.kind == delta.kind
                && last.offset + last.text.encode_utf16().count() == delta.offset
                && last.text.len() < MAX_BATCH_BYTES =>
        {
            last.text.push_str(&delta.text);
            true
        }
        _ => false,
    }
}
