//! Makes what runs the same as what is written down, again and again.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tenon_domain::{SourceId, UserId};
use tenon_sources::variables::{Variable, mentioned_in};
use tenon_store::{LOCAL, StoredSource};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::config::{self, entrance, is_program, is_same, with_limits_of};
use super::entry::Entry;
use super::instance::Instance;
use super::plan::{Facts, Wanted, plan};
use super::running::Known;
use super::{Files, Inner, Life, Ring, STOP, Seen, lock, stop_all};

/// How often the store is looked at for what other processes wrote.
const LOOK: Duration = Duration::from_secs(5);

/// All that decides what should run. Where it is the same there is nothing to do.
#[derive(PartialEq)]
struct Written {
    rows: Vec<StoredSource>,
    files: Files,
    facts: Facts,
    /// Files have no row that could say it.
    asked: Vec<SourceId>,
}

/// Ends with the handle it keeps servers for.
pub(super) async fn keep(inner: Weak<Inner>, mut rings: mpsc::Receiver<Ring>, life: Life) {
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last = None;
    loop {
        let mut waiting = Vec::new();
        tokio::select! {
            ring = rings.recv() => match ring {
                Some(ring) => waiting.push(ring),
                None => return,
            },
            _ = look.tick(), if life == Life::Serving => {}
        }
        // What was written before they rang is seen by one look.
        while let Ok(ring) = rings.try_recv() {
            waiting.push(ring);
        }
        let Some(inner) = inner.upgrade() else {
            return;
        };
        let is_over = inner.closing.is_cancelled();
        if !is_over {
            match sync(&inner, &life, last.take()).await {
                Ok(written) => last = written,
                Err(error) => tracing::warn!(%error, "the servers cannot be looked after"),
            }
        }
        for ring in waiting {
            let _ = ring.send(());
        }
        if is_over {
            return;
        }
    }
}

