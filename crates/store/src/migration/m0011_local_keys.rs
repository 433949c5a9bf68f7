//! Keys of the one person of single-user mode, who has no account: a key no longer needs a row of
//! `users`.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, text};

use super::m0009_change_log;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0011_local_keys"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    /// SQLite cannot drop a foreign key, so the table is made anew, and its triggers with it.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("new_api_keys")
                    .col(text("id").primary_key())
                    .col(text("token_hash").unique_key())
                    .col(text("user_id"))
                    .col(text("name"))
                    .col(text("hint"))
                    .col(text("scope"))
                    .col(big_integer("created_at"))
                    .col(big_integer_null("last_used_at"))
                    .to_owned(),
            )
            .await?;
        manager
            .get_connection()
            .execute_unprepared(
                "INSERT INTO new_api_keys (id, token_hash, user_id, name, hint, scope, \
                 created_at, last_used_at) \
                 SELECT id, token_hash, user_id, name, hint, scope, \
                 created_at, last_used_at FROM api_keys",
            )
            .await?;
        let old = Table::drop().table("api_keys").to_owned();
        manager.drop_table(old).await?;
        let renamed = Table::rename().table("new_api_keys", "api_keys").to_owned();
        manager.rename_table(renamed).await?;
        manager
            .create_index(
                Index::create()
                    .name("api_keys_by_user")
                    .table("api_keys")
                    .col("user_id")
                    .to_owned(),
            )
            .await?;
        m0009_change_log::create_triggers(manager, "api_keys").await
    }
}
