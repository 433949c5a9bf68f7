//! The servers people have tools from: rows of the store and files of a folder,
//! kept running as they say.
//!
//! Whoever changes something writes it down and rings; one task looks at
//! everything that is written and makes what runs the same (`keeper.rs`). So it
//! does not matter who wrote: this process, another one, or a file. Where each
//! person has their own secrets or log-in, each has a server of their own.

mod check;
mod client;
mod config;
mod documents;
mod edit;
mod entry;
mod fill;
pub(crate) mod fixed;
pub(crate) mod folder;
mod import;
mod instance;
mod keeper;
mod login;
mod mask;
mod merge;
mod news;
mod openapi;
mod plan;
mod running;
mod secrets;
mod time;
mod turns;
mod view;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tenon_domain::{SourceId, SourceState, UserId};
use tenon_sources::Network;
use tenon_sources::import::Found;
use tenon_sources::openapi::Caller;
use tenon_store::{Store, Vault};
use tenon_tools::Registry;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::CurrentUser;
use entry::Entry;
use instance::Instance;
use news::News;
use plan::Facts;
use running::Server;
use turns::Turns;

pub use edit::Refusal;
pub use import::{Imported, Outcome};
pub use login::{Doorway, Entrance, Here, Place};
pub use news::{Told, Viewer};

/// How long somebody who changed something waits until it runs like that.
const SYNC: Duration = Duration::from_secs(15);

/// How long an ending server is waited for. A process that ignores us is killed sooner.
const STOP: Duration = Duration::from_secs(10);

/// How long the end of all of them takes at most: whoever ends Tenon waits for it.
const CLOSE: Duration = Duration::from_secs(8);

/// How often servers that are on their way up are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// How many changes may wait to be seen to.
const RINGS: usize = 64;

/// Cheap to clone.
#[derive(Clone)]
pub struct Sources(Arc<Inner>);

/// How long this process stays, and so when servers are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Life {
    /// Servers start at once and stay.
    Serving,
    /// This person's servers sleep until they are called; then the process is over.
    Once(UserId),
}

struct Inner {
    store: Store,
    vault: Arc<Vault>,
    registry: Arc<Registry>,
    turns: Turns,
    callers: Callers,
    /// Who reads documents into tools.
    parses: Turns,
    /// What people give is kept and forgotten one after the other, so that nobody
    /// forgets what somebody else is about to need.
    giving: Semaphore,
    life: OnceLock<Life>,
    entrance: Entrance,
    bell: OnceLock<mpsc::Sender<Ring>>,
    /// Nothing is started any more.
    closing: CancellationToken,
    /// The ends of servers that nobody waits for before then.
    endings: TaskTracker,
    news: News,
    files: Mutex<Files>,
    /// What servers said about where to log in, when they asked for it.
    challenges: Mutex<BTreeMap<SourceId, Option<String>>>,
    seen: Mutex<Arc<Seen>>,
}

/// Who sends requests to OpenAPI servers: one for each rule about where they may be.
#[derive(Default)]
struct Callers {
    anywhere: OnceLock<Caller>,
    public: OnceLock<Caller>,
}

impl Callers {
    fn of(&self, network: Network) -> Result<Caller, String> {
        let one = match network {
            Network::Anywhere => &self.anywhere,
            Network::PublicOnly => &self.public,
        };
        match one.get() {
            Some(caller) => Ok(caller.clone()),
            None => {
                let made = Caller::new(network)?;
                Ok(one.get_or_init(|| made).clone())
            }
        }
    }
}

/// Told when what was written by now has been seen to.
type Ring = oneshot::Sender<()>;

/// The servers of each file of the watched folder, and of what an operator set.
type Files = BTreeMap<String, Vec<Found>>;

/// What there is, and what runs of it: a snapshot.
#[derive(Default, Clone)]
struct Seen {
    entries: BTreeMap<SourceId, Arc<Entry>>,
    /// By the ids the registry knows them by.
    instances: BTreeMap<SourceId, Arc<Instance>>,
    facts: Facts,
}

