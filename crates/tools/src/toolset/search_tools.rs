//! The tools that find tools: search by need, describe, and call by id.
//!
//! A model or client that cannot be told of all tools gets these three instead. A call by id
//! becomes a call of the tool itself ([`Toolset::resolve`]) before anything is decided or recorded,
//! so validation, approval and record are those of any other call.

use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::text;
use tenon_domain::{
    Annotations, Message, SourceId, SourceInfo, SourceKind, ToolCall, ToolDefinition, ToolId,
    ToolOutput, ToolResult, tool_id,
};

use super::Toolset;
use crate::call_error::CallError;
use crate::catalog::Tool;
use crate::{CallContext, ToolSource};

/// The ids of the three. No other tool has one without a prefix or suffix.
pub const TOOL_SEARCH: &str = "tool_search";
pub const TOOL_DESCRIBE: &str = "tool_describe";
pub const TOOL_CALL: &str = "tool_call";

/// How many tools a search gives where it does not say, and at most.
const DEFAULT_HITS: usize = 10;
const MAX_HITS: usize = 25;

/// How many tools are described at once.
const MAX_DESCRIBED: usize = 10;

/// How much of a description stands in a list of found tools.
const MAX_LINE_CHARS: usize = 160;

/// A description that is longer is of use to nobody.
const MAX_DESCRIPTION_CHARS: usize = 4_000;

/// How many sources the description of the search names, and how much of each name.
const MAX_NAMED_SOURCES: usize = 60;
const MAX_SOURCE_CHARS: usize = 40;

/// The three tools over what a toolset has. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct SearchTools(Arc<[Arc<Tool>; 3]>);

/// What executes them: a snapshot without themselves.
struct SearchSource {
    toolset: Toolset,
    definitions: [ToolDefinition; 3],
}

static INFO: LazyLock<SourceInfo> = LazyLock::new(|| SourceInfo {
    id: SourceId::new("tool_search"),
    kind: SourceKind::Builtin,
    name: "tool_search".into(),
    title: "Tool search".into(),
    owner: None,
});

#[derive(Deserialize)]
struct SearchInput {
    query: String,
    source: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
struct DescribeInput {
    ids: Vec<ToolId>,
}

#[derive(Deserialize)]
struct CallByIdInput {
    id: ToolId,
    #[serde(default)]
    arguments: Value,
}

impl Toolset {
    /// The same with the tools that find tools.
    pub fn with_search(self) -> Self {
        let search = SearchTools::new(Self {
            search: None,
            ..self.clone()
        });
        Self {
            search: Some(search),
            ..self
        }
    }

    /// The call that a call by id stands for. Any other, and one that names no tool, stays as it
    /// is.
    pub fn resolve(&self, call: &mut ToolCall) {
        if self.search.is_none() || call.tool_id.as_str() != TOOL_CALL {
            return;
        }
        let Ok(CallByIdInput { id, arguments }) = CallByIdInput::deserialize(&call.input) else {
            return;
        };
        if id.as_str() == TOOL_CALL || self.find(&id).is_none() {
            return;
        }
        call.tool_id = id;
        call.input = match arguments {
            Value::Null => json!({}),
            // Models write JSON into a string where a schema says no more than "object".
            Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            arguments => arguments,
        };
    }

    /// The tools that find tools, where there are any.
    pub fn search_tools(&self) -> &[Arc<Tool>] {
        self.search.as_ref().map_or(&[], |search| &*search.0)
    }

    /// The tools that a message told of because they were looked for.
    pub(super) fn found_in(&self, message: &Message) -> Vec<&Arc<Tool>> {
        let Message::Tools { answers } = message else {
            return Vec::new();
        };
        let answers = answers
            .iter()
            .filter(|answer| matches!(answer.tool_id.as_str(), TOOL_SEARCH | TOOL_DESCRIBE));
        let outputs = answers.flat_map(|answer| &answer.result);
        let texts = outputs.flat_map(|output| output.content.iter().filter_map(|c| c.as_text()));
        let lines = texts.flat_map(str::lines).filter_map(listed_id);
        lines.filter_map(|id| self.get(&id)).collect()
    }
}

impl SearchTools {
    fn new(toolset: Toolset) -> Self {
        let counters = toolset.search_counters.clone();
        let source = Arc::new(SearchSource {
            definitions: definitions(&toolset),
            toolset,
        });
        let tools = [TOOL_SEARCH, TOOL_DESCRIBE, TOOL_CALL].into_iter();
        let tools = tools.zip(source.tools()).map(|(id, definition)| {
            let spec = INFO.spec(ToolId::new(id), definition);
            Arc::new(Tool::new(spec, source.clone(), counters.clone()))
        });
        let tools: Vec<_> = tools.collect();
        Self(Arc::new(
            tools
                .try_into()
                .expect("there are three names and three definitions"),
        ))
    }

    pub(super) fn get(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        self.0.iter().find(|tool| tool.spec.id == *id)
    }

    pub(super) fn has(&self, tool: &Tool) -> bool {
        self.0.iter().any(|known| std::ptr::eq(&**known, tool))
    }
}

/// How the hub counts calls to them.
pub(crate) fn search_source_info() -> &'static SourceInfo {
    &INFO
}

