//! The servers that people's browsers found on their own machines.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tenon_domain::{SourceId, ToolDefinition, UserId};

use crate::entity::{local_servers, source_tools};
use crate::{Result, Store, now, text};

/// A server that nobody's page has seen for so long is forgotten.
const RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// What is known of one.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredLocalServer {
    pub id: SourceId,
    pub owner: UserId,
    pub device_id: String,
    pub device_name: String,
    pub name: String,
    pub title: String,
    pub url: String,
    pub via: String,
    pub tools: Vec<ToolDefinition>,
}

impl Store {
    /// Everybody's, the ones that were seen last first.
    pub async fn local_servers(&self) -> Result<Vec<StoredLocalServer>> {
        let rows = local_servers::Entity::find()
            .find_also_related(source_tools::Entity)
            .order_by_desc(local_servers::Column::SeenAt)
            .all(&self.read)
            .await?;
        Ok(rows
            .into_iter()
            .map(|(row, tools)| read(row, tools))
            .collect())
    }

    /// Those of one device.
    pub async fn local_servers_of(
        &self,
        owner: &UserId,
        device: &str,
    ) -> Result<Vec<StoredLocalServer>> {
        let rows = local_servers::Entity::find()
            .find_also_related(source_tools::Entity)
            .filter(local_servers::Column::Owner.eq(text(&owner.0)))
            .filter(local_servers::Column::DeviceId.eq(text(device)))
            .all(&self.read)
            .await?;
        let rows = rows.into_iter();
        Ok(rows.map(|(row, tools)| read(row, tools)).collect())
    }

    pub async fn put_local_server(&self, server: &StoredLocalServer) -> Result<()> {
        self.put_source_tools(&server.id, &server.tools).await?;
        let row = local_servers::ActiveModel {
            source_id: Set(text(&server.id.0)),
            owner: Set(text(&server.owner.0)),
            device_id: Set(text(&server.device_id)),
            device_name: Set(text(&server.device_name)),
            name: Set(text(&server.name)),
            title: Set(text(&server.title)),
            url: Set(text(&server.url)),
            via: Set(text(&server.via)),
            seen_at: Set(now()),
        };
        let changed = OnConflict::column(local_servers::Column::SourceId)
            .update_columns([
                local_servers::Column::DeviceName,
                local_servers::Column::Title,
                local_servers::Column::Via,
                local_servers::Column::SeenAt,
            ])
            .to_owned();
        local_servers::Entity::insert(row)
            .on_conflict(changed)
            .exec_without_returning(&self.write)
            .await?;
        Ok(())
    }

    /// They are in use today.
    pub async fn see_local_servers(&self, ids: &[SourceId]) -> Result<()> {
        let ids = ids.iter().map(|id| text(&id.0));
        local_servers::Entity::update_many()
            .col_expr(local_servers::Column::SeenAt, Expr::value(now()))
            .filter(local_servers::Column::SourceId.is_in(ids))
            .exec(&self.write)
            .await?;
        Ok(())
    }

    pub async fn forget_local_servers(&self, ids: &[SourceId]) -> Result<()> {
        let ids: Vec<String> = ids.iter().map(|id| text(&id.0)).collect();
        forget(&self.write, ids).await
    }

    /// Deletes those that were last seen long ago. Says which are left.
    pub async fn sweep_local_servers(&self) -> Result<Vec<SourceId>> {
        let is_old = local_servers::Column::SeenAt.lt(now() - RETENTION_MS);
        let ids = local_servers::Entity::find()
            .select_only()
            .column(local_servers::Column::SourceId);
        let old: Vec<String> = ids
            .clone()
            .filter(is_old.clone())
            .into_tuple()
            .all(&self.read)
            .await?;
        for id in old {
            // A page may have seen it just now.
            let deleted = local_servers::Entity::delete_by_id(&id).filter(is_old.clone());
            if deleted.exec(&self.write).await?.rows_affected > 0 {
                let tools = source_tools::Entity::delete_by_id(&id);
                tools.exec(&self.write).await?;
            }
        }
        let left: Vec<String> = ids.into_tuple().all(&self.write).await?;
        Ok(left.into_iter().map(SourceId).collect())
    }
}

/// All of somebody's.
pub(crate) async fn forget_user(db: &impl ConnectionTrait, user: &UserId) -> Result<()> {
    let own = local_servers::Entity::find()
        .filter(local_servers::Column::Owner.eq(text(&user.0)))
        .all(db)
        .await?;
    forget(db, own.into_iter().map(|row| row.source_id).collect()).await
}

async fn forget(db: &impl ConnectionTrait, ids: Vec<String>) -> Result<()> {
    for id in ids {
        source_tools::Entity::delete_by_id(&id).exec(db).await?;
        local_servers::Entity::delete_by_id(&id).exec(db).await?;
    }
    Ok(())
}

/// Tools that cannot be read are told again by the next page.
fn read(row: local_servers::Model, tools: Option<source_tools::Model>) -> StoredLocalServer {
    let tools = tools.and_then(|tools| serde_json::from_str(&tools.definitions).ok());
    StoredLocalServer {
        id: SourceId(row.source_id),
        owner: UserId(row.owner),
        device_id: row.device_id,
        device_name: row.device_name,
        name: row.name,
        title: row.title,
        url: row.url,
        via: row.via,
        tools: tools.unwrap_or_default(),
    }
}
