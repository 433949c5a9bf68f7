//! People and what is theirs: accounts, keys, settings of tools, links to
//! chats; branches and questions in chats; what is searched; who did what.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, boolean, text, text_null};
use sea_orm_migration::sea_orm::DbBackend;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0003_people"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        accounts(manager).await?;
        settings(manager).await?;
        chats(manager).await?;
        search(manager).await?;
        audit(manager).await
    }
}

async fn accounts(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager
        .create_table(
            Table::create()
                .table("users")
                .col(text("id").primary_key())
                .col(text("email").unique_key())
                .col(text("name"))
                .col(text("role"))
                .col(text_null("password_hash"))
                .col(text_null("oidc_subject").unique_key())
                .col(boolean("disabled"))
                .col(big_integer("created_at"))
                .col(big_integer_null("last_login_at"))
                .to_owned(),
        )
        .await?;
    manager
        .create_table(
            Table::create()
                .table("auth_sessions")
                .col(text("id").primary_key())
                .col(text("token_hash").unique_key())
                .col(text("user_id"))
                .col(text("agent"))
                .col(text("address"))
                .col(big_integer("created_at"))
                .col(big_integer("last_seen_at"))
                .col(big_integer("expires_at"))
                .foreign_key(&mut of("auth_sessions", "user_id", "users"))
                .to_owned(),
        )
        .await?;
    index(
        manager,
        "auth_sessions_by_user",
        "auth_sessions",
        &["user_id"],
    )
    .await?;
    manager
        .create_table(
            Table::create()
                .table("api_keys")
                .col(text("id").primary_key())
                .col(text("token_hash").unique_key())
                .col(text("user_id"))
                .col(text("name"))
                .col(text("hint"))
                .col(text("scope"))
                .col(big_integer("created_at"))
                .col(big_integer_null("last_used_at"))
                .foreign_key(&mut of("api_keys", "user_id", "users"))
                .to_owned(),
        )
        .await?;
    index(manager, "api_keys_by_user", "api_keys", &["user_id"]).await?;
    manager
        .create_table(
            Table::create()
                .table("invites")
                .col(text("id").primary_key())
                .col(text("token_hash").unique_key())
                .col(text_null("email"))
                .col(text("role"))
                .col(text("created_by"))
                .col(big_integer("created_at"))
                .col(big_integer("expires_at"))
                .col(text_null("used_by"))
                .to_owned(),
        )
        .await
}

/// No foreign keys: `owner` is a user, an expert, a chat, or nobody, as the layer says.
async fn settings(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager
        .create_table(
            Table::create()
                .table("preferences")
                .col(text("owner"))
                .col(text("name"))
                .col(text("value"))
                .primary_key(Index::create().col("owner").col("name"))
                .to_owned(),
        )
        .await?;
    manager
        .create_table(
            Table::create()
                .table("tool_settings")
                .col(text("layer"))
                .col(text("owner"))
                .col(text("tool_id"))
                .col(ColumnDef::new("enabled").boolean().null().to_owned())
                .col(text_null("policy"))
                .primary_key(Index::create().col("layer").col("owner").col("tool_id"))
                .to_owned(),
        )
        .await
}

