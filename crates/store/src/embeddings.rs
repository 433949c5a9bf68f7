//! Vectors of texts, by the model that made them and the hash of the text.

use std::collections::HashMap;

use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};

use crate::entity::embeddings;
use crate::{Result, Store, now};

/// Vectors older than this are deleted; those still in use are computed again.
const RETENTION_MS: i64 = 90 * 24 * 60 * 60 * 1000;

impl Store {
    /// Those that are known of these.
    pub async fn embeddings(
        &self,
        model: &str,
        hashes: &[String],
    ) -> Result<HashMap<String, Vec<u8>>> {
        let rows = embeddings::Entity::find()
            .filter(embeddings::Column::Model.eq(model))
            .filter(embeddings::Column::Hash.is_in(hashes))
            .all(&self.read)
            .await?;
        Ok(rows.into_iter().map(|row| (row.hash, row.vector)).collect())
    }

    pub async fn put_embeddings(&self, model: &str, made: Vec<(String, Vec<u8>)>) -> Result<()> {
        let rows = made
            .into_iter()
            .map(|(hash, vector)| embeddings::ActiveModel {
                model: Set(model.to_owned()),
                hash: Set(hash),
                vector: Set(vector),
                created_at: Set(now()),
            });
        let mut known = OnConflict::columns([embeddings::Column::Model, embeddings::Column::Hash]);
        embeddings::Entity::insert_many(rows)
            .on_conflict(known.do_nothing().to_owned())
            .exec_without_returning(&self.write)
            .await?;
        Ok(())
    }

    /// Deletes what was made long ago: tools and models come and go.
    pub async fn sweep_embeddings(&self) -> Result<()> {
        embeddings::Entity::delete_many()
            .filter(embeddings::Column::CreatedAt.lt(now() - RETENTION_MS))
            .exec(&self.write)
            .await?;
        Ok(())
    }
}
