//! `tools/list`, read so that one bad tool costs only itself.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tenon_text as text;
use tokio::sync::Semaphore;

use crate::error::{Error, ProtocolError, json_reason};
use crate::jsonrpc::{ParamsBuilder, RpcError};
use crate::session::{RpcRequest, Session};
use crate::transport::Transport;
use crate::transport::header_params::{self, HeaderParams};

mod cursor;
mod problem;
mod schema;

pub(crate) use cursor::PageCursor;
pub use problem::{SchemaRepair, ToolDefect, ToolListProblem};

/// Bounds memory when a server keeps on listing tools or pages.
const MAX_TOOLS: usize = 20_000;
const MAX_PAGES: usize = 2_000;

/// So many problems of one list are reported; the rest is dropped.
const MAX_PROBLEMS: usize = 50;

/// A name is never changed: a call is made by it.
const MAX_NAME_BYTES: usize = 512;
const MAX_TITLE_CHARS: usize = 120;
const MAX_DESCRIPTION_CHARS: usize = 20_000;

/// A page is parsed where it arrives up to this size: a few milliseconds.
const MAX_INLINE_BYTES: usize = 64 * 1024;

/// How many larger ones are parsed at once.
static PARSERS: Semaphore = Semaphore::const_new(2);

pub(crate) type ToolNames = HashSet<String>;

/// The tools a server offers, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct ToolList {
    pub tools: Vec<McpTool>,
    pub problems: Vec<ToolListProblem>,
}

/// A tool that can be called: its schema is one of an object, without circles that a
/// validator would never leave.
#[derive(Debug, Clone, PartialEq)]
pub struct McpTool {
    /// As it is called, whatever characters it has.
    pub name: String,
    /// Where it has none and its name is not fit to be shown, the name cleaned.
    pub title: Option<String>,
    pub description: String,
    pub input_schema: Value,
    /// What it says of its structured results, unchecked.
    pub output_schema: Option<Value>,
    pub annotations: ToolAnnotations,
}

/// Missing hints mean the defaults of the specification, which are the most cautious ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolAnnotations {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

/// All pages as one.
#[derive(Debug, Default)]
pub(crate) struct ToolPages {
    pub(crate) list: ToolList,
    /// The tools that are run as tasks or not at all.
    pub(crate) task_tools: ToolNames,
    pub(crate) header_params: HeaderParams,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPage<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(default)]
    next_cursor: Option<Value>,
}

pub(crate) async fn list_all(session: &Session, timeout: Duration) -> Result<ToolPages, Error> {
    let mut reader = ToolListReader {
        // Only there do arguments go into headers.
        reads_header_params: matches!(&session.transport, Transport::Http(http) if http.is_stateless()),
        ..ToolListReader::default()
    };
    let mut pages = PageCursor::default();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = match &cursor {
            Some(cursor) => ParamsBuilder::new().with("cursor", cursor),
            None => ParamsBuilder::new(),
        };
        let request = RpcRequest::new("tools/list", params);
        let page = match session.request(request, timeout).await {
            Err(Error::Rpc(error)) if error.code == RpcError::METHOD_NOT_FOUND => {
                reader.add_problem(ToolListProblem::NoTools);
                break;
            }
            other => other?,
        };
        if let Err(problem) = pages.add_page(page.get().len()) {
            reader.add_problem(problem);
            break;
        }
        let next;
        (reader, next) = reader.read_page(page).await?;
        let Some(next) = next.filter(|next| !next.is_empty()) else {
            break;
        };
        if let Err(problem) = pages.advance(&next) {
            reader.add_problem(problem);
            break;
        }
        if reader.is_full() {
            break;
        }
        cursor = Some(next);
    }
    Ok(reader.finish())
}

/// A list of tools that was fetched elsewhere, without what only a connection could use.
pub fn parse_tools(tools: &[Value]) -> ToolList {
    let mut reader = ToolListReader::default();
    let raw = tools.iter().filter_map(|tool| to_raw_value(tool).ok());
    raw.for_each(|tool| reader.add(&tool));
    reader.finish().list
}

#[derive(Default)]
struct ToolListReader {
    pages: ToolPages,
    names: ToolNames,
    reads_header_params: bool,
    problems: usize,
    left_out: usize,
}

impl ToolListReader {
    /// Reads a page, and returns the cursor of the next one.
    async fn read_page(mut self, page: Box<RawValue>) -> Result<(Self, Option<String>), Error> {
        if page.get().len() <= MAX_INLINE_BYTES {
            let next = self.add_page(&page)?;
            return Ok((self, next));
        }
        // Megabytes of schemas take their time, which others need the thread for.
        let permit = PARSERS.acquire().await.ok();
        let reading = tokio::task::spawn_blocking(move || {
            let next = self.add_page(&page);
            drop(permit);
            next.map(|next| (self, next))
        });
        let failed = |_panic| ProtocolError::InvalidToolList(String::new());
        reading.await.map_err(failed)?
    }

