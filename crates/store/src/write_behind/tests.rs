//! What is written behind arrives once, or is counted.

use sea_orm::ConnectionTrait;
use serde_json::json;
use tenon_domain::EntryPoint;

use super::*;
use crate::AuditQuery;

fn entry(subject: usize) -> AuditEntry {
    AuditEntry {
        user: None,
        door: EntryPoint::Page,
        action: "tool.called",
        subject: subject.to_string(),
        detail: json!({"text": "a \"quoted\" \0 one", "ok": true}),
        address: "127.0.0.1".into(),
    }
}

async fn entries(store: &Store) -> Vec<crate::AuditRow> {
    let query = AuditQuery {
        limit: u64::MAX >> 1,
        ..AuditQuery::default()
    };
    store.audited(query).await.unwrap()
}

#[tokio::test]
async fn what_is_written_behind_is_what_was_given() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    store.audit(entry(0)).await.unwrap();
    store.audit_behind(entry(0));
    let rows = entries(&store).await;
    let [behind, before] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    let same = crate::AuditRow {
        id: before.id.clone(),
        at: before.at,
        ..behind.clone()
    };
    assert_eq!(same, *before);
}

#[tokio::test]
async fn what_does_not_fit_is_counted_in_the_log() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    // This task does not yield, so nothing is written meanwhile.
    for number in 0..MAX_ENTRIES + 3 {
        store.audit_behind(entry(number));
    }
    let rows = entries(&store).await;
    assert_eq!(rows.len(), MAX_ENTRIES + 1);
    let lost = rows.iter().find(|row| row.action == "audit.lost").unwrap();
    assert_eq!(lost.detail, json!({"entries": 3}));
}

fn told(rows: &[crate::AuditRow]) -> Vec<(&str, &str)> {
    let rows = rows.iter();
    rows.map(|row| (&*row.action, &*row.subject)).collect()
}

#[tokio::test]
async fn what_cannot_be_written_for_a_while_is_written_later() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let sql = async |statement: &str| store.write.execute_unprepared(statement).await.unwrap();
    sql("ALTER TABLE audit RENAME TO away").await;
    store.audit_behind(entry(0));
    store.audit_behind(entry(1));
    store.flush().await;
    assert_eq!(store.behind.progress.borrow().retrying, Some(2));
    sql("ALTER TABLE away RENAME TO audit").await;
    store.audit_behind(entry(2));
    store.drain().await;
    let rows = entries(&store).await;
    let called = ["2", "1", "0"].map(|subject| ("tool.called", subject));
    assert_eq!(told(&rows), called);
}

fn writer(store: &Store) -> BatchWriter {
    BatchWriter {
        write: store.write.clone(),
        health: store.writing.clone(),
    }
}

#[tokio::test]
async fn what_cannot_be_written_again_and_again_is_counted() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let behind = WriteBehind::start(writer(&store), &[1, 1]);
    let sql = async |statement: &str| store.write.execute_unprepared(statement).await.unwrap();
    sql("ALTER TABLE audit RENAME TO away").await;
    behind.audit(entry(0).into());
    behind.audit(entry(1).into());
    behind.drain().await;
    sql("ALTER TABLE away RENAME TO audit").await;
    behind.audit(entry(2).into());
    behind.drain().await;
    let rows = entries(&store).await;
    assert_eq!(told(&rows), [("audit.lost", "2"), ("tool.called", "2")]);
    assert_eq!(rows[0].detail, json!({"entries": 2}));
}

#[tokio::test]
async fn a_batch_that_is_tried_again_after_it_was_committed_is_there_once() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let writer = writer(&store);
    let batch = PendingWrites {
        audit: vec![entry(0).into(), entry(1).into()],
        ..PendingWrites::default()
    };
    writer.write(&batch).await.unwrap();
    writer.write(&batch).await.unwrap();
    assert_eq!(entries(&store).await.len(), 2);
}

#[tokio::test]
async fn the_last_entries_are_written_when_the_store_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let store = Store::open_file(&file).await.unwrap();
    let mut progress = store.behind.progress.clone();
    store.audit_behind(entry(0));
    drop(store);
    // The task ends with its last batch.
    while progress.changed().await.is_ok() {}
    let store = Store::open_file(&file).await.unwrap();
    assert_eq!(entries(&store).await.len(), 1);
}
