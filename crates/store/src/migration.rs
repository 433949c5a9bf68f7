//! The tables, as they came to be. What a released migration does is never changed, and since
//! 0019 a migration only adds: servers of the version before go on beside the new one, and may
//! start again.

mod m0001_first_tables;
mod m0002_models;
mod m0003_people;
mod m0004_sources;
mod m0005_documents;
mod m0006_local_servers;
mod m0007_local_sessions;
mod m0008_session_proof;
mod m0009_change_log;
mod m0010_trusted_hints;
mod m0011_local_keys;
mod m0012_audit_order;
mod m0014_experts;
mod m0015_skills;
mod m0016_folders_and_files;
mod m0017_model_calls;
mod m0018_tool_budget;
mod m0019_cluster;
mod m0020_embeddings;
mod m0021_embedding_age;
mod m0022_call_traces;

use std::collections::HashSet;

use sea_orm::{DatabaseConnection, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, MigratorTrait, SchemaManager, async_trait};

pub(crate) struct Migrator;

/// Migrates the tables. Tables of a newer version contain everything this version needs.
pub(crate) async fn migrate(db: &DatabaseConnection) -> Result<(), DbErr> {
    let applied = Migrator::get_migration_models(db).await?;
    let mut missing: HashSet<String> = Migrator::migrations()
        .iter()
        .map(|migration| migration.name().to_owned())
        .collect();
    let newer: Vec<String> = applied
        .into_iter()
        .filter(|migration| !missing.remove(&migration.version))
        .map(|migration| migration.version)
        .collect();
    if newer.is_empty() || !missing.is_empty() {
        return Migrator::up(db, None).await;
    }
    tracing::warn!(?newer, "a newer version of Tenon uses this database");
    Ok(())
}

/// A migration and its row in `seaql_migrations`, in one transaction: what a killed process left half
/// made, no later start could make.
struct AtomicMigration(Box<dyn MigrationTrait>);

impl MigrationName for AtomicMigration {
    fn name(&self) -> &str {
        self.0.name()
    }
}

