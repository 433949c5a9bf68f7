//! Bytes too large to stand in a row of their own table.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Func, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tenon_domain::{BlobId, CallId, UserId};

use crate::entity::{blobs, chats, tool_calls};
use crate::{Error, Result, Store, fresh_id, now};

/// A day, in milliseconds: long enough to look at what one called for.
const MANUAL_CALL_RETENTION_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    pub media_type: String,
    pub data: Vec<u8>,
}

impl Store {
    /// Keeps the output of a call.
    pub async fn put_blob(&self, owner: &UserId, call: &CallId, blob: Blob) -> Result<BlobId> {
        let id = fresh_id();
        let row = blobs::ActiveModel {
            id: Set(id.clone()),
            owner: Set(owner.0.clone()),
            call_id: Set(call.0.clone()),
            media_type: Set(crate::text(&blob.media_type)),
            data: Set(blob.data),
            created_at: Set(now()),
        };
        blobs::Entity::insert(row)
            .exec_without_returning(&self.write)
            .await?;
        Ok(BlobId(id))
    }

    /// How many bytes of outputs are kept for somebody.
    pub async fn blob_bytes(&self, owner: &UserId) -> Result<u64> {
        // Neither engine reads the bytes to know how many there are.
        let length = Func::cust("LENGTH").arg(Expr::col(blobs::Column::Data));
        let sum: Option<Option<i64>> = blobs::Entity::find()
            .filter(blobs::Column::Owner.eq(&owner.0))
            .select_only()
            .expr(Expr::expr(length).sum())
            .into_tuple()
            .one(&self.read)
            .await?;
        let bytes = sum.flatten().unwrap_or_default();
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    /// Forgets old outputs of calls that no chat knows of: those made by hand.
    pub async fn sweep_blobs(&self) -> Result<u64> {
        let of_chats = Query::select()
            .column(tool_calls::Column::Id)
            .from(tool_calls::Entity)
            .to_owned();
        let swept = blobs::Entity::delete_many()
            .filter(blobs::Column::CreatedAt.lt(now() - MANUAL_CALL_RETENTION_MS))
            .filter(blobs::Column::CallId.not_in_subquery(of_chats))
            .exec(&self.write)
            .await?;
        Ok(swept.rows_affected)
    }

    pub async fn blob(&self, owner: &UserId, blob: &BlobId) -> Result<Blob> {
        let of_deleted = Query::select()
            .column((tool_calls::Entity, tool_calls::Column::Id))
            .from(tool_calls::Entity)
            .inner_join(
                chats::Entity,
                Expr::col((chats::Entity, chats::Column::Id))
                    .equals((tool_calls::Entity, tool_calls::Column::ChatId)),
            )
            .and_where(chats::Column::DeletedAt.is_not_null())
            .to_owned();
        let row = blobs::Entity::find_by_id(&blob.0)
            .filter(blobs::Column::Owner.eq(&owner.0))
            .filter(blobs::Column::CallId.not_in_subquery(of_deleted))
            .one(&self.read)
            .await?;
        let row = row.ok_or(Error::NotFound("blob"))?;
        Ok(Blob {
            media_type: row.media_type,
            data: row.data,
        })
    }
}
