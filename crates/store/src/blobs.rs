//! Bytes too large to stand in a row of their own table.

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tenon_domain::{BlobId, UserId};

use crate::entity::blobs;
use crate::{Error, Result, Store, fresh_id, now};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    pub media_type: String,
    pub data: Vec<u8>,
}

impl Store {
    pub async fn put_blob(&self, owner: &UserId, blob: Blob) -> Result<BlobId> {
        let id = fresh_id();
        let row = blobs::ActiveModel {
            id: Set(id.clone()),
            owner: Set(owner.0.clone()),
            media_type: Set(crate::text(&blob.media_type)),
            data: Set(blob.data),
            created_at: Set(now()),
        };
        blobs::Entity::insert(row)
            .exec_without_returning(&self.write)
            .await?;
        Ok(BlobId(id))
    }

    pub async fn blob(&self, owner: &UserId, blob: &BlobId) -> Result<Blob> {
        let row = blobs::Entity::find_by_id(&blob.0)
            .filter(blobs::Column::Owner.eq(&owner.0))
            .one(&self.read)
            .await?;
        let row = row.ok_or(Error::NotFound("blob"))?;
        Ok(Blob {
            media_type: row.media_type,
            data: row.data,
        })
    }
}
