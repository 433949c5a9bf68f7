//! One transaction for all that waits to be written behind.

use std::sync::Arc;
use std::time::Duration;

use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, DatabaseConnection, DatabaseTransaction, DbErr, EntityTrait, QueryFilter,
};
use serde_json::json;
use tenon_domain::EntryPoint;
use tokio::sync::watch;
use tokio::time::timeout;

use super::PendingWrites;
use crate::call_traces;
use crate::entity::{self, api_keys, audit, auth_sessions};
use crate::insert_new::insert_new;
use crate::model_calls::{self, ModelCallDraft};
use crate::transaction::begin;
use crate::write_health;
use crate::{AuditEntry, Result, WriteHealth};

/// How long one transaction may take.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Writes batches on the connection for writes.
pub(crate) struct BatchWriter {
    pub(crate) write: DatabaseConnection,
    pub(crate) health: Arc<watch::Sender<WriteHealth>>,
}

impl BatchWriter {
    pub(super) async fn write(&self, batch: &PendingWrites) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let written = timeout(WRITE_TIMEOUT, self.write_together(batch)).await;
        let late = || Err(DbErr::Custom("it took too long".into()).into());
        let written = written.unwrap_or_else(|_| late());
        write_health::note(&self.health, &written);
        written
    }

    /// Once: a trace with a gap is better than an audit log that waits.
    pub(super) async fn write_model_calls(&self, drafts: Vec<ModelCallDraft>) {
        if drafts.is_empty() {
            return;
        }
        let written = timeout(WRITE_TIMEOUT, model_calls::write(&self.write, drafts)).await;
        match written {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "model calls are left out of the traces"),
            Err(_) => tracing::warn!("model calls are left out of the traces: it took too long"),
        }
    }

    /// Once, too.
    pub(super) async fn write_call_traces(&self, rows: Vec<entity::call_traces::Model>) {
        if rows.is_empty() {
            return;
        }
        let written = timeout(WRITE_TIMEOUT, call_traces::write(&self.write, rows)).await;
        match written {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "traces of calls are not kept"),
            Err(_) => tracing::warn!("traces of calls are not kept: it took too long"),
        }
    }

    async fn write_together(&self, batch: &PendingWrites) -> Result<()> {
        let transaction = begin(&self.write).await?;
        insert_audit(&transaction, &batch.audit).await?;
        if batch.lost > 0 {
            let entries = batch.lost;
            tracing::warn!(entries, "entries of the audit log were not written");
            insert_audit(&transaction, &[lost_entries(entries).into()]).await?;
        }
        for (key, at) in &batch.keys {
            api_keys::Entity::update_many()
                .col_expr(api_keys::Column::LastUsedAt, Expr::value(*at))
                .filter(api_keys::Column::Id.eq(key.as_str()))
                .exec(&transaction)
                .await?;
        }
        for (session, used) in &batch.sessions {
            auth_sessions::Entity::update_many()
                .col_expr(auth_sessions::Column::LastSeenAt, Expr::value(used.seen_at))
                .col_expr(
                    auth_sessions::Column::ExpiresAt,
                    Expr::value(used.expires_at),
                )
                .filter(auth_sessions::Column::Id.eq(session.as_str()))
                .exec(&transaction)
                .await?;
        }
        Ok(transaction.commit().await?)
    }
}

async fn insert_audit(transaction: &DatabaseTransaction, rows: &[audit::Model]) -> Result<()> {
    let columns = [
        "id", "at", "user_id", "door", "action", "subject", "detail", "address",
    ];
    let rows = rows.iter().map(|row| {
        [
            row.id.as_str().into(),
            row.at.into(),
            row.user_id.clone().into(),
            row.door.as_str().into(),
            row.action.as_str().into(),
            row.subject.as_str().into(),
            row.detail.as_str().into(),
            row.address.as_str().into(),
        ]
    });
    insert_new(transaction, "audit", columns, rows).await
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
