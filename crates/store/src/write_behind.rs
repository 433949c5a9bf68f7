//! Writes that nobody waits for: the audit log of calls, and when keys and log-ins were used.
//!
//! One task writes what came together in one transaction. The buffer is bounded: what does not
//! fit, or cannot be written, is counted, and the count becomes an entry of the audit log. Never
//! here: whatever must survive `kill -9` once somebody was told that it happened.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    EntityTrait, QueryFilter, Statement,
};
use serde_json::json;
use tenon_domain::{EntryPoint, KeyId, SessionId};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use crate::entity::{api_keys, audit, auth_sessions};
use crate::transaction::begin;
use crate::write_health;
use crate::{AuditEntry, Result, Store, WriteHealth};

/// How long entries are collected for one transaction.
const COLLECT_TIME: Duration = Duration::from_millis(50);

/// The bound of the buffer, about 4 MiB: several hundred milliseconds of calls at full load.
const MAX_ENTRIES: usize = 16 * 1024;

/// How long one transaction may take, and how long `flush` waits for the buffer to drain.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);

/// The handle of the task. The task ends, with all written, when this is dropped.
pub(crate) struct WriteBehind {
    shared: Arc<SharedBuffer>,
    /// The number of the last batch that is done.
    written: watch::Receiver<u64>,
}

#[derive(Default)]
struct SharedBuffer {
    pending: Mutex<PendingWrites>,
    /// Something is to be written, or the handle is gone.
    wake: Notify,
    /// Somebody waits for it.
    hurry: Notify,
}

/// What one transaction is going to write.
#[derive(Default)]
struct PendingWrites {
    /// Counts batches; that of the first one is 1.
    number: u64,
    is_closed: bool,
    audit: Vec<audit::Model>,
    /// Entries that had no place here, or could not be written before.
    lost: u64,
    keys: HashMap<KeyId, i64>,
    sessions: HashMap<SessionId, SessionUse>,
}

struct SessionUse {
    seen_at: i64,
    expires_at: i64,
}

impl WriteBehind {
    /// Starts the task, on the runtime of the caller.
    pub(crate) fn start(writer: BatchWriter) -> Self {
        let shared = Arc::new(SharedBuffer::default());
        shared.lock().number = 1;
        let (sender, written) = watch::channel(0);
        tokio::spawn(run(shared.clone(), writer, sender));
        Self { shared, written }
    }

    pub(crate) fn audit(&self, row: audit::Model) {
        self.shared.push(|pending| {
            if pending.audit.len() < MAX_ENTRIES {
                pending.audit.push(row);
            } else {
                pending.lost += 1;
            }
        });
    }

    pub(crate) fn key_used(&self, key: &KeyId, at: i64) {
        let key = key.clone();
        self.shared.push(|pending| {
            pending.keys.insert(key, at);
        });
    }

    pub(crate) fn session_seen(&self, session: &SessionId, seen_at: i64, expires_at: i64) {
        let session = session.clone();
        let used = SessionUse {
            seen_at,
            expires_at,
        };
        self.shared.push(|pending| {
            pending.sessions.insert(session, used);
        });
    }

    /// Waits until all that was given to it so far is written, for a while.
    async fn flush(&self) {
        let last = {
            let pending = self.shared.lock();
            pending.number - u64::from(pending.is_empty())
        };
        let mut written = self.written.clone();
        if *written.borrow() >= last {
            return;
        }
        self.shared.wake.notify_one();
        self.shared.hurry.notify_one();
        // Late or not: whoever waits goes on, and the task has logged why.
        let _ = timeout(FLUSH_TIMEOUT, written.wait_for(|done| *done >= last)).await;
    }
}

impl Store {
    /// Writes an entry of the audit log soon, together with others: for what happens often.
    pub fn audit_behind(&self, entry: AuditEntry) {
        self.behind.audit(entry.into());
    }

    /// Waits until what is written behind is written, for some seconds at most.
    pub async fn flush(&self) {
        self.behind.flush().await;
    }
}

async fn run(shared: Arc<SharedBuffer>, writer: BatchWriter, written: watch::Sender<u64>) {
    loop {
        shared.wake.notified().await;
        // Debounced: many entries cost little more than one.
        tokio::select! {
            () = sleep(COLLECT_TIME) => {}
            () = shared.hurry.notified() => {}
        }
        let batch = shared.take();
        let (number, is_closed) = (batch.number, batch.is_closed);
        let entries = batch.lost + batch.audit.len() as u64;
        if let Err(error) = writer.write(batch).await {
            tracing::error!(%error, entries, "entries of the audit log were not written");
            shared.lock().lost += entries;
        }
        written.send_replace(number);
        if is_closed {
            return;
        }
    }
}

/// Writes batches on the connection for writes.
pub(crate) struct BatchWriter {
    pub(crate) write: DatabaseConnection,
    pub(crate) health: Arc<watch::Sender<WriteHealth>>,
}

