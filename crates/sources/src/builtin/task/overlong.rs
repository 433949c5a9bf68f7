//! Outputs that were too long to show, in pages of 10,000 characters and ten hits.
//!
//! The outputs are those of the [`OutputStore`]: a `shortuuid` here is a blob id. Pages are counted by
//! characters, as tasks expect, but stay below what the hub shows: else viewing a stored output
//! would store another one.

mod search;

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tenon_domain::text::chars_after;
use tenon_domain::{ToolDefinition, ToolOutput, ToolResult};
use tenon_tools::{CallContext, OutputStore};

use super::{Navigation, PageSessions, definition};
use crate::builtin::blocking::blocking;
use crate::builtin::results::{fetch, text};
use crate::builtin::{AnyTool, BuiltinTool};

const PAGE_CHARS: usize = 10_000;

/// Below the 16 KiB that the hub shows, with room for the lines around a page.
const MAX_PAGE_BYTES: usize = 15_000;

pub(super) fn tools(outputs: Arc<dyn OutputStore>) -> Vec<Box<dyn AnyTool>> {
    let views = Arc::new(PageSessions::new("view"));
    let [search, navigate_search] = search::tools(&outputs);
    vec![
        Box::new(ViewOverlong {
            outputs: outputs.clone(),
            sessions: views.clone(),
        }),
        Box::new(NavigateView {
            outputs,
            sessions: views,
        }),
        search,
        navigate_search,
    ]
}

/// A stored output that is being viewed.
#[derive(Debug, Clone)]
struct ViewSession {
    blob: String,
    page_chars: usize,
    page: usize,
}

struct ViewOverlong {
    outputs: Arc<dyn OutputStore>,
    sessions: Arc<PageSessions<ViewSession>>,
}

#[derive(Deserialize)]
struct ViewOverlongInput {
    shortuuid: String,
    page_size: Option<usize>,
}

#[async_trait]
impl BuiltinTool for ViewOverlong {
    type Input = ViewOverlongInput;

    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "shortuuid": shortuuid(),
            "page_size": {
                "type": "integer",
                "description": format!("Characters of a page; left out, {PAGE_CHARS}."),
                "minimum": 1,
                "maximum": PAGE_CHARS,
                "examples": [5000],
            },
        });
        definition(
            "view_overlong_tooloutput",
            "View overlong output",
            "Shows the first page of an output that was too long to show, and begins a session to turn its pages.",
            properties,
            &["shortuuid"],
        )
    }

    async fn run(&self, input: ViewOverlongInput, context: &CallContext) -> ToolResult {
        let session = ViewSession {
            blob: input.shortuuid,
            page_chars: input.page_size.unwrap_or(PAGE_CHARS).min(PAGE_CHARS),
            page: 1,
        };
        let bytes = fetch(&*self.outputs, &session.blob, context).await?;
        let id = self.sessions.begin(session.clone());
        blocking(context, move |_| {
            let text = text(bytes);
            let pages = pages(&text, session.page_chars);
            Ok(ToolOutput::text(show_page(&text, &pages, 1, &id)))
        })
        .await
    }
}

struct NavigateView {
    outputs: Arc<dyn OutputStore>,
    sessions: Arc<PageSessions<ViewSession>>,
}

#[derive(Deserialize)]
struct NavigateViewInput {
    view_session_id: String,
    #[serde(flatten)]
    navigation: Navigation,
}

#[async_trait]
impl BuiltinTool for NavigateView {
    type Input = NavigateViewInput;

    fn definition(&self) -> ToolDefinition {
        navigation_definition(
            "view_overlong_tooloutput_navigate",
            "Turn pages of overlong output",
            "view_session_id",
        )
    }

    async fn run(&self, input: NavigateViewInput, context: &CallContext) -> ToolResult {
        let (id, navigation) = (input.view_session_id, input.navigation);
        let mut session = self.sessions.get(&id)?;
        let bytes = fetch(&*self.outputs, &session.blob, context).await?;
        let sessions = self.sessions.clone();
        blocking(context, move |_| {
            let text = text(bytes);
            let pages = pages(&text, session.page_chars);
            session.page = navigation.turn(session.page, pages.len())?;
            let shown = show_page(&text, &pages, session.page, &id);
            sessions.update(&id, session);
            Ok(ToolOutput::text(shown))
        })
        .await
    }
}

/// Where the pages of a text begin and end.
fn pages(text: &str, page_chars: usize) -> Vec<Range<usize>> {
    let mut pages = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let by_chars = chars_after(text, start, page_chars.max(1));
        let by_bytes = text.floor_char_boundary(start + MAX_PAGE_BYTES);
        let end = by_chars.min(by_bytes);
        pages.push(start..end);
        start = end;
    }
    if pages.is_empty() {
        pages.push(0..0);
    }
    pages
}

fn show_page(text: &str, pages: &[Range<usize>], page: usize, id: &str) -> String {
    let range = pages[page - 1].clone();
    format!(
        "[page {page} of {}, bytes {}–{} of {}, view_session_id \"{id}\"]\n{}",
        pages.len(),
        range.start,
        range.end,
        text.len(),
        &text[range.clone()]
    )
}

fn shortuuid() -> Value {
    json!({
        "type": "string",
        "description": "The shortuuid in the note at the end of an output that was too long to show.",
        "examples": ["0199f3a2-7c1e-7000-8000-000000000001"],
    })
}

fn navigation_definition(name: &str, title: &str, session: &str) -> ToolDefinition {
    let mut properties = Map::new();
    properties.insert(
        session.to_owned(),
        json!({
            "type": "string",
            "description": format!("The {session} in the first line of a page."),
            "examples": ["view_1"],
        }),
    );
    properties.extend(Navigation::properties());
    definition(
        name,
        title,
        "Turns to another page of a session.",
        Value::Object(properties),
        &[session, "action"],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_ten_thousand_characters_and_less_where_those_are_long() {
        let check = |text: &str, expected: &[usize]| {
            let pages = pages(text, PAGE_CHARS);
            let lengths: Vec<usize> = pages
                .iter()
                .map(|page| text[page.clone()].chars().count())
                .collect();
            assert_eq!(lengths, expected);
            let whole: String = pages.into_iter().map(|page| &text[page]).collect();
            assert_eq!(whole, text);
        };
        check("", &[0]);
        check(&"a".repeat(10_000), &[10_000]);
        check(&"a".repeat(25_000), &[10_000, 10_000, 5_000]);
        check(&"火".repeat(7_000), &[5_000, 2_000]);
    }
}
