//! Models that people configure, and what a turn's model counted and cost.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, boolean, text, text_null};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0002_models"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("models")
                    .col(text("id").primary_key())
                    .col(text("name"))
                    .col(text("provider"))
                    .col(text("base_url"))
                    .col(text_null("endpoint"))
                    .col(text("model"))
                    .col(text_null("sealed_key"))
                    .col(text("parameters"))
                    .col(text("tool_mode"))
                    .col(text_null("tools_seen"))
                    .col(big_integer_null("context_tokens"))
                    .col(text_null("prices"))
                    .col(boolean("is_default"))
                    .col(big_integer("created_at"))
                    .col(big_integer("updated_at"))
                    .to_owned(),
            )
            .await?;

        // No foreign key: a turn keeps its model's name when the model goes,
        // and the built-in ones have no row.
        let of_turns = [
            text_null("model_id"),
            text_null("model_name"),
            big_integer("cache_read_tokens").default(0).to_owned(),
            big_integer("cache_write_tokens").default(0).to_owned(),
            big_integer_null("cost_micros"),
            text_null("cost_currency"),
        ];
        // SQLite adds one column at a time.
        for column in of_turns {
            manager
                .alter_table(Table::alter().table("turns").add_column(column).to_owned())
                .await?;
        }
        Ok(())
    }
}
