//! Installed skills: their versions with the files, their tools, and what people set for them.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, blob, boolean, text, text_null};

use super::m0009_change_log::create_topic_triggers;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0015_skills"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let skills = Table::create()
            .table("skills")
            .col(text("id").primary_key())
            .col(text("owner"))
            .col(text("visibility"))
            .col(text("name"))
            .col(text("title"))
            .col(boolean("enabled"))
            .col(text("hash"))
            .col(boolean("network_allowed"))
            .col(text_null("sealed_values"))
            .col(text_null("origin"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .to_owned();
        let versions = Table::create()
            .table("skill_versions")
            .col(text("skill_id"))
            .col(text("hash"))
            .col(text_null("version"))
            .col(blob("archive"))
            .col(big_integer("installed_at"))
            .primary_key(Index::create().col("skill_id").col("hash"))
            .to_owned();
        let tools = Table::create()
            .table("skill_tools")
            .col(text("id").primary_key())
            .col(text("skill_id"))
            .col(text("name"))
            .col(text_null("title"))
            .col(text("description"))
            .col(text("type"))
            .col(text("parameters"))
            .col(text_null("command"))
            .col(text_null("endpoint"))
            .col(text_null("method"))
            .to_owned();
        let user_settings = Table::create()
            .table("skill_user_settings")
            .col(text("id").primary_key())
            .col(text("skill_id"))
            .col(text("user_id"))
            .col(text_null("sealed_values"))
            .to_owned();
        for table in [skills, versions, tools, user_settings] {
            manager.create_table(table).await?;
        }
        for (table, columns) in [
            ("skill_tools", ["skill_id", "name"]),
            ("skill_user_settings", ["skill_id", "user_id"]),
        ] {
            let index = Index::create()
                .name(format!("{table}_unique"))
                .table(table)
                .col(columns[0])
                .col(columns[1])
                .unique()
                .to_owned();
            manager.create_index(index).await?;
        }
        for table in ["skills", "skill_user_settings"] {
            create_topic_triggers(manager, table, "skills").await?;
        }
        Ok(())
    }
}
