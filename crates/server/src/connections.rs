//! The open connections, and which of them is closed when there are too many.
//!
//! Anonymous connections share a part of the limit, where the oldest is closed for the newest:
//! probes and log-ins always get through. The rest belongs to users, where a connection of
//! whoever has the most is closed.

mod self_wakes;
mod serve;
mod stream;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenon_domain::UserId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use serve::{RequestHandler, serve};

/// Ten tabs each for some hundred users, and below the usual limit of open files.
const MAX_CONNECTIONS: usize = 4096;

/// With fewer, the shares of anonymous peers and of one user round down to nothing.
const MIN_CONNECTIONS: usize = 16;

/// A new connection is not evicted before this, so that its request arrives even in a burst of
/// connections.
const MIN_CONNECTION_AGE: Duration = Duration::from_millis(100);

/// How much later than idle ones an anonymous connection with a request in flight is evicted:
/// long enough to authenticate it, or to answer.
const ANSWER_GRACE: Duration = Duration::from_secs(2);

/// All that are open. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Connections(Arc<ConnectionTable>);

#[derive(Debug)]
struct ConnectionTable {
    limits: ConnectionLimits,
    started: Instant,
    next: AtomicU64,
    open: Mutex<HashMap<u64, OpenConnection>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ConnectionLimits {
    anonymous: usize,
    known: usize,
    user: usize,
}

#[derive(Debug)]
struct OpenConnection {
    owner: Owner,
    connection: Arc<ConnectionState>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Owner {
    /// Has not shown who they are.
    Anonymous(IpAddr),
    User(UserId),
}

/// One connection. Requests find it among their extensions.
#[derive(Debug, Clone)]
pub(crate) struct ClientConnection(Arc<ConnectionState>);

#[derive(Debug)]
struct ConnectionState {
    id: u64,
    table: Arc<ConnectionTable>,
    close: CancellationToken,
    has_asked: AtomicBool,
    /// From when on it makes way for others while nobody knows whose it is: since it last had
    /// nothing to answer, or a while after it last had. In milliseconds since the start.
    idle_since: AtomicU64,
    /// When bytes were last taken or given, in milliseconds since the start.
    active: AtomicU64,
}

impl Connections {
    /// `max` is what the operator wants; never more than the process may have open.
    pub(crate) fn new(max: Option<usize>) -> Self {
        Self(Arc::new(ConnectionTable {
            limits: ConnectionLimits::new(max.unwrap_or(MAX_CONNECTIONS).min(most_files())),
            started: Instant::now(),
            next: AtomicU64::new(0),
            open: Mutex::default(),
        }))
    }

    /// How long to pause accepting, so that no connection is evicted within [`MIN_CONNECTION_AGE`].
    /// New ones wait in the listen backlog meanwhile.
    fn accept_delay(&self) -> Option<Duration> {
        let open = self.0.open();
        let anonymous = open.values().filter(|entry| entry.owner.is_anonymous());
        let since = anonymous.map(|entry| entry.connection.idle_since.load(Ordering::Relaxed));
        let (count, oldest) = since.fold((0, u64::MAX), |(count, oldest), since| {
            (count + 1, oldest.min(since))
        });
        let age = Duration::from_millis(self.0.now().checked_sub(oldest)?);
        let wait = MIN_CONNECTION_AGE.checked_sub(age)?;
        (count >= self.0.limits.anonymous && !wait.is_zero()).then_some(wait)
    }

    /// Registers a connection. Above the limit of anonymous ones the oldest of them is evicted.
    fn open(&self, peer: IpAddr) -> ClientConnection {
        let table = &self.0;
        let id = table.next.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(ConnectionState {
            id,
            table: table.clone(),
            close: CancellationToken::new(),
            has_asked: AtomicBool::new(false),
            idle_since: AtomicU64::new(table.now()),
            active: AtomicU64::new(table.now()),
        });
        let entry = OpenConnection {
            owner: Owner::Anonymous(peer.to_canonical()),
            connection: connection.clone(),
        };
        let mut open = table.open();
        open.insert(id, entry);
        let anonymous = open.values().filter(|entry| entry.owner.is_anonymous());
        if anonymous.count() > table.limits.anonymous {
            table.close_oldest_anonymous(&mut open, Some(id));
        }
        drop(open);
        ClientConnection(connection)
    }

    /// Closes a connection when the system has no file descriptors left.
    fn close_one(&self) {
        let mut open = self.0.open();
        self.0.close_oldest_anonymous(&mut open, None);
    }
}

impl ConnectionLimits {
    fn new(max: usize) -> Self {
        let max = max.max(MIN_CONNECTIONS);
        let anonymous = max / 4;
        let known = max - anonymous;
        Self {
            anonymous,
            known,
            user: known / 2,
        }
    }
}

impl Owner {
    fn is_anonymous(&self) -> bool {
        matches!(self, Self::Anonymous(_))
    }
}

impl ConnectionTable {
    fn open(&self) -> MutexGuard<'_, HashMap<u64, OpenConnection>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The oldest one of the address that has the most. Behind a proxy all have the same.
    fn close_oldest_anonymous(&self, open: &mut HashMap<u64, OpenConnection>, except: Option<u64>) {
        let largest = largest_owner(open, Owner::is_anonymous);
        let oldest = open
            .iter()
            .filter(|(id, entry)| Some(&entry.owner) == largest.as_ref() && Some(**id) != except)
            .min_by_key(|(id, entry)| (entry.connection.idle_since.load(Ordering::Relaxed), **id))
            .map(|(id, _)| *id);
        close(open, oldest);
    }

