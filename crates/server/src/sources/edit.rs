//! Adding, changing, restarting and removing servers: who may, and what comes of it.

use std::sync::Arc;

use tenon_domain::{SourceConfig, SourceId, SourceKind, UserId};
use tenon_sources::openapi::Unread;
use tenon_store::{NewSource, StoredSource};

use super::check::{self, Draft};
use super::config;
use super::entry::{Entry, about};
use super::fixed::VARIABLE;
use super::instance::Instance;
use super::merge::{merge, reaches};
use super::openapi::{ApiDraft, given};
use super::plan::Trust;
use super::{Sources, lock, stop_all};
use crate::api::wire::{self, SourceChange, SourceDetail, SourceOrigin};
use crate::auth::CurrentUser;

/// How many servers of their own somebody may have, and how many all share.
const MAX_OWN: usize = 30;
const MAX_SHARED: usize = 300;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// What is wrong with it, in a sentence that says what to do.
    #[error("{0}")]
    Wrong(String),
    /// It is not theirs to do; the sentence says whose.
    #[error("{0}")]
    Forbidden(String),
    /// Somebody else did not answer as they should; the sentence says how.
    #[error("{0}")]
    Unreachable(String),
    /// The document of a server could not be read.
    #[error("{}", .0.why)]
    Unread(Unread),
    /// It does not run; the sentence says what to do first.
    #[error("{0}")]
    Idle(&'static str),
    #[error(transparent)]
    Store(#[from] tenon_store::Error),
}

pub(super) fn wrong(message: &str) -> Refusal {
    Refusal::Wrong(message.to_owned())
}

pub(super) fn forbidden(message: &str) -> Refusal {
    Refusal::Forbidden(message.to_owned())
}

impl Sources {
    /// Adds a server. It starts by itself: nobody waits for it here.
    pub async fn add(
        &self,
        user: &CurrentUser,
        new: wire::NewSource,
    ) -> Result<SourceDetail, Refusal> {
        let name = check::name(&new.name)?;
        let title = check::title(new.title.as_deref(), name)?;
        let name = name.to_owned();
        let mine = new.mine.unwrap_or_else(|| !user.administers());
        let enabled = new.enabled.unwrap_or(true);
        let (kind, config, document) = match new.kind.as_str() {
            "mcp" => {
                let config = Draft::of(new)?.config()?;
                (SourceKind::Mcp, SourceConfig::Mcp(config), None)
            }
            "openapi" => {
                let (draft, document) = ApiDraft::of(new).await?;
                let config = SourceConfig::Openapi(draft.config()?);
                (SourceKind::Openapi, config, document)
            }
            _ => {
                return Err(wrong(
                    "`kind` is \"mcp\" for an MCP server or \"openapi\" for an OpenAPI server.",
                ));
            }
        };
        let new = NewSource {
            kind,
            name: &name,
            title: &title,
            owner: mine.then_some(&user.id),
            enabled,
        };
        self.may_keep(user, new.owner, &config).await?;
        let keeping = self.keep(new, &config);
        let id = self.with_document(user, document, keeping).await?;
        self.sync().await;
        // It is there, even where so much goes on that it has not been seen to yet.
        let row = self.0.store.source(&id).await?;
        Ok(self.show_row(user, &row))
    }

    /// Writes a server down that is checked already, without starting it.
    pub(super) async fn keep(
        &self,
        new: NewSource<'_>,
        config: &SourceConfig,
    ) -> Result<SourceId, Refusal> {
        let text = written(config)?;
        let seal = |id: &SourceId| self.0.vault.seal(&about(id), &text);
        Ok(self.0.store.add_source(new, seal).await?.id)
    }

    /// Whether somebody may have one more server, reached like this.
    pub(super) async fn may_keep(
        &self,
        user: &CurrentUser,
        owner: Option<&UserId>,
        config: &SourceConfig,
    ) -> Result<(), Refusal> {
        if owner.is_none() && !user.administers() {
            return Err(forbidden(
                "Only an admin may add a server for everybody. Add it for yourself: `mine`.",
            ));
        }
        may_be(user, owner, config)?;
        self.check_room(owner).await
    }

    /// Changes a server; at once, and without its tools going away where only words change.
    pub async fn change(
        &self,
        user: &CurrentUser,
        id: &SourceId,
        mut change: SourceChange,
    ) -> Result<SourceDetail, Refusal> {
        let entry = self.editable(user, id)?;
        // It may be long: from here on nothing but its hash goes along with the change.
        let document = match &entry.config {
            Ok(SourceConfig::Openapi(_)) => given(change.document.take()).await?,
            Ok(SourceConfig::Mcp(_)) | Err(_) => None,
        };
        let hash = document.as_ref().map(|document| document.hash.clone());
        let mut asked_anew = false;
        let changing = self.0.store.change_source::<Refusal>(id, |old| {
            let (new, is_elsewhere) = self.changed(user, old, change, hash)?;
            asked_anew = is_elsewhere;
            Ok(new)
        });
        self.with_document(user, document, changing).await?;
        if asked_anew {
            lock(&self.0.challenges).remove(id);
        }
        self.sync().await;
        if let Ok(config) = &entry.config {
            self.forget_document(config).await?;
        }
        self.show(user, id)
    }

    /// Removes a server: its tools are gone and its process has ended when this comes back.
    pub async fn remove(&self, user: &CurrentUser, id: &SourceId) -> Result<(), Refusal> {
        let entry = self.editable(user, id)?;
        let running = self.0.seen().all_of(id);
        self.0.store.remove_source(id).await?;
        lock(&self.0.challenges).remove(id);
        self.sync().await;
        stop_all(running.iter().map(|instance| &instance.server)).await;
        // It may have told its tools once more while it was removed.
        self.0.store.forget_offer(id).await?;
        match &entry.config {
            Ok(config) => self.forget_document(config).await,
            Err(_) => Ok(()),
        }
    }

    /// Starts it anew: somebody's own connection, or for an admin all there are.
    pub async fn restart(
        &self,
        user: &CurrentUser,
        id: &SourceId,
    ) -> Result<SourceDetail, Refusal> {
        let entry = self.visible(user, id)?;
        let instances = self.in_hand(user, &entry)?;
        if instances.is_empty() && entry.enabled && looks_after(user, &entry) && entry.wants_login {
            self.forget_question(id).await?;
            self.sync().await;
            return self.show(user, id);
        }
        if instances.is_empty() {
            return Err(Refusal::Idle(match entry.enabled {
                true => "It does not run for you yet: give it what it lacks first.",
                false => "It is switched off. Switch it on instead.",
            }));
        }
        for instance in &instances {
            instance.server.restart();
        }
        self.show(user, id)
    }

    /// The running ones of a server that somebody may see to: their own connection, or all
    /// there are for whoever looks after it.
    pub(super) fn in_hand(
        &self,
        user: &CurrentUser,
        entry: &Entry,
    ) -> Result<Vec<Arc<Instance>>, Refusal> {
        let mut instances = self.0.seen().all_of(&entry.id);
        if !looks_after(user, entry) {
            instances.retain(|instance| instance.wanted.user.as_ref() == Some(&user.id));
            if instances.is_empty() && !entry.is_personal() {
                return Err(not_theirs());
            }
        }
        Ok(instances)
    }

    /// It may let in now whom it sent away before. One that still asks who comes says so again.
    pub(super) async fn forget_question(&self, id: &SourceId) -> Result<(), Refusal> {
        lock(&self.0.challenges).remove(id);
        self.0.store.set_wants_login(id, false).await?;
        Ok(())
    }

    /// A server that somebody may see. To others it does not exist.
    pub(super) fn visible(&self, user: &CurrentUser, id: &SourceId) -> Result<Arc<Entry>, Refusal> {
        let entry = self.0.seen().entries.get(id).cloned();
        entry
            .filter(|entry| entry.is_seen_by(&user.id))
            .ok_or(Refusal::Store(tenon_store::Error::NotFound("server")))
    }

    fn editable(&self, user: &CurrentUser, id: &SourceId) -> Result<Arc<Entry>, Refusal> {
        let entry = self.visible(user, id)?;
        if let SourceOrigin::File { file } = &entry.origin {
            let place = match file == VARIABLE {
                true => "the environment variable",
                false => "the file",
            };
            return Err(wrong(&format!(
                "This server stands in {place} {file}. Change it there."
            )));
        }
        match looks_after(user, &entry) {
            true => Ok(entry),
            false => Err(not_theirs()),
        }
    }

    async fn check_room(&self, owner: Option<&UserId>) -> Result<(), Refusal> {
        let all = self.0.store.sources().await?;
        let there = all.iter().filter(|one| one.owner.as_ref() == owner).count();
        let room = match owner {
            Some(_) => MAX_OWN,
            None => MAX_SHARED,
        };
        match there < room {
            true => Ok(()),
            false => Err(wrong(&format!(
                "There are {there} servers already, and no room for more. Remove one first."
            ))),
        }
    }

    /// A row after a change, and whether it is reached in another way. The document that
    /// came with the change is here by its hash.
    fn changed(
        &self,
        user: &CurrentUser,
        old: StoredSource,
        change: SourceChange,
        document: Option<String>,
    ) -> Result<(StoredSource, bool), Refusal> {
        let title = match &change.title {
            Some(title) => check::title(Some(title), &old.name)?,
            None => old.title.clone(),
        };
        let enabled = change.enabled.unwrap_or(old.enabled);
        if !reaches(&change) && document.is_none() {
            let new = StoredSource {
                title,
                enabled,
                ..old
            };
            return Ok((new, false));
        }
        let entry = Entry::of_row(&old, &self.0.vault);
        let before = entry.config.map_err(Refusal::Wrong)?;
        let config = match &before {
            SourceConfig::Mcp(before) => SourceConfig::Mcp(merge(before, change)?.config()?),
            SourceConfig::Openapi(before) => {
                SourceConfig::Openapi(ApiDraft::changed(before, change, document)?.config()?)
            }
        };
        may_be(user, old.owner.as_ref(), &config)?;
        let is_elsewhere = !config::is_reached_alike(&before, &config);
        let new = StoredSource {
            title,
            enabled,
            // What it asked for, it asked for there.
            wants_login: old.wants_login && !is_elsewhere,
            sealed_config: self.0.vault.seal(&about(&old.id), &written(&config)?),
            ..old
        };
        Ok((new, is_elsewhere))
    }
}

/// Whether they may change, restart and remove it, and see how it is reached.
pub(super) fn looks_after(user: &CurrentUser, entry: &Entry) -> bool {
    match &entry.owner {
        Some(owner) => *owner == user.id && user.acts_fully(),
        None => user.administers(),
    }
}

fn not_theirs() -> Refusal {
    forbidden("This server is everybody's: only an admin may do this.")
}

/// Whether somebody may let a server be reached like this, which is theirs or everybody's.
pub(super) fn may_be(
    user: &CurrentUser,
    owner: Option<&UserId>,
    config: &SourceConfig,
) -> Result<(), Refusal> {
    check::allowed(config, trust(user))?;
    match owner {
        Some(_) => Ok(()),
        None => check::stays_with_us(config).map_err(Refusal::Wrong),
    }
}

pub(super) fn trust(user: &CurrentUser) -> Trust {
    match user.administers() {
        true => Trust::Full,
        false => Trust::Own,
    }
}

fn written(config: &SourceConfig) -> Result<String, Refusal> {
    Ok(config::write(config).map_err(tenon_store::Error::from)?)
}
