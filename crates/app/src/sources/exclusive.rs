//! Servers that run once in a cluster: which process runs which.
//!
//! A named lease in the database says so. Whoever gets it runs the server; the others send their calls there
//! ([`RemoteServer`](tenon_sources::RemoteServer)), and try to get it now and then.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tenon_bus::Note;
use tenon_domain::{SourceConfig, SourceId};
use tenon_sources::{
    REMOTE_CALL, REMOTE_RESTART, REMOTE_TOOLS, RemoteServerCall, RemoteServerTools,
};
use tenon_store::{LeaseHolder, Store};
use tokio::time::{Instant, interval};

use super::instance::Instance;
use super::plan::DesiredServer;
use super::{Inner, RunMode, lock};

const LEASE_TIME: Duration = Duration::from_secs(15);
const RENEW_INTERVAL: Duration = Duration::from_secs(4);

/// How many people press *Restart* at once.
const RESTART_QUEUE: usize = 16;

/// A little before the others may have it.
const GIVE_UP_AFTER: Duration = Duration::from_secs(12);

/// Who runs each of them, as far as this process knows.
#[derive(Default)]
pub(super) struct ExclusiveServers(Mutex<BTreeMap<SourceId, ExclusiveLease>>);

struct ExclusiveLease {
    holder: LeaseHolder,
    /// When it was last known.
    asked: Instant,
}

impl ExclusiveServers {
    /// Who runs which: another answer means another plan.
    pub(super) fn holders(&self) -> BTreeMap<SourceId, LeaseHolder> {
        let leases = lock(&self.0);
        let holders = leases.iter();
        holders
            .map(|(id, lease)| (id.clone(), lease.holder.clone()))
            .collect()
    }

    /// Says of each server that runs at another process where that is. The leases of others are given back.
    pub(super) async fn place(
        &self,
        store: &Store,
        mode: &RunMode,
        wanted: &mut BTreeMap<SourceId, DesiredServer>,
    ) {
        // A command is gone soon: it has one of its own.
        if *mode != RunMode::Serving || !store.has_leases() {
            return;
        }
        let mut ids = Vec::new();
        for (id, server) in wanted.iter_mut().filter(|(_, server)| is_exclusive(server)) {
            ids.push(id.clone());
            let known = lock(&self.0).get(id).map(|lease| lease.holder.clone());
            let holder = match known {
                Some(holder) => holder,
                None => self.take(store, id).await,
            };
            server.runs_at = match holder {
                LeaseHolder::This => None,
                LeaseHolder::Other(name) => Some(name),
            };
        }
        let gone: Vec<SourceId> = {
            let mut leases = lock(&self.0);
            let gone = leases.extract_if(.., |id, _| !ids.contains(id));
            gone.map(|(id, _)| id).collect()
        };
        for id in gone {
            give_back(store, &id).await;
        }
    }

    async fn take(&self, store: &Store, id: &SourceId) -> LeaseHolder {
        let asked = Instant::now();
        let taken = store.take_lease(&lease_name(id), LEASE_TIME).await;
        let mut leases = lock(&self.0);
        let known = leases.get(id);
        let lease = match (taken, known) {
            (Ok(holder), _) => ExclusiveLease { holder, asked },
            // The database is away: what is known counts for as long as the lease does.
            (Err(_), Some(lease)) if lease.asked.elapsed() < GIVE_UP_AFTER => ExclusiveLease {
                holder: lease.holder.clone(),
                asked: lease.asked,
            },
            (Err(_), _) => ExclusiveLease {
                holder: LeaseHolder::Other(String::new()),
                asked,
            },
        };
        let holder = lease.holder.clone();
        leases.insert(id.clone(), lease);
        holder
    }

    async fn renew(&self, store: &Store) {
        let ids: Vec<SourceId> = lock(&self.0).keys().cloned().collect();
        for id in ids {
            self.take(store, &id).await;
        }
    }

    /// Others may run them at once.
    pub(super) async fn give_all_back(&self, store: &Store) {
        let ids: Vec<SourceId> = std::mem::take(&mut *lock(&self.0)).into_keys().collect();
        for id in ids {
            give_back(store, &id).await;
        }
    }
}

/// Renews the leases until the last handle to the sources is dropped.
pub(super) async fn keep(inner: Weak<Inner>) {
    let mut ticks = interval(RENEW_INTERVAL);
    loop {
        ticks.tick().await;
        let Some(inner) = inner.upgrade() else { return };
        if inner.closing.is_cancelled() {
            return;
        }
        inner.exclusive.renew(&inner.store).await;
    }
}

/// Makes the calls of other servers to what runs here.
pub(super) fn serve_others(inner: &Arc<Inner>) {
    let bus = inner.routes.bus();
    let serving = Arc::downgrade(inner);
    bus.serve(REMOTE_CALL, move |note: Note| {
        let serving = serving.clone();
        async move {
            let result = execute(&serving, &note).await;
            result
                .and_then(|result| serde_json::to_vec(&result).ok())
                .unwrap_or_default()
        }
    });
    let serving = Arc::downgrade(inner);
    bus.serve(REMOTE_TOOLS, move |note: Note| {
        let tools = tools(&serving, &note);
        async move { serde_json::to_vec(&tools).unwrap_or_default() }
    });
    let mut restarts = bus.notes(REMOTE_RESTART, RESTART_QUEUE);
    let serving = Arc::downgrade(inner);
    tokio::spawn(async move {
        while let Some(note) = restarts.recv().await {
            if let Some(instance) = instance_here(&serving, &note) {
                instance.server.restart();
            }
        }
    });
}

async fn execute(inner: &Weak<Inner>, note: &Note) -> Option<tenon_domain::ToolResult> {
    let inner = inner.upgrade()?;
    let call: RemoteServerCall = serde_json::from_slice(&note.body).ok()?;
    let context = call.context(&inner.routes, &note.from);
    let instance = inner.snapshot().instances.get(&call.source)?.clone();
    // It is somewhere else by now: nobody sends it on and on.
    if instance.wanted.runs_at.is_some() {
        return None;
    }
    drop(inner);
    Some(instance.server.call(&call.tool, call.input, &context).await)
}

fn tools(inner: &Weak<Inner>, note: &Note) -> Option<RemoteServerTools> {
    let instance = instance_here(inner, note)?;
    Some(RemoteServerTools {
        state: instance.server.state(),
        tools: instance.server.tools(),
    })
}

/// The server that a note names, where it runs here.
fn instance_here(inner: &Weak<Inner>, note: &Note) -> Option<Arc<Instance>> {
    let inner = inner.upgrade()?;
    let id: SourceId = serde_json::from_slice(&note.body).ok()?;
    let instance = inner.snapshot().instances.get(&id)?.clone();
    instance.wanted.runs_at.is_none().then_some(instance)
}

fn is_exclusive(server: &DesiredServer) -> bool {
    // What belongs to a person runs where their turn is.
    let is_shared = server.user.is_none();
    is_shared && matches!(&server.config, SourceConfig::Mcp(config) if config.exclusive)
}

async fn give_back(store: &Store, id: &SourceId) {
    if let Err(error) = store.drop_lease(&lease_name(id)).await {
        tracing::debug!(source = %id, %error, "others wait for the end of a lease");
    }
}

fn lease_name(id: &SourceId) -> String {
    format!("source:{id}")
}
