//! The audit log of tool calls: who called which tool, and through which entry point.

use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ConnectionTrait, DbErr};
use serde_json::json;

use tenon_domain::{CallRecord, CallStatus, EntryPoint, UserId};

use crate::entity::{audit, chats, messages, tool_calls, turns};
use crate::{AuditEntry, Result, Store, fresh_id};

impl Store {
    /// Writes behind that a call outside of any chat was made: by whom, through which entry point
    /// and from which address.
    pub fn audit_call_behind(
        &self,
        (user, entry, address): (&UserId, &EntryPoint, &str),
        call: &CallRecord,
        (status, duration_ms): (CallStatus, u64),
    ) {
        self.audit_behind(AuditEntry {
            user: Some(user.clone()),
            door: entry.clone(),
            action: "tool.called",
            subject: call.tool_id.0.clone(),
            detail: json!({
                "callId": call.id,
                "status": status.as_str(),
                "durationMs": duration_ms,
                "displayName": call.display_name,
            }),
            address: address.to_owned(),
        });
    }
}

pub(crate) async fn record(
    db: &impl ConnectionTrait,
    at: i64,
    call: &tool_calls::Model,
) -> Result<()> {
    let detail = json!({
        "callId": call.id,
        "chatId": call.chat_id,
        "status": call.status,
        "durationMs": call.duration_ms,
        "displayName": call.display_name,
    });
    let called = Query::select()
        .expr(Expr::value(fresh_id()))
        .expr(Expr::value(at))
        .column((chats::Entity, chats::Column::UserId))
        .column((turns::Entity, turns::Column::Door))
        .expr(Expr::value("tool.called"))
        .expr(Expr::value(call.tool_id.as_str()))
        .expr(Expr::value(detail.to_string()))
        .expr(Expr::value(""))
        .from(messages::Entity)
        .inner_join(
            turns::Entity,
            Expr::col((turns::Entity, turns::Column::Id))
                .equals((messages::Entity, messages::Column::TurnId)),
        )
        .inner_join(
            chats::Entity,
            Expr::col((chats::Entity, chats::Column::Id))
                .equals((turns::Entity, turns::Column::ChatId)),
        )
        .and_where(Expr::col((messages::Entity, messages::Column::Id)).eq(call.message_id.as_str()))
        .to_owned();
    let mut insert = Query::insert();
    insert
        .into_table(audit::Entity)
        .columns([
            audit::Column::Id,
            audit::Column::At,
            audit::Column::UserId,
            audit::Column::Door,
            audit::Column::Action,
            audit::Column::Subject,
            audit::Column::Detail,
            audit::Column::Address,
        ])
        .select_from(called)
        .map_err(|error| DbErr::Custom(error.to_string()))?;
    db.execute(&insert).await?;
    Ok(())
}
