//! The last known tools of each server, so that they can be listed before it is up.

use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;
use sea_orm::sea_query::OnConflict;
use tenon_domain::{SourceId, ToolDefinition};

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
}
