//! The last good documents of OpenAPI servers, and those that people gave.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, binary, text, text_null};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0005_documents"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // No foreign key, as for `source_tools`.
        let mut key = Index::create();
        key.col("source_id").col("name");
        manager
            .create_table(
                Table::create()
                    .table("source_documents")
                    .col(text("source_id"))
                    // Of the server behind an mcpo; empty for the main one.
                    .col(text("name"))
                    .col(text("url"))
                    // A hash of where it was looked for; empty for what somebody gave.
                    .col(text("address"))
                    .col(binary("body"))
                    .col(text_null("etag"))
                    .col(text_null("last_modified"))
                    .col(big_integer("fetched_at"))
                    .primary_key(&mut key)
                    .to_owned(),
            )
            .await
    }
}
