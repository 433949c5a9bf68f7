//! What calls outside of any chat were given and gave, for their traces.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::text;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0022_call_traces"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Apart from the audit log, which admins read and which is kept for longer.
        let traces = Table::create()
            .table("call_traces")
            .col(text("call_id").primary_key())
            .col(text("user_id"))
            .col(text("sealed_content"))
            .to_owned();
        manager.create_table(traces).await
    }
}
