//! Statistics for admins: calls, errors and latency by tool and source, tokens and costs by person
//! and model, over time.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use tenon_domain::{Cost, SourceId, ToolId, Usage, UserId};
use tenon_store::{AuditedTool, CallCount, Result, StatisticsRange, Store, UsageSlot, now};
use tenon_tools::Registry;
use ts_rs::TS;

/// How many rows a list has, those with the most first.
const MAX_ROWS: usize = 50;

/// How many rows of a list are told over time, so that a chart of them can be read.
const MAX_SERIES: usize = 5;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// How far back is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum StatsRange {
    #[serde(rename = "24h")]
    Day,
    #[default]
    #[serde(rename = "7d")]
    Week,
    #[serde(rename = "30d")]
    Month,
}

#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StatsView {
    pub range: StatsRange,
    #[ts(type = "number")]
    pub from: i64,
    #[ts(type = "number")]
    pub to: i64,
    pub calls: CallStats,
    pub usage: UsageStats,
    pub over_time: Vec<TimeStats>,
    /// By tool and by source, those that are called most.
    pub tools: Vec<ToolStats>,
    pub sources: Vec<SourceStats>,
    /// By person and by model, those with the most tokens.
    pub people: Vec<PersonStats>,
    pub models: Vec<ModelStats>,
}

/// Calls of tools.
#[derive(Debug, Clone, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct CallStats {
    #[ts(type = "number")]
    pub calls: u64,
    #[ts(type = "number")]
    pub errors: u64,
    /// Half of them took no longer, in two significant digits. Absent where no duration is on
    /// record.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub p50_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub p95_ms: Option<u64>,
}

/// What models took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UsageStats {
    /// Turns of chats, and completions.
    #[ts(type = "number")]
    pub answers: u64,
    pub usage: Usage,
    /// One for each currency.
    pub costs: Vec<Cost>,
}

/// A part of the time.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TimeStats {
    #[ts(type = "number")]
    pub at: i64,
    #[serde(flatten)]
    pub calls: CallStats,
    pub usage: UsageStats,
}

#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ToolStats {
    pub tool_id: ToolId,
    pub display_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<SourceId>,
    pub calls: CallStats,
}

#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SourceStats {
    /// Absent for tools that no source is known of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<SourceId>,
    pub title: String,
    pub calls: CallStats,
}

#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct PersonStats {
    pub user_id: UserId,
    /// Absent once they are gone, and for the one person of a server without accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub usage: UsageStats,
    /// In each part of the time, for the first five; empty for the others.
    pub over_time: Vec<UsageStats>,
}

#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelStats {
    /// As it was called then.
    pub name: String,
    pub usage: UsageStats,
    /// In each part of the time, for the first five; empty for the others.
    pub over_time: Vec<UsageStats>,
}

impl StatsRange {
    fn statistics(self, now: i64) -> (StatisticsRange, i64) {
        let (slots, slot_ms) = match self {
            Self::Day => (24, HOUR_MS),
            Self::Week => (28, 6 * HOUR_MS),
            Self::Month => (30, 24 * HOUR_MS),
        };
        let range = StatisticsRange {
            from: now - slots * slot_ms,
            slot_ms,
        };
        (range, slots)
    }
}

