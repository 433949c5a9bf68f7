//! Persistence: SQLite (embedded, the default) or PostgreSQL, from one code path.
//!
//! Only this crate touches the database. Chats are event-sourced: [`Store::append`] writes events
//! and projects them into the tables in the same transaction.

mod account;
mod approvals;
mod audit;
mod backup;
mod blobs;
mod branches;
mod call_audit;
mod call_traces;
mod changes;
mod chat_owner;
mod chats;
mod connect;
mod deleted_chats;
mod embeddings;
mod entity;
mod events;
mod experts;
mod fault;
mod files;
mod folders;

mod enum_column;
mod history;
mod import;
mod insert_new;
mod invites;
mod keys;
mod lease;
mod local_servers;
mod migration;
mod model_calls;
mod models;
mod named_lease;
mod other_processes;
mod owners;
mod postgres_address;
mod preferences;
mod projection;
mod prompts;
mod random;
mod read_caches;
mod recent_calls;
mod recover;
mod rotate;
mod runner;
mod search;
mod secrets;
mod sessions;
mod shares;
mod skills;
mod source_cache;
mod source_documents;
mod source_grants;
mod source_tools;
mod sources;
mod statistics;
mod titles;
mod token;
mod tool_ids;
mod tool_settings;
mod transaction;
mod transcript;
mod turn_events;
mod users;
mod vault;
mod versioned_cache;
mod write_behind;
mod write_health;

use std::sync::Arc;

use sea_orm::{DatabaseConnection, DbErr, RuntimeErr};
use tenon_domain::UserId;
use tokio::sync::watch;
use uuid::Uuid;

pub use account::{AccountError, LOCAL, normal_email};
pub use approvals::{ApprovalScope, ApprovalState, PendingApproval};
pub use audit::{AuditEntry, AuditQuery, AuditRow};
pub use backup::{
    BackupHeader, BackupInput, BackupSummary, ExistingFile, RestoreSummary, VerifiedBackup,
};
pub use blobs::Blob;
pub use branches::{Branches, TurnNode};
pub use call_audit::DirectCall;
pub use changes::{ChangeTopic, StoreChange};
pub use chats::{Chat, ChatCursor, ChatFilter, ChatFlags, ChatQuery};
pub use experts::StoredExpert;
pub use fault::{Conflict, StoreFault};
pub use files::FileContent;
pub use folders::{Folder, FolderEdit};
pub use import::{NewChat, NewChatState};
pub use invites::Invite;
pub use keys::{ApiKey, KeyEntry};
pub use lease::{LeaseState, OtherServers, ServerRole, TurnOwner};
pub use local_servers::StoredLocalServer;
pub use model_calls::{ExchangeMaker, ModelCall, ModelExchange, StoredModelCall};
pub use models::StoredModel;
pub use named_lease::LeaseHolder;
pub use prompts::{NewPromptRow, StoredPrompt};
pub use random::random_bytes;
pub use recent_calls::RecentCall;
pub use recover::{AbandonedTurns, OpenTurn, PausedTurn};
pub use rotate::{KeyLocation, KeyRotation, KeyUse};
pub use search::{MatchKind, SearchMatch, SnippetPart};
pub use secrets::StoredSecret;
pub use sessions::LoginSession;
pub use shares::{Share, ShareScope};
pub use skills::{NewSkillVersion, SkillToolRow, SkillVersionRow, StoredSkill};
pub use source_documents::StoredDocument;
pub use source_grants::StoredGrant;
pub use sources::{NewSourceRow, StoredSource};
pub use statistics::{AuditedTool, CallCount, CallSlot, StatisticsRange, UsageSlot};
pub use token::SecretToken;
pub use tool_settings::ToolSettingChange;
pub use transcript::{Transcript, TurnRecord};
pub use turn_events::TurnEvents;
pub use users::{Enrollment, NewUserRow, RevokedCredentials, UserEdit};
pub use vault::Vault;
pub use write_health::WriteHealth;

