//! Transactions that write.

use sea_orm::{
    DatabaseConnection, DatabaseTransaction, SqliteTransactionMode, TransactionOptions,
    TransactionTrait,
};

use crate::{Result, Store};

impl Store {
    /// A transaction that is going to write. On SQLite it takes the right to
    /// do so at once: one that reads first and then finds another process has
    /// written meanwhile could only fail. It is a transaction of its own and never
    /// a part of one that was left open: a pool keeps no connection with one.
    pub(crate) async fn begin(&self) -> Result<DatabaseTransaction> {
        begin(&self.write).await
    }
}

/// See [`Store::begin`].
pub(crate) async fn begin(write: &DatabaseConnection) -> Result<DatabaseTransaction> {
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..Default::default()
    };
    Ok(write.begin_with_options(options).await?)
}
