//! A backup of one engine is one for the other, and holds what is there at one moment.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::GzDecoder;
use tempfile::TempDir;
use tenon_domain::{
    CallId, CallRecord, CallStatus, ChatId, EntryPoint, EventBody, MessageId, MessageRecord, Part,
    Role, RunsOn, ToolCall, ToolId, ToolOutput, TurnId, TurnOutcome, Usage, UserId,
};
use tenon_store::{
    BackupInput, Blob, ChatFilter, ChatQuery, Error, ExistingFile, Store, VerifiedBackup,
};

use crate::postgres::Postgres;

fn ada() -> UserId {
    UserId::new("ada")
}

fn message(chat: &ChatId, turn: &str, role: Role) -> MessageRecord {
    MessageRecord {
        id: MessageId(format!("{turn}-{role:?}")),
        chat_id: chat.clone(),
        turn_id: TurnId::new(turn),
        role,
        parts: vec![Part::text("说 \"ä\" \\ 🗼")],
        created_at: 1,
    }
}

fn begin(chat: &ChatId, turn: &str) -> Vec<EventBody> {
    vec![
        EventBody::TurnStarted {
            turn_id: TurnId::new(turn),
            message: message(chat, turn, Role::User),
            branch: None,
            tools: None,
            door: EntryPoint::Page,
            model: None,
        },
        EventBody::MessageStarted {
            message: message(chat, turn, Role::Assistant),
        },
        EventBody::CallRequested {
            call: CallRecord::requested(
                ToolCall {
                    id: CallId(format!("{turn}-call")),
                    tool_id: ToolId("builtin_sleep".into()),
                    input: serde_json::json!({"seconds": 1.5}),
                },
                MessageId(format!("{turn}-Assistant")),
                "Flow/Sleep",
                RunsOn::Server,
            ),
        },
    ]
}

fn end(turn: &str) -> Vec<EventBody> {
    vec![
        EventBody::CallFinished {
            call_id: CallId(format!("{turn}-call")),
            status: CallStatus::Done,
            output: Some(ToolOutput::text("slept")),
            error: None,
            duration_ms: 3,
        },
        EventBody::TurnFinished {
            turn_id: TurnId::new(turn),
            outcome: TurnOutcome::Done,
            usage: Usage::default(),
            cost: None,
        },
    ]
}

async fn fill(store: &Store) -> ChatId {
    let chat = store.create_chat(&ada(), "东京").await.unwrap().id;
    for turn in ["one", "two"] {
        store.append(&chat, begin(&chat, turn)).await.unwrap();
        store.append(&chat, end(turn)).await.unwrap();
    }
    store.append(&chat, begin(&chat, "open")).await.unwrap();
    let blob = Blob {
        media_type: "application/octet-stream".into(),
        data: (0..100_000u32).map(|n| (n % 251) as u8).collect(),
    };
    let call = CallId::new("one-call");
    store.put_blob(&ada(), &call, blob).await.unwrap();
    chat
}

pub async fn backup(store: &Store, folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let origin = BackupInput {
        work: &folder.join("work"),
        keys: None,
    };
    store
        .backup_to(&path, ExistingFile::Keep, origin, &mut |_, _| {})
        .await
        .unwrap();
    path
}

pub async fn restore(store: &Store, folder: &TempDir, backup: &Path) {
    let checked = VerifiedBackup::read(backup).unwrap();
    let name = backup.file_name().unwrap().to_str().unwrap();
    let work = folder.path().join("work");
    store
        .restore(&checked, &work, name, &mut |_, _| {})
        .await
        .unwrap();
}

/// The rows of a backup, but for who runs what and how far the search index is.
fn rows(path: &Path) -> BTreeSet<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let lines = text.lines().filter(|line| line.starts_with(r#"{"row""#));
    lines
        .filter(|line| !line.contains("search.version"))
        .map(|line| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            if let Some(row) = line["row"][1].as_object_mut() {
                row.remove("runner");
            }
            line.to_string()
        })
        .collect()
}