async fn chats(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = [
        ("chats", big_integer_null("pinned_at")),
        ("chats", big_integer_null("archived_at")),
        ("chats", big_integer_null("deleted_at")),
        ("chats", text("titled_by").default("person").to_owned()),
        ("chats", text_null("head")),
        ("turns", text_null("parent_id")),
        ("turns", text("door").default("page").to_owned()),
        ("turns", text_null("tool_ids")),
        ("tool_calls", big_integer_null("asked_at")),
        ("tool_calls", text_null("verdict")),
    ];
    // SQLite adds one column at a time.
    for (table, column) in columns {
        manager
            .alter_table(Table::alter().table(table).add_column(column).to_owned())
            .await?;
    }
    // Until now every turn followed the one before it.
    manager
        .get_connection()
        .execute_unprepared(
            "UPDATE turns SET parent_id = (SELECT former.id FROM turns former \
             WHERE former.chat_id = turns.chat_id \
             AND (former.started_at, former.id) < (turns.started_at, turns.id) \
             ORDER BY former.started_at DESC, former.id DESC LIMIT 1)",
        )
        .await?;
    manager
        .get_connection()
        .execute_unprepared(
            "UPDATE chats SET head = (SELECT last.id FROM turns last WHERE last.chat_id = chats.id \
             ORDER BY last.started_at DESC, last.id DESC LIMIT 1)",
        )
        .await?;
    for statement in [
        // A list of chats is read in this order, page by page.
        "DROP INDEX chats_by_user",
        "CREATE INDEX chats_by_user ON chats (user_id, updated_at, id)",
        "CREATE INDEX chats_pinned ON chats (user_id) WHERE pinned_at IS NOT NULL",
        "CREATE INDEX chats_deleted ON chats (deleted_at) WHERE deleted_at IS NOT NULL",
        "CREATE INDEX tool_calls_waiting ON tool_calls (chat_id) \
         WHERE asked_at IS NOT NULL AND verdict IS NULL",
    ] {
        manager
            .get_connection()
            .execute_unprepared(statement)
            .await?;
    }
    manager
        .create_table(
            Table::create()
                .table("shares")
                .col(text("token").primary_key())
                .col(text("chat_id").unique_key())
                .col(text("head"))
                .col(text("title"))
                .col(boolean("with_tools"))
                .col(big_integer("created_at"))
                .foreign_key(&mut of("shares", "chat_id", "chats"))
                .to_owned(),
        )
        .await
}

/// What can be found, one row for each thing said. The words themselves lie
/// where the engine can search them: see `search.rs`.
async fn search(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager
        .create_table(
            Table::create()
                .table("search_entries")
                .col(big_integer("id").primary_key().auto_increment())
                .col(text("chat_id"))
                .col(text("kind"))
                .col(text("subject"))
                .foreign_key(&mut of("search_entries", "chat_id", "chats"))
                .to_owned(),
        )
        .await?;
    index(
        manager,
        "search_entries_by_chat",
        "search_entries",
        &["chat_id", "kind", "subject"],
    )
    .await?;
    let words: &[&str] = match manager.get_database_backend() {
        DbBackend::Postgres => &[
            "ALTER TABLE search_entries ADD COLUMN words tsvector NOT NULL DEFAULT ''",
            "CREATE INDEX search_entries_by_words ON search_entries USING gin (words)",
        ],
        _ => &[
            "CREATE VIRTUAL TABLE search_words USING fts5(words, content='', contentless_delete=1, \
             tokenize=ascii)",
            "CREATE TRIGGER search_words_follow AFTER DELETE ON search_entries \
             BEGIN DELETE FROM search_words WHERE rowid = old.id; END",
        ],
    };
    for statement in words {
        manager
            .get_connection()
            .execute_unprepared(statement)
            .await?;
    }
    Ok(())
}

/// No foreign keys: what happened stays known when those who did it are gone.
async fn audit(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager
        .create_table(
            Table::create()
                .table("audit")
                .col(text("id").primary_key())
                .col(big_integer("at"))
                .col(text_null("user_id"))
                .col(text("door"))
                .col(text("action"))
                .col(text("subject"))
                .col(text("detail"))
                .col(text("address"))
                .to_owned(),
        )
        .await?;
    index(manager, "audit_by_time", "audit", &["at"]).await
}

async fn index(
    manager: &SchemaManager<'_>,
    name: &'static str,
    table: &'static str,
    columns: &[&'static str],
) -> Result<(), DbErr> {
    let mut index = Index::create();
    index.name(name).table(table);
    for column in columns {
        index.col(*column);
    }
    manager.create_index(index).await
}

fn of(table: &'static str, column: &'static str, owner: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(format!("{table}_of_{owner}"))
        .from(table, column)
        .to(owner, "id")
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}
