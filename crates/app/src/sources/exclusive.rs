//! Servers that run once in a cluster: which process runs which.
//!
//! A named lease in the database says so. Whoever gets it runs the server; the others send their
//! calls there ([`RemoteServer`](tenon_sources::RemoteServer)), and try to get it now and then.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures::future::join_all;
use tenon_bus::IncomingRequest;
use tenon_domain::{SourceConfig, SourceId, ToolResult};
use tenon_sources::{
    REMOTE_CALL, REMOTE_LOGS, REMOTE_RESTART, REMOTE_TOOLS, RemoteServerCall, RemoteServerTools,
};
use tenon_store::{LeaseHolder, Store};
use tokio::time::{Instant, timeout};
use tracing::Instrument;

use super::instance::Instance;
use super::plan::DesiredServer;
use super::{Inner, RunMode, lock};

const LEASE_TIME: Duration = Duration::from_secs(15);
const RENEW_INTERVAL: Duration = Duration::from_secs(2);
const LEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// Long before others may have it: a server needs some seconds to end.
const GIVE_UP_AFTER: Duration = Duration::from_secs(7);

/// How many people press *Restart* at once.
const RESTART_QUEUE: usize = 16;

/// The holder of each exclusive server's lease, as last read by this process.
#[derive(Default)]
pub(super) struct ExclusiveServers(Mutex<BTreeMap<SourceId, ExclusiveLease>>);

struct ExclusiveLease {
    holder: LeaseHolder,
    /// When the database was asked.
    asked: Instant,
}

impl ExclusiveLease {
    /// The cached holder, or `Unknown` if the cache is older than a lease can last.
    fn holder(&self) -> LeaseHolder {
        if self.asked.elapsed() < GIVE_UP_AFTER {
            self.holder.clone()
        } else {
            LeaseHolder::Unknown
        }
    }
}

impl ExclusiveServers {
    /// Who runs which: another answer means another plan.
    pub(super) fn holders(&self) -> BTreeMap<SourceId, LeaseHolder> {
        let leases = lock(&self.0);
        let holders = leases.iter();
        holders
            .map(|(id, lease)| (id.clone(), lease.holder()))
            .collect()
    }

    fn holder(&self, id: &SourceId) -> Option<LeaseHolder> {
        lock(&self.0).get(id).map(ExclusiveLease::holder)
    }

    /// Whether this process may run a server. Others than exclusive ones everybody may.
    fn may_run(&self, id: &SourceId) -> bool {
        self.holder(id)
            .is_none_or(|holder| holder == LeaseHolder::This)
    }

    /// Says of each where it runs, and returns just that. The leases of those that are not wanted
    /// any more are given back.
    pub(super) async fn place(
        &self,
        store: &Store,
        mode: &RunMode,
        wanted: &mut BTreeMap<SourceId, DesiredServer>,
    ) -> BTreeMap<SourceId, LeaseHolder> {
        let mut placed = BTreeMap::new();
        // A command is gone soon: it has one of its own.
        if *mode != RunMode::Serving || !store.has_leases() {
            return placed;
        }
        for (id, server) in wanted.iter_mut().filter(|(_, server)| is_exclusive(server)) {
            server.runs_at = match self.holder(id) {
                Some(holder) => holder,
                None => self.begin(store, id).await,
            };
            placed.insert(id.clone(), server.runs_at.clone());
        }
        let gone: Vec<SourceId> = {
            let mut leases = lock(&self.0);
            let gone = leases.extract_if(.., |id, _| !placed.contains_key(id));
            gone.map(|(id, _)| id).collect()
        };
        join_all(gone.iter().map(|id| give_back(store, id))).await;
        placed
    }

    async fn begin(&self, store: &Store, id: &SourceId) -> LeaseHolder {
        let lease = ask(store, id).await.unwrap_or_else(|| ExclusiveLease {
            holder: LeaseHolder::Unknown,
            asked: Instant::now(),
        });
        let holder = lease.holder();
        lock(&self.0).insert(id.clone(), lease);
        holder
    }

    async fn renew(&self, store: &Store) {
        let ids: Vec<SourceId> = lock(&self.0).keys().cloned().collect();
        join_all(ids.iter().map(|id| self.renew_one(store, id))).await;
    }

    /// Renews one lease. While the database is unreachable, the last answer stands.
    async fn renew_one(&self, store: &Store, id: &SourceId) {
        let Some(asked) = ask(store, id).await else {
            return;
        };
        let is_unwanted = {
            let mut leases = lock(&self.0);
            match leases.get_mut(id) {
                Some(lease) => {
                    // The lease may have been dropped and taken again in the meantime, so the newer
                    // answer wins.
                    if lease.asked < asked.asked {
                        *lease = asked;
                    }
                    false
                }
                None => asked.holder == LeaseHolder::This,
            }
        };
        // The server was removed while the lease was being taken, so give the lease back.
        if is_unwanted {
            give_back(store, id).await;
        }
    }

