//! The cached tools and documents of servers, which are deleted together.

use std::collections::BTreeSet;

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use tenon_domain::{SourceId, UserId};

use crate::entity::{source_documents, source_tools};
use crate::{Result, Store};

impl Store {
    /// Forgets what a server offered, to everybody who had a connection of their own too.
    pub async fn clear_source_cache(&self, source: &SourceId) -> Result<()> {
        forget(&self.write, source).await
    }
}

/// What a source offered, and to everybody who had a connection of their own to it:
/// those are called `SOURCE:USER`.
pub(crate) async fn forget(db: &impl ConnectionTrait, source: &SourceId) -> Result<()> {
    forget_where(db, |id| {
        let rest = id.strip_prefix(&source.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    })
    .await
}

/// What anything offered to somebody who is gone.
pub(crate) async fn forget_user(db: &impl ConnectionTrait, user: &UserId) -> Result<()> {
    let own = format!(":{}", user.0);
    forget_where(db, |id| id.ends_with(&own)).await
}

/// Filtered here and not with `LIKE`, whose semantics differ between the engines.
async fn forget_where(db: &impl ConnectionTrait, is_it: impl Fn(&str) -> bool) -> Result<()> {
    let mut ids: Vec<String> = source_tools::Entity::find()
        .select_only()
        .column(source_tools::Column::SourceId)
        .into_tuple()
        .all(db)
        .await?;
    let of_documents: Vec<String> = source_documents::Entity::find()
        .select_only()
        .column(source_documents::Column::SourceId)
        .distinct()
        .into_tuple()
        .all(db)
        .await?;
    ids.extend(of_documents);
    let ids: BTreeSet<String> = ids.into_iter().filter(|id| is_it(id)).collect();
    for id in ids {
        source_tools::Entity::delete_by_id(&id).exec(db).await?;
        source_documents::Entity::delete_many()
            .filter(source_documents::Column::SourceId.eq(&id))
            .exec(db)
            .await?;
    }
    Ok(())
}
