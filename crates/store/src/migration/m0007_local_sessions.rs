//! Log-ins of the one person of single-user mode, who has no account: a session
//! no longer needs a row of `users`.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, text};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0007_local_sessions"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    /// SQLite cannot drop a foreign key, so the table is made anew. Nobody is logged out by it.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("new_auth_sessions")
                    .col(text("id").primary_key())
                    .col(text("token_hash").unique_key())
                    .col(text("user_id"))
                    .col(text("agent"))
                    .col(text("address"))
                    .col(big_integer("created_at"))
                    .col(big_integer("last_seen_at"))
                    .col(big_integer("expires_at"))
                    .to_owned(),
            )
            .await?;
        manager
            .get_connection()
            .execute_unprepared(
                "INSERT INTO new_auth_sessions (id, token_hash, user_id, agent, address, \
                 created_at, last_seen_at, expires_at) \
                 SELECT id, token_hash, user_id, agent, address, \
                 created_at, last_seen_at, expires_at FROM auth_sessions",
            )
            .await?;
        let old = Table::drop().table("auth_sessions").to_owned();
        manager.drop_table(old).await?;
        let renamed = Table::rename()
            .table("new_auth_sessions", "auth_sessions")
            .to_owned();
        manager.rename_table(renamed).await?;
        manager
            .create_index(
                Index::create()
                    .name("auth_sessions_by_user")
                    .table("auth_sessions")
                    .col("user_id")
                    .to_owned(),
            )
            .await
    }
}
