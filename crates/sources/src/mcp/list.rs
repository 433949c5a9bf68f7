//! What a server offers, read so that one bad tool costs only itself.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tenon_domain::{Annotations, ToolDefinition};
use tokio::sync::Semaphore;

use super::fault::{self, Fault};
use super::link::Listed;
use super::message::{Params, Refusal};
use super::mirror::{self, Mirrors};
use super::schema;
use super::talk::{Question, Talk, Wire};
use super::text;

mod way;

use way::Way;

/// More than any server has reason to offer, or any registry to hold.
const MAX_TOOLS: usize = 20_000;
const MAX_PAGES: usize = 2_000;

/// What anybody reads of what is wrong.
const MAX_PROBLEMS: usize = 50;
const MAX_PROBLEM: usize = 500;

/// Sizes of what is shown. A name is never changed: a call is made by it.
const MAX_NAME: usize = 512;
const MAX_TITLE: usize = 120;
const MAX_DESCRIPTION: usize = 20_000;

/// A page is read where it arrives up to this size: a few milliseconds.
const READ_AT_ONCE: usize = 64 * 1024;

/// How many larger ones are read at once.
static READS: Semaphore = Semaphore::const_new(2);

pub(super) type Names = HashSet<String>;

/// All pages as one.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) listed: Listed,
    /// The tools that are run as tasks or not at all.
    pub(super) tasks: Names,
    pub(super) mirrors: Mirrors,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPage<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(default)]
    next_cursor: Option<Value>,
}

pub(super) async fn all(talk: &Talk, patience: Duration) -> Result<Page, Fault> {
    let mut reader = Reader {
        // Only there do arguments go into headers.
        mirrors: matches!(&talk.wire, Wire::Http(http) if http.is_stateless()),
        ..Reader::default()
    };
    let mut way = Way::default();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = match &cursor {
            Some(cursor) => Params::new().with("cursor", cursor),
            None => Params::new(),
        };
        let answer = talk
            .ask(Question::new("tools/list", params), patience)
            .await;
        let answer = match answer {
            Err(Fault::Refused(refusal)) if refusal.code == Refusal::METHOD_NOT_FOUND => {
                reader.problem("It offers no tools.".into());
                break;
            }
            other => other?,
        };
        if let Err(problem) = way.weigh(answer.get().len()) {
            reader.problem(problem);
            break;
        }
        let next;
        (reader, next) = reader.read_page(answer).await?;
        let Some(next) = next.filter(|next| !next.is_empty()) else {
            break;
        };
        if let Err(problem) = way.turn(&next) {
            reader.problem(problem);
            break;
        }
        if reader.full() {
            break;
        }
        cursor = Some(next);
    }
    Ok(reader.finish())
}

/// What somebody else was told, without what only a connection could use.
pub(crate) fn read(tools: &[Value]) -> Listed {
    let mut reader = Reader::default();
    let raw = tools.iter().filter_map(|tool| to_raw_value(tool).ok());
    raw.for_each(|tool| reader.take(&tool));
    reader.finish().listed
}

#[derive(Default)]
struct Reader {
    page: Page,
    names: Names,
    mirrors: bool,
    problems: usize,
    left_out: usize,
}

impl Reader {
    /// Takes a page, and says where the next one is.
    async fn read_page(mut self, page: Box<RawValue>) -> Result<(Self, Option<String>), Fault> {
        if page.get().len() <= READ_AT_ONCE {
            let next = self.take_page(&page)?;
            return Ok((self, next));
        }
        // Megabytes of schemas take their time, which others need the thread for.
        let turn = READS.acquire().await.ok();
        let reading = tokio::task::spawn_blocking(move || {
            let next = self.take_page(&page);
            drop(turn);
            next.map(|next| (self, next))
        });
        let failed = |_panic| Fault::Strange("Its list of tools cannot be read.".into());
        reading.await.map_err(failed)?
    }

    fn take_page(&mut self, page: &RawValue) -> Result<Option<String>, Fault> {
        let page: RawPage<'_> = serde_json::from_str(page.get())
            .map_err(|error| Fault::unreadable("Its list of tools cannot be read", &error))?;
        page.tools.iter().for_each(|tool| self.take(tool));
        let next = page.next_cursor.as_ref().and_then(Value::as_str);
        Ok(next.map(str::to_owned))
    }

    fn take(&mut self, raw: &RawValue) {
        if self.full() {
            self.left_out += 1;
            return;
        }
        if let Err(problem) = self.read(raw) {
            self.problem(problem);
        }
    }

