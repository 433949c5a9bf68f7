//! Sessions of the handshake era over Streamable HTTP.
//!
//! A session is memory and nothing else: no task runs for it. So it costs nothing to keep one for a
//! client that may come back, and the one that was idle the longest goes when there are too many.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::event_stream::EventStream;
use super::handshake::HandshakeState;
use super::request_table::RequestTable;

pub(super) const MAX_SESSIONS: usize = 10_000;

/// A client that was silent for so long begins anew.
pub(super) const SESSION_IDLE_TIME: Duration = Duration::from_secs(4 * 60 * 60);

/// When there are too many, this share of them goes at once: to look for the oldest is not free.
const EVICTED_SHARE: usize = 100;

const SHARDS: usize = 32;

type SessionShard<C> = RwLock<HashMap<u128, Arc<ServerSession<C>>>>;

pub(super) struct SessionStore<C> {
    shards: [SessionShard<C>; SHARDS],
    count: AtomicUsize,
    created: Instant,
}

pub(super) struct ServerSession<C> {
    id: u128,
    pub(super) caller: C,
    pub(super) handshake: HandshakeState,
    pub(super) requests: Arc<RequestTable>,
    pub(super) closed: CancellationToken,
    streams: Mutex<SessionStreams>,
    /// In milliseconds since the store was made.
    last_used: AtomicU64,
    /// Requests and streams under way.
    uses: AtomicUsize,
}

#[derive(Debug, Default)]
struct SessionStreams {
    /// Responses that a client may come back for.
    responses: HashMap<u64, Arc<EventStream>>,
    last_number: u64,
    /// Ends the stream of notifications that is open.
    listener: Option<CancellationToken>,
}

/// A session in use, which stays.
pub(super) struct SessionLease<C>(Arc<ServerSession<C>>);

impl<C> SessionStore<C> {
    pub(super) fn new() -> Self {
        Self {
            shards: std::array::from_fn(|_| RwLock::default()),
            count: AtomicUsize::new(0),
            created: Instant::now(),
        }
    }

    /// None: all sessions there may be are in use.
    pub(super) fn insert(&self, caller: C, handshake: HandshakeState) -> Option<SessionLease<C>> {
        if self.count.load(Ordering::Relaxed) >= MAX_SESSIONS && !self.evict() {
            return None;
        }
        let session = Arc::new(ServerSession {
            id: Uuid::new_v4().as_u128(),
            caller,
            handshake,
            requests: Arc::default(),
            closed: CancellationToken::new(),
            streams: Mutex::default(),
            last_used: AtomicU64::new(self.now()),
            uses: AtomicUsize::new(0),
        });
        write(self.shard(session.id)).insert(session.id, Arc::clone(&session));
        self.count.fetch_add(1, Ordering::Relaxed);
        Some(SessionLease::new(session))
    }

    pub(super) fn get(&self, id: &str) -> Option<SessionLease<C>> {
        let id = Uuid::try_parse(id).ok()?.as_u128();
        let shard = self.shard(id).read();
        let session = Arc::clone(shard.unwrap_or_else(PoisonError::into_inner).get(&id)?);
        let now = self.now();
        let last_used = session.last_used.swap(now, Ordering::Relaxed);
        let is_idle = session.uses.load(Ordering::Relaxed) == 0;
        if is_idle && now.saturating_sub(last_used) > SESSION_IDLE_TIME.as_millis() as u64 {
            self.remove(&session);
            return None;
        }
        Some(SessionLease::new(session))
    }

    pub(super) fn remove(&self, session: &ServerSession<C>) {
        let removed = write(self.shard(session.id)).remove(&session.id);
        if let Some(session) = removed {
            self.count.fetch_sub(1, Ordering::Relaxed);
            session.close();
        }
    }