impl Sources {
    pub fn new(store: Store, vault: Arc<Vault>, registry: Arc<Registry>) -> Self {
        Self(Arc::new(Inner {
            entrance: Entrance::new(store.clone(), vault.clone()),
            store,
            vault,
            registry,
            turns: Turns::for_starts(),
            callers: Callers::default(),
            parses: Turns::for_parses(),
            giving: Semaphore::new(1),
            life: OnceLock::new(),
            bell: OnceLock::new(),
            closing: CancellationToken::new(),
            endings: TaskTracker::new(),
            news: News::default(),
            files: Mutex::default(),
            challenges: Mutex::default(),
            seen: Mutex::default(),
        }))
    }

    /// Takes in everything that is written down, and keeps it so from now on.
    /// Until this is called nothing runs.
    pub async fn open(&self, life: Life) {
        let (bell, rings) = mpsc::channel(RINGS);
        if self.0.life.set(life.clone()).is_err() || self.0.bell.set(bell).is_err() {
            return;
        }
        tokio::spawn(keeper::keep(Arc::downgrade(&self.0), rings, life));
        self.sync().await;
    }

    /// Comes back when what is written by now runs, or after a while in any case.
    pub async fn sync(&self) {
        let Some(bell) = self.0.bell.get() else {
            return;
        };
        let seen_to = async {
            let (ring, done) = oneshot::channel();
            if bell.send(ring).await.is_ok() {
                let _ = done.await;
            }
        };
        if timeout(SYNC, seen_to).await.is_err() {
            tracing::warn!("a change to the servers takes long to take effect");
        }
    }

