//! The reconciler: makes what runs the same as what is configured, on request and by polling.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tenon_domain::{SourceId, UserId};
use tenon_sources::variables::{Variable, mentioned_in};
use tenon_store::{ChangeTopic, LOCAL, LeaseHolder, StoreChange, StoredSource};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio::time::{MissedTickBehavior, interval};

use super::config::{self, is_program, is_same, login_address, with_limits_of};
use super::entry::SourceEntry;
use super::instance::{Instance, KnownTools};
use super::plan::{DesiredServer, PlanInputs, plan};
use super::{Files, Inner, RunMode, SourcesSnapshot, SyncRequest, lock, stop_all};

/// What decides in the store what should run.
const TOPICS: [ChangeTopic; 2] = [ChangeTopic::Sources, ChangeTopic::Accounts];

/// How often it is looked whether anything has changed that is not in the store. While nothing
/// has, that asks the store nothing.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// The complete input of a plan. If it is unchanged, there is nothing to reconcile.
#[derive(PartialEq)]
struct ReconcilerInput {
    rows: Vec<StoredSource>,
    files: Files,
    facts: PlanInputs,
    /// Files have no row that could say it.
    login_required: Vec<SourceId>,
    /// Who runs the servers that run once.
    exclusive: BTreeMap<SourceId, LeaseHolder>,
}

impl ReconcilerInput {
    /// Whether the inputs outside the store are unchanged.
    fn is_still_in(&self, inner: &Inner) -> bool {
        self.files == *lock(&inner.files)
            && lock(&inner.challenges).keys().eq(&self.login_required)
            && self.exclusive == inner.exclusive.holders()
            && !has_ended(inner)
    }
}