fn definitions(toolset: &Toolset) -> [ToolDefinition; 3] {
    let define =
        |name: &str, title: &str, description: String, input_schema: Value| ToolDefinition {
            name: name.into(),
            title: Some(title.into()),
            description,
            input_schema: input_schema.into(),
            annotations: Annotations {
                read_only: true,
                idempotent: true,
                ..Annotations::default()
            },
        };
    let sources = named_sources(toolset);
    [
        define(
            TOOL_SEARCH,
            "Find tools",
            format!(
                "Finds tools by what they do. There are many more than are listed here, from: {sources}. \
                 Use it before you say that something cannot be done. Found tools are listed \
                 from the next step on, and can be called like any other."
            ),
            json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What the tool should do, in words that its name or description would have: `list open invoices`, not the whole request. Search again in other words where nothing fits."},
                    "source": {"type": "string", "description": "Only tools of this source."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_HITS, "default": DEFAULT_HITS},
                },
                "required": ["query"],
                "additionalProperties": false,
            }),
        ),
        define(
            TOOL_DESCRIBE,
            "Describe tools",
            "Gives the whole description and the input schema of tools that were found.".into(),
            json!({
                "type": "object",
                "properties": {
                    "ids": {
                        "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MAX_DESCRIBED,
                        "description": "The ids of the tools.",
                    },
                },
                "required": ["ids"],
                "additionalProperties": false,
            }),
        ),
        define(
            TOOL_CALL,
            "Call a tool",
            "Calls a tool that was found, by its id, with arguments that fit its schema.".into(),
            json!({
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "The id of the tool."},
                    "arguments": {"type": "object", "description": "The arguments of the tool."},
                },
                "required": ["id"],
                "additionalProperties": false,
            }),
        ),
    ]
}

/// The sources that have a tool for this caller, as a model is told of them.
fn named_sources(toolset: &Toolset) -> String {
    let sources = toolset.sources().filter(|(info, tools)| {
        info.kind != SourceKind::Builtin && tools.iter().any(|tool| toolset.sees(tool))
    });
    let mut names: Vec<String> = sources
        .map(|(info, _)| text::line(&info.title, MAX_SOURCE_CHARS))
        .collect();
    names.dedup();
    let more = names.len().saturating_sub(MAX_NAMED_SOURCES);
    names.truncate(MAX_NAMED_SOURCES);
    match (names.is_empty(), more) {
        (true, _) => "Tenon itself".into(),
        (false, 0) => names.join(", "),
        (false, more) => format!("{} and {more} more", names.join(", ")),
    }
}

#[async_trait]
impl ToolSource for SearchSource {
    fn info(&self) -> &SourceInfo {
        &INFO
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.definitions.to_vec()
    }

    fn has_trusted_hints(&self) -> bool {
        true
    }

    async fn call(&self, tool: &str, input: Value, _context: &CallContext) -> ToolResult {
        // The schema was checked; what fits it but not the type is no reason to fail worse.
        let misfit = |error: serde_json::Error| CallError::ArgumentsNotJson {
            why: error.to_string().into(),
        };
        match tool {
            TOOL_SEARCH => {
                let input = SearchInput::deserialize(input).map_err(misfit)?;
                self.toolset.prepare_search(&input.query).await;
                Ok(self.search(&input))
            }
            TOOL_DESCRIBE => {
                let DescribeInput { ids } = DescribeInput::deserialize(input).map_err(misfit)?;
                Ok(self.describe(&ids))
            }
            _ => {
                // A call that names a tool was resolved before it came here.
                let CallByIdInput { id, .. } = CallByIdInput::deserialize(input).map_err(misfit)?;
                Err(self.toolset.unknown(&id))
            }
        }
    }
}

impl SearchSource {
    fn search(&self, input: &SearchInput) -> ToolOutput {
        let limit = input.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
        let source = input.source.as_deref();
        let found = self.toolset.search(&input.query, source, limit);
        if found.is_empty() {
            let sources = named_sources(&self.toolset);
            return ToolOutput::text(format!(
                "No tool was found. Try other words, or none of the sources in particular. There are tools from: {sources}."
            ));
        }
        let mut list = String::new();
        for tool in found {
            let spec = &tool.spec;
            let line = text::line(&spec.description, MAX_LINE_CHARS);
            let name = text::line(&spec.display_name, MAX_LINE_CHARS);
            let separator = if line.is_empty() { "" } else { ": " };
            let _ = writeln!(list, "{} ({name}){separator}{line}", spec.id);
        }
        ToolOutput::text(list)
    }

    fn describe(&self, ids: &[ToolId]) -> ToolOutput {
        let mut described = String::new();
        for id in ids.iter().take(MAX_DESCRIBED) {
            let tool = self.toolset.get(id);
            let Some(tool) = tool else {
                let _ = writeln!(described, "{}\n", self.toolset.unknown(id).message);
                continue;
            };
            let spec = &tool.spec;
            let name = text::line(&spec.display_name, MAX_LINE_CHARS);
            let description = text::block(&spec.description, MAX_DESCRIPTION_CHARS);
            let schema = spec.input_schema.value();
            let _ = writeln!(described, "{id} ({name})\n{description}\nInput: {schema}\n");
        }
        ToolOutput::text(described)
    }
}

/// The id that a line of a list begins with.
fn listed_id(line: &str) -> Option<ToolId> {
    let (id, _) = line.split_once(" (")?;
    tool_id::is_valid(id).then(|| ToolId::new(id))
}
