//! Folders of chats, temporary chats, what a chat is set to, and files that people attach.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, blob, boolean, text, text_null};

use super::m0009_change_log::create_topic_triggers;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0016_folders_and_files"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let folders = Table::create()
            .table("folders")
            .col(text("id").primary_key())
            .col(text("owner"))
            .col(text("name"))
            .col(text("instructions"))
            .col(text_null("expert_id"))
            .col(big_integer("created_at"))
            .to_owned();
        // No foreign key to a chat: a file is there before its message.
        let files = Table::create()
            .table("files")
            .col(text("id").primary_key())
            .col(text("owner"))
            .col(text_null("chat_id"))
            .col(text("name"))
            .col(text("media_type"))
            .col(text("kind"))
            .col(big_integer("size"))
            .col(text_null("text"))
            .col(boolean("truncated"))
            .col(blob("data"))
            .col(big_integer("created_at"))
            .to_owned();
        for table in [folders, files] {
            manager.create_table(table).await?;
        }
        for (table, column) in [
            ("folders", "owner"),
            ("files", "owner"),
            ("files", "chat_id"),
        ] {
            let index = Index::create()
                .name(format!("{table}_by_{column}"))
                .table(table)
                .col(column)
                .to_owned();
            manager.create_index(index).await?;
        }
        create_topic_triggers(manager, "folders", "preferences").await?;
        let mut temporary = boolean("temporary");
        for column in [
            text_null("folder_id"),
            text_null("settings"),
            temporary.default(false).to_owned(),
        ] {
            let alter = Table::alter().table("chats").add_column(column).to_owned();
            manager.alter_table(alter).await?;
        }
        let mut with_files = boolean("with_files");
        let shares = Table::alter()
            .table("shares")
            .add_column(with_files.default(false).to_owned())
            .to_owned();
        manager.alter_table(shares).await
    }
}