/// All of it, up to now.
pub async fn statistics(
    store: &Store,
    registry: &Registry,
    range: StatsRange,
) -> Result<StatsView> {
    let to = now();
    let (within, slots) = range.statistics(to);
    let counts = store.call_counts(within).await?;
    let call_slots = store.call_slots(within).await?;
    let usage_slots = store.usage_slots(within).await?;
    let users = store.users().await?.into_iter();
    let names: HashMap<UserId, String> = users.map(|user| (user.id, user.name)).collect();

    let mut over_time: Vec<TimeStats> = (0..slots)
        .map(|slot| TimeStats {
            at: within.from + slot * within.slot_ms,
            calls: CallStats::default(),
            usage: UsageStats::default(),
        })
        .collect();
    // Events that arrive while counting go into the last slot.
    let place = |slot: u64| (slot as usize).min(slots as usize - 1);
    let mut totals = vec![CallTotals::default(); over_time.len()];
    for slot in call_slots {
        totals[place(slot.slot)].add(slot.calls, slot.errors, slot.duration_ms);
    }
    for (time, totals) in over_time.iter_mut().zip(&totals) {
        time.calls = totals.stats();
    }
    let mut usage = UsageStats::default();
    let mut people: HashMap<UserId, UsageStats> = HashMap::new();
    let mut models: HashMap<String, UsageStats> = HashMap::new();
    for slot in &usage_slots {
        over_time[place(slot.slot)].usage.add(slot);
        usage.add(slot);
        people.entry(slot.user.clone()).or_default().add(slot);
        models.entry(slot.model.clone()).or_default().add(slot);
    }
    let people = people.into_iter().map(|(user_id, usage)| PersonStats {
        name: names.get(&user_id).cloned(),
        user_id,
        usage,
        over_time: Vec::new(),
    });
    let models = models.into_iter().map(|(name, usage)| ModelStats {
        name,
        usage,
        over_time: Vec::new(),
    });
    let mut people = most(people.collect(), |person| person.usage.tokens());
    let mut models = most(models.collect(), |model| model.usage.tokens());
    let series = |is_of: &dyn Fn(&UsageSlot) -> bool| {
        let mut parts = vec![UsageStats::default(); slots as usize];
        for slot in usage_slots.iter().filter(|slot| is_of(slot)) {
            parts[place(slot.slot)].add(slot);
        }
        parts
    };
    for person in people.iter_mut().take(MAX_SERIES) {
        person.over_time = series(&|slot| slot.user == person.user_id);
    }
    for model in models.iter_mut().take(MAX_SERIES) {
        model.over_time = series(&|slot| slot.model == model.name);
    }
    let titles = source_titles(registry);
    let (tools, sources) = by_tool(store, &counts, &titles).await?;
    Ok(StatsView {
        range,
        from: within.from,
        to,
        calls: CallStats::of(counts.iter()),
        usage,
        over_time,
        tools,
        sources,
        people,
        models,
    })
}

/// The titles of the sources that everybody has.
fn source_titles(registry: &Registry) -> HashMap<SourceId, String> {
    let nobody = UserId::new("");
    let sources = registry.sources(&nobody).into_iter();
    sources
        .map(|source| (source.info.id, source.info.title))
        .collect()
}

async fn by_tool(
    store: &Store,
    counts: &[CallCount],
    titles: &HashMap<SourceId, String>,
) -> Result<(Vec<ToolStats>, Vec<SourceStats>)> {
    let mut tools: HashMap<ToolId, (String, Vec<CallCount>)> = HashMap::new();
    for count in counts {
        let (last, of_tool) = tools.entry(count.tool.clone()).or_default();
        if count.last_entry > *last {
            last.clone_from(&count.last_entry);
        }
        of_tool.push(count.clone());
    }
    let last_entries = tools.iter();
    let last_entries: Vec<_> = last_entries
        .map(|(tool, (last, _))| (tool.clone(), last.clone()))
        .collect();
    let known = store.audited_tools(&last_entries).await?;
    let known: HashMap<ToolId, AuditedTool> = known
        .into_iter()
        .map(|tool| (tool.tool.clone(), tool))
        .collect();
    let mut rows = Vec::with_capacity(tools.len());
    let mut sources: BTreeMap<Option<SourceId>, (String, Vec<CallCount>)> = BTreeMap::new();
    for (tool_id, (_, counts)) in tools {
        let tool = known.get(&tool_id);
        let name = tool.and_then(|tool| tool.display_name.clone());
        let display_name = name
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| tool_id.0.clone());
        let source_id = tool.and_then(|tool| tool.source.clone());
        let (title, of_source) = sources.entry(source_id.clone()).or_default();
        if title.is_empty() {
            *title = source_title(source_id.as_ref(), titles, &display_name);
        }
        of_source.extend(counts.iter().cloned());
        rows.push(ToolStats {
            tool_id,
            display_name,
            source_id,
            calls: CallStats::of(counts.iter()),
        });
    }
    let sources = sources
        .into_iter()
        .map(|(source_id, (title, counts))| SourceStats {
            source_id,
            title,
            calls: CallStats::of(counts.iter()),
        });
    Ok((
        most(rows, |row| row.calls.calls),
        most(sources.collect(), |row| row.calls.calls),
    ))
}

