//! When a vector was made: those of tools and models that are gone do not stay for ever.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::big_integer;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0021_embedding_age"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let column = Table::alter()
            .table("embeddings")
            .add_column(big_integer("created_at").default(0))
            .to_owned();
        manager.alter_table(column).await
    }
}