    fn full(&self) -> bool {
        self.page.listed.tools.len() >= MAX_TOOLS
    }

    fn problem(&mut self, sentence: String) {
        self.problems += 1;
        if self.problems <= MAX_PROBLEMS {
            // It may quote names of the server's in it.
            let sentence = text::line(&sentence, MAX_PROBLEM);
            self.page.listed.problems.push(sentence);
        }
    }

    fn read(&mut self, raw: &RawValue) -> Result<(), String> {
        let number = self.page.listed.tools.len() + self.problems + 1;
        let tool: Map<String, Value> = serde_json::from_str(raw.get()).map_err(|error| {
            let why = fault::reason(&error);
            format!("Tool {number} is left out, because it cannot be read: {why}.")
        })?;
        let name = match tool.get("name") {
            Some(Value::String(name)) if !name.is_empty() => name.clone(),
            _ => {
                return Err(format!(
                    "Tool {number} is left out, because it has no name."
                ));
            }
        };
        let shown = text::line(&name, 60);
        let left_out = |why: &str| format!("`{shown}` is left out: {why}.");
        if name.len() > MAX_NAME {
            return Err(left_out("its name is too long"));
        }
        if name.chars().any(char::is_control) {
            return Err(left_out("its name has control characters in it"));
        }
        if self.names.contains(&name) {
            return Err(format!("`{shown}` is offered twice. The first one counts."));
        }
        let schema = schema::usable(tool.get("inputSchema")).map_err(|why| left_out(&why))?;
        if self.mirrors
            && let Value::Object(schema) = &schema.value
        {
            let mirrored = mirror::read(schema).map_err(|why| left_out(&why))?;
            if !mirrored.is_empty() {
                self.page.mirrors.insert(name.clone(), mirrored);
            }
        }
        if let Some(repair) = schema.repaired {
            self.problem(format!("`{shown}`: {repair}."));
        }
        let support = tool.get("execution").and_then(|how| how.get("taskSupport"));
        if support.and_then(Value::as_str) == Some("required") {
            self.page.tasks.insert(name.clone());
        }
        self.names.insert(name.clone());
        self.page.listed.tools.push(ToolDefinition {
            title: title(&tool, &name),
            description: string(&tool, "description")
                .map(|description| text::block(description, MAX_DESCRIPTION))
                .unwrap_or_default(),
            input_schema: schema.value.into(),
            annotations: annotations(tool.get("annotations")),
            name,
        });
        Ok(())
    }

    fn finish(mut self) -> Page {
        if self.left_out > 0 || self.full() {
            let sentence =
                format!("It offers more than {MAX_TOOLS} tools. The others are left out.");
            self.page.listed.problems.push(sentence);
        }
        if self.problems > MAX_PROBLEMS {
            let more = self.problems - MAX_PROBLEMS;
            let sentence = format!("There are {more} more problems like these.");
            self.page.listed.problems.push(sentence);
        }
        self.page
    }
}

/// Where there is none, the name stands in; what is not fit for the eye is left out of it.
fn title(tool: &Map<String, Value>, name: &str) -> Option<String> {
    let hinted = tool.get("annotations").and_then(Value::as_object);
    let title = string(tool, "title").or_else(|| string(hinted?, "title"));
    let title = title.map(|title| text::line(title, MAX_TITLE));
    let title = title.filter(|title| !title.is_empty());
    let instead = || match text::line(name, MAX_TITLE) {
        clean if clean == name => None,
        clean if clean.is_empty() => Some("A tool without a name to be seen".to_owned()),
        clean => Some(clean),
    };
    title.or_else(instead)
}

fn string<'a>(of: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    of.get(name).and_then(Value::as_str)
}

