//! A rolling update: servers of the last release go on with the tables of this version.
//!
//! `last_release/statements.sql` is what the last release sent to PostgreSQL in the tests of this
//! crate (`log_statement = all`, one line for each kind of statement). Each is planned against the
//! tables as they are now: a table or column that was dropped, renamed or changed its type fails.
//! Rows that the last release inserts leave new columns out, so those have a default or may be
//! empty.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{ConnectionTrait, Database, DatabaseConnection, Statement};
use tenon_store::Store;

use crate::postgres::Postgres;

const STATEMENTS: &str = include_str!("last_release/statements.sql");

#[tokio::test]
async fn the_statements_of_the_last_release_work_on_the_tables_of_this_one() {
    let postgres = Postgres::start();
    drop(Store::open(&postgres.url()).await.unwrap());
    let db = Database::connect(postgres.url()).await.unwrap();
    let required = required_columns(&db).await;
    let (mut count, mut failed) = (0, Vec::new());
    for sql in STATEMENTS.lines() {
        count += 1;
        let planned = format!("PREPARE planned AS {sql} DEALLOCATE planned");
        if let Err(error) = db.execute_unprepared(&planned).await {
            failed.push(format!("{sql}\n    {error}"));
        }
        if let Some((table, given)) = inserted_columns(sql) {
            let missing: Vec<_> = required[table].difference(&given).collect();
            if !missing.is_empty() {
                failed.push(format!("{sql}\n    without {missing:?}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(count > 300, "only {count} statements");
}

/// The columns of each table that an insert has to give.
async fn required_columns(db: &DatabaseConnection) -> BTreeMap<String, BTreeSet<String>> {
    let ask = "SELECT table_name::text, column_name::text, is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' \
               FROM information_schema.columns WHERE table_schema = 'public'";
    let ask = Statement::from_string(db.get_database_backend(), ask);
    let mut tables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in db.query_all_raw(ask).await.unwrap() {
        let table: String = row.try_get_by_index(0).unwrap();
        let columns = tables.entry(table).or_default();
        if row.try_get_by_index(2).unwrap() {
            columns.insert(row.try_get_by_index(1).unwrap());
        }
    }
    tables
}

/// The table and the columns of `INSERT INTO "table" ("column", …)`.
fn inserted_columns(sql: &str) -> Option<(&str, BTreeSet<String>)> {
    let (table, rest) = sql.strip_prefix("INSERT INTO ")?.split_once(" (")?;
    let (columns, _) = rest.split_once(')')?;
    let unquote = |name: &str| name.trim().trim_matches('"').to_owned();
    let columns = columns.split(',').map(unquote).collect();
    Some((table.trim_matches('"'), columns))
}
