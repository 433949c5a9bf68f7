//! Pending approvals of calls, and the decisions on them.
//!
//! The transaction that writes an answer decides: of two answers at once, one counts and the
//! other is refused as too late.

use std::collections::HashSet;

use sea_orm::sea_query::{Expr, Query};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect,
};
use tenon_domain::{CallId, CallStatus, ChatId, Event, Layer, Policy, ToolId, UserId, Verdict};

use crate::chat_owner::owner_of;
use crate::entity::{chats, tool_calls};
use crate::tool_settings::{self, ToolSettingChange};
use crate::{Conflict, Error, Result, Store, enum_column};

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingApproval {
    pub call_id: CallId,
    pub chat_id: ChatId,
    pub tool_id: ToolId,
}

/// The state of the approval of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalState {
    /// Since then, in milliseconds since 1970.
    Waiting(i64),
    Answered(Verdict),
    /// It has a result, or is gone.
    Ended,
}

/// Which other pending calls an answer applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalScope<'a> {
    Chat(&'a ChatId),
    User,
}

impl Store {
    /// A user's call, and whether it waits.
    pub async fn approval(
        &self,
        user: &UserId,
        call: &CallId,
    ) -> Result<(PendingApproval, ApprovalState)> {
        let row = tool_calls::Entity::find_by_id(&call.0)
            .one(&self.read)
            .await?;
        let row = row.ok_or(Error::NotFound("call"))?;
        let approval = PendingApproval::from(&row);
        match self.chat(user, &approval.chat_id).await {
            Ok(_) => Ok((approval, state_of(&row)?)),
            Err(Error::NotFound(_)) => Err(Error::NotFound("call")),
            Err(other) => Err(other),
        }
    }

    pub async fn approval_state(&self, call: &CallId) -> Result<ApprovalState> {
        let row = tool_calls::Entity::find_by_id(&call.0)
            .one(&self.read)
            .await?;
        row.map_or(Ok(ApprovalState::Ended), |row| state_of(&row))
    }

    /// The calls of a tool that wait for this user.
    pub async fn pending_approvals(
        &self,
        user: &UserId,
        tool: &ToolId,
        scope: ApprovalScope<'_>,
    ) -> Result<Vec<PendingApproval>> {
        let mut calls = tool_calls::Entity::find()
            .filter(is_pending())
            .filter(tool_calls::Column::ToolId.eq(&tool.0))
            .filter(tool_calls::Column::ChatId.in_subquery(chats_of(user)));
        if let ApprovalScope::Chat(chat) = scope {
            calls = calls.filter(tool_calls::Column::ChatId.eq(&chat.0));
        }
        let rows = calls.all(&self.read).await?;
        Ok(rows.iter().map(PendingApproval::from).collect())
    }

    /// Which of these chats have a call that waits for somebody to allow it.
    pub async fn chats_awaiting_approval(&self, chats: &[ChatId]) -> Result<HashSet<ChatId>> {
        let asking: Vec<String> = tool_calls::Entity::find()
            .filter(is_pending())
            .filter(tool_calls::Column::ChatId.is_in(chats.iter().map(|chat| &chat.0)))
            .select_only()
            .column(tool_calls::Column::ChatId)
            .distinct()
            .into_tuple()
            .all(&self.read)
            .await?;
        Ok(asking.into_iter().map(ChatId).collect())
    }
}

/// Stores a verdict, and the setting it implies.
pub(crate) async fn answer(
    db: &impl ConnectionTrait,
    event: &Event,
    call: &CallId,
    verdict: Verdict,
) -> Result<()> {
    let answered = tool_calls::Entity::update_many()
        .col_expr(
            tool_calls::Column::Verdict,
            Expr::value(enum_column::write(verdict)?),
        )
        .filter(tool_calls::Column::Id.eq(&call.0))
        .filter(tool_calls::Column::ChatId.eq(&event.chat_id.0))
        .filter(is_pending())
        .exec_with_returning(db)
        .await?;
    let late = Error::TooLate(Conflict::CallNotWaiting);
    let tool = ToolId(answered.into_iter().next().ok_or(late)?.tool_id);
    let chat = event.chat_id.as_str();
    match verdict {
        Verdict::Once | Verdict::Denied => Ok(()),
        Verdict::Chat => {
            tool_settings::put(db, Layer::Chat, chat, policy(tool, Some(Policy::Allow))).await
        }
        Verdict::Always => {
            let owner = owner_of(db, chat).await?.0;
            // A policy of the chat, for the tool or its source, would override the user's, so the
            // chat gets `allow` as well.
            let has_sources = tool_settings::has_source_policies(db, Layer::Chat, chat).await?;
            let here = has_sources.then_some(Policy::Allow);
            tool_settings::put(db, Layer::Chat, chat, policy(tool.clone(), here)).await?;
            tool_settings::tidy(db, Layer::Chat, chat).await?;
            tool_settings::put(db, Layer::User, &owner, policy(tool, Some(Policy::Allow))).await
        }
    }
}

/// Only a call that runs can ask for anything: what came to an end must not be
/// shown as if it waited.
pub(crate) async fn ensure_running(db: &impl ConnectionTrait, call: &CallId) -> Result<()> {
    let running = tool_calls::Entity::find_by_id(&call.0)
        .filter(tool_calls::Column::Status.eq(CallStatus::Running.as_str()));
    match running.count(db).await? {
        0 => Err(Error::TooLate(Conflict::CallNotRunning)),
        _ => Ok(()),
    }
}

fn policy(tool: ToolId, policy: Option<Policy>) -> ToolSettingChange {
    ToolSettingChange {
        target: tool.into(),
        enabled: None,
        policy: Some(policy),
    }
}

fn is_pending() -> Condition {
    Condition::all()
        .add(tool_calls::Column::AskedAt.is_not_null())
        .add(tool_calls::Column::Verdict.is_null())
        .add(tool_calls::Column::Status.eq(CallStatus::Pending.as_str()))
}

fn chats_of(user: &UserId) -> sea_orm::sea_query::SelectStatement {
    Query::select()
        .column(chats::Column::Id)
        .from(chats::Entity)
        .and_where(chats::Column::UserId.eq(&user.0))
        .to_owned()
}

fn state_of(row: &tool_calls::Model) -> Result<ApprovalState> {
    if row.status != CallStatus::Pending.as_str() {
        return Ok(ApprovalState::Ended);
    }
    Ok(match (&row.verdict, row.asked_at) {
        (Some(verdict), _) => ApprovalState::Answered(enum_column::read(verdict)?),
        (None, Some(since)) => ApprovalState::Waiting(since),
        // Never asked about and no longer pending, so nobody can answer it.
        (None, None) => ApprovalState::Ended,
    })
}

impl From<&tool_calls::Model> for PendingApproval {
    fn from(row: &tool_calls::Model) -> Self {
        Self {
            call_id: CallId(row.id.clone()),
            chat_id: ChatId(row.chat_id.clone()),
            tool_id: ToolId(row.tool_id.clone()),
        }
    }
}
