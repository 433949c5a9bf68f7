//! The audit log of tool calls: who called which tool, and through which entry point.

use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ConnectionTrait, DbErr};
use serde::Serialize;
use serde_json::json;

use tenon_domain::{
    CallId, CallInterface, CallStatus, EntryPoint, RunsOn, ToolError, ToolId, UserId,
};

use crate::entity::{audit, chats, messages, tool_calls, turns};
use crate::{Result, Store, fresh_id, now, text};

/// A call outside of any chat, when it is over. What it was given and gave is not in it: admins
/// read the audit log.
#[derive(Debug, Clone)]
pub struct DirectCall<'a> {
    pub user: &'a UserId,
    pub entry: &'a EntryPoint,
    pub interface: CallInterface,
    /// What an MCP client calls itself.
    pub client: Option<&'a str>,
    pub address: &'a str,
    pub id: &'a CallId,
    pub tool: &'a ToolId,
    pub display_name: &'a str,
    pub runs_on: RunsOn,
    /// The computer it ran on, where that was not the server.
    pub device: Option<&'a str>,
    pub status: CallStatus,
    /// Of [`ToolError::error_type`].
    pub error: Option<&'a str>,
    pub duration_ms: u64,
}

/// What the audit log says of such a call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallDetail<'a> {
    call_id: &'a CallId,
    ok: bool,
    status: &'static str,
    duration_ms: u64,
    display_name: &'a str,
    interface: CallInterface,
    runs_on: RunsOn,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl Store {
    /// Writes behind that a call outside of any chat was made.
    pub fn audit_call_behind(&self, call: &DirectCall<'_>) {
        // Thousands a second: written down at once, instead of as a value first.
        let detail = CallDetail {
            call_id: call.id,
            ok: call.status == CallStatus::Done,
            status: call.status.as_str(),
            duration_ms: call.duration_ms,
            display_name: call.display_name,
            interface: call.interface,
            runs_on: call.runs_on,
            client: call.client,
            device: call.device,
            error: call.error,
        };
        self.behind.audit(audit::Model {
            id: fresh_id(),
            at: now(),
            user_id: Some(call.user.0.clone()),
            door: call.entry.to_string(),
            action: "tool.called".to_owned(),
            subject: text(&call.tool.0),
            detail: serde_json::to_string(&detail).unwrap_or_default(),
            address: text(call.address),
        });
    }
}

pub(crate) async fn record(
    db: &impl ConnectionTrait,
    at: i64,
    call: &tool_calls::Model,
) -> Result<()> {
    let mut detail = json!({
        "callId": call.id,
        "chatId": call.chat_id,
        "status": call.status,
        "durationMs": call.duration_ms,
        "displayName": call.display_name,
        "runsOn": call.runs_on,
    });
    let error = call.error.as_deref().map(serde_json::from_str::<ToolError>);
    if let Some(error) = error.transpose()? {
        detail["error"] = error.error_type().into();
    }
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