#[async_trait::async_trait]
impl MigrationTrait for AtomicMigration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.0.up(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.0.down(manager).await
    }

    /// On SQLite, too, where SeaORM would use none.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let migrations: Vec<Box<dyn MigrationTrait>> = vec![
            Box::new(m0001_first_tables::Migration),
            Box::new(m0002_models::Migration),
            Box::new(m0003_people::Migration),
            Box::new(m0004_sources::Migration),
            Box::new(m0005_documents::Migration),
            Box::new(m0006_local_servers::Migration),
            Box::new(m0007_local_sessions::Migration),
            Box::new(m0008_session_proof::Migration),
            Box::new(m0009_change_log::Migration),
            Box::new(m0010_trusted_hints::Migration),
            Box::new(m0011_local_keys::Migration),
            Box::new(m0012_audit_order::Migration),
            Box::new(m0014_experts::Migration),
            Box::new(m0015_skills::Migration),
            Box::new(m0016_folders_and_files::Migration),
            Box::new(m0017_model_calls::Migration),
            Box::new(m0018_tool_budget::Migration),
            Box::new(m0019_cluster::Migration),
            Box::new(m0020_embeddings::Migration),
            Box::new(m0021_embedding_age::Migration),
            Box::new(m0022_call_traces::Migration),
        ];
        let atomic = |migration| Box::new(AtomicMigration(migration)) as Box<dyn MigrationTrait>;
        migrations.into_iter().map(atomic).collect()
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::{ConnectionTrait, Database};
    use tenon_domain::{
        ChatId, EntryPoint, EventBody, MessageId, MessageRecord, ModelId, ModelRef, Part, Role,
        TurnId, TurnOutcome, Usage, UserId,
    };

    use super::*;
    use crate::{Chat, ChatQuery, MatchKind, OpenTurn, Store, TurnOwner};

    /// A session from when each was of a row in `users`; its token is "token".
    const FORMER_SESSION: &str = "
        INSERT INTO users VALUES ('ada', 'ada@x.org', 'Ada', 'admin', NULL, NULL, FALSE, 1, NULL);
        INSERT INTO auth_sessions VALUES ('session', 'PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A',
            'ada', 'browser', '', 1, 1, 9000000000000);
    ";

    #[tokio::test]
    async fn nobody_is_logged_out_by_a_new_version() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tenon.db");
        let address = format!("sqlite://{}?mode=rwc", file.display());
        let old = Database::connect(address).await.unwrap();
        Migrator::up(&old, Some(6)).await.unwrap();
        old.execute_unprepared(FORMER_SESSION).await.unwrap();
        old.close().await.unwrap();

        let store = Store::open_file(&file).await.unwrap();
        let (account, session) = store.session_of("token").await.unwrap().unwrap();
        assert_eq!(
            (account.name.as_str(), session.as_str()),
            ("Ada", "session")
        );
    }

    #[tokio::test]
    async fn a_migration_that_breaks_off_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tenon.db");
        let address = format!("sqlite://{}?mode=rwc", file.display());
        let broken = Database::connect(address).await.unwrap();
        let sql = async |statement: &str| broken.execute_unprepared(statement).await.unwrap();
        // Not the first table that a migration makes.
        sql("CREATE TABLE messages (id TEXT)").await;
        migrate(&broken).await.unwrap_err();
        sql("DROP TABLE messages").await;
        broken.close().await.unwrap();

        let store = Store::open_file(&file).await.unwrap();
        assert!(store.has_current_schema().await.unwrap());
    }

    #[tokio::test]
    async fn the_tables_of_a_newer_version_are_used_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tenon.db");
        let store = Store::open_file(&file).await.unwrap();
        let newer = "INSERT INTO seaql_migrations VALUES ('m9999_later', 1);
                     ALTER TABLE chats ADD COLUMN colour TEXT";
        store.write.execute_unprepared(newer).await.unwrap();
        drop(store);

        let store = Store::open_file(&file).await.unwrap();
        let ada = UserId::new("ada");
        let chat = store.create_chat(&ada, "Tides").await.unwrap();
        let chats = store.chats(&ada, &ChatQuery::newest(10)).await.unwrap();
        assert_eq!(chats, [chat]);
    }

    /// Rows as the first release wrote them: JSON without what was added later.
    const FIRST_RELEASE: &str = r#"
        INSERT INTO chats VALUES ('chat', 'ada', '东京', 2, 5, 6);
        INSERT INTO turns VALUES ('turn', 'chat', 'long-gone', NULL, 0, 0, 6, NULL);
        INSERT INTO messages VALUES ('message', 'chat', 'turn', 1, 'user',
            '[{"type":"text","text":"几点了？"}]', FALSE, 6);
        INSERT INTO events VALUES ('chat', 1, 6, '{"type":"turnStarted","turnId":"turn",
            "message":{"id":"message","chatId":"chat","turnId":"turn","role":"user",
            "parts":[{"type":"text","text":"几点了？"}],"createdAt":6}}');
        INSERT INTO events VALUES ('chat', 2, 6, '{"type":"turnFinished","turnId":"other",
            "outcome":{"kind":"done"},"usage":{"inputTokens":3,"outputTokens":4}}');
    "#;

    #[tokio::test]
    async fn a_database_of_the_first_release_is_found_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tenon.db");
        let address = format!("sqlite://{}?mode=rwc", file.display());
        let old = Database::connect(address).await.unwrap();
        Migrator::up(&old, Some(1)).await.unwrap();
        old.execute_unprepared(FIRST_RELEASE).await.unwrap();
        old.close().await.unwrap();

        let store = Store::open_file(&file).await.unwrap();
        let chat = ChatId::new("chat");
        assert_eq!(
            store
                .chats(&UserId::new("ada"), &ChatQuery::newest(10))
                .await
                .unwrap(),
            [Chat {
                id: chat.clone(),
                title: "东京".into(),
                last_seq: 2,
                created_at: 5,
                updated_at: 6,
                pinned: false,
                archived: false,
                expert: None,
                folder: None,
                temporary: false,
            }]
        );
        // What was said before there was a search is found too.
        for (question, kind) in [("东京", MatchKind::Title), ("几点", MatchKind::Message)] {
            let hits = store.search(&UserId::new("ada"), question, 10).await;
            let hits: Vec<MatchKind> = hits.unwrap().iter().map(|hit| hit.kind).collect();
            assert_eq!(hits, [kind], "{question}");
        }
        let question = MessageRecord {
            id: MessageId::new("message"),
            chat_id: chat.clone(),
            turn_id: TurnId::new("turn"),
            role: Role::User,
            parts: vec![Part::text("几点了？")],
            created_at: 6,
        };
        assert_eq!(
            store.messages(&chat).await.unwrap(),
            std::slice::from_ref(&question)
        );
        let events = store.events(&chat, 0, 10).await.unwrap();
        let bodies: Vec<EventBody> = events.into_iter().map(|event| event.body).collect();
        assert_eq!(
            bodies,
            [
                EventBody::TurnStarted {
                    branch: None,
                    tools: None,
                    door: EntryPoint::Page,
                    turn_id: TurnId::new("turn"),
                    message: question.clone(),
                    model: None,
                },
                EventBody::TurnFinished {
                    turn_id: TurnId::new("other"),
                    outcome: TurnOutcome::Done,
                    usage: Usage {
                        input_tokens: 3,
                        output_tokens: 4,
                        ..Usage::default()
                    },
                    cost: None,
                },
            ]
        );
        assert_eq!(
            store.open_turns().await.unwrap(),
            [OpenTurn {
                id: TurnId::new("turn"),
                chat_id: chat.clone(),
                owner: TurnOwner {
                    runner: "long-gone".into(),
                    fence: 0,
                },
            }]
        );
        assert_eq!(store.models().await.unwrap(), []);

        // And it goes on: the old turn ends, a new one begins.
        let goes_on = vec![
            EventBody::TurnFinished {
                turn_id: TurnId::new("turn"),
                outcome: TurnOutcome::Done,
                usage: Usage::default(),
                cost: None,
            },
            EventBody::TurnStarted {
                branch: None,
                tools: None,
                door: EntryPoint::Page,
                turn_id: TurnId::new("turn-2"),
                message: MessageRecord {
                    id: MessageId::new("message-2"),
                    turn_id: TurnId::new("turn-2"),
                    ..question
                },
                model: Some(ModelRef {
                    id: ModelId::new("builtin"),
                    name: "Built-in".into(),
                }),
            },
        ];
        store.append(&chat, goes_on).await.unwrap();
        let open = store.open_turns().await.unwrap();
        assert_eq!(open[0].id, TurnId::new("turn-2"));
        assert_eq!(open.len(), 1);
    }
}