    fn add_page(&mut self, page: &RawValue) -> Result<Option<String>, Error> {
        let page: RawPage<'_> = serde_json::from_str(page.get())
            .map_err(|error| ProtocolError::InvalidToolList(json_reason(&error)))?;
        page.tools.iter().for_each(|tool| self.add(tool));
        let next = page.next_cursor.as_ref().and_then(Value::as_str);
        Ok(next.map(str::to_owned))
    }

    fn add(&mut self, raw: &RawValue) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        if let Err(problem) = self.try_add(raw) {
            self.add_problem(problem);
        }
    }

    fn is_full(&self) -> bool {
        self.pages.list.tools.len() >= MAX_TOOLS
    }

    fn add_problem(&mut self, problem: ToolListProblem) {
        self.problems += 1;
        if self.problems <= MAX_PROBLEMS {
            self.pages.list.problems.push(problem);
        }
    }

    fn try_add(&mut self, raw: &RawValue) -> Result<(), ToolListProblem> {
        let number = self.pages.list.tools.len() + self.problems + 1;
        let tool: Map<String, Value> =
            serde_json::from_str(raw.get()).map_err(|error| ToolListProblem::Unreadable {
                number,
                cause: json_reason(&error),
            })?;
        let name = match tool.get("name") {
            Some(Value::String(name)) if !name.is_empty() => name.clone(),
            _ => return Err(ToolListProblem::NoName { number }),
        };
        let shown = text::line(&name, 60);
        let left_out = |defect: ToolDefect| ToolListProblem::LeftOut {
            tool: shown.clone(),
            defect,
        };
        if name.len() > MAX_NAME_BYTES {
            return Err(left_out(ToolDefect::NameTooLong));
        }
        if name.chars().any(char::is_control) {
            return Err(left_out(ToolDefect::ControlCharacters));
        }
        if self.names.contains(&name) {
            return Err(ToolListProblem::Duplicate { tool: shown });
        }
        let schema = schema::make_usable(tool.get("inputSchema")).map_err(left_out)?;
        if self.reads_header_params
            && let Value::Object(schema) = &schema.value
        {
            let params = header_params::read(schema).map_err(|error| left_out(error.into()))?;
            if !params.is_empty() {
                self.pages.header_params.insert(name.clone(), params);
            }
        }
        if let Some(repair) = schema.repair {
            self.add_problem(ToolListProblem::Repaired {
                tool: shown,
                repair,
            });
        }
        let support = tool.get("execution").and_then(|how| how.get("taskSupport"));
        if support.and_then(Value::as_str) == Some("required") {
            self.pages.task_tools.insert(name.clone());
        }
        self.names.insert(name.clone());
        self.pages.list.tools.push(McpTool {
            title: title(&tool, &name),
            description: string(&tool, "description")
                .map(|description| text::block(description, MAX_DESCRIPTION_CHARS))
                .unwrap_or_default(),
            input_schema: schema.value,
            output_schema: tool
                .get("outputSchema")
                .filter(|schema| schema.is_object())
                .cloned(),
            annotations: annotations(tool.get("annotations")),
            name,
        });
        Ok(())
    }

    fn finish(mut self) -> ToolPages {
        let problems = &mut self.pages.list.problems;
        if self.left_out > 0 || self.pages.list.tools.len() >= MAX_TOOLS {
            problems.push(ToolListProblem::TooManyTools { limit: MAX_TOOLS });
        }
        if self.problems > MAX_PROBLEMS {
            problems.push(ToolListProblem::MoreProblems {
                count: self.problems - MAX_PROBLEMS,
            });
        }
        self.pages
    }
}

/// Where there is none and the name is not fit to be shown, the name cleaned.
fn title(tool: &Map<String, Value>, name: &str) -> Option<String> {
    let annotations = tool.get("annotations").and_then(Value::as_object);
    let title = string(tool, "title").or_else(|| string(annotations?, "title"));
    let title = title.map(|title| text::line(title, MAX_TITLE_CHARS));
    let title = title.filter(|title| !title.is_empty());
    let cleaned_name = || match text::line(name, MAX_TITLE_CHARS) {
        clean if clean == name => None,
        clean if clean.is_empty() => Some("A tool without a name to be seen".to_owned()),
        clean => Some(clean),
    };
    title.or_else(cleaned_name)
}

fn string<'a>(of: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    of.get(name).and_then(Value::as_str)
}

fn annotations(hints: Option<&Value>) -> ToolAnnotations {
    let hint = |name: &str| {
        hints
            .and_then(|hints| hints.get(name))
            .and_then(Value::as_bool)
    };
    let read_only = hint("readOnlyHint").unwrap_or(false);
    ToolAnnotations {
        read_only,
        destructive: !read_only && hint("destructiveHint").unwrap_or(true),
        idempotent: hint("idempotentHint").unwrap_or(false),
        open_world: hint("openWorldHint").unwrap_or(true),
    }
}

#[cfg(test)]
mod tests;