#[tokio::test]
async fn a_backup_goes_from_sqlite_to_postgres_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Store::open_file(&folder.path().join("a.db")).await.unwrap();
    let postgres = Postgres::start();
    let postgres = Store::open(&postgres.url()).await.unwrap();
    let chat = fill(&sqlite).await;
    fill(&postgres).await;
    let first = backup(&sqlite, folder.path(), "first").await;
    restore(&postgres, &folder, &first).await;
    let second = backup(&postgres, folder.path(), "second").await;
    let other = Store::open_file(&folder.path().join("b.db")).await.unwrap();
    restore(&other, &folder, &second).await;
    let third = backup(&other, folder.path(), "third").await;
    assert_eq!(rows(&first), rows(&second));
    assert_eq!(rows(&first), rows(&third));

    for store in [&postgres, &other] {
        let events = store.events(&chat, 0, 100).await.unwrap();
        assert_eq!(events, sqlite.events(&chat, 0, 100).await.unwrap());
        // The open turn is run by nobody, so whoever looks finds it abandoned.
        let abandoned = crate::story::left_behind(store).await;
        assert_eq!(abandoned[0].turns[0].id, TurnId::new("open"));
    }
}

#[tokio::test]
async fn a_backup_on_sqlite_is_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_file(&folder.path().join("a.db")).await.unwrap();
    one_moment(&store, folder.path()).await;
}

#[tokio::test]
async fn a_backup_on_postgres_is_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let postgres = Postgres::start();
    let store = Store::open(&postgres.url()).await.unwrap();
    one_moment(&store, folder.path()).await;
}

/// Somebody writes without a pause. Each chat is in a backup with all its events or not at all.
async fn one_moment(store: &Store, folder: &Path) {
    let stop = Arc::new(AtomicBool::new(false));
    let (written, mut has_written) = tokio::sync::watch::channel(0);
    let writing = tokio::spawn({
        let (store, stop) = (store.clone(), stop.clone());
        async move {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                let chat = store.create_chat(&ada(), "").await.unwrap().id;
                let turn = format!("turn-{number}");
                store.append(&chat, begin(&chat, &turn)).await.unwrap();
                store.append(&chat, end(&turn)).await.unwrap();
                number += 1;
                written.send_replace(number);
            }
            number
        }
    });
    let mut sizes = Vec::new();
    for number in 0..5 {
        // Some more chats each time.
        let before = *has_written.borrow();
        let more = has_written.wait_for(|written| *written >= before + 5);
        let more = tokio::time::timeout(std::time::Duration::from_secs(20), more).await;
        drop(more.unwrap().unwrap());
        let path = backup(store, folder, &format!("backup-{number}")).await;
        // Counts its rows against those it should have.
        VerifiedBackup::read(&path).unwrap();
        let copy = Store::open("sqlite::memory:").await.unwrap();
        let work = tempfile::tempdir().unwrap();
        restore(&copy, &work, &path).await;
        let listing = ChatQuery {
            folder: None,
            limit: 100_000,
            before: None,
            filter: ChatFilter::Current,
        };
        let chats = copy.chats(&ada(), &listing).await.unwrap();
        for chat in &chats {
            let events = copy.events(&chat.id, 0, 100).await.unwrap();
            let numbers: Vec<i64> = events.iter().map(|event| event.seq).collect();
            assert_eq!(numbers, (1..=chat.last_seq).collect::<Vec<_>>());
        }
        sizes.push(chats.len());
    }
    stop.store(true, Ordering::Relaxed);
    assert!(writing.await.unwrap() > 0);
    assert!(sizes.is_sorted() && sizes[0] < sizes[4], "{sizes:?}");
}

#[tokio::test]
async fn a_turn_that_a_restore_took_away_cannot_be_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_file(&folder.path().join("a.db")).await.unwrap();
    let chat = store.create_chat(&ada(), "").await.unwrap().id;
    let before = backup(&store, folder.path(), "before").await;
    store.append(&chat, begin(&chat, "gone")).await.unwrap();
    restore(&store, &folder, &before).await;

    let late = [
        vec![EventBody::MessageStarted {
            message: message(&chat, "gone", Role::Assistant),
        }],
        vec![EventBody::MessageFinished {
            message_id: MessageId::new("gone-Assistant"),
            parts: Vec::new(),
        }],
        begin(&chat, "gone").split_off(2),
        end("gone"),
        end("gone").split_off(1),
    ];
    for bodies in late {
        let refused = store.append(&chat, bodies).await;
        assert!(
            matches!(refused, Err(Error::NotFound("turn"))),
            "{refused:?}"
        );
    }
    assert_eq!(store.events(&chat, 0, 10).await.unwrap(), []);
    // The chat goes on.
    store.append(&chat, begin(&chat, "next")).await.unwrap();
    store.append(&chat, end("next")).await.unwrap();
    assert_eq!(store.events(&chat, 0, 10).await.unwrap().len(), 5);
}
