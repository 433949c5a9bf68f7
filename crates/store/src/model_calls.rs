//! Requests to models, one row per attempt. Written behind, so no turn waits for them; kept for 30
//! days and deleted with their turn.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use sea_orm::{
    ColumnTrait, DatabaseConnection, DbErr, EntityTrait, IntoActiveModel, PaginatorTrait,
    QueryFilter, QueryOrder,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{
    Cost, ErrorDetail, MessageId, ModelCallId, ModelId, ModelRef, StopReason, TurnId, Usage, UserId,
};

use crate::audit::first_id_at;
use crate::entity::model_calls::{self, Column};
use crate::entity::{model_requests, turns};
use crate::transaction::begin;
use crate::{Error, Result, Store, enum_column, fresh_id, now, text, to_column};

/// 30 days, in milliseconds.
const RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// The writer bounds the size; a larger row is not read.
const MAX_EXCHANGE_BYTES: u64 = 4 * 1024 * 1024;

/// One attempt to have a model answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub user: UserId,
    /// None: a completion, which belongs to no chat.
    pub turn: Option<TurnId>,
    /// The message it was to write.
    pub message: Option<MessageId>,
    pub model: ModelRef,
    /// 1, 2, 3 … for one message.
    pub attempt: u64,
    /// Milliseconds since 1970.
    pub started_at: i64,
    pub first_token_ms: Option<u64>,
    pub duration_ms: u64,
    /// How long was waited before the next attempt.
    pub wait_ms: Option<u64>,
    pub usage: Usage,
    pub cost: Option<Cost>,
    pub stop: Option<StopReason>,
    pub error: Option<ErrorDetail>,
    /// Of the response; None where no server was asked, or none answered.
    pub status: Option<u16>,
}

/// What was sent to a model's server, as people may read it, and how the answer began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelExchange {
    pub url: String,
    pub request: Value,
    pub response: String,
}

/// Makes what is kept of an exchange when it is written, off the path of the turn.
pub type ExchangeMaker = Box<dyn FnOnce() -> ModelExchange + Send + Sync>;

/// A call as it is on record.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredModelCall {
    pub id: ModelCallId,
    pub call: ModelCall,
    /// Whether what was sent is on record, too.
    pub has_request: bool,
}

/// A call that waits to be written.
pub(crate) struct ModelCallDraft {
    row: model_calls::Model,
    exchange: Option<ExchangeMaker>,
}

impl Store {
    /// Writes a call soon, together with others.
    pub fn model_call_behind(&self, call: ModelCall, exchange: Option<ExchangeMaker>) {
        match row(call, exchange.is_some()) {
            Ok(row) => self.behind.model_call(ModelCallDraft { row, exchange }),
            Err(error) => tracing::warn!(%error, "a model call could not be written down"),
        }
    }

    /// The calls of a turn, in the order they began.
    pub async fn model_calls_of(&self, turn: &TurnId) -> Result<Vec<StoredModelCall>> {
        self.flush().await;
        let rows = model_calls::Entity::find()
            .filter(Column::TurnId.eq(text(&turn.0)))
            .order_by_asc(Column::StartedAt)
            .order_by_asc(Column::Id)
            .all(&self.read)
            .await?;
        rows.into_iter().map(StoredModelCall::try_from).collect()
    }

    /// A user's call, and what was sent where that was kept.
    pub async fn model_call(
        &self,
        user: &UserId,
        id: &ModelCallId,
    ) -> Result<(StoredModelCall, Option<ModelExchange>)> {
        self.flush().await;
        let row = model_calls::Entity::find_by_id(text(id.as_str()))
            .filter(Column::UserId.eq(text(&user.0)))
            .one(&self.read)
            .await?;
        let stored = StoredModelCall::try_from(row.ok_or(Error::NotFound("model call"))?)?;
        if let Some(turn) = &stored.call.turn {
            // A deleted chat takes its calls with it at once.
            let of_turn = self.chat_of_turn(user, turn).await;
            of_turn.map_err(|_| Error::NotFound("model call"))?;
        }
        let request = model_requests::Entity::find_by_id(&stored.id.0)
            .one(&self.read)
            .await?;
        let exchange = request.map(|row| unpack(&row.content)).transpose()?;
        Ok((stored, exchange))
    }

    /// Forgets what is older than 30 days. Ids begin with the time.
    pub async fn sweep_model_calls(&self) -> Result<u64> {
        let oldest = first_id_at(now() - RETENTION_MS);
        let swept = model_calls::Entity::delete_many()
            .filter(Column::Id.lt(oldest))
            .exec(&self.write)
            .await?;
        Ok(swept.rows_affected)
    }
}

