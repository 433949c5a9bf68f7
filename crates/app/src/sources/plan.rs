//! Which servers should run, and for whom: a pure function of the stored configuration.

use std::collections::{BTreeMap, BTreeSet};

use tenon_domain::{SourceConfig, SourceId, SourceInfo, UserId};
use tenon_sources::Network;
use tenon_sources::variables::{SubstitutionError, Variable, fill, mentioned, mentioned_in};
use tenon_store::LeaseHolder;

use super::config::{addresses, is_program};
use super::entry::SourceEntry;
use super::trust::Trust;

/// Inputs of a plan besides the entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PlanInputs {
    /// Enabled users, and whether each is an admin.
    pub(super) people: BTreeMap<UserId, bool>,
    /// When each secret was last set; no owner means everybody's.
    pub(super) secrets: BTreeMap<(Option<UserId>, String), i64>,
    /// Which user has a grant at which source.
    pub(super) grants: BTreeSet<(SourceId, UserId)>,
}

/// One server that should run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DesiredServer {
    /// The configured source that this is an instance of.
    pub(super) source: SourceId,
    /// As the registry knows it.
    pub(super) info: SourceInfo,
    pub(super) config: SourceConfig,
    /// The user whose secrets are filled in beside the shared ones.
    pub(super) user: Option<UserId>,
    pub(super) trust: Trust,
    pub(super) network: Network,
    /// Whether the server's own hints about its tools are trusted.
    pub(super) trust_hints: bool,
    /// Whether requests carry the token of the user's log-in.
    pub(super) login: bool,
    /// The secrets it is given, as they were last set: others mean another start.
    pub(super) secrets: Vec<(Variable, Option<i64>)>,
    /// The server of the cluster that runs it and makes its calls.
    pub(super) runs_at: LeaseHolder,
}

impl PlanInputs {
    pub(super) fn is_admin(&self, user: &UserId) -> bool {
        self.people.get(user).copied().unwrap_or_default()
    }

    /// The required variables of a server that have no value for this user.
    pub(super) fn unset(&self, entry: &SourceEntry, user: &UserId) -> Vec<Variable> {
        match self.missing_variables(entry, user) {
            Some(SubstitutionError::Missing(missing)) => missing.variables,
            Some(SubstitutionError::Misplaced(_)) | None => Vec::new(),
        }
    }

    /// Why it does not start for somebody, as far as what is set tells.
    pub(super) fn missing_variables(
        &self,
        entry: &SourceEntry,
        user: &UserId,
    ) -> Option<SubstitutionError> {
        let has = |owner: Option<&UserId>, name: &str| {
            let key = (owner.cloned(), name.to_owned());
            self.secrets.contains_key(&key)
        };
        let is_set = |variable: &Variable| match variable {
            Variable::Personal(name) => has(Some(user), name),
            Variable::Shared(name) => {
                let is_known = has(None, name) || std::env::var(name).is_ok();
                self.trust(entry) == Trust::Full && is_known
            }
        };
        // The values do not matter here, only which are missing.
        let config = entry.config.as_ref().ok()?;
        fill(config, &|variable| is_set(variable).then(String::new)).err()
    }

    /// The personal secrets that a user still has to set before a server works for them.
    pub(super) fn missing(&self, entry: &SourceEntry, user: &UserId) -> Vec<String> {
        let unset = self.unset(entry, user).into_iter();
        let own = unset.filter_map(|variable| match variable {
            Variable::Personal(name) => Some(name),
            Variable::Shared(_) => None,
        });
        own.collect()
    }

    pub(super) fn is_logged_in(&self, entry: &SourceEntry, user: &UserId) -> bool {
        self.grants.contains(&(entry.id.clone(), user.clone()))
    }

    fn has_all(&self, entry: &SourceEntry, user: &UserId) -> bool {
        let may_enter = !entry.wants_login || self.is_logged_in(entry, user);
        may_enter && self.missing(entry, user).is_empty()
    }

    pub(super) fn trust(&self, entry: &SourceEntry) -> Trust {
        match &entry.owner {
            None => Trust::Full,
            Some(owner) if self.is_admin(owner) => Trust::Full,
            Some(_) => Trust::Own,
        }
    }
}

