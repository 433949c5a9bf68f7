//! How somebody proved who they are when a log-in began.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::boolean;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0008_session_proof"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // For existing sessions it is unknown how they began, so they count as the weaker kind.
        manager
            .alter_table(
                Table::alter()
                    .table("auth_sessions")
                    .add_column(boolean("by_oidc").default(false))
                    .to_owned(),
            )
            .await
    }
}
