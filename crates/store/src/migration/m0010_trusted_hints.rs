//! Whether an admin trusts what a server says of its own tools.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::boolean;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0010_trusted_hints"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Whether those that are there were added by hand or imported is not known: none is trusted.
        manager
            .alter_table(
                Table::alter()
                    .table("sources")
                    .add_column(boolean("trust_hints").default(false))
                    .to_owned(),
            )
            .await
    }
}