impl BatchWriter {
    async fn write(&self, batch: PendingWrites) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let written = timeout(WRITE_TIMEOUT, self.write_together(batch)).await;
        let late = || Err(DbErr::Custom("it took too long".into()).into());
        let written = written.unwrap_or_else(|_| late());
        write_health::note(&self.health, &written);
        written
    }

    async fn write_together(&self, mut batch: PendingWrites) -> Result<()> {
        if batch.lost > 0 {
            let entries = batch.lost;
            tracing::warn!(entries, "entries of the audit log were not written");
            batch.audit.push(lost_entries(entries).into());
        }
        let transaction = begin(&self.write).await?;
        insert_audit(&transaction, &batch.audit).await?;
        for (key, at) in batch.keys {
            api_keys::Entity::update_many()
                .col_expr(api_keys::Column::LastUsedAt, Expr::value(at))
                .filter(api_keys::Column::Id.eq(key.0))
                .exec(&transaction)
                .await?;
        }
        for (session, used) in batch.sessions {
            auth_sessions::Entity::update_many()
                .col_expr(auth_sessions::Column::LastSeenAt, Expr::value(used.seen_at))
                .col_expr(
                    auth_sessions::Column::ExpiresAt,
                    Expr::value(used.expires_at),
                )
                .filter(auth_sessions::Column::Id.eq(session.0))
                .exec(&transaction)
                .await?;
        }
        Ok(transaction.commit().await?)
    }
}

/// All rows as one parameter: the statement is the same for any number of them, so one is prepared
/// and kept.
async fn insert_audit(transaction: &DatabaseTransaction, rows: &[audit::Model]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let backend = transaction.get_database_backend();
    let elements = match backend {
        DbBackend::Postgres => "jsonb_array_elements($1::jsonb) AS entries(value)",
        _ => "json_each($1)",
    };
    let sql = format!(
        "INSERT INTO audit (id, at, user_id, door, action, subject, detail, address) \
         SELECT value->>'id', CAST(value->>'at' AS BIGINT), value->>'user_id', value->>'door', \
         value->>'action', value->>'subject', value->>'detail', value->>'address' FROM {elements}"
    );
    let rows = serde_json::to_string(rows)?;
    let insert = Statement::from_sql_and_values(backend, sql, [rows.into()]);
    transaction.execute_raw(insert).await?;
    Ok(())
}

/// The entry that stands for those that are missing.
fn lost_entries(entries: u64) -> AuditEntry {
    AuditEntry {
        user: None,
        door: EntryPoint::Shell,
        action: "audit.lost",
        subject: entries.to_string(),
        detail: json!({"entries": entries}),
        address: String::new(),
    }
}

impl SharedBuffer {
    fn push(&self, add: impl FnOnce(&mut PendingWrites)) {
        add(&mut self.lock());
        self.wake.notify_one();
    }

    fn take(&self) -> PendingWrites {
        let mut pending = self.lock();
        let next = PendingWrites {
            number: pending.number + 1,
            ..PendingWrites::default()
        };
        std::mem::replace(&mut *pending, next)
    }

    fn lock(&self) -> MutexGuard<'_, PendingWrites> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingWrites {
    fn is_empty(&self) -> bool {
        self.audit.is_empty() && self.lost == 0 && self.keys.is_empty() && self.sessions.is_empty()
    }
}

impl Drop for WriteBehind {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.wake.notify_one();
        self.shared.hurry.notify_one();
    }
}

impl fmt::Debug for WriteBehind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteBehind")
            .field("written", &*self.written.borrow())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
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

    #[tokio::test]
    async fn what_cannot_be_written_is_counted_once_it_can() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let sql = async |statement: &str| store.write.execute_unprepared(statement).await.unwrap();
        sql("ALTER TABLE audit RENAME TO away").await;
        store.audit_behind(entry(0));
        store.audit_behind(entry(1));
        store.flush().await;
        sql("ALTER TABLE away RENAME TO audit").await;
        store.audit_behind(entry(2));
        let rows = entries(&store).await;
        let actions: Vec<_> = rows
            .iter()
            .map(|row| (&*row.action, &*row.subject))
            .collect();
        assert_eq!(actions, [("audit.lost", "2"), ("tool.called", "2")]);
        assert_eq!(rows[0].detail, json!({"entries": 2}));
    }

    #[tokio::test]
    async fn the_last_entries_are_written_when_the_store_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tenon.db");
        let store = Store::open_file(&file).await.unwrap();
        let mut written = store.behind.written.clone();
        store.audit_behind(entry(0));
        drop(store);
        // The task ends with its last batch.
        while written.changed().await.is_ok() {}
        let store = Store::open_file(&file).await.unwrap();
        assert_eq!(entries(&store).await.len(), 1);
    }
}