    /// Makes room by the sessions that were idle the longest. False: none is idle.
    fn evict(&self) -> bool {
        let mut idle = Vec::new();
        for shard in &self.shards {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            let sessions = shard.values();
            let sessions = sessions.filter(|session| session.uses.load(Ordering::Relaxed) == 0);
            idle.extend(sessions.cloned());
        }
        idle.sort_unstable_by_key(|session| session.last_used.load(Ordering::Relaxed));
        let count = MAX_SESSIONS / EVICTED_SHARE;
        idle.iter()
            .take(count)
            .for_each(|session| self.remove(session));
        !idle.is_empty()
    }

    fn shard(&self, id: u128) -> &SessionShard<C> {
        &self.shards[(id % SHARDS as u128) as usize]
    }

    fn now(&self) -> u64 {
        self.created.elapsed().as_millis() as u64
    }
}

impl<C> ServerSession<C> {
    pub(super) fn id(&self) -> String {
        Uuid::from_u128(self.id).simple().to_string()
    }

    /// Ends what the client listened to before: it has lost it, or does not want it any more.
    pub(super) fn begin_listening(&self) -> CancellationToken {
        let token = self.closed.child_token();
        let replaced = self.streams().listener.replace(token.clone());
        if let Some(replaced) = replaced {
            replaced.cancel();
        }
        token
    }

    pub(super) fn add_stream(&self, has_priming: bool) -> Arc<EventStream> {
        let mut streams = self.streams();
        streams.last_number += 1;
        let stream = Arc::new(EventStream::new(streams.last_number, has_priming));
        streams
            .responses
            .insert(stream.number(), Arc::clone(&stream));
        stream
    }

    pub(super) fn stream(&self, number: u64) -> Option<Arc<EventStream>> {
        self.streams().responses.get(&number).cloned()
    }

    pub(super) fn remove_stream(&self, stream: &EventStream) {
        self.streams().responses.remove(&stream.number());
    }

    fn close(&self) {
        self.closed.cancel();
        self.requests.cancel_all();
    }

    fn streams(&self) -> MutexGuard<'_, SessionStreams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> SessionLease<C> {
    fn new(session: Arc<ServerSession<C>>) -> Self {
        session.uses.fetch_add(1, Ordering::Relaxed);
        Self(session)
    }
}

impl<C> std::ops::Deref for SessionLease<C> {
    type Target = ServerSession<C>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<C> Drop for SessionLease<C> {
    fn drop(&mut self) {
        self.0.uses.fetch_sub(1, Ordering::Relaxed);
    }
}

fn write<C>(
    shard: &SessionShard<C>,
) -> std::sync::RwLockWriteGuard<'_, HashMap<u128, Arc<ServerSession<C>>>> {
    shard.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::ClientProfile;

    fn insert(store: &SessionStore<()>) -> Option<SessionLease<()>> {
        store.insert((), HandshakeState::new(ClientProfile::default()))
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_so_many_sessions_and_the_oldest_idle_ones_go_first() {
        let store = SessionStore::new();
        let busy = insert(&store).unwrap();
        let oldest = insert(&store).unwrap().id();
        tokio::time::advance(Duration::from_secs(1)).await;
        let newer: Vec<String> = (2..MAX_SESSIONS)
            .map(|_| insert(&store).unwrap().id())
            .collect();
        assert!(store.get(&oldest).is_some(), "there was room");
        tokio::time::advance(Duration::from_secs(1)).await;
        for id in &newer {
            assert!(store.get(id).is_some());
        }
        insert(&store).unwrap();
        assert!(store.get(&oldest).is_none());
        assert!(store.get(&busy.id()).is_some());
        assert!(store.count.load(Ordering::Relaxed) <= MAX_SESSIONS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_nobody_uses_ends() {
        let store = SessionStore::new();
        let id = insert(&store).unwrap().id();
        tokio::time::advance(SESSION_IDLE_TIME).await;
        assert!(store.get(&id).is_some());
        tokio::time::advance(SESSION_IDLE_TIME + Duration::from_secs(1)).await;
        assert!(store.get(&id).is_none());
        assert_eq!(store.count.load(Ordering::Relaxed), 0);
    }
}
