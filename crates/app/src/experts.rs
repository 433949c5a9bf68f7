//! Experts: a model, a system prompt and tools under one name. Three come with Tenon; people make
//! the others, for themselves or for the team.
//!
//! A private one is seen by nobody but its owner, through no door. One that is the team's can be
//! used by everybody, and changed by its owner and by admins.

mod builtin;
mod check;
mod error;
mod file;
mod view;

use std::collections::HashSet;

use tenon_domain::{ExpertDefinition, ExpertId, ModelId, UserId, Visibility};
use tenon_store::{Store, StoredExpert};

use crate::auth::CurrentUser;

pub(crate) use check::parameters as check_parameters;
pub use error::ExpertError;
pub use file::{read_expert, with_skill_ids, with_skill_names, write_expert};
pub use view::{ExpertChange, ExpertFile, ExpertView};

/// How a model is called that is an expert: `expert/NAME`.
pub const MODEL_PREFIX: &str = "expert/";

/// Which experts somebody does not want to see in their lists.
const HIDDEN: &str = "hidden_experts";

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Experts {
    store: Store,
}

/// The result of importing an expert file.
#[derive(Debug)]
pub enum ImportedExpert {
    Added(ExpertView),
    Changed(ExpertView),
}

impl ImportedExpert {
    /// The expert, and how the audit log calls what became of it.
    pub fn into_audited(self) -> (&'static str, ExpertView) {
        match self {
            Self::Added(expert) => ("expert.added", expert),
            Self::Changed(expert) => ("expert.changed", expert),
        }
    }
}

/// An expert that somebody sees.
#[derive(Debug, Clone, PartialEq)]
pub struct Expert {
    pub id: ExpertId,
    pub definition: ExpertDefinition,
    origin: ExpertOrigin,
}

#[derive(Debug, Clone, PartialEq)]
enum ExpertOrigin {
    Builtin,
    Made {
        owner: Option<UserId>,
        visibility: Visibility,
    },
}

impl Experts {
    pub(crate) fn new(store: Store) -> Self {
        Self { store }
    }

    /// All that somebody sees: those of Tenon first.
    pub async fn list(&self, user: &CurrentUser) -> Result<Vec<ExpertView>, ExpertError> {
        let hidden = self.hidden(&user.id).await?;
        let experts = self.all(&user.id).await?.into_iter();
        Ok(experts
            .map(|expert| expert.view(user, hidden.contains(&expert.id)))
            .collect())
    }

    /// The same, without how somebody sees them.
    pub async fn all(&self, user: &UserId) -> tenon_store::Result<Vec<Expert>> {
        let stored = self.store.experts(user).await?.into_iter();
        let builtin = builtin::all().into_iter();
        Ok(builtin.chain(stored.map(Expert::from)).collect())
    }

    pub async fn show(&self, user: &CurrentUser, id: &ExpertId) -> Result<ExpertView, ExpertError> {
        let expert = self.find(&user.id, id).await?;
        let hidden = self.hidden(&user.id).await?;
        Ok(expert.view(user, hidden.contains(id)))
    }

    pub async fn find(&self, user: &UserId, id: &ExpertId) -> tenon_store::Result<Expert> {
        match builtin::all().into_iter().find(|expert| expert.id == *id) {
            Some(expert) => Ok(expert),
            None => Ok(self.store.expert(user, id).await?.into()),
        }
    }

    /// By the name that programs use.
    pub async fn named(&self, user: &UserId, name: &str) -> tenon_store::Result<Expert> {
        match builtin::named(name) {
            Some(expert) => Ok(expert),
            None => Ok(self.store.expert_named(user, name).await?.into()),
        }
    }

