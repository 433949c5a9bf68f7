//! Secrets that servers are given, by the names that configurations call them.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tenon_domain::UserId;

use crate::connect::one_at_a_time;
use crate::entity::secrets;
use crate::{Error, Result, Store, StoreChange, fresh_id, now, owner_column, read_owner, text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSecret {
    /// What the value is sealed about, behind `secret:`.
    pub id: String,
    /// None: everybody's.
    pub owner: Option<UserId>,
    pub name: String,
    pub sealed_value: String,
    pub updated_at: i64,
}

impl Store {
    /// Everybody's and everybody's own, by name.
    pub async fn secrets(&self) -> Result<Vec<StoredSecret>> {
        let rows = secrets::Entity::find()
            .order_by_asc(secrets::Column::Name)
            .order_by_asc(secrets::Column::Owner)
            .all(&self.read)
            .await?;
        Ok(rows.into_iter().map(StoredSecret::from).collect())
    }

    /// A user's secret, or a shared one without `owner`.
    pub async fn secret(&self, owner: Option<&UserId>, name: &str) -> Result<Option<StoredSecret>> {
        let row = of(owner, name).one(&self.read).await?;
        Ok(row.map(StoredSecret::from))
    }

    /// Sets a secret; `seal` seals its value about the id it is given.
    pub async fn put_secret(
        &self,
        owner: Option<&UserId>,
        name: &str,
        seal: impl FnOnce(&str) -> String,
    ) -> Result<StoredSecret> {
        let _change = self.changing(StoreChange::Sources);
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "secrets").await?;
        let known = of(owner, name).one(&transaction).await?;
        // Two changes within a millisecond are two changes.
        let at = known.as_ref().map_or(0, |row| row.updated_at + 1);
        let id = known.map_or_else(fresh_id, |row| row.id);
        let row = secrets::ActiveModel {
            sealed_value: Set(seal(&id)),
            id: Set(id),
            owner: Set(owner_column(owner)),
            name: Set(text(name)),
            updated_at: Set(now().max(at)),
        };
        let changed = OnConflict::column(secrets::Column::Id)
            .update_columns([secrets::Column::SealedValue, secrets::Column::UpdatedAt])
            .to_owned();
        let row = secrets::Entity::insert(row)
            .on_conflict(changed)
            .exec_with_returning(&transaction)
            .await?;
        transaction.commit().await?;
        Ok(row.into())
    }

    pub async fn remove_secret(&self, owner: Option<&UserId>, name: &str) -> Result<()> {
        let _change = self.changing(StoreChange::Sources);
        let removed = secrets::Entity::delete_many()
            .filter(secrets::Column::Owner.eq(owner_column(owner)))
            .filter(secrets::Column::Name.eq(text(name)))
            .exec(&self.write)
            .await?;
        match removed.rows_affected {
            0 => Err(Error::NotFound("secret")),
            _ => Ok(()),
        }
    }
}

impl From<secrets::Model> for StoredSecret {
    fn from(row: secrets::Model) -> Self {
        Self {
            id: row.id,
            owner: read_owner(row.owner),
            name: row.name,
            sealed_value: row.sealed_value,
            updated_at: row.updated_at,
        }
    }
}

fn of(owner: Option<&UserId>, name: &str) -> sea_orm::Select<secrets::Entity> {
    secrets::Entity::find()
        .filter(secrets::Column::Owner.eq(owner_column(owner)))
        .filter(secrets::Column::Name.eq(text(name)))
}
