//! Chats and what happens in them, the id book, blobs.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, binary, boolean, text, text_null};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0001_first_tables"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("chats")
                    .col(text("id").primary_key())
                    .col(text("user_id"))
                    .col(text("title"))
                    .col(big_integer("last_seq"))
                    .col(big_integer("created_at"))
                    .col(big_integer("updated_at"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(index("chats_by_user", "chats", &["user_id", "updated_at"]))
            .await?;

        manager
            .create_table(
                Table::create()
                    .table("turns")
                    .col(text("id").primary_key())
                    .col(text("chat_id"))
                    .col(text("runner"))
                    .col(text_null("outcome"))
                    .col(big_integer("input_tokens"))
                    .col(big_integer("output_tokens"))
                    .col(big_integer("started_at"))
                    .col(big_integer_null("ended_at"))
                    .foreign_key(&mut of_chat("turns"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(index("turns_by_chat", "turns", &["chat_id"]))
            .await?;
        manager
            .create_index(index("turns_by_outcome", "turns", &["outcome"]))
            .await?;

        manager
            .create_table(
                Table::create()
                    .table("messages")
                    .col(text("id").primary_key())
                    .col(text("chat_id"))
                    .col(text("turn_id"))
                    .col(big_integer("seq"))
                    .col(text("role"))
                    .col(text("parts"))
                    .col(boolean("open"))
                    .col(big_integer("created_at"))
                    .foreign_key(&mut of_chat("messages"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(index("messages_by_chat", "messages", &["chat_id", "seq"]))
            .await?;
        manager
            .create_index(index("messages_by_turn", "messages", &["turn_id"]))
            .await?;

        manager
            .create_table(
                Table::create()
                    .table("tool_calls")
                    .col(text("id").primary_key())
                    .col(text("chat_id"))
                    .col(text("message_id"))
                    .col(big_integer("seq"))
                    .col(text("tool_id"))
                    .col(text("display_name"))
                    .col(text("runs_on"))
                    .col(text("input"))
                    .col(text("status"))
                    .col(text_null("output"))
                    .col(text_null("error"))
                    .col(big_integer("requested_at"))
                    .col(big_integer_null("started_at"))
                    .col(big_integer_null("ended_at"))
                    .col(big_integer_null("duration_ms"))
                    .foreign_key(&mut of_chat("tool_calls"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(index(
                "tool_calls_by_chat",
                "tool_calls",
                &["chat_id", "seq"],
            ))
            .await?;
        manager
            .create_index(index(
                "tool_calls_by_message",
                "tool_calls",
                &["message_id"],
            ))
            .await?;

        manager
            .create_table(
                Table::create()
                    .table("events")
                    .col(text("chat_id"))
                    .col(big_integer("seq"))
                    .col(big_integer("at"))
                    .col(text("body"))
                    .primary_key(Index::create().col("chat_id").col("seq"))
                    .foreign_key(&mut of_chat("events"))
                    .to_owned(),
            )
            .await?;

        manager
            .create_table(
                Table::create()
                    .table("tools")
                    .col(text("source_id"))
                    .col(text("name"))
                    .col(text("tool_id"))
                    .col(text("owner"))
                    .primary_key(Index::create().col("source_id").col("name"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                index("tools_by_id", "tools", &["owner", "tool_id"])
                    .unique()
                    .to_owned(),
            )
            .await?;

        manager
            .create_table(
                Table::create()
                    .table("blobs")
                    .col(text("id").primary_key())
                    .col(text("owner"))
                    .col(text("call_id"))
                    .col(text("media_type"))
                    .col(binary("data"))
                    .col(big_integer("created_at"))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(index("blobs_by_call", "blobs", &["call_id"]))
            .await
    }
}

fn index(
    name: &'static str,
    table: &'static str,
    columns: &[&'static str],
) -> IndexCreateStatement {
    let mut index = Index::create();
    index.name(name).table(table);
    for column in columns {
        index.col(*column);
    }
    index
}

/// A chat that is deleted takes all of this with it.
fn of_chat(table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(format!("{table}_of_chat"))
        .from(table, "chat_id")
        .to("chats", "id")
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}