    /// Waits for servers of somebody that were never up before, whose tools nobody knows yet.
    /// One that began longer ago than that is not waited for again.
    pub async fn settle(&self, user: &UserId, patience: Duration) {
        let until = Instant::now() + patience;
        let is_unknown = |instance: &Arc<Instance>| {
            let status = instance.status();
            instance
                .wanted
                .user
                .as_ref()
                .is_none_or(|owner| owner == user)
                && instance.began.elapsed() < patience
                && status.tools == 0
                && status.state == SourceState::Starting
        };
        while Instant::now() < until && self.0.seen().instances.values().any(is_unknown) {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Ends all of them, within a bound: no process is left when this comes back.
    pub async fn close(&self) {
        self.0.closing.cancel();
        let all = async {
            let running = self.0.seen();
            // What is being started right now is there to be ended after this.
            tokio::join!(running.end(), self.sync());
            let rest = std::mem::take(&mut *lock(&self.0.seen));
            rest.end().await;
            self.0.endings.close();
            self.0.endings.wait().await;
        };
        if timeout(CLOSE, all).await.is_err() {
            tracing::warn!("some servers did not end before Tenon");
        }
    }

    /// What changes, as those who have a socket open hear of it.
    pub fn news(&self) -> Viewer {
        self.0.news.listen()
    }

    /// The servers a file holds from now on. Those that are as they were keep running.
    pub async fn put_file(&self, file: &str, mut found: Vec<Found>) {
        let turn = self.0.giving.acquire().await.ok();
        for found in &mut found {
            // From here on it is in the store.
            let Some(document) = found.document.take() else {
                continue;
            };
            if let Err(error) = documents::keep_given(&self.0.store, &document).await {
                tracing::warn!(file, name = found.name, %error, "a document cannot be kept");
                found.config = Err("Its document cannot be kept.".into());
            }
        }
        let before = lock(&self.0.files).insert(file.to_owned(), found);
        drop(turn);
        self.sync().await;
        self.forget_documents(before).await;
    }

    pub async fn remove_file(&self, file: &str) {
        let before = lock(&self.0.files).remove(file);
        self.sync().await;
        self.forget_documents(before).await;
    }

    /// Forgets the documents that came with servers, if nobody has them any more.
    async fn forget_documents(&self, found: Option<Vec<Found>>) {
        let configs = found.into_iter().flatten().map(|found| found.config);
        for config in configs.flatten() {
            if let Err(error) = self.forget_document(&config).await {
                tracing::warn!(%error, "a document that nobody needs is still kept");
            }
        }
    }

    /// Where people come in who log in somewhere.
    pub fn entrance(&self) -> &Entrance {
        &self.0.entrance
    }

    /// A server as somebody logs in there.
    pub async fn place(&self, user: &CurrentUser, id: &SourceId) -> Result<Place, Refusal> {
        let entry = self.visible(user, id)?;
        let facts = &self.0.seen().facts;
        let nobody = || edit::wrong("Nobody logs in at this server.");
        let config = entry.config.as_ref().map_err(|_| nobody())?;
        let network = plan::network(&entry, config, facts, Some(&user.id));
        let whose = (&user.id, facts.trust(&entry), network);
        let place = fill::place(&self.0, id, config, whose).await;
        place.ok_or_else(nobody)
    }

    /// How to get in there. None: it has not asked who comes.
    pub async fn doorway(
        &self,
        user: &CurrentUser,
        id: &SourceId,
    ) -> Result<Option<Doorway>, Refusal> {
        let entry = self.visible(user, id)?;
        if !entry.wants_login {
            return Ok(None);
        }
        let instance = self.0.seen().of(id, &user.id);
        let just_now = instance.and_then(|instance| instance.server.status().asks_login);
        // What a server of somebody else's choice said is not for this one.
        let is_shared = |config| !plan::address_is_personal(config);
        let is_same = entry.config.as_ref().is_ok_and(is_shared);
        let once = || {
            let challenge = lock(&self.0.challenges).get(id).cloned().flatten();
            challenge.filter(|_| is_same)
        };
        let challenge = just_now.flatten().or_else(once);
        let doorway = fill::doorway(&self.0, &entry, &user.id, challenge).await?;
        Ok(Some(doorway))
    }

    /// Somebody has logged in there or out again: their connection is made anew, or ended.
    pub async fn login_changed(&self, id: &SourceId, user: &UserId) {
        self.sync().await;
        if let Some(instance) = self.0.seen().of(id, user) {
            instance.server.restart();
        }
    }
}

impl Inner {
    fn seen(&self) -> Arc<Seen> {
        lock(&self.seen).clone()
    }

    /// Rings without waiting for anything: a full bell is rung already.
    fn ring(&self) {
        if let Some(bell) = self.bell.get() {
            let _ = bell.try_send(oneshot::channel().0);
        }
    }
}

impl Seen {
    /// The server that somebody's calls go to.
    fn of(&self, id: &SourceId, user: &UserId) -> Option<Arc<Instance>> {
        let shared = self.instances.get(id);
        let own = || self.instances.get(&plan::personal_id(id, user));
        shared.or_else(own).cloned()
    }

    /// All servers that run for an entry, whoever they are for.
    fn all_of(&self, id: &SourceId) -> Vec<Arc<Instance>> {
        let all = self.instances.values();
        let of_it = all.filter(|instance| instance.wanted.source == *id);
        of_it.cloned().collect()
    }

    async fn end(&self) {
        for instance in self.instances.values() {
            instance.leave().await;
        }
        stop_all(self.instances.values().map(|instance| &instance.server)).await;
    }
}

/// Ends servers side by side, within a bound.
async fn stop_all(servers: impl Iterator<Item = &Server>) {
    let stopping = join_all(servers.map(|server| server.stop()));
    if timeout(STOP, stopping).await.is_err() {
        tracing::warn!("some servers did not end in time");
    }
}

/// Nothing here panics with a lock in hand in a way that leaves half a thing behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<SourceId> = self.0.seen().entries.keys().cloned().collect();
        f.debug_tuple("Sources").field(&ids).finish()
    }
}
