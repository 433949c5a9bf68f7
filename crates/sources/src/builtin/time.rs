//! The tools for the current time somewhere and for converting a time between places.

use async_trait::async_trait;
use chrono::Utc;
use serde::Deserialize;
use serde_json::json;
use tenon_domain::{ToolDefinition, ToolOutput, ToolResult};
use tenon_tools::CallContext;

use self::clock::WallTime;
use self::zone::Zone;
use super::{AnyTool, BuiltinTool, READS_ONLY};

mod clock;
mod places;
mod zone;

pub(super) fn tools() -> Vec<Box<dyn AnyTool>> {
    vec![Box::new(CurrentTime), Box::new(ConvertTime)]
}

const ZONE_HELP: &str = "a city or country in English or Chinese, an IANA name or a UTC offset";

struct CurrentTime;

#[derive(Deserialize)]
struct CurrentTimeInput {
    timezone: Option<String>,
}

#[async_trait]
impl BuiltinTool for CurrentTime {
    type Input = CurrentTimeInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "current_time".into(),
            title: Some("Current time".into()),
            description: "Tells the current date, weekday and time, here or in any city, country \
                          or time zone."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "timezone": {
                        "type": "string",
                        "description": format!("Where: {ZONE_HELP}. Left out: where the server is."),
                        "examples": ["Tokyo", "Europe/Berlin", "北京", "UTC+8"],
                    },
                },
                "additionalProperties": false,
            }).into(),
            annotations: READS_ONLY,
        }
    }

    fn keywords(&self) -> &'static str {
        "现在几点, 現在幾點, 时间, 時間, 今天几号, 日期, 星期几"
    }

    async fn run(&self, input: CurrentTimeInput, _context: &CallContext) -> ToolResult {
        let zone = match input.timezone.as_deref().map(str::trim) {
            None | Some("") => Zone::local(),
            Some(place) => Zone::find(place)?,
        };
        Ok(ToolOutput::text(zone.tell(Utc::now())))
    }
}

struct ConvertTime;

#[derive(Deserialize)]
struct ConvertTimeInput {
    time: String,
    from: String,
    to: String,
}

#[async_trait]
impl BuiltinTool for ConvertTime {
    type Input = ConvertTimeInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "convert_time".into(),
            title: Some("Convert time".into()),
            description: "Tells what a given time in one place is in another, with summer time taken \
                          into account."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "time": {
                        "type": "string",
                        "description": "The time on the clock at `from`. Without a date, today's date there is meant.",
                        "examples": ["14:30", "2026-11-15 14:30", "2026-11-15T14:30:00Z"],
                    },
                    "from": {
                        "type": "string",
                        "description": format!("Where the time is known: {ZONE_HELP}."),
                        "examples": ["New York", "纽约"],
                    },
                    "to": {
                        "type": "string",
                        "description": format!("Where the time is wanted: {ZONE_HELP}."),
                        "examples": ["Asia/Tokyo", "UTC+8"],
                    },
                },
                "required": ["time", "from", "to"],
                "additionalProperties": false,
            }).into(),
            annotations: READS_ONLY,
        }
    }

    fn keywords(&self) -> &'static str {
        "时区转换, 時區轉換, 时差, 時差, 换算时间"
    }

    async fn run(&self, input: ConvertTimeInput, _context: &CallContext) -> ToolResult {
        let (from, to) = (Zone::find(&input.from)?, Zone::find(&input.to)?);
        let moment = WallTime::read(&input.time)?.at(&from, Utc::now())?;
        let mut text = format!("{} is {}", from.tell(moment.utc), to.tell(moment.utc));
        if let Some(note) = moment.note {
            text = format!("{text}\n{note}");
        }
        Ok(ToolOutput::text(text))
    }
}
