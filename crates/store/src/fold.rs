//! What an event changes in the tables. The page folds the same events into a screen.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ActiveModelTrait, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use tenon_domain::{
    CallRecord, CallStatus, Event, EventBody, MessageRecord, ModelRef, Role, TurnId,
};

use crate::entity::{chats, messages, tool_calls, turns};
use crate::{Result, text, to_column};

/// `runner` is the process a turn that begins here is run by.
pub(crate) async fn fold(db: &impl ConnectionTrait, runner: &str, event: &Event) -> Result<()> {
    match &event.body {
        EventBody::ChatTitled { title } => {
            chats::Entity::update_many()
                .col_expr(chats::Column::Title, Expr::value(text(title)))
                .filter(chats::Column::Id.eq(&event.chat_id.0))
                .exec(db)
                .await?;
        }
        EventBody::TurnStarted {
            turn_id,
            message,
            model,
        } => {
            turns::Entity::insert(begin(event, runner, turn_id, model.as_ref()))
                .exec_without_returning(db)
                .await?;
            insert_message(db, event, message, Spoken::Whole).await?;
        }
        // Nothing is ever looked up by it: who reads the chat reads it from the events.
        EventBody::ToolsLeftOut { .. } => {}
        EventBody::MessageStarted { message } => {
            insert_message(db, event, message, Spoken::Open).await?;
        }
        EventBody::MessageFinished { message_id, parts } => {
            let whole = messages::ActiveModel {
                id: Set(message_id.0.clone()),
                parts: Set(serde_json::to_string(parts)?),
                open: Set(false),
                ..Default::default()
            };
            whole.update(db).await?;
        }
        EventBody::CallRequested { call } => {
            tool_calls::Entity::insert(request(event, call)?)
                .exec_without_returning(db)
                .await?;
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
            let ended = tool_calls::ActiveModel {
                id: Set(call_id.0.clone()),
                status: Set(status.to_string()),
                output: Set(output.as_ref().map(serde_json::to_string).transpose()?),
                error: Set(error.as_ref().map(serde_json::to_string).transpose()?),
                ended_at: Set(Some(event.at)),
                duration_ms: Set(Some(to_column(*duration_ms))),
                ..Default::default()
            };
            ended.update(db).await?;
        }
        EventBody::TurnFinished {
            turn_id,
            outcome,
            usage,
            cost,
        } => {
            let ended = turns::ActiveModel {
                id: Set(turn_id.0.clone()),
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
            ended.update(db).await?;
        }
    }
    Ok(())
}

#[derive(PartialEq)]
enum Spoken {
    Open,
    Whole,
}

fn begin(
    event: &Event,
    runner: &str,
    turn: &TurnId,
    model: Option<&ModelRef>,
) -> turns::ActiveModel {
    turns::ActiveModel {
        id: Set(turn.0.clone()),
        chat_id: Set(event.chat_id.0.clone()),
        runner: Set(runner.to_owned()),
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
    }
}

async fn insert_message(
    db: &impl ConnectionTrait,
    event: &Event,
    message: &MessageRecord,
    spoken: Spoken,
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
        open: Set(spoken == Spoken::Open),
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
    })
}
