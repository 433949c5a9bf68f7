//! The servers that people's browsers found on their own machines.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, text};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0006_local_servers"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut key = Index::create();
        key.col("source_id");
        // What they offered is in `source_tools`.
        manager
            .create_table(
                Table::create()
                    .table("local_servers")
                    .col(text("source_id"))
                    .col(text("owner"))
                    .col(text("device_id"))
                    .col(text("device_name"))
                    .col(text("name"))
                    .col(text("title"))
                    .col(text("url"))
                    .col(text("via"))
                    .col(big_integer("seen_at"))
                    .primary_key(&mut key)
                    .to_owned(),
            )
            .await
    }
}