use changes::Changes;
use other_processes::ChangeWatch;
use read_caches::ReadCaches;
use runner::Runner;
use write_behind::WriteBehind;

/// A handle to the database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    /// The one connection that writes to SQLite; a pool on PostgreSQL.
    write: DatabaseConnection,
    read: DatabaseConnection,
    /// This process, as the one that runs the turns it begins.
    runner: Arc<Runner>,
    /// Whether what is written arrives, as far as is known.
    writing: Arc<watch::Sender<WriteHealth>>,
    changes: Arc<Changes>,
    caches: Arc<ReadCaches>,
    /// Writes that no response waits for.
    behind: Arc<WriteBehind>,
    /// Learns what other processes change.
    _watch: Option<Arc<ChangeWatch>>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The item does not exist or belongs to another user; the two are deliberately not
    /// distinguished.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// Somebody else was faster.
    #[error("{0}")]
    TooLate(Conflict),
    /// Another process runs this turn by now.
    #[error("another process has taken over this turn")]
    NotOwner,
    /// This process could not renew its lease in time.
    #[error("this process has lost its lease and gets another one")]
    LeaseLost,
    /// Somebody has such a thing under this name already.
    #[error("there is a {0} of this name already; choose another name")]
    Taken(&'static str),
    /// Somebody has as many of them as they can have.
    #[error("there are too many {0}; delete some first")]
    TooMany(&'static str),
    /// The address of the database cannot be used; the message says why.
    #[error("{0}")]
    Address(String),
    #[error("the disk of the database is full: {0}")]
    DiskFull(DbErr),
    #[error("the database said: {0}")]
    Database(DbErr),
    /// It is not known whether the write took effect.
    #[error("the database did not answer: {0}")]
    NoAnswer(String),
    #[error("the lock beside the database cannot be used: {0}")]
    Lock(#[from] std::io::Error),
    /// A secret cannot be opened, or its key cannot be had; the message says what to do.
    #[error("{0}")]
    Secret(String),
    /// An account cannot be made or changed like this.
    #[error("{0}")]
    Account(#[from] AccountError),
    /// A backup cannot be made or used; the message says why.
    #[error("{0}")]
    Backup(String),
    #[error("a row does not hold what it should: {0}")]
    Corrupt(#[from] serde_json::Error),
}

impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        match code(&error).as_deref() {
            // SQLite's "full", also where it shares memory; PostgreSQL's disk_full.
            Some("13" | "4874" | "53100") => Self::DiskFull(error),
            _ => Self::Database(error),
        }
    }
}

/// The engine's error code.
fn code(error: &DbErr) -> Option<String> {
    let (DbErr::Conn(cause) | DbErr::Exec(cause) | DbErr::Query(cause)) = error else {
        return None;
    };
    let RuntimeErr::SqlxError(cause) = cause else {
        return None;
    };
    Some(cause.as_database_error()?.code()?.into_owned())
}

pub type Result<T> = std::result::Result<T, Error>;

/// A fresh id. Sorts by time, so that rows made together lie together.
pub fn fresh_id() -> String {
    Uuid::now_v7().to_string()
}

/// An id that a client chose, in canonical form. None: it is no UUID.
pub fn parse_id(id: &str) -> Option<String> {
    let id = Uuid::try_parse(id).ok().filter(|id| !id.is_nil())?;
    Some(id.to_string())
}

/// Milliseconds since 1970.
pub fn now() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

/// PostgreSQL's text cannot hold NUL; SQLite's can. Neither should.
fn text(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// The owner column, which is never null: empty means shared, because nulls are never equal in a
/// unique index.
fn owner_column(owner: Option<&UserId>) -> String {
    owner.map_or_else(String::new, |owner| text(&owner.0))
}

fn read_owner(column: String) -> Option<UserId> {
    (!column.is_empty()).then_some(UserId(column))
}

/// Databases have signed integers; larger counts are clamped.
fn to_column(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