    /// Others may run them at once.
    pub(super) async fn give_all_back(&self, store: &Store) {
        let ids: Vec<SourceId> = std::mem::take(&mut *lock(&self.0)).into_keys().collect();
        join_all(ids.iter().map(|id| give_back(store, id))).await;
    }
}

/// Renews the leases until the last handle to the sources is dropped, and ends the servers whose
/// lease is lost. Nothing here waits for the database longer than a lease allows.
pub(super) async fn keep(inner: Weak<Inner>) {
    let mut known = BTreeMap::new();
    loop {
        let Some(inner) = inner.upgrade() else { return };
        if inner.closing.is_cancelled() {
            return;
        }
        inner.exclusive.renew(&inner.store).await;
        let holders = inner.exclusive.holders();
        // Each time: a server may have been started by a plan that was made before.
        end_lost(&inner);
        if holders != known {
            inner.request_sync();
            known = holders;
        }
        drop(inner);
        tokio::time::sleep(RENEW_INTERVAL).await;
    }
}

/// Another process may run them soon. The reconciler puts others in their place.
fn end_lost(inner: &Inner) {
    for (id, instance) in &inner.snapshot().instances {
        let is_here = instance.wanted.runs_at == LeaseHolder::This && !instance.is_ended();
        if is_here && !inner.exclusive.may_run(id) {
            tracing::info!(source = %id, "it is ended: the database does not say that it may run here");
            instance.end(inner);
        }
    }
}

/// Makes the calls of other servers to what runs here.
pub(super) fn serve_others(inner: &Arc<Inner>) {
    let bus = inner.routes.bus();
    let serving = Arc::downgrade(inner);
    bus.serve(REMOTE_CALL, move |request| {
        let serving = serving.clone();
        async move {
            let result = execute(&serving, &request).await;
            serde_json::to_vec(&result).unwrap_or_default()
        }
    });
    let serving = Arc::downgrade(inner);
    bus.serve(REMOTE_TOOLS, move |request| {
        let tools = tools(&serving, &request.body);
        async move { serde_json::to_vec(&tools).unwrap_or_default() }
    });
    let serving = Arc::downgrade(inner);
    bus.serve(REMOTE_LOGS, move |request| {
        let instance = instance_here(&serving, &request.body);
        // As long as it is by itself, which is little.
        let lines = instance.map(|instance| instance.server.logs().lines());
        async move { serde_json::to_vec(&lines).unwrap_or_default() }
    });
    let mut restarts = bus.notes(REMOTE_RESTART, RESTART_QUEUE);
    let serving = Arc::downgrade(inner);
    tokio::spawn(async move {
        while let Some(note) = restarts.recv().await {
            if let Some(instance) = instance_here(&serving, &note.body) {
                instance.server.restart();
            }
        }
    });
}

/// None: it does not run here, so that nothing was done.
async fn execute(inner: &Weak<Inner>, request: &IncomingRequest) -> Option<ToolResult> {
    let call: RemoteServerCall = serde_json::from_slice(&request.body).ok()?;
    let inner = inner.upgrade()?;
    let context = call.context(&inner.routes, &request.from);
    let instance = running(&inner, &call.source)?;
    drop(inner);
    let span = call.span();
    let calling = instance.server.call(&call.tool, call.input, &context);
    Some(calling.instrument(span).await)
}

fn tools(inner: &Weak<Inner>, id: &[u8]) -> Option<RemoteServerTools> {
    let instance = instance_here(inner, id)?;
    Some(RemoteServerTools {
        state: instance.server.state(),
        tools: instance.server.tools(),
    })
}

fn instance_here(inner: &Weak<Inner>, id: &[u8]) -> Option<Arc<Instance>> {
    let inner = inner.upgrade()?;
    running(&inner, &serde_json::from_slice(id).ok()?)
}

/// The server, if it runs in this process. A routed call is never forwarded again.
fn running(inner: &Inner, id: &SourceId) -> Option<Arc<Instance>> {
    let instance = inner.snapshot().instances.get(id)?.clone();
    let is_here = instance.wanted.runs_at == LeaseHolder::This && inner.exclusive.may_run(id);
    is_here.then_some(instance)
}

async fn ask(store: &Store, id: &SourceId) -> Option<ExclusiveLease> {
    let asked = Instant::now();
    let name = lease_name(id);
    let taken = timeout(LEASE_TIMEOUT, store.take_lease(&name, LEASE_TIME)).await;
    let holder = taken.ok()?.ok()?;
    Some(ExclusiveLease { holder, asked })
}

fn is_exclusive(server: &DesiredServer) -> bool {
    // What belongs to a person runs where their turn is.
    let is_shared = server.user.is_none();
    is_shared && matches!(&server.config, SourceConfig::Mcp(config) if config.exclusive)
}

async fn give_back(store: &Store, id: &SourceId) {
    let dropped = timeout(LEASE_TIMEOUT, store.drop_lease(&lease_name(id))).await;
    let error: &dyn std::fmt::Display = match &dropped {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(late) => late,
    };
    tracing::debug!(source = %id, %error, "others wait for the end of a lease");
}

fn lease_name(id: &SourceId) -> String {
    format!("source:{id}")
}
