//! Leases by name: what one process of a cluster does at a time.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, text};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0021_named_leases"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let leases = Table::create()
            .table("named_leases")
            .col(text("name").primary_key())
            .col(text("holder"))
            .col(big_integer("lease_until"))
            .to_owned();
        manager.create_table(leases).await
    }
}
