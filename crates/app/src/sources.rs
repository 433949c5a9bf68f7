//! The servers people have tools from: rows of the store and files of a folder,
//! kept running as they say.
//!
//! Whoever changes something writes it to the store and requests a sync; one task, the
//! reconciler, reads everything that is written and makes what runs the same. So it does not
//! matter who wrote: this process, another one, or a file. Where each person has their own
//! secrets or log-in, each has a server of their own.

mod check;
mod client;
mod config;
pub(crate) mod configured;
mod document_view;
mod documents;
mod edit;
mod entry;
mod error;
mod exclusive;
mod fill;
pub mod folder;
mod import;
mod input_error;
mod instance;
mod mask;
mod merge;
mod oauth;
mod openapi;
mod permits;
mod plan;
mod read_model;
mod reconciler;
mod requests;
mod rights;
mod secrets;
mod status_view;
mod time;
mod trust;
mod updates;
mod view;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tenon_domain::{SourceId, SourceState, UserId};
use tenon_sources::import::{ImportedServer, ServerEntryError};
use tenon_sources::openapi::{OpenapiError, OpenapiHttpClient};
use tenon_sources::{CallRoutes, Network, SupervisedServer};
use tenon_store::{Store, Vault};
use tenon_tools::Registry;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::CurrentUser;
use crate::lock::lock;
use entry::SourceEntry;
use exclusive::ExclusiveServers;
use instance::Instance;
use permits::UserPermits;
use plan::PlanInputs;
use updates::SourceUpdates;

pub use document_view::{
    DocumentChange, DocumentView, SchemeKindView, SchemeView, SkippedView, SourcePreview,
    ToolPreview,
};
pub use error::SourceError;
pub use folder::FileFault;
pub use import::{ImportOutcome, ImportReport};
pub use input_error::{SourceDenied, SourceFault, SourceIdle, SourceInputError};
pub use oauth::{CLIENT_NAME, LoginEndpoint, LoginTarget, OAuthService, PublicAddress};
pub use read_model::{
    CredentialKind, ImportedSource, LogLine, LoginState, MaskedValues, SecretView, ServerAbout,
    SourceDetail, SourceLimits, SourceOrigin, SourceReach, SourceUpdate,
};
pub use requests::{AddSource, ImportSources, NewSecret, SourceChange};
pub use status_view::{CauseView, StartupView};
pub(crate) use updates::{AddressedUpdate, UpdateSubscription};

/// How long somebody who changed something waits until it runs like that.
const SYNC_TIMEOUT: Duration = Duration::from_secs(15);

/// How long an ending server is waited for. A process that ignores us is killed sooner.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Limit of shutting down all servers, because the operator waits for it.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(8);

/// How often servers that are starting are polled.
const SETTLE_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How many requests for a sync may wait.
const SYNC_REQUESTS: usize = 64;

/// Cheap to clone.
#[derive(Clone)]
pub struct Sources(Arc<Inner>);

/// Whether this process is a server or a short command, which decides when servers are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunMode {
    /// Servers start at once and stay.
    Serving,
    /// This person's servers sleep until they are called; then the process is over.
    Once(UserId),
}

struct Inner {
    store: Store,
    vault: Arc<Vault>,
    registry: Arc<Registry>,
    start_permits: UserPermits,
    callers: OpenapiCallers,
    /// For parsing documents into tools.
    parse_permits: UserPermits,
    /// Uploaded documents are stored and removed one after the other, so that nobody removes what
    /// somebody else is about to need.
    uploads: Semaphore,
    run_mode: OnceLock<RunMode>,
    oauth: OAuthService,
    /// The way to what runs at another server.
    routes: CallRoutes,
    exclusive: ExclusiveServers,
    sync_requests: OnceLock<mpsc::Sender<SyncRequest>>,
    /// Nothing is started any more.
    closing: CancellationToken,
    /// Servers that are being stopped in the background.
    stopping: TaskTracker,
    updates: SourceUpdates,
    files: Mutex<Files>,
    /// What servers said about where to log in, when they asked for it.
    challenges: Mutex<BTreeMap<SourceId, Option<String>>>,
    snapshot: Mutex<Arc<SourcesSnapshot>>,
}

/// The HTTP clients for OpenAPI servers: one for each network policy.
#[derive(Default)]
struct OpenapiCallers {
    anywhere: OnceLock<OpenapiHttpClient>,
    public: OnceLock<OpenapiHttpClient>,
}