/// The title of a source. For a private source it is taken from the display names of its tools.
fn source_title(
    source: Option<&SourceId>,
    titles: &HashMap<SourceId, String>,
    display_name: &str,
) -> String {
    let Some(source) = source else {
        return String::new();
    };
    let told = || {
        display_name
            .split_once('/')
            .map(|(title, _)| title.to_owned())
    };
    let title = titles.get(source).cloned().or_else(told);
    title.unwrap_or_else(|| source.0.clone())
}

fn most<T>(mut rows: Vec<T>, count: impl Fn(&T) -> u64) -> Vec<T> {
    rows.sort_by_key(|row| std::cmp::Reverse(count(row)));
    rows.truncate(MAX_ROWS);
    rows
}

impl CallStats {
    fn of<'a>(counts: impl Iterator<Item = &'a CallCount>) -> Self {
        let mut totals = CallTotals::default();
        for count in counts {
            let errors = if count.is_error { count.calls } else { 0 };
            totals.add(count.calls, errors, count.duration_ms);
        }
        totals.stats()
    }
}

/// Calls that are added up.
#[derive(Clone, Default)]
struct CallTotals {
    calls: u64,
    errors: u64,
    /// How many took how long.
    durations: BTreeMap<u64, u64>,
}

impl CallTotals {
    fn add(&mut self, calls: u64, errors: u64, duration_ms: Option<u64>) {
        self.calls += calls;
        self.errors += errors;
        if let Some(duration) = duration_ms {
            *self.durations.entry(duration).or_default() += calls;
        }
    }

    fn stats(&self) -> CallStats {
        CallStats {
            calls: self.calls,
            errors: self.errors,
            p50_ms: percentile(&self.durations, 50),
            p95_ms: percentile(&self.durations, 95),
        }
    }
}

/// The smallest duration that at least this percentage of calls does not exceed.
fn percentile(durations: &BTreeMap<u64, u64>, percent: u64) -> Option<u64> {
    let all: u64 = durations.values().sum();
    let rank = (all * percent).div_ceil(100);
    let mut seen = 0;
    durations.iter().find_map(|(duration, calls)| {
        seen += calls;
        (seen >= rank).then_some(*duration)
    })
}

impl UsageStats {
    fn add(&mut self, slot: &UsageSlot) {
        self.answers += slot.answers;
        self.usage += slot.usage;
        if let Some(cost) = &slot.cost {
            let mut costs = self.costs.iter_mut();
            match costs.find(|known| known.currency == cost.currency) {
                Some(known) => known.micros += cost.micros,
                None => self.costs.push(cost.clone()),
            }
        }
    }

    fn tokens(&self) -> u64 {
        self.usage.input_tokens + self.usage.output_tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_durations_that_were_seen() {
        let check = |durations: &[(u64, u64)], expected: (Option<u64>, Option<u64>)| {
            let durations = durations.iter().copied().collect();
            let found = (percentile(&durations, 50), percentile(&durations, 95));
            assert_eq!(found, expected, "{durations:?}");
        };
        check(&[], (None, None));
        check(&[(7, 1)], (Some(7), Some(7)));
        check(&[(1, 50), (2, 50)], (Some(1), Some(2)));
        check(&[(1, 95), (900, 5)], (Some(1), Some(1)));
        check(&[(1, 94), (900, 6)], (Some(1), Some(900)));
    }
}