/// A connection of one person to a server that everybody has.
pub(super) fn personal_id(source: &SourceId, user: &UserId) -> SourceId {
    SourceId(format!("{source}:{user}"))
}

/// Whether a server may not run whatever its owner has: they were an admin once.
pub(super) fn is_forbidden(entry: &SourceEntry, facts: &PlanInputs) -> bool {
    let is_program = entry.config.as_ref().is_ok_and(is_program);
    is_program && facts.trust(entry) == Trust::Own
}

pub(super) fn plan<'a>(
    entries: impl Iterator<Item = &'a SourceEntry>,
    facts: &PlanInputs,
) -> BTreeMap<SourceId, DesiredServer> {
    let mut wanted = BTreeMap::new();
    for entry in entries {
        let Ok(config) = &entry.config else { continue };
        if !entry.enabled || is_forbidden(entry, facts) {
            continue;
        }
        for (id, user) in users_of(entry, facts) {
            let one = want(entry, config, facts, id.clone(), user);
            wanted.insert(id, one);
        }
    }
    wanted
}

/// The servers of an entry: a shared one, or one for each person who has the required secrets and
/// grants.
fn users_of(entry: &SourceEntry, facts: &PlanInputs) -> Vec<(SourceId, Option<UserId>)> {
    let active = |user: &UserId| facts.people.contains_key(user);
    match &entry.owner {
        Some(owner) if active(owner) && facts.has_all(entry, owner) => {
            vec![(entry.id.clone(), Some(owner.clone()))]
        }
        Some(_) => Vec::new(),
        None if !entry.is_personal() => vec![(entry.id.clone(), None)],
        None => {
            let people = facts.people.keys();
            let with_all = people.filter(|user| facts.has_all(entry, user));
            let ids = with_all.map(|user| (personal_id(&entry.id, user), Some(user.clone())));
            ids.collect()
        }
    }
}

fn want(
    entry: &SourceEntry,
    config: &SourceConfig,
    facts: &PlanInputs,
    id: SourceId,
    user: Option<UserId>,
) -> DesiredServer {
    let trust = facts.trust(entry);
    let stamp = |variable: &Variable| {
        let key = match variable {
            Variable::Shared(name) => (None, name.clone()),
            Variable::Personal(name) => (user.clone(), name.clone()),
        };
        facts.secrets.get(&key).copied()
    };
    let secrets = mentioned(config).into_iter();
    DesiredServer {
        source: entry.id.clone(),
        info: SourceInfo {
            id,
            kind: entry.kind,
            name: entry.name.clone(),
            title: entry.title.clone(),
            owner: user.clone(),
        },
        secrets: secrets.map(|v| (v.clone(), stamp(&v))).collect(),
        config: config.clone(),
        trust,
        network: network(entry, config, facts, user.as_ref()),
        trust_hints: entry.trust_hints && is_chosen_by_admin(entry, config, facts, user.as_ref()),
        user,
        login: entry.wants_login,
        runs_at: LeaseHolder::This,
    }
}

/// How far a server may lead somebody.
pub(super) fn network(
    entry: &SourceEntry,
    config: &SourceConfig,
    facts: &PlanInputs,
    user: Option<&UserId>,
) -> Network {
    if is_chosen_by_admin(entry, config, facts, user) {
        Network::Anywhere
    } else {
        Network::PublicOnly
    }
}

/// Whether only an admin decides on a server's address.
fn is_chosen_by_admin(
    entry: &SourceEntry,
    config: &SourceConfig,
    facts: &PlanInputs,
    user: Option<&UserId>,
) -> bool {
    let leads = |user: &UserId| !facts.is_admin(user) && address_is_personal(config);
    facts.trust(entry) == Trust::Full && !user.is_some_and(leads)
}

/// Whether a personal variable is part of the address.
pub(super) fn address_is_personal(config: &SourceConfig) -> bool {
    let is_personal = |variable: &Variable| matches!(variable, Variable::Personal(_));
    let addresses = addresses(config).into_iter();
    addresses
        .flat_map(mentioned_in)
        .any(|variable| is_personal(&variable))
}

#[cfg(test)]
mod tests;
