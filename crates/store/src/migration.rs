//! The tables, as they came to be. A migration that has been released is never edited.

mod m0001_first_tables;

use sea_orm_migration::{MigrationTrait, MigratorTrait, async_trait};

pub(crate) struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(m0001_first_tables::Migration)]
    }
}
