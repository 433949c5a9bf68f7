//! What was asked of models, attempt by attempt, for the trace of a turn and for statistics; and turns by
//! the time they began.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, binary, boolean, text, text_null};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0017_model_calls"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let of_turn = ForeignKey::create()
            .name("model_calls_of_turn")
            .from("model_calls", "turn_id")
            .to("turns", "id")
            .on_delete(ForeignKeyAction::Cascade)
            .to_owned();
        let model_calls = Table::create()
            .table("model_calls")
            .col(text("id").primary_key())
            .col(text("user_id"))
            .col(text_null("turn_id"))
            .col(text_null("message_id"))
            .col(text("model_id"))
            .col(text("model_name"))
            .col(big_integer("attempt"))
            .col(big_integer("started_at"))
            .col(big_integer_null("first_token_ms"))
            .col(big_integer("duration_ms"))
            .col(big_integer_null("wait_ms"))
            .col(big_integer("input_tokens"))
            .col(big_integer("output_tokens"))
            .col(big_integer("cache_read_tokens"))
            .col(big_integer("cache_write_tokens"))
            .col(big_integer_null("cost_micros"))
            .col(text_null("cost_currency"))
            .col(text_null("stop"))
            .col(text_null("error"))
            .col(big_integer_null("status"))
            .col(boolean("has_request"))
            .foreign_key(&mut of_turn.clone())
            .to_owned();
        let of_call = ForeignKey::create()
            .name("model_requests_of_call")
            .from("model_requests", "model_call_id")
            .to("model_calls", "id")
            .on_delete(ForeignKeyAction::Cascade)
            .to_owned();
        // Apart from the facts, which are read for many calls at once.
        let requests = Table::create()
            .table("model_requests")
            .col(text("model_call_id").primary_key())
            .col(binary("content"))
            .foreign_key(&mut of_call.clone())
            .to_owned();
        manager.create_table(model_calls).await?;
        manager.create_table(requests).await?;
        for (name, table, column) in [
            ("model_calls_by_turn", "model_calls", "turn_id"),
            ("turns_by_start", "turns", "started_at"),
        ] {
            let index = Index::create()
                .name(name)
                .table(table)
                .col(column)
                .to_owned();
            manager.create_index(index).await?;
        }
        Ok(())
    }
}
