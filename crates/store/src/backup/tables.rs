//! Which tables a backup holds, in an order in which they can be filled.

use futures::TryStreamExt;
use sea_orm::{
    ActiveModelTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, PaginatorTrait,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::entity::{
    api_keys, audit, auth_sessions, blobs, call_traces, chats, events, expert_skills, experts,
    files, folders, invites, local_servers, messages, model_calls, models, preferences, prompts,
    search_entries, secrets, shares, skill_tools, skill_user_settings, skill_versions, skills,
    source_documents, source_grants, source_tools, sources, tool_calls, tool_settings, tools,
    turns, users,
};
use crate::{Error, Result};

macro_rules! tables {
    ($($table:ident),* $(,)?) => {
        pub(super) const TABLES: &[&str] = &[$(stringify!($table)),*];

        /// How many rows each table has.
        pub(super) async fn count(db: &DatabaseTransaction) -> Result<Vec<(&'static str, u64)>> {
            Ok(vec![$((stringify!($table), $table::Entity::find().count(db).await?)),*])
        }

        /// Every row of every table, one after the other.
        pub(super) async fn each(
            db: &DatabaseTransaction,
            row: &mut (dyn FnMut(&'static str, Value) -> Result<()> + Send),
        ) -> Result<()> {
            $(each_of::<$table::Entity>(db, stringify!($table), row).await?;)*
            Ok(())
        }

        /// Whether a table takes such a row.
        pub(super) fn check(table: &str, row: Value) -> Result<()> {
            match table {
                $(stringify!($table) => check_one::<$table::Entity>(row),)*
                _ => Err(unknown(table)),
            }
        }

        pub(super) async fn insert(db: &DatabaseTransaction, table: &str, rows: Vec<Value>) -> Result<()> {
            match table {
                $(stringify!($table) => insert_all::<$table::Entity>(db, rows).await,)*
                _ => Err(unknown(table)),
            }
        }

        async fn empty(db: &DatabaseTransaction, table: &str) -> Result<()> {
            match table {
                $(stringify!($table) => $table::Entity::delete_many().exec(db).await?,)*
                _ => return Err(unknown(table)),
            };
            Ok(())
        }
    };
}

tables!(
    users,
    api_keys,
    invites,
    preferences,
    tool_settings,
    models,
    tools,
    sources,
    source_tools,
    source_documents,
    local_servers,
    source_grants,
    secrets,
    experts,
    expert_skills,
    skills,
    skill_versions,
    skill_tools,
    skill_user_settings,
    prompts,
    folders,
    chats,
    turns,
    messages,
    tool_calls,
    events,
    blobs,
    files,
    shares,
    audit,
);

/// Tables that no backup holds: sessions end, what can be found is looked through anew, the
/// change log, leases and the name of the cluster are of the database that they are in, what was
/// sent to models and to tools is kept for a month only, and embeddings can be made again.
#[cfg(test)]
pub(super) const LEFT_OUT: &[&str] = &[
    "auth_sessions",
    "search_entries",
    "change_log",
    "model_calls",
    "model_requests",
    "call_traces",
    "runners",
    "named_leases",
    "cluster",
    "embeddings",
];

pub(super) async fn empty_all(db: &DatabaseTransaction) -> Result<()> {
    auth_sessions::Entity::delete_many().exec(db).await?;
    search_entries::Entity::delete_many().exec(db).await?;
    model_calls::Entity::delete_many().exec(db).await?;
    call_traces::Entity::delete_many().exec(db).await?;
    for table in TABLES.iter().rev() {
        empty(db, table).await?;
    }
    Ok(())
}

async fn each_of<E>(
    db: &DatabaseTransaction,
    table: &'static str,
    row: &mut (dyn FnMut(&'static str, Value) -> Result<()> + Send),
) -> Result<()>
where
    E: EntityTrait,
    E::Model: Serialize,
{
    let mut rows = E::find().stream(db).await?;
    while let Some(model) = rows.try_next().await? {
        row(table, serde_json::to_value(model)?)?;
    }
    Ok(())
}

fn check_one<E>(row: Value) -> Result<()>
where
    E: EntityTrait,
    E::Model: DeserializeOwned,
{
    serde_json::from_value::<E::Model>(row)?;
    Ok(())
}

async fn insert_all<E>(db: &DatabaseTransaction, rows: Vec<Value>) -> Result<()>
where
    E: EntityTrait,
    E::Model: DeserializeOwned + IntoActiveModel<E::ActiveModel>,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
{
    let rows: serde_json::Result<Vec<E::ActiveModel>> = rows
        .into_iter()
        .map(|row| Ok(serde_json::from_value::<E::Model>(row)?.into_active_model()))
        .collect();
    E::insert_many(rows?).exec_without_returning(db).await?;
    Ok(())
}

fn unknown(table: &str) -> Error {
    Error::Backup(format!(
        "the backup holds a table that this Tenon does not know: {table:?}"
    ))
}
