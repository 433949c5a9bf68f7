//! Tool ids: assigned once, never reused.

use std::collections::{HashMap, HashSet};

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, Condition, DatabaseTransaction, EntityTrait, QueryFilter};
use tenon_domain::{SourceId, SourceInfo, ToolId, tool_id};

use crate::connect::one_at_a_time;
use crate::entity::tools;
use crate::{Error, Result, Store, text};

impl Store {
    /// The ids of these tools of a source, in the order of the names; new ones
    /// are on record when this returns.
    pub async fn tool_ids(&self, source: &SourceInfo, names: &[&str]) -> Result<Vec<ToolId>> {
        let transaction = self.begin().await?;
        let ids = give(&transaction, source, names).await?;
        transaction.commit().await?;
        Ok(ids)
    }

    /// Those that were given to tools of these sources, by source and native name.
    pub async fn tool_ids_of(
        &self,
        sources: &[&SourceId],
    ) -> Result<HashMap<(SourceId, String), ToolId>> {
        let sources = sources.iter().map(|source| source.as_str());
        let rows = tools::Entity::find()
            .filter(tools::Column::SourceId.is_in(sources))
            .all(&self.read)
            .await?;
        let ids = rows.into_iter();
        Ok(ids
            .map(|row| ((SourceId(row.source_id), row.name), ToolId(row.tool_id)))
            .collect())
    }
}

/// The same as part of a transaction.
pub(crate) async fn give(
    transaction: &DatabaseTransaction,
    source: &SourceInfo,
    names: &[&str],
) -> Result<Vec<ToolId>> {
    let names: Vec<String> = names.iter().map(|name| text(name)).collect();
    let owner = source
        .owner
        .as_ref()
        .map_or_else(String::new, |owner| owner.0.clone());
    // Ids must differ from all that are given meanwhile.
    one_at_a_time(transaction, "tools").await?;

    let known = tools::Entity::find()
        .filter(tools::Column::SourceId.eq(&source.id.0))
        .all(transaction)
        .await?;
    let mut known: HashMap<String, ToolId> = known
        .into_iter()
        .map(|row| (row.name, ToolId(row.tool_id)))
        .collect();

    let new: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| !known.contains_key(*name))
        .collect();
    if !new.is_empty() {
        // Everybody sees the tools of a shared source, so their ids must differ from all private
        // ones too.
        let visible = match owner.as_str() {
            "" => Condition::all(),
            _ => Condition::any()
                .add(tools::Column::Owner.eq(&owner))
                .add(tools::Column::Owner.eq("")),
        };
        let taken = tools::Entity::find()
            .filter(visible)
            .all(transaction)
            .await?;
        let mut taken: HashSet<ToolId> = taken.into_iter().map(|row| ToolId(row.tool_id)).collect();
        let given = tool_id::give(source, &new, &mut taken);
        let pairs: HashMap<&str, ToolId> = new.into_iter().zip(given).collect();
        let rows: Vec<_> = pairs
            .iter()
            .map(|(name, id)| tools::ActiveModel {
                source_id: Set(source.id.0.clone()),
                name: Set((*name).to_owned()),
                tool_id: Set(id.0.clone()),
                owner: Set(owner.clone()),
            })
            .collect();
        // Both engines bound the values of one statement; a large server has thousands of tools.
        for rows in rows.chunks(1000) {
            tools::Entity::insert_many(rows.to_vec())
                .exec_without_returning(transaction)
                .await?;
        }
        known.extend(pairs.into_iter().map(|(name, id)| (name.to_owned(), id)));
    }
    names
        .iter()
        .map(|name| known.get(name).cloned().ok_or(Error::NotFound("tool")))
        .collect()
}