impl OpenapiCallers {
    fn of(&self, network: Network) -> Result<OpenapiHttpClient, OpenapiError> {
        let one = match network {
            Network::Anywhere => &self.anywhere,
            Network::PublicOnly => &self.public,
        };
        match one.get() {
            Some(caller) => Ok(caller.clone()),
            None => {
                let made = OpenapiHttpClient::new(network)?;
                Ok(one.get_or_init(|| made).clone())
            }
        }
    }
}

/// Answered once everything written before is running.
type SyncRequest = oneshot::Sender<()>;

/// The servers of each file of the watched folder, and of what an operator set.
type Files = BTreeMap<String, Vec<ImportedServer>>;

/// What there is, and what runs of it: a snapshot.
#[derive(Default, Clone)]
struct SourcesSnapshot {
    entries: BTreeMap<SourceId, Arc<SourceEntry>>,
    /// By the ids the registry knows them by.
    instances: BTreeMap<SourceId, Arc<Instance>>,
    facts: PlanInputs,
}

impl Sources {
    pub fn new(
        store: Store,
        vault: Arc<Vault>,
        registry: Arc<Registry>,
        routes: CallRoutes,
    ) -> Self {
        Self(Arc::new(Inner {
            oauth: OAuthService::new(store.clone(), vault.clone(), routes.bus().clone()),
            routes,
            exclusive: ExclusiveServers::default(),
            store,
            vault,
            registry,
            start_permits: UserPermits::for_starts(),
            callers: OpenapiCallers::default(),
            parse_permits: UserPermits::for_parses(),
            uploads: Semaphore::new(1),
            run_mode: OnceLock::new(),
            sync_requests: OnceLock::new(),
            closing: CancellationToken::new(),
            stopping: TaskTracker::new(),
            updates: SourceUpdates::default(),
            files: Mutex::default(),
            challenges: Mutex::default(),
            snapshot: Mutex::default(),
        }))
    }

    /// Takes in everything that is written down, and keeps it so from now on.
    /// Until this is called nothing runs.
    pub async fn open(&self, mode: RunMode) {
        let (sender, requests) = mpsc::channel(SYNC_REQUESTS);
        let is_open = self.0.run_mode.set(mode.clone()).is_err();
        if is_open || self.0.sync_requests.set(sender).is_err() {
            return;
        }
        if mode == RunMode::Serving && self.0.store.has_leases() {
            exclusive::serve_others(&self.0);
            tokio::spawn(exclusive::keep(Arc::downgrade(&self.0)));
        }
        tokio::spawn(reconciler::run(Arc::downgrade(&self.0), requests, mode));
        self.sync().await;
    }

    /// Returns once everything written before is running, or after a timeout.
    pub async fn sync(&self) {
        let Some(requests) = self.0.sync_requests.get() else {
            return;
        };
        let synced = async {
            let (request, done) = oneshot::channel();
            if requests.send(request).await.is_ok() {
                let _ = done.await;
            }
        };
        if timeout(SYNC_TIMEOUT, synced).await.is_err() {
            tracing::warn!("a change to the servers takes long to take effect");
        }
    }

    /// Waits for servers of somebody that were never up before, whose tools nobody knows yet.
    /// One that began longer ago than that is not waited for again.
    pub async fn settle(&self, user: &UserId, timeout: Duration) {
        let until = Instant::now() + timeout;
        let is_unknown = |instance: &Arc<Instance>| {
            let status = instance.status();
            instance
                .wanted
                .user
                .as_ref()
                .is_none_or(|owner| owner == user)
                && instance.began.elapsed() < timeout
                && status.tools == 0
                && status.state == SourceState::Starting
        };
        while Instant::now() < until && self.0.snapshot().instances.values().any(is_unknown) {
            tokio::time::sleep(SETTLE_POLL_INTERVAL).await;
        }
    }

    /// Ends all of them, within a bound: no process is left when this comes back.
    pub async fn close(&self) {
        self.0.closing.cancel();
        let all = async {
            let running = self.0.snapshot();
            // Waits for servers that are being started right now, so that they are stopped as well.
            tokio::join!(running.stop(), self.sync());
            let rest = std::mem::take(&mut *lock(&self.0.snapshot));
            rest.stop().await;
            self.0.stopping.close();
            self.0.stopping.wait().await;
            self.0.exclusive.give_all_back(&self.0.store).await;
        };
        if timeout(CLOSE_TIMEOUT, all).await.is_err() {
            tracing::warn!("some servers did not end before Tenon");
        }
    }

    /// What changes, for the feed of users.
    pub(crate) fn updates(&self) -> UpdateSubscription {
        self.0.updates.subscribe()
    }

