//! Many rows of one table at once. Every call of a tool leaves some, and SeaORM would take longer
//! to put the statement together than SQLite to run it: these are in plain SQL.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, Statement, Value};

use crate::Result;

/// The first column is the key. Rows that are there already come from an attempt whose commit was
/// not acknowledged; they stay.
pub(crate) async fn insert_new<const COLUMNS: usize>(
    transaction: &DatabaseTransaction,
    table: &str,
    columns: [&str; COLUMNS],
    mut rows: impl ExactSizeIterator<Item = [Value; COLUMNS]> + Send,
) -> Result<()> {
    let backend = transaction.get_database_backend();
    // A few lengths, whose statements are prepared once and kept.
    for length in [64, 8, 1] {
        if rows.len() < length {
            continue;
        }
        let insert = insert_statement(backend, table, columns, length);
        while rows.len() >= length {
            let values = rows.by_ref().take(length).flatten();
            let insert = Statement::from_sql_and_values(backend, &insert, values);
            transaction.execute_raw(insert).await?;
        }
    }
    Ok(())
}

fn insert_statement<const COLUMNS: usize>(
    backend: DbBackend,
    table: &str,
    columns: [&str; COLUMNS],
    rows: usize,
) -> String {
    let placeholder = |n: usize| match backend {
        DbBackend::Postgres => format!("${n}"),
        _ => "?".to_owned(),
    };
    let row = |row: usize| {
        let first = row * COLUMNS + 1;
        let row: Vec<String> = (first..first + COLUMNS).map(placeholder).collect();
        format!("({})", row.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!(
        "INSERT INTO {table} ({}) VALUES {} ON CONFLICT ({}) DO NOTHING",
        columns.join(", "),
        rows.join(", "),
        columns[0],
    )
}
