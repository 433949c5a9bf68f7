//! Experts, the prompts that people save, and which expert a chat has.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, text, text_null};

use super::m0009_change_log::create_topic_triggers;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0014_experts"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let experts = Table::create()
            .table("experts")
            .col(text("id").primary_key())
            .col(text("owner"))
            .col(text("visibility"))
            .col(text("name"))
            .col(text("title"))
            .col(text("description"))
            .col(text("icon"))
            .col(text_null("model_id"))
            .col(text("parameters"))
            .col(text("system_prompt"))
            .col(text_null("tools"))
            .col(text("starters"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .to_owned();
        // No foreign key: the skill may come back under the same id.
        let skills = Table::create()
            .table("expert_skills")
            .col(text("expert_id"))
            .col(text("skill_id"))
            .primary_key(Index::create().col("expert_id").col("skill_id"))
            .to_owned();
        let prompts = Table::create()
            .table("prompts")
            .col(text("id").primary_key())
            .col(text("owner"))
            .col(text("visibility"))
            .col(text("command"))
            .col(text("title"))
            .col(text("text"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .to_owned();
        for table in [experts, skills, prompts] {
            manager.create_table(table).await?;
        }
        for table in ["experts", "prompts"] {
            let index = Index::create()
                .name(format!("{table}_by_owner"))
                .table(table)
                .col("owner")
                .to_owned();
            manager.create_index(index).await?;
            create_topic_triggers(manager, table, "experts").await?;
        }
        manager
            .alter_table(
                Table::alter()
                    .table("chats")
                    .add_column(text_null("expert_id"))
                    .to_owned(),
            )
            .await
    }
}