/// Runs until the last handle to the sources is dropped.
pub(super) async fn run(
    inner: Weak<Inner>,
    mut requests: mpsc::Receiver<SyncRequest>,
    mode: RunMode,
) {
    let mut poll = interval(POLL_INTERVAL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let Some(mut changes) = inner.upgrade().map(|inner| inner.store.subscribe()) else {
        return;
    };
    let mut last: Option<ReconcilerInput> = None;
    let mut seen = None;
    loop {
        let mut waiting = Vec::new();
        tokio::select! {
            request = requests.recv() => match request {
                Some(request) => waiting.push(request),
                None => return,
            },
            _ = poll.tick(), if mode == RunMode::Serving => {}
            () = changed(&mut changes), if mode == RunMode::Serving => {}
        }
        // One pass serves all requests that are there.
        while let Ok(request) = requests.try_recv() {
            waiting.push(request);
        }
        let Some(inner) = inner.upgrade() else {
            return;
        };
        let is_closing = inner.closing.is_cancelled();
        let versions = TOPICS.map(|topic| inner.store.version(topic));
        let is_known = seen == Some(versions) && !versions.contains(&None);
        let is_same = |last: &ReconcilerInput| last.is_still_in(&inner);
        if waiting.is_empty() && is_known && last.as_ref().is_some_and(is_same) {
            continue;
        }
        seen = Some(versions);
        if !is_closing {
            match sync(&inner, &mode, last.take()).await {
                Ok(written) => last = written,
                Err(error) => tracing::warn!(%error, "the servers cannot be looked after"),
            }
        }
        for request in waiting {
            let _ = request.send(());
        }
        if is_closing {
            return;
        }
    }
}

/// Returns when the store says that something of [`TOPICS`] has changed, or may have.
async fn changed(changes: &mut broadcast::Receiver<StoreChange>) {
    loop {
        match changes.recv().await {
            Ok(change) if !TOPICS.contains(&change.topic()) => {}
            Ok(_) | Err(RecvError::Lagged(_)) => return,
            // The store is closing, and this task with it.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// One pass. Returns its input, or None where not everything could be made to run.
async fn sync(
    inner: &Arc<Inner>,
    mode: &RunMode,
    last: Option<ReconcilerInput>,
) -> tenon_store::Result<Option<ReconcilerInput>> {
    let mut written = read(inner).await?;
    if last.as_ref() == Some(&written) && !has_ended(inner) {
        return Ok(last);
    }
    let entries = entries(inner, &written);
    let mut wanted = plan(entries.values().map(Arc::as_ref), &written.facts);
    if let RunMode::Once(user) = mode {
        wanted.retain(|_, one| one.user.as_ref().is_none_or(|owner| owner == user));
    }
    let placed = inner.exclusive.place(&inner.store, mode, &mut wanted);
    written.exclusive = placed.await;
    let before = inner.snapshot();
    let mut instances = BTreeMap::new();
    let mut is_complete = true;
    for (id, one) in wanted {
        let old = before.instances.get(&id);
        // Nothing is started any more, and what runs is being ended.
        if inner.closing.is_cancelled() {
            instances.extend(old.map(|old| (id, old.clone())));
            continue;
        }
        match apply(inner, old, one).await {
            Ok(instance) => {
                instances.insert(id, instance);
            }
            Err(error) => {
                tracing::warn!(source = %id, %error, "a server cannot be made as it should be");
                is_complete = false;
                if let Some(old) = old {
                    instances.insert(id, old.clone());
                }
            }
        }
    }
    let after = SourcesSnapshot {
        entries,
        instances,
        facts: written.facts.clone(),
    };
    finish(inner, &before, after).await;
    Ok(is_complete.then_some(written))
}

/// Whether one was ended that is listed still.
fn has_ended(inner: &Inner) -> bool {
    let snapshot = inner.snapshot();
    snapshot
        .instances
        .values()
        .any(|instance| instance.is_ended())
}

async fn read(inner: &Inner) -> tenon_store::Result<ReconcilerInput> {
    let accounts = inner.store.users().await?;
    let mut people: BTreeMap<UserId, bool> = accounts
        .iter()
        .filter(|account| !account.disabled)
        .map(|account| (account.id.clone(), account.role.is_admin()))
        .collect();
    if accounts.is_empty() {
        people.insert(UserId::new(LOCAL), true);
    }
    let secrets = inner.store.secrets().await?.into_iter();
    let grants = inner.store.grants().await?.into_iter();
    Ok(ReconcilerInput {
        rows: inner.store.sources().await?,
        files: lock(&inner.files).clone(),
        facts: PlanInputs {
            people,
            secrets: secrets
                .map(|secret| ((secret.owner, secret.name), secret.updated_at))
                .collect(),
            grants: grants.map(|grant| (grant.source, grant.user)).collect(),
        },
        login_required: lock(&inner.challenges).keys().cloned().collect(),
        exclusive: inner.exclusive.holders(),
    })
}

fn entries(inner: &Inner, written: &ReconcilerInput) -> BTreeMap<SourceId, Arc<SourceEntry>> {
    let mut entries = BTreeMap::new();
    for row in &written.rows {
        let entry = SourceEntry::of_row(row, &inner.vault);
        entries.insert(entry.id.clone(), Arc::new(entry));
    }
    for (file, found) in &written.files {
        for found in found {
            let mut entry = SourceEntry::of_file(file, found, false);
            let has_grant = written.facts.grants.iter().any(|(id, _)| *id == entry.id);
            entry.wants_login = has_grant || written.login_required.contains(&entry.id);
            if entries.contains_key(&entry.id) {
                let name = &found.name;
                tracing::warn!(
                    file,
                    name,
                    "a server stands in two files; the first one counts"
                );
                continue;
            }
            entries.insert(entry.id.clone(), Arc::new(entry));
        }
    }
    entries
}

/// The instance that is wanted: the old one where that will do.
async fn apply(
    inner: &Arc<Inner>,
    old: Option<&Arc<Instance>>,
    wanted: DesiredServer,
) -> anyhow::Result<Arc<Instance>> {
    let Some(old) = old else {
        let mut known = KnownTools::default();
        if config::remembers_tools(&wanted.config) {
            known.tools = inner.store.source_tools(&wanted.info.id).await?;
        }
        return Ok(Instance::start(inner, wanted, known, None).await?);
    };
    if old.wanted == wanted && !old.is_ended() {
        return Ok(old.clone());
    }
    let asked = match change(&old.wanted, &wanted) {
        InstanceChange::Metadata | InstanceChange::Secrets if old.is_ended() => {
            InstanceChange::Restart { same: true }
        }
        asked => asked,
    };
    match asked {
        InstanceChange::Metadata => Ok(old.reregister(inner, wanted).await?),
        InstanceChange::Secrets => {
            let instance = old.reregister(inner, wanted).await?;
            instance.server.restart();
            Ok(instance)
        }
        InstanceChange::Restart { same } => {
            let known = if same {
                old.known_tools()
            } else {
                KnownTools::default()
            };
            if !same {
                inner.store.clear_source_cache(&wanted.info.id).await?;
            }
            let before = is_program(&old.wanted.config).then(|| old.end(inner));
            Ok(Instance::start(inner, wanted, known, before).await?)
        }
    }
}

/// The action that a changed plan entry requires.
enum InstanceChange {
    /// The title, how long calls may take, or whether its hints are trusted.
    Metadata,
    /// Pass the new secrets to the running server.
    Secrets,
    /// Another process or connection. What is `same` is known by its tools.
    Restart { same: bool },
}

fn change(old: &DesiredServer, new: &DesiredServer) -> InstanceChange {
    let with_new_words = |wanted: &DesiredServer| DesiredServer {
        info: new.info.clone(),
        config: with_limits_of(&wanted.config, &new.config),
        trust_hints: new.trust_hints,
        ..wanted.clone()
    };
    let mut reworded = with_new_words(old);
    if reworded == *new {
        return InstanceChange::Metadata;
    }
    reworded.secrets.clone_from(&new.secrets);
    // A grant belongs to one address: after a move it must not be used.
    let is_moved = new.login && address_secrets(old) != address_secrets(new);
    if reworded == *new && !is_moved {
        return InstanceChange::Secrets;
    }
    InstanceChange::Restart {
        same: !is_moved && is_same(&old.config, &new.config),
    }
}

/// The secrets that its address is made of.
fn address_secrets(wanted: &DesiredServer) -> Vec<&(Variable, Option<i64>)> {
    let mentioned = login_address(&wanted.config).map(mentioned_in);
    let mentioned = mentioned.unwrap_or_default();
    let all = wanted.secrets.iter();
    all.filter(|(variable, _)| mentioned.contains(variable))
        .collect()
}

/// Stops servers that are no longer wanted, and notifies subscribers.
async fn finish(inner: &Arc<Inner>, before: &SourcesSnapshot, after: SourcesSnapshot) {
    let mut ending = Vec::new();
    for (id, old) in &before.instances {
        let new = after.instances.get(id);
        if new.is_some_and(|new| Arc::ptr_eq(new, old)) {
            continue;
        }
        old.disconnect().await;
        if new.is_none_or(|new| !Arc::ptr_eq(&new.server, &old.server)) {
            ending.push(old.server.clone());
        }
    }
    let after = Arc::new(after);
    *lock(&inner.snapshot) = after.clone();
    if !ending.is_empty() {
        // Not waited for: others want their changes seen to as well.
        let stopping = async move { stop_all(ending.iter()).await };
        inner.stopping.spawn(stopping);
    }
    super::view::publish_changes(inner, before, &after);
}
