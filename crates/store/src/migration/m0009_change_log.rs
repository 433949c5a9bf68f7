//! Triggers that tell other processes on the same database what changed.
//!
//! On SQLite they write a short log, one row for each thing with the number of its last
//! change; on PostgreSQL they notify. Both happen in the transaction of the change, whoever makes
//! it.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

pub(crate) struct Migration;

/// A table, its topic, and which of its columns count when a row is updated; none: all.
const TABLES: [(&str, &str, &str); 11] = [
    (
        "users",
        "accounts",
        "email, name, role, password_hash, oidc_subject, disabled",
    ),
    ("api_keys", "accounts", "token_hash, user_id, name, scope"),
    // Only these columns: the time of last use is updated every few minutes and changes no rights.
    ("auth_sessions", "accounts", "token_hash, user_id"),
    ("invites", "accounts", ""),
    ("tool_settings", "tool_settings", ""),
    ("sources", "sources", ""),
    ("source_grants", "sources", ""),
    ("secrets", "sources", ""),
    ("models", "models", ""),
    ("preferences", "preferences", ""),
    ("chats", "chats", ""),
];

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0009_change_log"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let setup = match manager.get_database_backend() {
            DbBackend::Postgres => POSTGRES_FUNCTIONS,
            _ => SQLITE_LOG,
        };
        db.execute_unprepared(setup).await?;
        for (table, _, _) in TABLES {
            create_triggers(manager, table).await?;
        }
        Ok(())
    }
}

/// The triggers of a table, also for a later migration that makes it anew.
pub(super) async fn create_triggers(manager: &SchemaManager<'_>, name: &str) -> Result<(), DbErr> {
    for (table, topic, columns) in TABLES {
        if table == name {
            create(manager, table, topic, columns).await?;
        }
    }
    Ok(())
}

/// The triggers of a table that a later migration adds.
pub(super) async fn create_topic_triggers(
    manager: &SchemaManager<'_>,
    table: &str,
    topic: &str,
) -> Result<(), DbErr> {
    create(manager, table, topic, "").await
}

async fn create(
    manager: &SchemaManager<'_>,
    table: &str,
    topic: &str,
    columns: &str,
) -> Result<(), DbErr> {
    let triggers = match manager.get_database_backend() {
        DbBackend::Postgres => postgres_triggers(table, topic, columns),
        _ => sqlite_triggers(table, topic, columns),
    };
    let connection = manager.get_connection();
    connection.execute_unprepared(&triggers).await?;
    Ok(())
}

const SQLITE_LOG: &str = "
    CREATE TABLE change_log (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        topic TEXT NOT NULL,
        user_id TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        UNIQUE (topic, user_id, chat_id)
    );
";

/// The log keeps the last thousand things.
fn sqlite_triggers(table: &str, topic: &str, columns: &str) -> String {
    let trigger = |event: &str, on: &str, row: &str| {
        let (user, chat) = match table {
            "chats" => (format!("{row}.user_id"), format!("{row}.id")),
            _ => ("''".into(), "''".into()),
        };
        // Writing is tried by that name; nobody depends on it.
        let when = match table {
            "preferences" => format!("WHEN {row}.name <> 'write_check'"),
            _ => String::new(),
        };
        format!(
            "CREATE TRIGGER {table}_{event}_change_log AFTER {on} ON {table} {when} BEGIN
                DELETE FROM change_log
                    WHERE topic = '{topic}' AND user_id = {user} AND chat_id = {chat};
                INSERT INTO change_log (topic, user_id, chat_id) VALUES ('{topic}', {user}, {chat});
                DELETE FROM change_log WHERE number <= last_insert_rowid() - 1000;
            END;"
        )
    };
    [
        trigger("insert", "INSERT", "NEW"),
        trigger("update", &update_of(columns), "NEW"),
        trigger("delete", "DELETE", "OLD"),
    ]
    .concat()
}

/// The origin is a setting of the connection: a process does not listen to itself.
const POSTGRES_FUNCTIONS: &str = "
    CREATE FUNCTION tenon_notify_topic() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_notify('tenon_changes', json_build_object(
            'origin', current_setting('tenon.origin', true), 'topic', TG_ARGV[0])::text);
        RETURN NULL;
    END $$;
    CREATE FUNCTION tenon_notify_chat() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        chat chats;
    BEGIN
        IF TG_OP = 'DELETE' THEN chat := OLD; ELSE chat := NEW; END IF;
        PERFORM pg_notify('tenon_changes', json_build_object(
            'origin', current_setting('tenon.origin', true), 'topic', TG_ARGV[0],
            'user', chat.user_id, 'chat', chat.id)::text);
        RETURN NULL;
    END $$;
";

fn postgres_triggers(table: &str, topic: &str, columns: &str) -> String {
    let update = update_of(columns);
    match table {
        "chats" => format!(
            "CREATE TRIGGER {table}_change_log AFTER INSERT OR {update} OR DELETE ON {table} \
             FOR EACH ROW EXECUTE FUNCTION tenon_notify_chat('{topic}');"
        ),
        "preferences" => format!(
            "CREATE TRIGGER {table}_change_log AFTER INSERT OR {update} ON {table} \
             FOR EACH ROW WHEN (NEW.name <> 'write_check') \
             EXECUTE FUNCTION tenon_notify_topic('{topic}'); \
             CREATE TRIGGER {table}_delete_change_log AFTER DELETE ON {table} \
             FOR EACH STATEMENT EXECUTE FUNCTION tenon_notify_topic('{topic}');"
        ),
        _ => format!(
            "CREATE TRIGGER {table}_change_log AFTER INSERT OR {update} OR DELETE ON {table} \
             FOR EACH STATEMENT EXECUTE FUNCTION tenon_notify_topic('{topic}');"
        ),
    }
}

fn update_of(columns: &str) -> String {
    if columns.is_empty() {
        "UPDATE".into()
    } else {
        format!("UPDATE OF {columns}")
    }
}
