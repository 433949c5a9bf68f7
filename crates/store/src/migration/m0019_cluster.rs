//! What the servers of one database need beside each other: the leases of their processes, the fencing token of a
//! turn's process, leases by name, and the name of the cluster on a bus that others may share.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, boolean, text};
use sea_orm_migration::sea_orm::DbBackend;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0019_cluster"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
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
        manager.alter_table(turns).await?;
        let named_leases = Table::create()
            .table("named_leases")
            .col(text("name").primary_key())
            .col(text("holder"))
            .col(big_integer("lease_until"))
            .to_owned();
        manager.create_table(named_leases).await?;
        let cluster = Table::create()
            .table("cluster")
            .col(text("id").primary_key())
            .to_owned();
        manager.create_table(cluster).await?;
        // Random, and in no backup: a copy of a database is another cluster.
        let id = match manager.get_database_backend() {
            DbBackend::Postgres => "gen_random_uuid()::text",
            _ => "lower(hex(randomblob(16)))",
        };
        let name = format!("INSERT INTO cluster (id) VALUES ({id})");
        manager.get_connection().execute_unprepared(&name).await?;
        Ok(())
    }
}
