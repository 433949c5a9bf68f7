//! Adding, changing, restarting and removing sources, with the rights to do so.

use std::sync::Arc;

use tenon_domain::{SourceConfig, SourceId, SourceKind, UserId};
use tenon_store::{NewSourceRow, StoredSource};

use super::check::{self, McpDraft};
use super::config;
use super::entry::{SourceEntry, about};
use super::error::SourceError;
use super::input_error::{SourceDenied, SourceIdle, SourceInputError};
use super::instance::Instance;
use super::merge::{changes_connection, merge};
use super::openapi::{OpenapiDraft, given};
use super::rights::{check_config, check_may_trust, may_edit};
use super::{Sources, lock, stop_all};
use crate::auth::CurrentUser;
use crate::config::TOOL_SERVER_CONNECTIONS;
use crate::sources::read_model::{SourceDetail, SourceOrigin};
use crate::sources::requests::{AddSource, SourceChange};

/// How many servers of their own somebody may have, and how many all share.
const MAX_OWN_SERVERS: usize = 30;
const MAX_SHARED_SERVERS: usize = 300;

impl Sources {
    /// Adds a server. It starts by itself: nobody waits for it here.
    pub async fn add(
        &self,
        user: &CurrentUser,
        new: AddSource,
    ) -> Result<SourceDetail, SourceError> {
        let name = check::name(&new.name)?;
        let title = check::title(new.title.as_deref(), name)?;
        let name = name.to_owned();
        let mine = new.mine.unwrap_or_else(|| !user.administers());
        let enabled = new.enabled.unwrap_or(true);
        let trust_hints = new.trust_hints.unwrap_or_else(|| user.administers());
        if trust_hints {
            check_may_trust(user)?;
        }
        let (kind, config, document) = match new.kind.as_str() {
            "mcp" => {
                let config = McpDraft::of(new)?.config()?;
                (SourceKind::Mcp, SourceConfig::Mcp(config), None)
            }
            "openapi" => {
                let (draft, document) = OpenapiDraft::of(new).await?;
                let config = SourceConfig::Openapi(draft.config()?);
                (SourceKind::Openapi, config, document)
            }
            _ => {
                return Err(SourceInputError::Kind.into());
            }
        };
        let new = NewSourceRow {
            kind,
            name: &name,
            title: &title,
            owner: mine.then_some(&user.id),
            enabled,
            trust_hints,
        };
        self.check_may_add(user, new.owner, &config).await?;
        let keeping = self.keep(new, &config);
        let id = self.with_document(user, document, keeping).await?;
        self.sync().await;
        // It is stored, even where the reconciler has not come to it yet.
        let row = self.0.store.source(&id).await?;
        Ok(self.show_row(user, &row))
    }

    /// Stores a server that is validated already, without starting it.
    pub(super) async fn keep(
        &self,
        new: NewSourceRow<'_>,
        config: &SourceConfig,
    ) -> Result<SourceId, SourceError> {
        let text = written(config)?;
        let seal = |id: &SourceId| self.0.vault.seal(&about(id), &text);
        Ok(self.0.store.add_source(new, seal).await?.id)
    }

    /// Whether somebody may have one more server, reached like this.
    pub(super) async fn check_may_add(
        &self,
        user: &CurrentUser,
        owner: Option<&UserId>,
        config: &SourceConfig,
    ) -> Result<(), SourceError> {
        if owner.is_none() && !user.administers() {
            return Err(SourceDenied::AddForAll.into());
        }
        check_config(user, owner, config)?;
        self.check_room(owner).await
    }

