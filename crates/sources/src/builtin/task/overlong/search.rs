//! Searches in outputs that were too long to show.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use tenon_domain::text::{chars_after, chars_before, excerpt, shorten_to_bytes};
use tenon_domain::{ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_tools::{CallContext, OutputStore};

use super::{MAX_PAGE_BYTES, definition, navigation_definition, shortuuid};
use crate::builtin::blocking::{StopSignal, blocking};
use crate::builtin::results::{fetch, text};
use crate::builtin::task::{Navigation, PageSessions, TextPattern};
use crate::builtin::{AnyTool, BuiltinTool};

const HITS_PER_PAGE: usize = 10;
const MAX_HITS_PER_PAGE: usize = 50;

/// How much is shown around a hit, in characters.
const CONTEXT_CHARS: usize = 1_000;
const MAX_CONTEXT_CHARS: usize = 5_000;

/// The search itself, and what turns the pages of its hits.
pub(super) fn tools(outputs: &Arc<dyn OutputStore>) -> [Box<dyn AnyTool>; 2] {
    let sessions = Arc::new(PageSessions::new("search"));
    [
        Box::new(SearchOverlong {
            outputs: outputs.clone(),
            sessions: sessions.clone(),
        }),
        Box::new(NavigateSearch {
            outputs: outputs.clone(),
            sessions,
        }),
    ]
}

/// A stored output that is being searched.
#[derive(Debug, Clone)]
struct SearchSession {
    blob: String,
    pattern: TextPattern,
    page_hits: usize,
    context_chars: usize,
    page: usize,
}

struct SearchOverlong {
    outputs: Arc<dyn OutputStore>,
    sessions: Arc<PageSessions<SearchSession>>,
}

#[derive(Deserialize)]
struct SearchOverlongInput {
    shortuuid: String,
    pattern: String,
    page_size: Option<usize>,
    context_size: Option<usize>,
}

#[async_trait]
impl BuiltinTool for SearchOverlong {
    type Input = SearchOverlongInput;

    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "shortuuid": shortuuid(),
            "pattern": TextPattern::property(),
            "page_size": {
                "type": "integer",
                "description": format!("Hits of a page; left out, {HITS_PER_PAGE}."),
                "minimum": 1,
                "maximum": MAX_HITS_PER_PAGE,
                "examples": [5],
            },
            "context_size": {
                "type": "integer",
                "description": format!("Characters to show around a hit; left out, {CONTEXT_CHARS}."),
                "minimum": 0,
                "maximum": MAX_CONTEXT_CHARS,
                "examples": [200],
            },
        });
        definition(
            "search_overlong_tooloutput",
            "Search overlong output",
            "Searches in an output that was too long to show, and begins a session to turn the pages of the hits.",
            properties,
            &["shortuuid", "pattern"],
        )
    }

    async fn run(&self, input: SearchOverlongInput, context: &CallContext) -> ToolResult {
        let pattern = TextPattern::new(&input.pattern).ok_or_else(|| {
            ToolError::invalid_input("`pattern` is empty: name what to look for.")
        })?;
        let page_hits = input.page_size.unwrap_or(HITS_PER_PAGE);
        let context_chars = input.context_size.unwrap_or(CONTEXT_CHARS);
        let session = SearchSession {
            blob: input.shortuuid,
            pattern,
            page_hits: page_hits.clamp(1, MAX_HITS_PER_PAGE),
            context_chars: context_chars.min(MAX_CONTEXT_CHARS),
            page: 1,
        };
        let bytes = fetch(&*self.outputs, &session.blob, context).await?;
        let sessions = self.sessions.clone();
        blocking(context, move |stop| {
            let text = text(bytes);
            let hits = session.hits(&text, stop)?;
            if hits.is_empty() {
                return Ok(ToolOutput::text("Nothing found."));
            }
            let id = sessions.begin(session.clone());
            Ok(ToolOutput::text(session.show(&text, &hits, &id)))
        })
        .await
    }
}

struct NavigateSearch {
    outputs: Arc<dyn OutputStore>,
    sessions: Arc<PageSessions<SearchSession>>,
}

#[derive(Deserialize)]
struct NavigateSearchInput {
    search_session_id: String,
    #[serde(flatten)]
    navigation: Navigation,
}

#[async_trait]
impl BuiltinTool for NavigateSearch {
    type Input = NavigateSearchInput;

    fn definition(&self) -> ToolDefinition {
        navigation_definition(
            "search_overlong_tooloutput_navigate",
            "Turn pages of hits",
            "search_session_id",
        )
    }

    async fn run(&self, input: NavigateSearchInput, context: &CallContext) -> ToolResult {
        let (id, navigation) = (input.search_session_id, input.navigation);
        let mut session = self.sessions.get(&id)?;
        let bytes = fetch(&*self.outputs, &session.blob, context).await?;
        let sessions = self.sessions.clone();
        blocking(context, move |stop| {
            let text = text(bytes);
            let hits = session.hits(&text, stop)?;
            let pages = hits.len().div_ceil(session.page_hits);
            session.page = navigation.turn(session.page, pages)?;
            let shown = session.show(&text, &hits, &id);
            sessions.update(&id, session);
            Ok(ToolOutput::text(shown))
        })
        .await
    }
}

impl SearchSession {
    fn hits(&self, text: &str, stop: &StopSignal) -> Result<Vec<Range<usize>>, ToolError> {
        let mut hits = Vec::new();
        for place in self.pattern.find_all(text) {
            // Not at every place: asking costs more than finding one.
            if hits.len() % 1000 == 0 {
                stop.check()?;
            }
            hits.push(place);
        }
        Ok(hits)
    }

    fn show(&self, text: &str, hits: &[Range<usize>], id: &str) -> String {
        let first = (self.page - 1) * self.page_hits;
        let shown = hits.iter().skip(first).take(self.page_hits).enumerate();
        let max_bytes = MAX_PAGE_BYTES / self.page_hits;
        let shown = shown.map(|(index, place)| {
            let start = chars_before(text, place.start, self.context_chars / 2);
            let end = chars_after(text, place.end, self.context_chars / 2);
            let around = excerpt(text, start..end);
            let line = text[..place.start].matches('\n').count() + 1;
            format!(
                "--- hit {} in line {line} ---\n{}",
                first + index + 1,
                shorten_to_bytes(&around, max_bytes)
            )
        });
        let shown: Vec<String> = shown.collect();
        format!(
            "[page {} of {}, {} hits, search_session_id \"{id}\"]\n{}",
            self.page,
            hits.len().div_ceil(self.page_hits),
            hits.len(),
            shown.join("\n")
        )
    }
}
