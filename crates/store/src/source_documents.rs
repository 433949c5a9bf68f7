//! What OpenAPI servers last said about themselves, and documents that people gave.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};
use tenon_domain::SourceId;

use crate::entity::source_documents as table;
use crate::{Result, Store, text};

/// One document as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// Of the server behind an mcpo; empty for the main one.
    pub name: String,
    pub url: String,
    /// Where it was looked for: what another address said is another's, though both are
    /// called the same. Empty for what somebody gave.
    pub address: String,
    pub body: Vec<u8>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub fetched_at: i64,
}

impl Store {
    /// Those that were kept for a source as the registry knows it, in any order.
    pub async fn source_documents(&self, source: &SourceId) -> Result<Vec<StoredDocument>> {
        let rows = table::Entity::find()
            .filter(table::Column::SourceId.eq(text(&source.0)))
            .all(&self.read)
            .await?;
        Ok(rows.into_iter().map(StoredDocument::from).collect())
    }

    /// Keeps these in the place of those with the same names, and forgets all whose names
    /// are not among `names`.
    pub async fn put_source_documents(
        &self,
        source: &SourceId,
        documents: Vec<StoredDocument>,
        names: &[String],
    ) -> Result<()> {
        let transaction = self.begin().await?;
        let stay: Vec<String> = names.iter().map(|name| text(name)).collect();
        let new: Vec<String> = documents.iter().map(|one| text(&one.name)).collect();
        let of_it = table::Column::SourceId.eq(text(&source.0));
        let gone = table::Column::Name.is_not_in(stay);
        table::Entity::delete_many()
            .filter(of_it.clone())
            .filter(gone.or(table::Column::Name.is_in(new)))
            .exec(&transaction)
            .await?;
        // One at a time: each may be as long as a statement can be.
        for document in documents {
            let row = table::ActiveModel {
                source_id: Set(text(&source.0)),
                name: Set(text(&document.name)),
                url: Set(text(&document.url)),
                address: Set(text(&document.address)),
                body: Set(document.body),
                etag: Set(document.etag.as_deref().map(text)),
                last_modified: Set(document.last_modified.as_deref().map(text)),
                fetched_at: Set(document.fetched_at),
            };
            table::Entity::insert(row)
                .exec_without_returning(&transaction)
                .await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Whether anything is kept for a source.
    pub async fn has_documents(&self, source: &SourceId) -> Result<bool> {
        let of_it = table::Entity::find().filter(table::Column::SourceId.eq(text(&source.0)));
        Ok(of_it.count(&self.read).await? > 0)
    }

    /// All sources that anything is kept for.
    pub async fn document_owners(&self) -> Result<Vec<SourceId>> {
        let ids: Vec<String> = table::Entity::find()
            .select_only()
            .column(table::Column::SourceId)
            .distinct()
            .into_tuple()
            .all(&self.read)
            .await?;
        Ok(ids.into_iter().map(SourceId).collect())
    }

    /// How many there are, of whatever servers.
    pub async fn count_documents(&self) -> Result<u64> {
        Ok(table::Entity::find().count(&self.read).await?)
    }
}

impl From<table::Model> for StoredDocument {
    fn from(row: table::Model) -> Self {
        Self {
            name: row.name,
            url: row.url,
            address: row.address,
            body: row.body,
            etag: row.etag,
            last_modified: row.last_modified,
            fetched_at: row.fetched_at,
        }
    }
}
