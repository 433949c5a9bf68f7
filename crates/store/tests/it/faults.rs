//! Databases that fail in the middle: what was acknowledged is stored, all of it or nothing,
//! and the store works again by itself once the database does.

use std::time::{Duration, Instant};

use sea_orm::TransactionTrait;
use sea_orm::{ConnectionTrait, Database, SqliteTransactionMode, TransactionOptions};
use tenon_domain::{ChatId, EventBody, TitledBy, UserId};
use tenon_store::{Error, Store, WriteHealth};

use crate::postgres::Postgres;
use crate::tcp_proxy::TcpProxy;

/// More messages than a write sends to PostgreSQL.
const MESSAGES: i64 = 24;

/// Longer than anything here takes.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_connection_that_is_lost_at_any_message_loses_nothing_acknowledged() {
    let postgres = Postgres::start();
    let proxy = TcpProxy::before(&postgres.url()).await;
    let store = Store::open(&proxy.url).await.unwrap();
    let chat = new_chat(&store).await;
    let mut refused = 0;
    for after in 0..MESSAGES {
        let title = format!("after {after} messages");
        proxy.break_after(after);
        let written = name(&store, &chat, &title).await;
        proxy.mend();
        until_it_writes(&store).await;
        match written {
            Ok(()) => assert_eq!(title_of(&store, &chat).await, title),
            // Whether it got there cannot be known; all of it did or nothing.
            Err(_) => refused += 1,
        }
        whole(&store, &chat).await;
    }
    assert!(refused > 4, "only {refused} writes met a broken connection");
}

#[tokio::test]
async fn a_commit_without_an_answer_is_told_apart_from_one_that_failed() {
    let postgres = Postgres::start();
    let proxy = TcpProxy::before(&postgres.url()).await;
    let store = Store::open(&proxy.url).await.unwrap();
    let chat = new_chat(&store).await;
    proxy.swallow_next_commit();
    let written = name(&store, &chat, "there").await;
    assert!(matches!(written, Err(Error::NoAnswer(_))), "{written:?}");
    assert!(proxy.has_swallowed());
    assert_eq!(title_of(&store, &chat).await, "there");
    whole(&store, &chat).await;

    proxy.break_after(0);
    let refused = name(&store, &chat, "refused").await;
    proxy.mend();
    assert!(matches!(refused, Err(Error::Database(_))), "{refused:?}");
    assert_eq!(title_of(&store, &chat).await, "there");
}

#[tokio::test]
async fn a_full_disk_of_postgres_is_told_and_gets_over_with() {
    let postgres = Postgres::start();
    let store = Store::open(&postgres.url()).await.unwrap();
    let chat = new_chat(&store).await;
    let admin = Database::connect(postgres.url()).await.unwrap();
    admin
        .execute_unprepared(
            "CREATE TABLE full_disk (is_full boolean);
             CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               IF EXISTS (SELECT FROM full_disk) THEN
                 RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full';
               END IF;
               RETURN NEW;
             END $$;
             CREATE TRIGGER fail BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION fail();
             INSERT INTO full_disk VALUES (true);",
        )
        .await
        .unwrap();
    for _ in 0..20 {
        let refused = name(&store, &chat, "refused").await;
        assert!(matches!(refused, Err(Error::DiskFull(_))), "{refused:?}");
    }
    assert_eq!(*store.writing().borrow(), WriteHealth::DiskFull);
    assert_eq!(title_of(&store, &chat).await, "", "and it can be read");
    admin
        .execute_unprepared("DELETE FROM full_disk")
        .await
        .unwrap();
    name(&store, &chat, "there").await.unwrap();
    assert_eq!(*store.writing().borrow(), WriteHealth::Works);
    assert_eq!(title_of(&store, &chat).await, "there");
    whole(&store, &chat).await;
}

#[tokio::test]
async fn a_lock_that_somebody_else_holds_is_an_error_and_not_a_loss() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let store = Store::open_file(&file).await.unwrap();
    let chat = new_chat(&store).await;
    let other = Database::connect(format!("sqlite://{}", file.display()));
    let other = other.await.unwrap();
    let at_once = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..Default::default()
    };
    let lock = other.begin_with_options(at_once).await.unwrap();
    let refused = name(&store, &chat, "refused").await;
    assert!(matches!(refused, Err(Error::Database(_))), "{refused:?}");
    assert_eq!(*store.writing().borrow(), WriteHealth::Fails);
    assert_eq!(title_of(&store, &chat).await, "", "and it can be read");
    lock.rollback().await.unwrap();
    name(&store, &chat, "there").await.unwrap();
    let another = Store::open_file(&file).await.unwrap();
    assert_eq!(title_of(&another, &chat).await, "there");
    whole(&another, &chat).await;
}

#[tokio::test]
async fn a_write_that_nobody_waits_for_any_more_leaves_nothing_open() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let store = Store::open_file(&file).await.unwrap();
    let other = Store::open_file(&file).await.unwrap();
    let chat = new_chat(&store).await;
    for moment in 0..300 {
        let title = format!("within {moment}");
        let moment = Duration::from_micros(moment * 10);
        let written = tokio::time::timeout(moment, name(&store, &chat, &title)).await;
        if let Ok(written) = written {
            written.unwrap();
            // Seen by another process: it is committed.
            assert_eq!(title_of(&other, &chat).await, title);
        }
    }
    name(&store, &chat, "at last").await.unwrap();
    assert_eq!(title_of(&other, &chat).await, "at last");
    whole(&other, &chat).await;
}

async fn new_chat(store: &Store) -> ChatId {
    store.create_chat(&ada(), "").await.unwrap().id
}

async fn name(store: &Store, chat: &ChatId, title: &str) -> Result<(), Error> {
    let named = EventBody::ChatTitled {
        title: title.to_owned(),
        by: TitledBy::Person,
    };
    store.append(chat, vec![named]).await.map(drop)
}

async fn title_of(store: &Store, chat: &ChatId) -> String {
    store.chat(&ada(), chat).await.unwrap().title
}

/// The events and what was made of them tell the same.
async fn whole(store: &Store, chat: &ChatId) {
    let events = store.events(chat, 0, 1000).await.unwrap();
    let last = events.last().map_or(0, |event| event.seq);
    let row = store.chat(&ada(), chat).await.unwrap();
    assert_eq!((events.len() as i64, row.last_seq), (last, last));
    if let Some(EventBody::ChatTitled { title, .. }) = events.last().map(|event| &event.body) {
        assert_eq!(row.title, *title);
    }
}

async fn until_it_writes(store: &Store) {
    let begun = Instant::now();
    while let Err(error) = store.try_write().await {
        assert!(begun.elapsed() < TEST_TIMEOUT, "{error}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn ada() -> UserId {
    UserId::new("ada")
}
