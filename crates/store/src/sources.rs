//! Servers that somebody added. How they are reached is sealed, with all its secrets.

use sea_orm::ActiveValue::{Set, Unchanged};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder,
};
use tenon_domain::{SourceId, SourceKind, UserId};

use crate::connect::one_at_a_time;
use crate::entity::{source_grants, sources};
use crate::{
    Error, Result, Store, StoreChange, enum_column, now, owner_column, read_owner, source_cache,
    text,
};

/// A server as its row has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSource {
    pub id: SourceId,
    pub kind: SourceKind,
    pub name: String,
    pub title: String,
    /// None: everybody's.
    pub owner: Option<UserId>,
    pub enabled: bool,
    /// Everybody who uses it logs in there for themself.
    pub wants_login: bool,
    /// An admin trusts what it says of its own tools.
    pub trust_hints: bool,
    /// As [`crate::Vault`] sealed it, about `source:` and the id.
    pub sealed_config: String,
    pub created_at: i64,
    /// When any of it last changed.
    pub updated_at: i64,
}

/// A server to be kept.
#[derive(Debug, Clone)]
pub struct NewSourceRow<'a> {
    pub kind: SourceKind,
    pub name: &'a str,
    pub title: &'a str,
    pub owner: Option<&'a UserId>,
    pub enabled: bool,
    pub trust_hints: bool,
}

impl NewSourceRow<'_> {
    /// The id it gets: "mcp-memory", and "mcp-memory.USER" for one of somebody's own,
    /// as no name has a dot.
    pub fn id(&self) -> SourceId {
        let kind = match self.kind {
            SourceKind::Mcp => "mcp",
            SourceKind::Openapi => "api",
            SourceKind::Builtin => "builtin",
            SourceKind::Skill => "skill",
            SourceKind::Browser => "local",
        };
        let name = text(self.name);
        SourceId(match self.owner {
            None => format!("{kind}-{name}"),
            Some(owner) => format!("{kind}-{name}.{}", text(&owner.0)),
        })
    }
}

impl Store {
    /// All of them, by name.
    pub async fn sources(&self) -> Result<Vec<StoredSource>> {
        let rows = sources::Entity::find()
            .order_by_asc(sources::Column::Name)
            .order_by_asc(sources::Column::Id)
            .all(&self.read)
            .await?;
        rows.into_iter().map(StoredSource::try_from).collect()
    }

    pub async fn source(&self, source: &SourceId) -> Result<StoredSource> {
        find(&self.read, source).await
    }

    /// Adds one; `seal` seals its configuration for the id it gets. A name is
    /// used once by each owner.
    ///
    /// One that was removed and is added again has the id it had, so that its
    /// tools have theirs: what people set for them stands.
    pub async fn add_source(
        &self,
        new: NewSourceRow<'_>,
        seal: impl FnOnce(&SourceId) -> String,
    ) -> Result<StoredSource> {
        let _change = self.changing(StoreChange::Sources);
        let id = new.id();
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "sources").await?;
        let taken = sources::Entity::find()
            .filter(sources::Column::Owner.eq(owner_column(new.owner)))
            .filter(sources::Column::Name.eq(text(new.name)))
            .one(&transaction)
            .await?;
        let same_id = sources::Entity::find_by_id(&id.0).one(&transaction).await?;
        if taken.or(same_id).is_some() {
            return Err(Error::Taken("server"));
        }
        let at = now();
        let row = sources::ActiveModel {
            id: Set(id.0.clone()),
            kind: Set(enum_column::write(new.kind)?),
            name: Set(text(new.name)),
            title: Set(text(new.title)),
            owner: Set(owner_column(new.owner)),
            enabled: Set(new.enabled),
            wants_login: Set(false),
            trust_hints: Set(new.trust_hints),
            sealed_config: Set(seal(&id)),
            created_at: Set(at),
            updated_at: Set(at),
        };
        let row = row.insert(&transaction).await?;
        transaction.commit().await?;
        row.try_into()
    }

    /// Changes a source in a transaction that locks it. Id, name, kind and owner stay.
    pub async fn change_source<E: From<Error>>(
        &self,
        source: &SourceId,
        change: impl FnOnce(StoredSource) -> std::result::Result<StoredSource, E>,
    ) -> std::result::Result<StoredSource, E> {
        let _change = self.changing(StoreChange::Sources);
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "sources").await?;
        let old = find(&transaction, source).await?;
        let before = old.updated_at;
        let changed = change(old)?;
        let row = sources::ActiveModel {
            id: Unchanged(text(&source.0)),
            title: Set(text(&changed.title)),
            enabled: Set(changed.enabled),
            wants_login: Set(changed.wants_login),
            trust_hints: Set(changed.trust_hints),
            sealed_config: Set(changed.sealed_config),
            // Two changes within a millisecond are two changes.
            updated_at: Set(now().max(before + 1)),
            ..Default::default()
        };
        let row = row.update(&transaction).await.map_err(Error::from)?;
        transaction.commit().await.map_err(Error::from)?;
        Ok(row.try_into()?)
    }

    /// Notes that people log in there. One that has gone meanwhile is left alone.
    pub async fn set_wants_login(&self, source: &SourceId, wants: bool) -> Result<()> {
        let _change = self.changing(StoreChange::Sources);
        sources::Entity::update_many()
            .col_expr(sources::Column::WantsLogin, Expr::value(wants))
            .col_expr(sources::Column::UpdatedAt, Expr::value(now()))
            .filter(sources::Column::Id.eq(text(&source.0)))
            .exec(&self.write)
            .await?;
        Ok(())
    }

    /// Removes one, with the log-ins there and what it last offered.
    pub async fn remove_source(&self, source: &SourceId) -> Result<()> {
        let _change = self.changing(StoreChange::Sources);
        let transaction = self.begin().await?;
        let removed = sources::Entity::delete_by_id(text(&source.0))
            .exec(&transaction)
            .await?;
        if removed.rows_affected == 0 {
            return Err(Error::NotFound("server"));
        }
        forget(&transaction, source).await?;
        Ok(transaction.commit().await?)
    }
}

/// Forgets what was kept about a server besides its row.
pub(crate) async fn forget(db: &impl ConnectionTrait, source: &SourceId) -> Result<()> {
    source_grants::Entity::delete_many()
        .filter(source_grants::Column::SourceId.eq(text(&source.0)))
        .exec(db)
        .await?;
    source_cache::forget(db, source).await
}

impl TryFrom<sources::Model> for StoredSource {
    type Error = Error;

    fn try_from(row: sources::Model) -> Result<Self> {
        Ok(Self {
            id: SourceId(row.id),
            kind: enum_column::read(&row.kind)?,
            name: row.name,
            title: row.title,
            owner: read_owner(row.owner),
            enabled: row.enabled,
            wants_login: row.wants_login,
            trust_hints: row.trust_hints,
            sealed_config: row.sealed_config,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

async fn find(db: &impl ConnectionTrait, source: &SourceId) -> Result<StoredSource> {
    let row = sources::Entity::find_by_id(text(&source.0)).one(db).await?;
    row.ok_or(Error::NotFound("server"))?.try_into()
}