    /// Replaces the servers of a file. Unchanged ones keep running.
    pub async fn put_file(&self, file: &str, mut found: Vec<ImportedServer>) {
        let turn = self.0.uploads.acquire().await.ok();
        for found in &mut found {
            // From here on it is in the store.
            let Some(document) = found.document.take() else {
                continue;
            };
            if let Err(error) = documents::store_uploaded(&self.0.store, &document).await {
                tracing::warn!(file, name = found.name, %error, "a document cannot be kept");
                found.config = Err(ServerEntryError::Other(FileFault::NotStored.into()));
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
    async fn forget_documents(&self, found: Option<Vec<ImportedServer>>) {
        let configs = found.into_iter().flatten().map(|found| found.config);
        for config in configs.flatten() {
            if let Err(error) = self.forget_document(&config).await {
                tracing::warn!(%error, "a document that nobody needs is still kept");
            }
        }
    }

    /// The value of a variable that everybody shares: a secret, or of the environment.
    pub async fn shared_value(&self, name: &str) -> Option<String> {
        let secret = secrets::open(&self.0, None, name).await;
        let secret = secret.unwrap_or_else(|error| {
            tracing::warn!(%error, name, "a secret cannot be used");
            None
        });
        secret.or_else(|| std::env::var(name).ok())
    }

    /// The log-ins of people at servers.
    pub fn oauth(&self) -> &OAuthService {
        &self.0.oauth
    }

    /// A server as somebody logs in there.
    pub async fn login_target(
        &self,
        user: &CurrentUser,
        id: &SourceId,
    ) -> Result<LoginTarget, SourceError> {
        let entry = self.visible(user, id)?;
        let facts = &self.0.snapshot().facts;
        let nobody = || SourceError::from(SourceInputError::NoLogin);
        let config = entry.config.as_ref().map_err(|_| nobody())?;
        let network = plan::network(&entry, config, facts, Some(&user.id));
        let whose = (&user.id, facts.trust(&entry), network);
        let target = fill::login_target(&self.0, id, config, whose).await;
        target.ok_or_else(nobody)
    }

    /// How to log in there. None: it has not asked for a log-in.
    pub async fn login_endpoint(
        &self,
        user: &CurrentUser,
        id: &SourceId,
    ) -> Result<Option<LoginEndpoint>, SourceError> {
        let entry = self.visible(user, id)?;
        if !entry.wants_login {
            return Ok(None);
        }
        let instance = self.0.snapshot().of(id, &user.id);
        let just_now = instance.and_then(|instance| instance.server.status().asks_login);
        // A challenge from a server at a personal address must not be used for another user's
        // log-in.
        let is_shared = |config| !plan::address_is_personal(config);
        let is_same = entry.config.as_ref().is_ok_and(is_shared);
        let once = || {
            let challenge = lock(&self.0.challenges).get(id).cloned().flatten();
            challenge.filter(|_| is_same)
        };
        let challenge = just_now.flatten().or_else(once);
        let endpoint = fill::login_endpoint(&self.0, &entry, &user.id, challenge).await?;
        Ok(Some(endpoint))
    }

    /// After a log-in or log-out: the user's connection is replaced or ended.
    pub async fn login_changed(&self, id: &SourceId, user: &UserId) {
        self.sync().await;
        if let Some(instance) = self.0.snapshot().of(id, user) {
            instance.server.restart();
        }
    }
}

impl Inner {
    fn snapshot(&self) -> Arc<SourcesSnapshot> {
        lock(&self.snapshot).clone()
    }

    /// Asks for a sync without waiting for it: where the queue is full, one is coming anyway.
    fn request_sync(&self) {
        if let Some(requests) = self.sync_requests.get() {
            let _ = requests.try_send(oneshot::channel().0);
        }
    }
}

impl SourcesSnapshot {
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

    async fn stop(&self) {
        for instance in self.instances.values() {
            instance.disconnect().await;
        }
        stop_all(self.instances.values().map(|instance| &instance.server)).await;
    }
}

/// Ends servers side by side, within a bound.
async fn stop_all(servers: impl Iterator<Item = &Arc<dyn SupervisedServer>>) {
    let stopping = join_all(servers.map(|server| server.stop()));
    if timeout(STOP_TIMEOUT, stopping).await.is_err() {
        tracing::warn!("some servers did not end in time");
    }
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<SourceId> = self.0.snapshot().entries.keys().cloned().collect();
        f.debug_tuple("Sources").field(&ids).finish()
    }
}
