//! Servers that offer tools: how they are reached, what they offered last, who
//! is logged in there, and the secrets they are given.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, boolean, text};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0004_sources"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("sources")
                    .col(text("id").primary_key())
                    .col(text("kind"))
                    .col(text("name"))
                    .col(text("title"))
                    // A user, or nobody for everybody's.
                    .col(text("owner"))
                    .col(boolean("enabled"))
                    // Everybody who uses it logs in there for themself.
                    .col(boolean("wants_login"))
                    // How it is reached, with all its secrets.
                    .col(text("sealed_config"))
                    .col(big_integer("created_at"))
                    .col(big_integer("updated_at"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("sources_by_owner")
                    .table("sources")
                    .col("owner")
                    .col("name")
                    .unique()
                    .to_owned(),
            )
            .await?;
        // No foreign key: what stands in a file has no row in `sources`.
        manager
            .create_table(
                Table::create()
                    .table("source_tools")
                    // As the registry knows it: a connection of one person has its own.
                    .col(text("source_id").primary_key())
                    .col(text("definitions"))
                    .col(big_integer("updated_at"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table("source_grants")
                    .col(text("id").primary_key())
                    .col(text("source_id"))
                    .col(text("user_id"))
                    .col(text("sealed_grant"))
                    .col(big_integer("updated_at"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("source_grants_by_source")
                    .table("source_grants")
                    .col("source_id")
                    .col("user_id")
                    .unique()
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table("secrets")
                    .col(text("id").primary_key())
                    // A user, or nobody for everybody's.
                    .col(text("owner"))
                    .col(text("name"))
                    .col(text("sealed_value"))
                    .col(big_integer("updated_at"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("secrets_by_owner")
                    .table("secrets")
                    .col("owner")
                    .col("name")
                    .unique()
                    .to_owned(),
            )
            .await
    }
}
