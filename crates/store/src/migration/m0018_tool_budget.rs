//! How many tokens the tools of a model may take.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::big_integer_null;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0018_tool_budget"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let column = Table::alter()
            .table("models")
            .add_column(big_integer_null("tool_budget"))
            .to_owned();
        manager.alter_table(column).await
    }
}