/// What is not said is what the specification says it means: the worst.
fn annotations(hints: Option<&Value>) -> Annotations {
    let hint = |name: &str| {
        hints
            .and_then(|hints| hints.get(name))
            .and_then(Value::as_bool)
    };
    let read_only = hint("readOnlyHint").unwrap_or(false);
    Annotations {
        read_only,
        destructive: !read_only && hint("destructiveHint").unwrap_or(true),
        idempotent: hint("idempotentHint").unwrap_or(false),
        open_world: hint("openWorldHint").unwrap_or(true),
        ends_turn: false,
        deprecated: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(tools: &[Value]) -> Page {
        let mut reader = Reader::default();
        for tool in tools {
            let raw = RawValue::from_string(tool.to_string()).unwrap();
            reader.take(&raw);
        }
        reader.finish()
    }

    #[track_caller]
    fn check(tool: Value, problem: &str) {
        let good = json!({ "name": "good", "inputSchema": { "type": "object" } });
        let page = read(&[tool.clone(), good]);
        let names: Vec<&str> = page
            .listed
            .tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect();
        assert_eq!(names, ["good"], "{tool}");
        assert_eq!(page.listed.problems, [problem], "{tool}");
    }

    #[test]
    fn a_bad_tool_costs_only_itself() {
        check(
            json!("tool"),
            "Tool 1 is left out, because it cannot be read: invalid type: string \"tool\", expected a map at line 1 column 6.",
        );
        let quoted = format!("invalid type: string \"{}…", "x".repeat(278));
        check(
            json!("x".repeat(500_000)),
            &format!("Tool 1 is left out, because it cannot be read: {quoted}."),
        );
        check(json!({}), "Tool 1 is left out, because it has no name.");
        check(
            json!({ "name": 5 }),
            "Tool 1 is left out, because it has no name.",
        );
        check(
            json!({ "name": "a\u{7}b" }),
            "`ab` is left out: its name has control characters in it.",
        );
        check(
            json!({ "name": "b", "inputSchema": { "type": "string" } }),
            "`b` is left out: its input is not an object but a string.",
        );
        check(
            json!({ "name": "b", "inputSchema": false }),
            "`b` is left out: its schema allows no input at all.",
        );
        check(
            json!({ "name": "x".repeat(600) }),
            &format!("`{}…` is left out: its name is too long.", "x".repeat(60)),
        );
    }

    #[test]
    fn a_name_that_stands_twice_counts_once() {
        let tool = json!({ "name": "a", "inputSchema": { "type": "object" } });
        let page = read(&[tool.clone(), tool]);
        assert_eq!(page.listed.tools.len(), 1);
        assert_eq!(
            page.listed.problems,
            ["`a` is offered twice. The first one counts."]
        );
    }

    #[test]
    fn a_name_that_deceives_the_eye_is_kept_and_shown_clean() {
        let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
        let names = ["plain", "pay\u{202e}lap", "ec\u{200b}ho", "\u{200b}"];
        let page = read(&names.map(tool));
        let tools = &page.listed.tools;
        let kept: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(kept, names);
        let shown: Vec<Option<&str>> = tools.iter().map(|tool| tool.title.as_deref()).collect();
        let unseen = "A tool without a name to be seen";
        assert_eq!(shown, [None, Some("paylap"), Some("echo"), Some(unseen)]);
    }

    #[test]
    fn strange_names_and_texts_are_taken_as_they_are_or_cleaned() {
        let long = "n".repeat(300);
        let page = read(&[
            json!({ "name": "../../etc", "inputSchema": { "type": "object" }, "title": " A\u{1b}[1m\ntitle ", "description": "One\u{0}\n two" }),
            json!({ "name": long, "inputSchema": { "type": "object" }, "title": 7, "annotations": { "readOnlyHint": true, "title": "" } }),
        ]);
        let [first, second] = &page.listed.tools[..] else {
            panic!("{page:?}");
        };
        assert_eq!(first.title.as_deref(), Some("A[1m title"));
        assert_eq!(first.description, "One\n two");
        assert!(first.annotations.destructive && first.annotations.open_world);
        assert_eq!(second.name, long);
        assert_eq!(second.title, Some(format!("{}…", "n".repeat(120))));
        assert!(second.annotations.read_only && !second.annotations.destructive);
        assert_eq!(page.listed.problems, Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_long_list_is_read_where_nobody_waits_for_it() {
        let schema =
            json!({ "type": "object", "properties": { "a": { "enum": vec!["x"; 1000] } } });
        let tools: Vec<Value> = (0..1500)
            .map(|number| json!({ "name": format!("t{number}"), "inputSchema": schema }))
            .collect();
        let page = to_raw_value(&json!({ "tools": tools, "nextCursor": "on" })).unwrap();
        let mut longest = Duration::ZERO;
        let ticks = async {
            loop {
                let began = std::time::Instant::now();
                tokio::time::sleep(Duration::from_millis(5)).await;
                longest = longest.max(began.elapsed());
            }
        };
        let (reader, next) = tokio::select! {
            read = Reader::default().read_page(page) => read.unwrap(),
            () = ticks => unreachable!("it goes on for ever"),
        };
        assert!(longest > Duration::ZERO, "others had their turn");
        assert_eq!(next.as_deref(), Some("on"));
        assert_eq!(reader.finish().listed.tools.len(), 1500);
    }
}
