//! The name of this database among those whose servers share a bus.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::text;
use sea_orm_migration::sea_orm::DbBackend;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0020_cluster"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
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
