//! The audit log: who did what, through which interface. Entries are kept for a year.

use sea_orm::sea_query::LikeExpr;
use sea_orm::{
    ColumnTrait, EntityTrait, ExprTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect,
};
use serde_json::Value;
use tenon_domain::{EntryPoint, UserId};

use crate::entity::audit;
use crate::{Result, Store, fresh_id, now, text};

/// A year, in milliseconds.
const RETENTION_MS: i64 = 365 * 24 * 60 * 60 * 1000;

/// Something that happened.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    /// None: somebody who is not known.
    pub user: Option<UserId>,
    pub door: EntryPoint,
    /// "login", "key.created", "tool.called" …
    pub action: &'static str,
    /// What it was done to.
    pub subject: String,
    pub detail: Value,
    /// Where they were; empty in a shell.
    pub address: String,
}

/// An entry, as it was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRow {
    pub id: String,
    pub at: i64,
    pub user: Option<UserId>,
    pub door: String,
    pub action: String,
    pub subject: String,
    pub detail: Value,
    pub address: String,
}

/// Which entries to look at.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// Those older than this one.
    pub before: Option<String>,
    /// Those whose action begins like this.
    pub action: Option<String>,
    pub user: Option<UserId>,
    pub limit: u64,
}

impl Store {
    /// Writes an entry and waits for it; see [`Store::audit_behind`].
    pub async fn audit(&self, entry: AuditEntry) -> Result<()> {
        let row = audit::Model::from(entry).into_active_model();
        audit::Entity::insert(row)
            .exec_without_returning(&self.write)
            .await?;
        Ok(())
    }

    /// What happened, newest first.
    pub async fn audited(&self, query: AuditQuery) -> Result<Vec<AuditRow>> {
        self.flush().await;
        let mut found = audit::Entity::find().order_by_desc(audit::Column::Id);
        if let Some(before) = query.before {
            found = found.filter(audit::Column::Id.lt(text(&before)));
        }
        if let Some(action) = query.action {
            // One engine tells letters of two sizes apart, the other does not.
            let literal = text(&action)
                .to_lowercase()
                .replace('\\', "\\\\")
                .replace('%', "\\%")
                .replace('_', "\\_");
            let begins = LikeExpr::new(format!("{literal}%")).escape('\\');
            found = found.filter(audit::Column::Action.into_expr().like(begins));
        }
        if let Some(user) = query.user {
            found = found.filter(audit::Column::UserId.eq(text(&user.0)));
        }
        let rows = found.limit(query.limit).all(&self.read).await?;
        rows.into_iter().map(AuditRow::try_from).collect()
    }

    /// Forgets what is older than a year. Ids begin with the time, and only they are indexed.
    pub async fn sweep_audit(&self) -> Result<u64> {
        let oldest = first_id_at(now() - RETENTION_MS);
        let swept = audit::Entity::delete_many()
            .filter(audit::Column::Id.lt(oldest))
            .exec(&self.write)
            .await?;
        Ok(swept.rows_affected)
    }
}

/// No UUIDv7 of that millisecond or a later one sorts before it.
pub(crate) fn first_id_at(ms: i64) -> String {
    let hex = format!("{:012x}", ms);
    format!("{}-{}", &hex[..8], &hex[8..])
}

impl From<AuditEntry> for audit::Model {
    fn from(entry: AuditEntry) -> Self {
        Self {
            id: fresh_id(),
            at: now(),
            user_id: entry.user.map(|user| user.0),
            door: entry.door.to_string(),
            action: entry.action.to_owned(),
            subject: text(&entry.subject),
            // JSON writes NUL as an escape, which is text like any other.
            detail: entry.detail.to_string(),
            address: text(&entry.address),
        }
    }
}

impl TryFrom<audit::Model> for AuditRow {
    type Error = crate::Error;

    fn try_from(row: audit::Model) -> Result<Self> {
        Ok(Self {
            id: row.id,
            at: row.at,
            user: row.user_id.map(UserId),
            door: row.door,
            action: row.action,
            subject: row.subject,
            detail: serde_json::from_str(&row.detail)?,
            address: row.address,
        })
    }
}