    /// Changes a server. Where only its title or limits change, it is not restarted.
    pub async fn change(
        &self,
        user: &CurrentUser,
        id: &SourceId,
        mut change: SourceChange,
    ) -> Result<SourceDetail, SourceError> {
        let entry = self.editable(user, id)?;
        // It may be long: from here on nothing but its hash goes along with the change.
        let document = match &entry.config {
            Ok(SourceConfig::Openapi(_)) => given(change.document.take()).await?,
            Ok(SourceConfig::Mcp(_)) | Err(_) => None,
        };
        let hash = document.as_ref().map(|document| document.hash.clone());
        let mut asked_anew = false;
        let changing = self.0.store.change_source::<SourceError>(id, |old| {
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
    pub async fn remove(&self, user: &CurrentUser, id: &SourceId) -> Result<(), SourceError> {
        let entry = self.editable(user, id)?;
        let running = self.0.snapshot().all_of(id);
        self.0.store.remove_source(id).await?;
        lock(&self.0.challenges).remove(id);
        self.sync().await;
        stop_all(running.iter().map(|instance| &instance.server)).await;
        // Its watcher may have stored its tools once more meanwhile.
        self.0.store.clear_source_cache(id).await?;
        match &entry.config {
            Ok(config) => self.forget_document(config).await,
            Err(_) => Ok(()),
        }
    }

    /// Restarts somebody's own instance, or for an admin all instances.
    pub async fn restart(
        &self,
        user: &CurrentUser,
        id: &SourceId,
    ) -> Result<SourceDetail, SourceError> {
        let entry = self.visible(user, id)?;
        let instances = self.controlled_instances(user, &entry)?;
        if instances.is_empty() && entry.enabled && may_edit(user, &entry) && entry.wants_login {
            self.forget_login_requirement(id).await?;
            self.sync().await;
            return self.show(user, id);
        }
        if instances.is_empty() {
            return Err(SourceError::Idle(if entry.enabled {
                SourceIdle::Lacks
            } else {
                SourceIdle::Off
            }));
        }
        for instance in &instances {
            instance.server.restart();
        }
        self.show(user, id)
    }

    /// The running instances that somebody may restart: their own, or all for whoever may edit
    /// the source.
    pub(super) fn controlled_instances(
        &self,
        user: &CurrentUser,
        entry: &SourceEntry,
    ) -> Result<Vec<Arc<Instance>>, SourceError> {
        let mut instances = self.0.snapshot().all_of(&entry.id);
        if !may_edit(user, entry) {
            instances.retain(|instance| instance.wanted.user.as_ref() == Some(&user.id));
            if instances.is_empty() && !entry.is_personal() {
                return Err(not_theirs());
            }
        }
        Ok(instances)
    }

    /// Forgets that people have to log in there. A server that still requires it says so again.
    pub(super) async fn forget_login_requirement(&self, id: &SourceId) -> Result<(), SourceError> {
        lock(&self.0.challenges).remove(id);
        self.0.store.set_wants_login(id, false).await?;
        Ok(())
    }

    /// A server that somebody may see. To others it does not exist.
    pub(super) fn visible(
        &self,
        user: &CurrentUser,
        id: &SourceId,
    ) -> Result<Arc<SourceEntry>, SourceError> {
        let entry = self.0.snapshot().entries.get(id).cloned();
        entry
            .filter(|entry| entry.is_seen_by(&user.id))
            .ok_or(SourceError::Store(tenon_store::Error::NotFound("server")))
    }

    fn editable(&self, user: &CurrentUser, id: &SourceId) -> Result<Arc<SourceEntry>, SourceError> {
        let entry = self.visible(user, id)?;
        if let SourceOrigin::File { file } = &entry.origin {
            return Err(if file == TOOL_SERVER_CONNECTIONS {
                let variable = file.into();
                SourceInputError::InVariable { variable }.into()
            } else {
                let file = file.into();
                SourceInputError::InFile { file }.into()
            });
        }
        if may_edit(user, &entry) {
            Ok(entry)
        } else {
            Err(not_theirs())
        }
    }

    async fn check_room(&self, owner: Option<&UserId>) -> Result<(), SourceError> {
        let all = self.0.store.sources().await?;
        let there = all.iter().filter(|one| one.owner.as_ref() == owner).count();
        let room = match owner {
            Some(_) => MAX_OWN_SERVERS,
            None => MAX_SHARED_SERVERS,
        };
        if there < room {
            Ok(())
        } else {
            Err(SourceInputError::NoRoom { count: there }.into())
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
    ) -> Result<(StoredSource, bool), SourceError> {
        let title = match &change.title {
            Some(title) => check::title(Some(title), &old.name)?,
            None => old.title.clone(),
        };
        let enabled = change.enabled.unwrap_or(old.enabled);
        let trust_hints = change.trust_hints.unwrap_or(old.trust_hints);
        if trust_hints != old.trust_hints {
            check_may_trust(user)?;
        }
        if !changes_connection(&change) && document.is_none() {
            let new = StoredSource {
                title,
                enabled,
                trust_hints,
                ..old
            };
            return Ok((new, false));
        }
        let entry = SourceEntry::of_row(&old, &self.0.vault);
        let before = entry.config.map_err(SourceError::Invalid)?;
        let config = match &before {
            SourceConfig::Mcp(before) => SourceConfig::Mcp(merge(before, change)?.config()?),
            SourceConfig::Openapi(before) => {
                SourceConfig::Openapi(OpenapiDraft::changed(before, change, document)?.config()?)
            }
        };
        check_config(user, old.owner.as_ref(), &config)?;
        let is_elsewhere = !config::has_same_endpoint(&before, &config);
        let new = StoredSource {
            title,
            enabled,
            trust_hints,
            // The log-in was required at the former address.
            wants_login: old.wants_login && !is_elsewhere,
            sealed_config: self.0.vault.seal(&about(&old.id), &written(&config)?),
            ..old
        };
        Ok((new, is_elsewhere))
    }
}

fn not_theirs() -> SourceError {
    SourceDenied::ChangeShared.into()
}

fn written(config: &SourceConfig) -> Result<String, SourceError> {
    Ok(config::write(config).map_err(tenon_store::Error::from)?)
}
