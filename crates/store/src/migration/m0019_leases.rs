//! Leases of the processes on PostgreSQL, and the fencing token that a turn's process had.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, boolean, text};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0019_leases"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Numbers that are never given twice, also after rows were deleted.
        let runners = Table::create()
            .table("runners")
            .col(big_integer("fence").auto_increment().primary_key())
            .col(text("name"))
            .col(big_integer("lease_until"))
            .col(boolean("serves"))
            .col(boolean("has_bus"))
            .to_owned();
        manager.create_table(runners).await?;
        // 0: begun by a version without leases, or on SQLite, which has none.
        let turns = Table::alter()
            .table("turns")
            .add_column(big_integer("fence").default(0))
            .to_owned();
        manager.alter_table(turns).await
    }
}
