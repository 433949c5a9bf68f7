//! What servers offered when they last worked, so that it is listed before they are up.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, EntityTrait, QuerySelect};
use tenon_domain::{SourceId, ToolDefinition, UserId};

use crate::entity::source_tools;
use crate::{Result, Store, now, text};

impl Store {
    /// The tools that were kept for a source as the registry knows it. None: it never worked.
    pub async fn source_tools(&self, source: &SourceId) -> Result<Option<Vec<ToolDefinition>>> {
        let row = source_tools::Entity::find_by_id(text(&source.0));
        let row = row.one(&self.read).await?;
        let tools = row.map(|row| serde_json::from_str(&row.definitions));
        Ok(tools.transpose()?)
    }

    pub async fn put_source_tools(
        &self,
        source: &SourceId,
        tools: &[ToolDefinition],
    ) -> Result<()> {
        let row = source_tools::ActiveModel {
            source_id: Set(text(&source.0)),
            definitions: Set(serde_json::to_string(tools)?),
            updated_at: Set(now()),
        };
        let changed = OnConflict::column(source_tools::Column::SourceId)
            .update_columns([
                source_tools::Column::Definitions,
                source_tools::Column::UpdatedAt,
            ])
            .to_owned();
        source_tools::Entity::insert(row)
            .on_conflict(changed)
            .exec_without_returning(&self.write)
            .await?;
        Ok(())
    }

    /// Forgets what a server offered, to everybody who had a connection of their own too.
    pub async fn remove_source_tools(&self, source: &SourceId) -> Result<()> {
        forget(&self.write, source).await
    }
}

/// What a source offered, and to everybody who had a connection of their own to it:
/// those are called `SOURCE:USER`.
pub(crate) async fn forget(db: &impl ConnectionTrait, source: &SourceId) -> Result<()> {
    forget_where(db, |id| is_of(id, source)).await
}

/// Whether the registry knows a source, or somebody's own connection to it, by this id.
pub(crate) fn is_of(id: &str, source: &SourceId) -> bool {
    let rest = id.strip_prefix(&source.0);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// Whether this is the id of somebody's own connection.
pub(crate) fn is_for(id: &str, user: &UserId) -> bool {
    let source = id.strip_suffix(&user.0);
    source.is_some_and(|source| source.ends_with(':'))
}

/// What anything offered to somebody who is gone.
pub(crate) async fn forget_user(db: &impl ConnectionTrait, user: &UserId) -> Result<()> {
    forget_where(db, |id| is_for(id, user)).await
}

/// Looked for here and not by a pattern: the engines do not agree on what is like what.
async fn forget_where(db: &impl ConnectionTrait, is_it: impl Fn(&str) -> bool) -> Result<()> {
    let ids: Vec<String> = source_tools::Entity::find()
        .select_only()
        .column(source_tools::Column::SourceId)
        .into_tuple()
        .all(db)
        .await?;
    for id in ids.into_iter().filter(|id| is_it(id)) {
        source_tools::Entity::delete_by_id(id).exec(db).await?;
    }
    Ok(())
}
