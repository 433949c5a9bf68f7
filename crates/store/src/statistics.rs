//! What was called and what it took, counted in the database: calls from the audit log, tokens and
//! costs from turns, and from completions, which have none.

use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, FromQueryResult, QueryFilter, QuerySelect, Statement,
};
use serde_json::Value;
use tenon_domain::{Cost, SourceId, ToolId, Usage, UserId};

use crate::audit::first_id_at;
use crate::entity::{audit, tools};
use crate::{Result, Store};

/// How many calls are counted, the newest first: about a second of work.
const MAX_CALLS: u64 = 500_000;

/// Of one answer of the database.
const MAX_ROWS: u64 = 50_000;

/// Both engines bound the values of one statement.
const MAX_IDS_PER_QUERY: usize = 500;

/// Calls that have not come to a result.
const IS_ERROR: &str = "CASE WHEN detail LIKE '%\"status\":\"failed\"%' \
    OR detail LIKE '%\"status\":\"lost\"%' OR detail LIKE '%\"ok\":false%' THEN 1 ELSE 0 END";

/// A time from which on is counted, and how it is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatisticsRange {
    /// Milliseconds since 1970.
    pub from: i64,
    pub slot_ms: i64,
}

/// Calls of one tool that took about as long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallCount {
    pub tool: ToolId,
    pub is_error: bool,
    /// In two significant digits. None: it is not on record.
    pub duration_ms: Option<u64>,
    pub calls: u64,
    /// The last entry of the audit log about them.
    pub last_entry: String,
}

/// A duration in two significant digits, so that there are few of them.
const TWO_DIGITS: &str = "CASE WHEN ms < 100 THEN ms WHEN ms < 1000 THEN ms / 10 * 10 \
    WHEN ms < 10000 THEN ms / 100 * 100 WHEN ms < 100000 THEN ms / 1000 * 1000 \
    ELSE ms / 10000 * 10000 END";

/// Calls of all tools within a part of the time that took about as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSlot {
    /// 0, 1, 2 … from the beginning of the range.
    pub slot: u64,
    /// In two significant digits, where that is on record.
    pub duration_ms: Option<u64>,
    pub calls: u64,
    pub errors: u64,
}

/// What a model took for one person within a part of the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageSlot {
    pub slot: u64,
    pub user: UserId,
    pub model: String,
    /// Turns and completions.
    pub answers: u64,
    pub usage: Usage,
    pub cost: Option<Cost>,
}

/// A tool as the audit log and the ids that were given know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedTool {
    pub tool: ToolId,
    pub display_name: Option<String>,
    pub source: Option<SourceId>,
}

#[derive(FromQueryResult)]
struct CallCountRow {
    subject: String,
    is_error: i32,
    ms: Option<i64>,
    calls: i64,
    last_entry: String,
}

#[derive(FromQueryResult)]
struct CallSlotRow {
    slot: i64,
    ms: Option<i64>,
    calls: i64,
    errors: i64,
}

#[derive(FromQueryResult)]
struct UsageSlotRow {
    slot: i64,
    user_id: String,
    model: Option<String>,
    currency: Option<String>,
    answers: i64,
    input_tokens: i64,
    output_tokens: i64,
    cache_read_tokens: i64,
    cache_write_tokens: i64,
    cost_micros: Option<i64>,
}

impl Store {
    /// The calls of each tool, by how they ended and how long they took.
    pub async fn call_counts(&self, range: StatisticsRange) -> Result<Vec<CallCount>> {
        self.flush().await;
        let duration = self.duration();
        let select = format!(
            "SELECT subject, is_error, {TWO_DIGITS} AS ms, \
             COUNT(*) AS calls, MAX(id) AS last_entry FROM (\
                SELECT id, subject, {IS_ERROR} AS is_error, {duration} AS ms FROM audit \
                WHERE id >= $1 AND action = 'tool.called' ORDER BY id DESC LIMIT $2\
             ) AS counted GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT $3"
        );
        let values = [
            first_id_at(range.from).into(),
            MAX_CALLS.into(),
            MAX_ROWS.into(),
        ];
        let rows: Vec<CallCountRow> = self.select(&select, values).await?;
        let counts = rows.into_iter().map(|row| CallCount {
            tool: ToolId(row.subject),
            is_error: row.is_error != 0,
            duration_ms: row.ms.map(i64::unsigned_abs),
            calls: row.calls.unsigned_abs(),
            last_entry: row.last_entry,
        });
        Ok(counts.collect())
    }

    /// The calls of all tools over time. What is before the newest half a million is not counted.
    pub async fn call_slots(&self, range: StatisticsRange) -> Result<Vec<CallSlot>> {
        let duration = self.duration();
        let select = format!(
            "SELECT (at - $1) / $2 AS slot, {TWO_DIGITS} AS ms, COUNT(*) AS calls, \
                CAST(SUM(is_error) AS BIGINT) AS errors FROM (\
                SELECT at, {IS_ERROR} AS is_error, {duration} AS ms FROM audit \
                WHERE id >= $3 AND action = 'tool.called' ORDER BY id DESC LIMIT $4\
             ) AS counted WHERE at >= $1 GROUP BY 1, 2 ORDER BY 1 LIMIT $5"
        );
        let values = [
            range.from.into(),
            range.slot_ms.max(1).into(),
            first_id_at(range.from).into(),
            MAX_CALLS.into(),
            MAX_ROWS.into(),
        ];
        let rows: Vec<CallSlotRow> = self.select(&select, values).await?;
        let slots = rows.into_iter().map(|row| CallSlot {
            slot: row.slot.unsigned_abs(),
            duration_ms: row.ms.map(i64::unsigned_abs),
            calls: row.calls.unsigned_abs(),
            errors: row.errors.unsigned_abs(),
        });
        Ok(slots.collect())
    }