    /// The expert of a chat. None if no expert was chosen.
    pub async fn of_chat(
        &self,
        user: &UserId,
        expert: Option<&ExpertId>,
    ) -> Result<Option<Expert>, ExpertError> {
        let Some(id) = expert else { return Ok(None) };
        match self.find(user, id).await {
            Ok(expert) => Ok(Some(expert)),
            // An expert that is gone is an error: falling back to another model could send the chat
            // where its user does not want it.
            Err(tenon_store::Error::NotFound(_)) => Err(ExpertError::Gone),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn create(
        &self,
        user: &CurrentUser,
        mut new: ExpertChange,
    ) -> Result<ExpertView, ExpertError> {
        let visibility = new.visibility.take().unwrap_or_default();
        let mut definition = ExpertDefinition {
            icon: builtin::DEFAULT_ICON.to_owned(),
            ..ExpertDefinition::default()
        };
        new.apply(&mut definition);
        if definition.name.is_empty() {
            definition.name = check::name_from(&definition.title);
        }
        self.add(user, visibility, &definition).await
    }

    /// One's own, to be changed: private, under a name that is free.
    pub async fn copy(&self, user: &CurrentUser, id: &ExpertId) -> Result<ExpertView, ExpertError> {
        let original = self.find(&user.id, id).await?.definition;
        let known = self.all(&user.id).await?;
        let taken: HashSet<&str> = known.iter().map(|of| of.definition.name.as_str()).collect();
        let definition = ExpertDefinition {
            name: check::free_name(&original.name, &taken),
            ..original
        };
        self.add(user, Visibility::Private, &definition).await
    }

    async fn add(
        &self,
        user: &CurrentUser,
        visibility: Visibility,
        definition: &ExpertDefinition,
    ) -> Result<ExpertView, ExpertError> {
        check::definition(definition)?;
        let stored = self
            .store
            .add_expert(&user.id, visibility, definition)
            .await?;
        Ok(Expert::from(stored).view(user, false))
    }

    pub async fn change(
        &self,
        user: &CurrentUser,
        id: &ExpertId,
        mut change: ExpertChange,
    ) -> Result<ExpertView, ExpertError> {
        let expert = self.find(&user.id, id).await?;
        if let Some(hidden) = change.hidden.take() {
            self.set_hidden(&user.id, id, hidden).await?;
        }
        if change.is_empty() {
            return self.show(user, id).await;
        }
        expert.require_rights(user)?;
        let changed = |stored: StoredExpert| {
            Expert::from(stored.clone()).require_rights(user)?;
            let mut stored = stored;
            stored.visibility = change.visibility.take().unwrap_or(stored.visibility);
            change.apply(&mut stored.definition);
            check::definition(&stored.definition)?;
            Ok::<_, ExpertError>(stored)
        };
        self.store.change_expert(&user.id, id, changed).await?;
        self.show(user, id).await
    }

    /// Adds an expert from a file, or changes one's own of the same name. A new one is private
    /// unless a visibility is given; one that is there keeps what it has.
    pub async fn import(
        &self,
        user: &CurrentUser,
        visibility: Option<Visibility>,
        definition: ExpertDefinition,
    ) -> Result<ImportedExpert, ExpertError> {
        let named = match self.store.expert_named(&user.id, &definition.name).await {
            Ok(known) => Some(Expert::from(known)),
            Err(tenon_store::Error::NotFound(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let Some(known) = named.filter(|known| known.is_of(&user.id)) else {
            let visibility = visibility.unwrap_or_default();
            let added = self.add(user, visibility, &definition).await?;
            return Ok(ImportedExpert::Added(added));
        };
        known.require_rights(user)?;
        check::definition(&definition)?;
        let changed = |stored: StoredExpert| {
            Ok::<_, ExpertError>(StoredExpert {
                visibility: visibility.unwrap_or(stored.visibility),
                definition,
                ..stored
            })
        };
        self.store
            .change_expert(&user.id, &known.id, changed)
            .await?;
        let changed = self.show(user, &known.id).await?;
        Ok(ImportedExpert::Changed(changed))
    }

    pub async fn delete(&self, user: &CurrentUser, id: &ExpertId) -> Result<(), ExpertError> {
        let expert = self.find(&user.id, id).await?;
        expert.require_rights(user)?;
        Ok(self.store.delete_expert(id).await?)
    }

    async fn hidden(&self, user: &UserId) -> tenon_store::Result<HashSet<ExpertId>> {
        let hidden = self.store.preference(Some(user), HIDDEN).await?;
        Ok(hidden.unwrap_or_default())
    }

    async fn set_hidden(
        &self,
        user: &UserId,
        id: &ExpertId,
        is_hidden: bool,
    ) -> tenon_store::Result<()> {
        let mut hidden = self.hidden(user).await?;
        if is_hidden {
            hidden.insert(id.clone());
        } else {
            hidden.remove(id);
        }
        // Drop the ids of experts that no longer exist.
        let known: HashSet<ExpertId> = self.all(user).await?.into_iter().map(|of| of.id).collect();
        hidden.retain(|id| known.contains(id));
        self.store.set_preference(Some(user), HIDDEN, &hidden).await
    }
}

impl Expert {
    /// The model it answers with; None: the default one.
    pub fn model(&self) -> Option<&ModelId> {
        self.definition.model.as_ref()
    }

    pub fn is_builtin(&self) -> bool {
        self.origin == ExpertOrigin::Builtin
    }

    /// Whether it is who answers where a chat has no expert.
    pub fn is_general(&self) -> bool {
        self.id.as_str() == builtin::GENERAL
    }

    /// Refuses whoever may not change it.
    pub fn require_rights(&self, user: &CurrentUser) -> Result<(), ExpertError> {
        match &self.origin {
            ExpertOrigin::Builtin => Err(ExpertError::Builtin),
            ExpertOrigin::Made { .. } if self.is_of(&user.id) && user.has_full_access() => Ok(()),
            ExpertOrigin::Made { .. } if user.administers() => Ok(()),
            ExpertOrigin::Made { .. } => Err(ExpertError::NotYours),
        }
    }

    fn is_of(&self, user: &UserId) -> bool {
        matches!(&self.origin, ExpertOrigin::Made { owner: Some(owner), .. } if owner == user)
    }
}

impl From<StoredExpert> for Expert {
    fn from(stored: StoredExpert) -> Self {
        Self {
            id: stored.id,
            definition: stored.definition,
            origin: ExpertOrigin::Made {
                owner: stored.owner,
                visibility: stored.visibility,
            },
        }
    }
}
