//! Small things that somebody decided, by name.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, EntityTrait};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tenon_domain::UserId;

use crate::entity::preferences;
use crate::{Result, Store, StoreChange, text};

impl Store {
    /// Reads a preference; without `owner`, the one for everybody.
    pub async fn preference<T: DeserializeOwned>(
        &self,
        owner: Option<&UserId>,
        name: &str,
    ) -> Result<Option<T>> {
        let row = preferences::Entity::find_by_id((of(owner), name.to_owned()));
        let row = row.one(&self.read).await?;
        let value = row.map(|row| serde_json::from_str(&row.value));
        Ok(value.transpose()?)
    }

    pub async fn set_preference<T: Serialize>(
        &self,
        owner: Option<&UserId>,
        name: &str,
        value: &T,
    ) -> Result<()> {
        let _change = self.changing(StoreChange::Preferences(owner.cloned()));
        put(&self.write, owner, name, value).await
    }
}

pub(crate) async fn put<T: Serialize>(
    db: &impl ConnectionTrait,
    owner: Option<&UserId>,
    name: &str,
    value: &T,
) -> Result<()> {
    let row = preferences::ActiveModel {
        owner: Set(of(owner)),
        name: Set(name.to_owned()),
        value: Set(serde_json::to_string(value)?),
    };
    let changed = OnConflict::columns([preferences::Column::Owner, preferences::Column::Name])
        .update_column(preferences::Column::Value)
        .to_owned();
    preferences::Entity::insert(row)
        .on_conflict(changed)
        .exec_without_returning(db)
        .await?;
    Ok(())
}

fn of(owner: Option<&UserId>) -> String {
    owner.map_or_else(String::new, |owner| text(&owner.0))
}
