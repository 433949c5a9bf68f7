//! Moving everything sealed from one key to the next.
//!
//! The file gets the new key first and keeps those that are still used, then
//! all values are sealed anew in one transaction. Whatever stops this in the
//! middle, every value can be opened: the old keys are there until a later
//! rotation finds that nothing uses them.

use std::collections::{BTreeMap, HashSet};

use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ConnectionTrait, DatabaseTransaction, EntityTrait};

use crate::connect::one_at_a_time;
use crate::entity::call_traces;
use crate::vault::{Vault, key_id_of};
use crate::{Result, Store};

/// A column with sealed values.
#[derive(Debug)]
pub(crate) struct SealedColumn {
    pub table: &'static str,
    /// The column that tells one row from another.
    pub id: &'static str,
    pub column: &'static str,
    /// What a value is about: this, and the id of its row.
    about: &'static str,
}

/// Every column with sealed values that move to a new key; traces of calls, which are kept for a
/// month only, are deleted instead. A name that begins with `sealed_` says
/// that it belongs here, and a test looks for them.
pub(crate) const SEALED: [SealedColumn; 6] = [
    SealedColumn {
        table: "models",
        id: "id",
        column: "sealed_key",
        about: "model:",
    },
    SealedColumn {
        table: "secrets",
        id: "id",
        column: "sealed_value",
        about: "secret:",
    },
    SealedColumn {
        table: "skill_user_settings",
        id: "id",
        column: "sealed_values",
        about: "skill-user:",
    },
    SealedColumn {
        table: "skills",
        id: "id",
        column: "sealed_values",
        about: "skill:",
    },
    SealedColumn {
        table: "source_grants",
        id: "id",
        column: "sealed_grant",
        about: "grant:",
    },
    SealedColumn {
        table: "sources",
        id: "id",
        column: "sealed_config",
        about: "source:",
    },
];

/// What a rotation did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRotation {
    /// How many values the first key seals now.
    pub moved: usize,
    /// What could not be opened and was left as it is, with the reason.
    pub left: Vec<(String, String)>,
}

/// The keys, and what they are used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUse {
    pub id: String,
    /// How many values are sealed with it.
    pub values: usize,
    pub place: KeyLocation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyLocation {
    /// New values are sealed with it.
    Seals,
    /// Older values may be sealed with it.
    Opens,
    /// Values are sealed with it, and nobody has it.
    Missing,
}

/// One sealed value where it lies.
struct SealedValue {
    column: &'static SealedColumn,
    id: String,
    sealed: String,
}

impl Store {
    /// Seals everything with a new key, or with the first of the given ones.
    pub async fn rotate(&self, vault: &Vault) -> Result<KeyRotation> {
        let transaction = self.begin().await?;
        // Locks all tables with sealed values, so that the set of keys in use does not change.
        for column in &SEALED {
            one_at_a_time(&transaction, column.table).await?;
        }
        call_traces::Entity::delete_many()
            .exec(&transaction)
            .await?;
        let values = values(&transaction).await?;
        let used: HashSet<String> = values.iter().filter_map(SealedValue::key_id).collect();
        vault.renew(&used)?;
        let mut rotated = KeyRotation {
            moved: 0,
            left: Vec::new(),
        };
        for value in values {
            let about = value.about();
            match vault.open_sealed(&about, &value.sealed) {
                Ok(secret) => {
                    put(&transaction, &value, vault.seal(&about, &secret)).await?;
                    rotated.moved += 1;
                }
                // A value that cannot be opened was lost before; the others are still rotated.
                Err(error) => rotated.left.push((value.about(), error.to_string())),
            }
        }
        transaction.commit().await?;
        Ok(rotated)
    }

    /// The keys in the order they are tried, then those that are missing.
    pub async fn key_use(&self, vault: &Vault) -> Result<Vec<KeyUse>> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for id in values(&self.read)
            .await?
            .iter()
            .filter_map(SealedValue::key_id)
        {
            *counts.entry(id).or_default() += 1;
        }
        let ids = vault.key_ids().into_iter().enumerate();
        let mut uses: Vec<KeyUse> = ids
            .map(|(place, id)| KeyUse {
                values: counts.remove(&id).unwrap_or_default(),
                id,
                place: match place {
                    0 => KeyLocation::Seals,
                    _ => KeyLocation::Opens,
                },
            })
            .collect();
        uses.extend(counts.into_iter().map(|(id, values)| KeyUse {
            id,
            values,
            place: KeyLocation::Missing,
        }));
        Ok(uses)
    }
}

impl SealedValue {
    fn about(&self) -> String {
        format!("{}{}", self.column.about, self.id)
    }

    fn key_id(&self) -> Option<String> {
        key_id_of(&self.sealed)
    }
}

async fn values(db: &impl ConnectionTrait) -> Result<Vec<SealedValue>> {
    let mut values = Vec::new();
    for column in &SEALED {
        let query = Query::select()
            .columns([column.id, column.column])
            .from(column.table)
            .and_where(Expr::col(column.column).is_not_null())
            .to_owned();
        for row in db.query_all(&query).await? {
            values.push(SealedValue {
                column,
                id: row.try_get_by_index(0)?,
                sealed: row.try_get_by_index(1)?,
            });
        }
    }
    Ok(values)
}

async fn put(db: &DatabaseTransaction, value: &SealedValue, sealed: String) -> Result<()> {
    let update = Query::update()
        .table(value.column.table)
        .value(value.column.column, sealed)
        .and_where(Expr::col(value.column.id).eq(value.id.as_str()))
        .to_owned();
    db.execute(&update).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
