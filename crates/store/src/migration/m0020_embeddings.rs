//! Embeddings of texts, so that the same text is not computed or paid for twice.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{binary, text};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0020_embeddings"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let embeddings = Table::create()
            .table("embeddings")
            .col(text("model"))
            .col(text("hash"))
            .col(binary("vector"))
            .primary_key(Index::create().col("model").col("hash"))
            .to_owned();
        manager.create_table(embeddings).await
    }
}
