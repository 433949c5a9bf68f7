//! OAuth grants: who is logged in at which server. Tokens are sealed.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tenon_domain::{SourceId, UserId};

use crate::connect::one_at_a_time;
use crate::entity::source_grants;
use crate::{Result, Store, StoreChange, fresh_id, now, text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrant {
    /// What the grant is sealed about, behind `grant:`.
    pub id: String,
    pub source: SourceId,
    pub user: UserId,
    pub sealed_grant: String,
    pub updated_at: i64,
}

impl Store {
    /// All of them: who has logged in where.
    pub async fn grants(&self) -> Result<Vec<StoredGrant>> {
        let rows = source_grants::Entity::find()
            .order_by_asc(source_grants::Column::Id)
            .all(&self.read)
            .await?;
        Ok(rows.into_iter().map(StoredGrant::from).collect())
    }

    pub async fn grant(&self, source: &SourceId, user: &UserId) -> Result<Option<StoredGrant>> {
        let row = of(source, user).one(&self.read).await?;
        Ok(row.map(StoredGrant::from))
    }

    /// Keeps what somebody got, in the place of what they had; `seal` seals it
    /// about the id it is given.
    pub async fn put_grant(
        &self,
        source: &SourceId,
        user: &UserId,
        seal: impl FnOnce(&str) -> String,
    ) -> Result<StoredGrant> {
        let _change = self.changing(StoreChange::Sources);
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "source_grants").await?;
        let known = of(source, user).one(&transaction).await?;
        let id = known.map_or_else(fresh_id, |row| row.id);
        let row = source_grants::ActiveModel {
            sealed_grant: Set(seal(&id)),
            id: Set(id),
            source_id: Set(text(&source.0)),
            user_id: Set(text(&user.0)),
            updated_at: Set(now()),
        };
        let changed = OnConflict::column(source_grants::Column::Id)
            .update_columns([
                source_grants::Column::SealedGrant,
                source_grants::Column::UpdatedAt,
            ])
            .to_owned();
        let row = source_grants::Entity::insert(row)
            .on_conflict(changed)
            .exec_with_returning(&transaction)
            .await?;
        transaction.commit().await?;
        Ok(row.into())
    }

    /// Whether there was one.
    pub async fn remove_grant(&self, source: &SourceId, user: &UserId) -> Result<bool> {
        let _change = self.changing(StoreChange::Sources);
        let removed = source_grants::Entity::delete_many()
            .filter(source_grants::Column::SourceId.eq(text(&source.0)))
            .filter(source_grants::Column::UserId.eq(text(&user.0)))
            .exec(&self.write)
            .await?;
        Ok(removed.rows_affected > 0)
    }
}

impl From<source_grants::Model> for StoredGrant {
    fn from(row: source_grants::Model) -> Self {
        Self {
            id: row.id,
            source: SourceId(row.source_id),
            user: UserId(row.user_id),
            sealed_grant: row.sealed_grant,
            updated_at: row.updated_at,
        }
    }
}

fn of(source: &SourceId, user: &UserId) -> sea_orm::Select<source_grants::Entity> {
    source_grants::Entity::find()
        .filter(source_grants::Column::SourceId.eq(text(&source.0)))
        .filter(source_grants::Column::UserId.eq(text(&user.0)))
}
