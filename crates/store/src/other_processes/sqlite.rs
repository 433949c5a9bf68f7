//! Polling the write-ahead log: its size and time cost no query.
//!
//! Every commit changes that file. `PRAGMA data_version` on the connection that makes all
//! our writes then tells whether somebody else's did, and the change log tells what.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, FromQueryResult, Statement};
use tokio::time::{MissedTickBehavior, interval};

use super::{ChangeWatch, LoggedChange, publish_everything};
use crate::changes::Changes;
use crate::runner::beside;
use crate::{Result, Store};

const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// How many connections a pool has opened. The data version counts within one connection: a pool
/// that replaced its own may report the former number after somebody else's write.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionCount(Arc<AtomicU64>);

impl ConnectionCount {
    pub(crate) fn increment(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// As many as the log is sure to keep.
const MAX_CHANGES: i64 = 1000;

impl ChangeWatch {
    /// `opened` counts the connections of the store for writes.
    pub(crate) async fn of_file(
        store: &Store,
        database: &Path,
        opened: ConnectionCount,
    ) -> Result<Self> {
        let mut log = ChangeLog {
            write: store.write.clone(),
            wal: beside(database, "-wal"),
            changes: store.changes.clone(),
            file: None,
            opened,
            data_version: DataVersion::default(),
            last: 0,
        };
        log.data_version = log.read_data_version().await?;
        log.last = log.read_last().await?;
        Ok(Self(tokio::spawn(log.watch())))
    }
}

struct ChangeLog {
    write: DatabaseConnection,
    wal: PathBuf,
    changes: Arc<Changes>,
    /// As it was when it was looked at last.
    file: Option<FileState>,
    opened: ConnectionCount,
    data_version: DataVersion,
    /// The number of the last change that is known.
    last: i64,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct DataVersion {
    number: i64,
    /// How many connections had been opened when it was asked for.
    opened: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    modified: SystemTime,
}

#[derive(FromQueryResult)]
struct LogRow {
    topic: String,
    user_id: String,
    chat_id: String,
}

impl ChangeLog {
    async fn watch(mut self) {
        let mut poll = interval(POLL_INTERVAL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Two writes within one tick of the file system's clock look like one: it is looked
        // once more after each change.
        let mut is_settled = false;
        loop {
            poll.tick().await;
            let file = file_state(&self.wal);
            let is_same = file == self.file;
            if is_same && is_settled {
                continue;
            }
            let read = self.read_changes().await;
            self.changes.set_connected(read.is_ok());
            match read {
                Ok(()) => (self.file, is_settled) = (file, is_same),
                Err(error) => tracing::warn!(%error, "what others changed is not known yet"),
            }
        }
    }

    async fn read_changes(&mut self) -> Result<()> {
        let data_version = self.read_data_version().await?;
        if data_version == self.data_version {
            return Ok(());
        }
        let last = self.read_last().await?;
        if last - self.last > MAX_CHANGES {
            publish_everything(&self.changes);
        } else {
            for logged in self.read_since(self.last).await? {
                match logged {
                    Some(logged) => self.changes.publish_foreign(logged.into()),
                    // A newer version of Tenon may have more topics.
                    None => publish_everything(&self.changes),
                }
            }
        }
        (self.data_version, self.last) = (data_version, last);
        Ok(())
    }

    async fn read_data_version(&self) -> Result<DataVersion> {
        // First: a connection that is replaced in between counts as a change the next time.
        let opened = self.opened.get();
        let number = self.number("PRAGMA data_version").await?;
        Ok(DataVersion { number, opened })
    }

    async fn read_last(&self) -> Result<i64> {
        self.number("SELECT COALESCE(MAX(number), 0) FROM change_log")
            .await
    }

    async fn number(&self, sql: &str) -> Result<i64> {
        let ask = Statement::from_string(DbBackend::Sqlite, sql);
        let row = self.write.query_one_raw(ask).await?;
        let number = row.map(|row| row.try_get_by_index(0)).transpose()?;
        Ok(number.unwrap_or_default())
    }

    /// None: what changed is not known here.
    async fn read_since(&self, last: i64) -> Result<Vec<Option<LoggedChange>>> {
        let sql = "SELECT topic, user_id, chat_id FROM change_log \
                   WHERE number > ? ORDER BY number";
        let ask = Statement::from_sql_and_values(DbBackend::Sqlite, sql, [last.into()]);
        let rows = LogRow::find_by_statement(ask).all(&self.write).await?;
        let logged = rows.into_iter().map(|row| {
            Some(LoggedChange {
                topic: serde_json::from_value(row.topic.into()).ok()?,
                user: row.user_id,
                chat: row.chat_id,
            })
        });
        Ok(logged.collect())
    }
}

/// None: there is no such file yet.
fn file_state(path: &Path) -> Option<FileState> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(FileState {
        bytes: metadata.len(),
        modified: metadata.modified().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use tenon_domain::{KeyScope, UserRole};
    use tokio::time::timeout;

    use super::*;
    use crate::{Enrollment, NewUserRow, StoreChange};

    #[tokio::test]
    async fn a_key_is_read_from_the_database_while_the_change_log_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tenon.db");
        let theirs = Store::open_file(&file).await.unwrap();
        let ours = Store::open_file(&file).await.unwrap();
        let new = NewUserRow {
            email: "ada@x.org",
            name: "Ada",
            role: UserRole::Admin,
            password_hash: None,
            oidc_subject: None,
        };
        let ada = ours.create_user(new, Enrollment::First).await.unwrap().id;
        let scope = KeyScope::default();
        let (token, key) = ours.create_key(&ada, "ci", &scope).await.unwrap();
        assert!(ours.find_key(&token.0).await.unwrap().is_some());
        // The log is read over this one.
        ours.write.clone().close().await.unwrap();
        theirs.delete_key(&ada, &key.id).await.unwrap();
        let ended = async {
            while ours.find_key(&token.0).await.unwrap().is_some() {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        let ended = timeout(40 * POLL_INTERVAL, ended).await;
        ended.expect("it ends in time");
    }

    #[tokio::test]
    async fn a_change_is_noticed_when_the_connection_was_replaced_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tenon.db");
        let theirs = Store::open_file(&file).await.unwrap();
        let ours = Store::open_file(&file).await.unwrap();
        let mut changes = ours.subscribe();
        // The pool closes a connection that comes back inside a transaction.
        ours.write.execute_unprepared("BEGIN").await.unwrap();
        theirs.set_preference(None, "a", &1).await.unwrap();
        let noticed = timeout(40 * POLL_INTERVAL, changes.recv()).await;
        let noticed = noticed.expect("it is noticed in time").unwrap();
        assert_eq!(noticed, StoreChange::Preferences(None));
    }
}
