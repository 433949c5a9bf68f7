//! What every call reads is in memory, and what it writes is written behind: calls go on while
//! nobody gets through to the database.

use std::time::Duration;

use sea_orm::{ConnectionTrait, Database, TransactionTrait};
use serde_json::json;
use tenon_domain::{EntryPoint, KeyScope, UserRole};
use tenon_store::{AuditEntry, AuditQuery, Enrollment, NewUserRow, Store};
use tokio::time::timeout;

use crate::postgres::Postgres;

const LOCK_ALL: &str = "DO $$ DECLARE name text; BEGIN \
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP \
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', name); END LOOP; END $$";

#[tokio::test]
async fn a_call_waits_for_no_table() {
    let postgres = Postgres::start();
    let store = Store::open(&postgres.url()).await.unwrap();
    let new = NewUserRow {
        email: "ada@x.org",
        name: "Ada",
        role: UserRole::Admin,
        password_hash: None,
        oidc_subject: None,
    };
    let ada = store.create_user(new, Enrollment::First).await.unwrap().id;
    let scope = KeyScope::default();
    let (token, _) = store.create_key(&ada, "ci", &scope).await.unwrap();
    let call = async || {
        assert!(store.find_key(&token.0).await.unwrap().is_some());
        store.tool_settings(&ada, None, None).await.unwrap();
        store.audit_behind(AuditEntry {
            user: Some(ada.clone()),
            door: EntryPoint::Shell,
            action: "tool.called",
            subject: "builtin_calculate".into(),
            detail: json!({"ok": true}),
            address: String::new(),
        });
    };
    call().await;

    let others = Database::connect(postgres.url()).await.unwrap();
    let lock = others.begin().await.unwrap();
    lock.execute_unprepared(LOCK_ALL).await.unwrap();
    timeout(Duration::from_secs(10), call())
        .await
        .expect("it reads nothing");
    let read = timeout(Duration::from_millis(500), store.keys(&ada)).await;
    assert!(read.is_err(), "the tables are locked");
    lock.rollback().await.unwrap();
    let entries = store.audited(AuditQuery {
        limit: 10,
        ..AuditQuery::default()
    });
    assert_eq!(entries.await.unwrap().len(), 2);
}
