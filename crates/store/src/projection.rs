//! The projection of events into tables. The page projects the same events into its view.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, ConnectionTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QuerySelect, TryInsertResult,
};
use tenon_domain::{
    Branch, CallRecord, CallStatus, Event, EventBody, MessageRecord, ModelRef, Role, TitledBy,
    TurnId,
};

use crate::entity::{chats, messages, tool_calls, turns};
use crate::{
    Conflict, Error, Result, TurnOwner, approvals, call_audit, enum_column, search, text, to_column,
};

/// Where events come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventOrigin<'a> {
    /// This process, as it happens. It runs the turns that begin.
    Runner(&'a TurnOwner),
    /// A file: nothing of it was done here, and the audit log does not say so.
    File,
}

pub(crate) async fn project(
    db: &impl ConnectionTrait,
    origin: EventOrigin<'_>,
    event: &Event,
) -> Result<()> {
    match &event.body {
        EventBody::ChatTitled { title, by } => set_title(db, event, title, *by).await?,
        EventBody::TurnStarted {
            turn_id,
            message,
            branch,
            tools,
            door,
            model,
        } => {
            if let EventOrigin::Runner(owner) = origin {
                ensure_single_runner(db, event, owner).await?;
            }
            let parent = match branch {
                Some(Branch { after }) => after.clone(),
                None => head(db, event).await?,
            };
            let turn = turns::ActiveModel {
                parent_id: Set(parent.map(|turn| turn.0)),
                door: Set(door.to_string()),
                tool_ids: Set(tools.as_ref().map(serde_json::to_string).transpose()?),
                ..begin(event, origin, turn_id, model.as_ref())
            };
            // The id may be a client's: a second turn under it, of whatever chat, is none.
            let inserted = turns::Entity::insert(turn)
                .on_conflict_do_nothing()
                .exec_without_returning(db)
                .await?;
            if !matches!(inserted, TryInsertResult::Inserted(1)) {
                return Err(Error::Taken("turn"));
            }
            show(db, event, turn_id).await?;
            insert_message(db, event, message, MessageState::Whole).await?;
            search::index_message(db, &event.chat_id.0, &message.id.0, &message.parts).await?;
        }
        EventBody::BranchChosen { turn_id } => show(db, event, turn_id).await?,
        // Nothing is ever looked up by it: who reads the chat reads it from the events.
        EventBody::ToolsLeftOut { .. } | EventBody::FormAnswered { .. } => {}
        EventBody::FormShown { call_id, .. } => approvals::ensure_running(db, call_id).await?,
        EventBody::MessageStarted { message } => {
            insert_message(db, event, message, MessageState::Open).await?;
        }
        EventBody::MessageFinished { message_id, parts } => {
            let whole = messages::ActiveModel {
                id: Set(message_id.0.clone()),
                parts: Set(serde_json::to_string(parts)?),
                open: Set(false),
                ..Default::default()
            };
            whole.update(db).await?;
            search::index_message(db, &event.chat_id.0, &message_id.0, parts).await?;
        }
        EventBody::CallRequested { call } => {
            tool_calls::Entity::insert(request(event, call)?)
                .exec_without_returning(db)
                .await?;
        }
        EventBody::CallAsked { call_id } => {
            let asked = tool_calls::ActiveModel {
                id: Set(call_id.0.clone()),
                asked_at: Set(Some(event.at)),
                ..Default::default()
            };
            asked.update(db).await?;
        }
        EventBody::CallAnswered { call_id, verdict } => {
            approvals::answer(db, event, call_id, *verdict).await?;
        }
        EventBody::CallStarted { call_id } => {
            let running = tool_calls::ActiveModel {
                id: Set(call_id.0.clone()),
                status: Set(CallStatus::Running.to_string()),
                started_at: Set(Some(event.at)),
                ..Default::default()
            };
            running.update(db).await?;
        }
        EventBody::CallFinished {
            call_id,
            status,
            output,
            error,
            duration_ms,
        } => {
            // The first end counts; later ones change nothing.
            let ended = tool_calls::ActiveModel {
                status: Set(status.to_string()),
                output: Set(output.as_ref().map(serde_json::to_string).transpose()?),
                error: Set(error.as_ref().map(serde_json::to_string).transpose()?),
                ended_at: Set(Some(event.at)),
                duration_ms: Set(Some(to_column(*duration_ms))),
                ..Default::default()
            };
            let call = tool_calls::Entity::update_many()
                .set(ended)
                .filter(tool_calls::Column::Id.eq(&call_id.0))
                .filter(
                    tool_calls::Column::Status
                        .is_in([CallStatus::Pending, CallStatus::Running].map(CallStatus::as_str)),
                )
                .exec_with_returning(db)
                .await?;
            let late = Error::TooLate(Conflict::CallEnded);
            let call = call.into_iter().next().ok_or(late)?;
            search::index_call(db, &call).await?;
            if origin != EventOrigin::File {
                call_audit::record(db, event.at, &call).await?;
            }
        }
        EventBody::TurnFinished {
            turn_id,
            outcome,
            usage,
            cost,
        } => {
            let ended = turns::ActiveModel {
                outcome: Set(Some(serde_json::to_string(outcome)?)),
                input_tokens: Set(to_column(usage.input_tokens)),
                output_tokens: Set(to_column(usage.output_tokens)),
                cache_read_tokens: Set(to_column(usage.cache_read_tokens)),
                cache_write_tokens: Set(to_column(usage.cache_write_tokens)),
                cost_micros: Set(cost.as_ref().map(|cost| to_column(cost.micros))),
                cost_currency: Set(cost.as_ref().map(|cost| text(&cost.currency))),
                ended_at: Set(Some(event.at)),
                ..Default::default()
            };
            let ended = turns::Entity::update_many()
                .set(ended)
                .filter(turns::Column::Id.eq(&turn_id.0))
                .filter(turns::Column::Outcome.is_null())
                .exec(db)
                .await?;
            if ended.rows_affected == 0 {
                return Err(Error::TooLate(Conflict::TurnEnded));
            }
        }
    }
    Ok(())
}