    /// Closes the least recently active connection of an owner.
    fn close_least_active(
        &self,
        open: &mut HashMap<u64, OpenConnection>,
        owner: &Owner,
        except: u64,
    ) {
        let least = open
            .iter()
            .filter(|(id, entry)| entry.owner == *owner && **id != except)
            .min_by_key(|(id, entry)| (entry.connection.active.load(Ordering::Relaxed), **id))
            .map(|(id, _)| *id);
        close(open, least);
    }
}

/// The owner with the most connections, among those given.
fn largest_owner(
    open: &HashMap<u64, OpenConnection>,
    counts: impl Fn(&Owner) -> bool,
) -> Option<Owner> {
    let mut owners: HashMap<&Owner, usize> = HashMap::new();
    for entry in open.values().filter(|entry| counts(&entry.owner)) {
        *owners.entry(&entry.owner).or_default() += 1;
    }
    let most = owners.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(owner, _)| owner.clone())
}

fn close(open: &mut HashMap<u64, OpenConnection>, id: Option<u64>) {
    if let Some(entry) = id.and_then(|id| open.remove(&id)) {
        entry.connection.close.cancel();
    }
}

impl ClientConnection {
    /// Somebody has shown over it who they are.
    pub(crate) fn identify(&self, user: &UserId) {
        let table = &self.0.table;
        let mut open = table.open();
        let Some(entry) = open.get_mut(&self.0.id) else {
            return;
        };
        if matches!(&entry.owner, Owner::User(known) if known == user) {
            return;
        }
        let owner = Owner::User(user.clone());
        entry.owner = owner.clone();
        let theirs = open.values().filter(|entry| entry.owner == owner).count();
        if theirs > table.limits.user {
            table.close_least_active(&mut open, &owner, self.0.id);
            return;
        }
        let known = open.values().filter(|entry| !entry.owner.is_anonymous());
        if known.count() > table.limits.known
            && let Some(largest) = largest_owner(&open, |owner| !owner.is_anonymous())
        {
            table.close_least_active(&mut open, &largest, self.0.id);
        }
    }

    /// A request is there with all its headers.
    fn begin_answer(&self) {
        self.0.has_asked.store(true, Ordering::Relaxed);
        let grace = ANSWER_GRACE.as_millis() as u64;
        let until = self.0.table.now() + grace;
        self.0.idle_since.store(until, Ordering::Relaxed);
    }

    fn end_answer(&self) {
        let now = self.0.table.now();
        self.0.idle_since.store(now, Ordering::Relaxed);
    }

    fn touch(&self) {
        self.0.active.store(self.0.table.now(), Ordering::Relaxed);
    }

    /// It is over.
    fn leave(&self) {
        self.0.table.open().remove(&self.0.id);
    }
}

/// Most of the files that the process may have open; the rest is for databases, servers and
/// what tools read.
fn most_files() -> usize {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        limit.map_or(usize::MAX, |files| {
            usize::try_from(files / 4 * 3).unwrap_or(usize::MAX)
        })
    }
    #[cfg(not(unix))]
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open(connection: &ClientConnection) -> bool {
        !connection.0.close.is_cancelled()
    }

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn the_oldest_stranger_of_the_most_crowded_address_makes_way() {
        let connections = Connections::new(Some(16));
        let alone = connections.open(peer(1));
        let crowd: Vec<_> = (0..4).map(|_| connections.open(peer(2))).collect();
        assert!(is_open(&alone));
        let open: Vec<bool> = crowd.iter().map(is_open).collect();
        assert_eq!(open, [false, true, true, true]);
        // One that is being answered stays longer.
        crowd[1].begin_answer();
        let _newest = connections.open(peer(2));
        let open: Vec<bool> = crowd.iter().map(is_open).collect();
        assert_eq!(open, [false, true, false, true]);
    }

    #[test]
    fn strangers_take_no_room_from_users_nor_one_user_all_of_it() {
        let connections = Connections::new(Some(16));
        let of = |user: &str| {
            let connection = connections.open(peer(1));
            connection.identify(&UserId::new(user));
            connection
        };
        let ada = of("ada");
        let eves: Vec<_> = (0..20).map(|_| of("eve")).collect();
        assert_eq!(eves.iter().filter(|one| is_open(one)).count(), 6);
        let bobs: Vec<_> = (0..6).map(|_| of("bob")).collect();
        let strangers: Vec<_> = (0..50).map(|_| connections.open(peer(3))).collect();
        assert_eq!(strangers.iter().filter(|one| is_open(one)).count(), 4);
        assert!(is_open(&ada) && is_open(&bobs[5]));
        assert!(connections.0.open().len() <= 16);
        bobs[5].leave();
        assert!(is_open(&of("bob")));
    }
}