/// What it was made to be. None: not all of it could be.
async fn sync(
    inner: &Arc<Inner>,
    life: &Life,
    last: Option<Written>,
) -> tenon_store::Result<Option<Written>> {
    let written = read(inner).await?;
    if last.as_ref() == Some(&written) {
        return Ok(last);
    }
    let entries = entries(inner, &written);
    let mut wanted = plan(entries.values().map(Arc::as_ref), &written.facts);
    if let Life::Once(user) = life {
        wanted.retain(|_, one| one.user.as_ref().is_none_or(|owner| owner == user));
    }
    let before = inner.seen();
    let mut instances = BTreeMap::new();
    let mut is_complete = true;
    for (id, one) in wanted {
        let old = before.instances.get(&id);
        // Nothing is started any more, and what runs is being ended.
        if inner.closing.is_cancelled() {
            instances.extend(old.map(|old| (id, old.clone())));
            continue;
        }
        match settle(inner, old, one).await {
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
    let after = Seen {
        entries,
        instances,
        facts: written.facts.clone(),
    };
    finish(inner, &before, after).await;
    Ok(is_complete.then_some(written))
}

async fn read(inner: &Inner) -> tenon_store::Result<Written> {
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
    Ok(Written {
        rows: inner.store.sources().await?,
        files: lock(&inner.files).clone(),
        facts: Facts {
            people,
            secrets: secrets
                .map(|secret| ((secret.owner, secret.name), secret.updated_at))
                .collect(),
            grants: grants.map(|grant| (grant.source, grant.user)).collect(),
        },
        asked: lock(&inner.challenges).keys().cloned().collect(),
    })
}

fn entries(inner: &Inner, written: &Written) -> BTreeMap<SourceId, Arc<Entry>> {
    let mut entries = BTreeMap::new();
    for row in &written.rows {
        let entry = Entry::of_row(row, &inner.vault);
        entries.insert(entry.id.clone(), Arc::new(entry));
    }
    for (file, found) in &written.files {
        for found in found {
            let mut entry = Entry::of_file(file, found, false);
            let has_grant = written.facts.grants.iter().any(|(id, _)| *id == entry.id);
            entry.wants_login = has_grant || written.asked.contains(&entry.id);
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
async fn settle(
    inner: &Arc<Inner>,
    old: Option<&Arc<Instance>>,
    wanted: Wanted,
) -> anyhow::Result<Arc<Instance>> {
    let Some(old) = old else {
        let mut known = Known::default();
        if config::remembers_tools(&wanted.config) {
            known.tools = inner.store.source_tools(&wanted.info.id).await?;
        }
        return Ok(Instance::start(inner, wanted, known, None).await?);
    };
    if old.wanted == wanted {
        return Ok(old.clone());
    }
    match change(&old.wanted, &wanted) {
        Change::Words => Ok(old.reseat(inner, wanted).await?),
        Change::Secrets => {
            let instance = old.reseat(inner, wanted).await?;
            instance.server.restart();
            Ok(instance)
        }
        Change::Server { same } => {
            let known = match same {
                true => Known::of(&*old.server),
                false => Known::default(),
            };
            if !same {
                inner.store.forget_offer(&wanted.info.id).await?;
            }
            let before = is_program(&old.wanted.config).then(|| end(inner, old));
            Ok(Instance::start(inner, wanted, known, before).await?)
        }
    }
}

/// Ends a server on the side: others want their changes seen to as well. Tells when it has ended.
fn end(inner: &Inner, old: &Instance) -> CancellationToken {
    let ended = CancellationToken::new();
    let (server, guard) = (old.server.clone(), ended.clone().drop_guard());
    inner.endings.spawn(async move {
        let _guard = guard;
        let _ = timeout(STOP, server.stop()).await;
    });
    ended
}

/// What a change asks for.
enum Change {
    /// The title, or how long calls may take.
    Words,
    /// It has to be told other secrets.
    Secrets,
    /// Another process or connection. What is `same` is known by its tools.
    Server { same: bool },
}

fn change(old: &Wanted, new: &Wanted) -> Change {
    let with_new_words = |wanted: &Wanted| Wanted {
        info: new.info.clone(),
        config: with_limits_of(&wanted.config, &new.config),
        ..wanted.clone()
    };
    let mut reworded = with_new_words(old);
    if reworded == *new {
        return Change::Words;
    }
    reworded.secrets.clone_from(&new.secrets);
    // What somebody was granted in one place is not for another.
    let moves = new.login && leads_by(old) != leads_by(new);
    if reworded == *new && !moves {
        return Change::Secrets;
    }
    Change::Server {
        same: !moves && is_same(&old.config, &new.config),
    }
}

/// The secrets that its address is made of.
fn leads_by(wanted: &Wanted) -> Vec<&(Variable, Option<i64>)> {
    let mentioned = entrance(&wanted.config).map(mentioned_in);
    let mentioned = mentioned.unwrap_or_default();
    let all = wanted.secrets.iter();
    all.filter(|(variable, _)| mentioned.contains(variable))
        .collect()
}

/// Lets go of what is not wanted any more, and tells those who look on.
async fn finish(inner: &Arc<Inner>, before: &Seen, after: Seen) {
    let mut ending = Vec::new();
    for (id, old) in &before.instances {
        let new = after.instances.get(id);
        if new.is_some_and(|new| Arc::ptr_eq(new, old)) {
            continue;
        }
        old.leave().await;
        if new.is_none_or(|new| !Arc::ptr_eq(&new.server, &old.server)) {
            ending.push(old.server.clone());
        }
    }
    let after = Arc::new(after);
    *lock(&inner.seen) = after.clone();
    if !ending.is_empty() {
        // Not waited for: others want their changes seen to as well.
        let stopping = async move { stop_all(ending.iter()).await };
        inner.endings.spawn(stopping);
    }
    super::view::tell_changes(inner, before, &after);
}