/// A person names a chat as they like; the others only where no person has.
async fn set_title(
    db: &impl ConnectionTrait,
    event: &Event,
    title: &str,
    by: TitledBy,
) -> Result<()> {
    let mut chat = chats::Entity::update_many()
        .col_expr(chats::Column::Title, Expr::value(text(title)))
        .col_expr(
            chats::Column::TitledBy,
            Expr::value(enum_column::write(by)?),
        )
        .filter(chats::Column::Id.eq(&event.chat_id.0));
    chat = match by {
        TitledBy::Person => chat,
        TitledBy::Model => {
            chat.filter(chats::Column::TitledBy.eq(enum_column::write(TitledBy::Cut)?))
        }
        TitledBy::Cut => chat.filter(chats::Column::Title.eq("")),
    };
    match chat.exec(db).await?.rows_affected {
        0 => Err(Error::TooLate(Conflict::ChatTitled)),
        _ => search::index_title(db, &event.chat_id.0, title).await,
    }
}

/// One turn at a time in a chat, whichever process runs it. Who shares our
/// name sees to that without asking.
async fn ensure_single_runner(
    db: &impl ConnectionTrait,
    event: &Event,
    owner: &TurnOwner,
) -> Result<()> {
    let is_other = Condition::any()
        .add(turns::Column::Runner.ne(&owner.runner))
        .add(turns::Column::Fence.ne(owner.fence));
    let open = turns::Entity::find()
        .filter(turns::Column::ChatId.eq(&event.chat_id.0))
        .filter(turns::Column::Outcome.is_null())
        .filter(is_other);
    match open.count(db).await? {
        0 => Ok(()),
        _ => Err(Error::TooLate(Conflict::OtherProcess)),
    }
}

/// The last turn of the branch on show.
async fn head(db: &impl ConnectionTrait, event: &Event) -> Result<Option<TurnId>> {
    let head: Option<Option<String>> = chats::Entity::find_by_id(&event.chat_id.0)
        .select_only()
        .column(chats::Column::Head)
        .into_tuple()
        .one(db)
        .await?;
    Ok(head.flatten().map(TurnId))
}

/// Puts the branch that ends with this turn on show.
async fn show(db: &impl ConnectionTrait, event: &Event, turn: &TurnId) -> Result<()> {
    chats::Entity::update_many()
        .col_expr(chats::Column::Head, Expr::value(turn.0.clone()))
        .filter(chats::Column::Id.eq(&event.chat_id.0))
        .exec(db)
        .await?;
    Ok(())
}

#[derive(PartialEq)]
enum MessageState {
    Open,
    Whole,
}

fn begin(
    event: &Event,
    origin: EventOrigin<'_>,
    turn: &TurnId,
    model: Option<&ModelRef>,
) -> turns::ActiveModel {
    let (runner, fence) = match origin {
        EventOrigin::Runner(owner) => (owner.runner.clone(), owner.fence),
        EventOrigin::File => (String::new(), 0),
    };
    turns::ActiveModel {
        id: Set(turn.0.clone()),
        chat_id: Set(event.chat_id.0.clone()),
        runner: Set(runner),
        fence: Set(fence),
        model_id: Set(model.map(|model| text(&model.id.0))),
        model_name: Set(model.map(|model| text(&model.name))),
        outcome: Set(None),
        input_tokens: Set(0),
        output_tokens: Set(0),
        cache_read_tokens: Set(0),
        cache_write_tokens: Set(0),
        cost_micros: Set(None),
        cost_currency: Set(None),
        started_at: Set(event.at),
        ended_at: Set(None),
        ..Default::default()
    }
}

async fn insert_message(
    db: &impl ConnectionTrait,
    event: &Event,
    message: &MessageRecord,
    state: MessageState,
) -> Result<()> {
    let row = messages::ActiveModel {
        id: Set(message.id.0.clone()),
        chat_id: Set(event.chat_id.0.clone()),
        turn_id: Set(message.turn_id.0.clone()),
        seq: Set(event.seq),
        role: Set(match message.role {
            Role::User => "user".into(),
            Role::Assistant => "assistant".into(),
        }),
        parts: Set(serde_json::to_string(&message.parts)?),
        open: Set(state == MessageState::Open),
        created_at: Set(message.created_at),
    };
    messages::Entity::insert(row)
        .exec_without_returning(db)
        .await?;
    Ok(())
}

fn request(event: &Event, call: &CallRecord) -> Result<tool_calls::ActiveModel> {
    Ok(tool_calls::ActiveModel {
        id: Set(call.id.0.clone()),
        chat_id: Set(event.chat_id.0.clone()),
        message_id: Set(call.message_id.0.clone()),
        seq: Set(event.seq),
        tool_id: Set(text(call.tool_id.as_str())),
        display_name: Set(text(&call.display_name)),
        runs_on: Set(call.runs_on.as_str().into()),
        input: Set(call.input.to_string()),
        status: Set(call.status.to_string()),
        output: Set(None),
        error: Set(None),
        requested_at: Set(event.at),
        started_at: Set(None),
        ended_at: Set(None),
        duration_ms: Set(None),
        asked_at: Set(None),
        verdict: Set(None),
    })
}