/// Writes calls whose turns are still there, in a transaction of their own: nothing else fails with
/// them.
pub(crate) async fn write(write: &DatabaseConnection, drafts: Vec<ModelCallDraft>) -> Result<()> {
    let packed = tokio::task::spawn_blocking(|| drafts.into_iter().map(pack).collect::<Vec<_>>());
    let packed = packed.await;
    let packed = packed.map_err(|error| DbErr::Custom(error.to_string()))?;
    let transaction = begin(write).await?;
    for (mut row, content) in packed {
        if let Some(turn) = &row.turn_id {
            let there = turns::Entity::find_by_id(turn).count(&transaction).await?;
            if there == 0 {
                continue;
            }
        }
        row.has_request = content.is_some();
        let id = row.id.clone();
        model_calls::Entity::insert(row.into_active_model())
            .exec_without_returning(&transaction)
            .await?;
        if let Some(content) = content {
            let request = model_requests::Model {
                model_call_id: id,
                content,
            };
            model_requests::Entity::insert(request.into_active_model())
                .exec_without_returning(&transaction)
                .await?;
        }
    }
    Ok(transaction.commit().await?)
}

fn pack(draft: ModelCallDraft) -> (model_calls::Model, Option<Vec<u8>>) {
    let ModelCallDraft { row, exchange } = draft;
    let content = exchange.and_then(|make| {
        let json = serde_json::to_vec(&make()).ok()?;
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&json).ok()?;
        encoder.finish().ok()
    });
    (row, content)
}

fn unpack(content: &[u8]) -> Result<ModelExchange> {
    let json = DeflateDecoder::new(content).take(MAX_EXCHANGE_BYTES);
    Ok(serde_json::from_reader(json)?)
}

fn row(call: ModelCall, has_request: bool) -> Result<model_calls::Model> {
    let (usage, cost) = (call.usage, call.cost);
    Ok(model_calls::Model {
        id: fresh_id(),
        user_id: text(&call.user.0),
        turn_id: call.turn.map(|turn| text(&turn.0)),
        message_id: call.message.map(|message| text(&message.0)),
        model_id: text(&call.model.id.0),
        model_name: text(&call.model.name),
        attempt: to_column(call.attempt),
        started_at: call.started_at,
        first_token_ms: call.first_token_ms.map(to_column),
        duration_ms: to_column(call.duration_ms),
        wait_ms: call.wait_ms.map(to_column),
        input_tokens: to_column(usage.input_tokens),
        output_tokens: to_column(usage.output_tokens),
        cache_read_tokens: to_column(usage.cache_read_tokens),
        cache_write_tokens: to_column(usage.cache_write_tokens),
        cost_micros: cost.as_ref().map(|cost| to_column(cost.micros)),
        cost_currency: cost.map(|cost| text(&cost.currency)),
        stop: call.stop.map(enum_column::write).transpose()?,
        error: call
            .error
            .map(|error| serde_json::to_string(&error))
            .transpose()?,
        status: call.status.map(i64::from),
        has_request,
    })
}

impl TryFrom<model_calls::Model> for StoredModelCall {
    type Error = Error;

    fn try_from(row: model_calls::Model) -> Result<Self> {
        let cost = row.cost_micros.zip(row.cost_currency);
        let call = ModelCall {
            user: UserId(row.user_id),
            turn: row.turn_id.map(TurnId),
            message: row.message_id.map(MessageId),
            model: ModelRef {
                id: ModelId(row.model_id),
                name: row.model_name,
            },
            attempt: row.attempt.unsigned_abs(),
            started_at: row.started_at,
            first_token_ms: row.first_token_ms.map(i64::unsigned_abs),
            duration_ms: row.duration_ms.unsigned_abs(),
            wait_ms: row.wait_ms.map(i64::unsigned_abs),
            usage: Usage {
                input_tokens: row.input_tokens.unsigned_abs(),
                output_tokens: row.output_tokens.unsigned_abs(),
                cache_read_tokens: row.cache_read_tokens.unsigned_abs(),
                cache_write_tokens: row.cache_write_tokens.unsigned_abs(),
            },
            cost: cost.map(|(micros, currency)| Cost {
                currency,
                micros: micros.unsigned_abs(),
            }),
            stop: row.stop.as_deref().map(enum_column::read).transpose()?,
            error: row.error.as_deref().map(serde_json::from_str).transpose()?,
            status: row.status.and_then(|status| u16::try_from(status).ok()),
        };
        Ok(Self {
            id: ModelCallId(row.id),
            call,
            has_request: row.has_request,
        })
    }
}
