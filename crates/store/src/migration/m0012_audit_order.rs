//! The audit log in the order of its ids, which is that of time: one tree to write instead of three.
//! Every call of a tool adds a row.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0012_audit_order"
    }
}

const SQLITE: &str = "
    CREATE TABLE new_audit (
        id text NOT NULL PRIMARY KEY,
        at bigint NOT NULL,
        user_id text NULL,
        door text NOT NULL,
        action text NOT NULL,
        subject text NOT NULL,
        detail text NOT NULL,
        address text NOT NULL
    ) WITHOUT ROWID;
    INSERT INTO new_audit (id, at, user_id, door, action, subject, detail, address)
        SELECT id, at, user_id, door, action, subject, detail, address FROM audit ORDER BY id;
    DROP TABLE audit;
    ALTER TABLE new_audit RENAME TO audit;
";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = match manager.get_database_backend() {
            DbBackend::Postgres => "DROP INDEX audit_by_time",
            _ => SQLITE,
        };
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