    /// How long a call took. Not read as JSON on PostgreSQL, which takes no text with NUL in it for
    /// JSON.
    fn duration(&self) -> &'static str {
        match self.read.get_database_backend() {
            DbBackend::Postgres => {
                "CAST(substring(detail from '\"durationMs\":([0-9]{1,12})') AS BIGINT)"
            }
            _ => "CAST(detail->>'$.durationMs' AS BIGINT)",
        }
    }

    /// What models took, by person, model and time.
    pub async fn usage_slots(&self, range: StatisticsRange) -> Result<Vec<UsageSlot>> {
        self.flush().await;
        let sums = [
            "input_tokens",
            "output_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "cost_micros",
        ]
        .map(|column| format!("CAST(SUM({column}) AS BIGINT) AS {column}"))
        .join(", ");
        let select = format!(
            "SELECT (started_at - $1) / $2 AS slot, user_id, model, currency, \
                CAST(SUM(answers) AS BIGINT) AS answers, {sums} FROM (\
                SELECT turns.started_at AS started_at, chats.user_id AS user_id, \
                    turns.model_name AS model, turns.cost_currency AS currency, 1 AS answers, \
                    turns.input_tokens AS input_tokens, turns.output_tokens AS output_tokens, \
                    turns.cache_read_tokens AS cache_read_tokens, \
                    turns.cache_write_tokens AS cache_write_tokens, turns.cost_micros AS cost_micros \
                FROM turns INNER JOIN chats ON chats.id = turns.chat_id \
                WHERE turns.started_at >= $1 \
                UNION ALL \
                SELECT started_at, user_id, model_name, cost_currency, \
                    CASE WHEN attempt = 1 THEN 1 ELSE 0 END, input_tokens, output_tokens, \
                    cache_read_tokens, cache_write_tokens, cost_micros FROM model_calls \
                WHERE id >= $3 AND turn_id IS NULL AND started_at >= $1\
             ) AS counted GROUP BY 1, 2, 3, 4 ORDER BY 1 LIMIT $4"
        );
        let values = [
            range.from.into(),
            range.slot_ms.max(1).into(),
            first_id_at(range.from).into(),
            MAX_ROWS.into(),
        ];
        let rows: Vec<UsageSlotRow> = self.select(&select, values).await?;
        let slots = rows.into_iter().map(|row| UsageSlot {
            slot: row.slot.unsigned_abs(),
            user: UserId(row.user_id),
            model: row.model.unwrap_or_default(),
            answers: row.answers.unsigned_abs(),
            usage: Usage {
                input_tokens: row.input_tokens.unsigned_abs(),
                output_tokens: row.output_tokens.unsigned_abs(),
                cache_read_tokens: row.cache_read_tokens.unsigned_abs(),
                cache_write_tokens: row.cache_write_tokens.unsigned_abs(),
            },
            cost: row
                .cost_micros
                .zip(row.currency)
                .map(|(micros, currency)| Cost {
                    currency,
                    micros: micros.unsigned_abs(),
                }),
        });
        Ok(slots.collect())
    }

    /// The names of tools, by the last entries about them, and their sources.
    pub async fn audited_tools(
        &self,
        last_entries: &[(ToolId, String)],
    ) -> Result<Vec<AuditedTool>> {
        let mut found = Vec::with_capacity(last_entries.len());
        for some in last_entries.chunks(MAX_IDS_PER_QUERY) {
            let entries: Vec<(String, String)> = audit::Entity::find()
                .filter(audit::Column::Id.is_in(some.iter().map(|(_, entry)| entry)))
                .select_only()
                .column(audit::Column::Id)
                .column(audit::Column::Detail)
                .into_tuple()
                .all(&self.read)
                .await?;
            let sources: Vec<(String, String)> = tools::Entity::find()
                .filter(tools::Column::ToolId.is_in(some.iter().map(|(tool, _)| tool.as_str())))
                .select_only()
                .column(tools::Column::ToolId)
                .column(tools::Column::SourceId)
                .into_tuple()
                .all(&self.read)
                .await?;
            found.extend(some.iter().map(|(tool, entry)| {
                let detail = entries.iter().find(|(id, _)| id == entry);
                let source = sources.iter().find(|(id, _)| *id == tool.0);
                AuditedTool {
                    tool: tool.clone(),
                    display_name: detail.and_then(|(_, detail)| display_name(detail)),
                    source: source.map(|(_, source)| SourceId::new(source)),
                }
            }));
        }
        Ok(found)
    }

    async fn select<T: FromQueryResult>(
        &self,
        select: &str,
        values: impl IntoIterator<Item = sea_orm::Value>,
    ) -> Result<Vec<T>> {
        let backend = self.read.get_database_backend();
        let select = Statement::from_sql_and_values(backend, select, values);
        Ok(T::find_by_statement(select).all(&self.read).await?)
    }
}

fn display_name(detail: &str) -> Option<String> {
    let detail: Value = serde_json::from_str(detail).ok()?;
    detail["displayName"].as_str().map(str::to_owned)
}
