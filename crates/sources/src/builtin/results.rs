//! Reads back outputs that were too long to show.
//!
//! Offsets are bytes of the output as text, cut between characters: a page can
//! then be found at once in any output, and a place that `search_result` names
//! is a place `read_result` can begin at. The pages of an output, put one after
//! another, are the output.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::text::{chars_after, chars_before, excerpt, shorten};
use tenon_domain::{BlobId, ErrorKind, ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_tools::output_store::READ_RESULT;
use tenon_tools::{CallContext, OutputStore, Relevance};

use super::blocking::{StopSignal, blocking};
use super::matcher::CaseInsensitiveMatcher;
use super::{AnyTool, BuiltinTool, READS_ONLY};

/// With its two lines of notes, a page stays below the 16 KiB the hub shows:
/// else reading a kept output would make another kept output.
const MAX_PAGE_BYTES: usize = 12_000;

const HITS_PER_PAGE: usize = 10;

/// How much is shown before and after a hit, in characters.
const SHOWN_AROUND: usize = 100;

pub(super) fn tools(outputs: Arc<dyn OutputStore>) -> Vec<Box<dyn AnyTool>> {
    vec![
        Box::new(ReadResult {
            outputs: outputs.clone(),
        }),
        Box::new(SearchResult { outputs }),
    ]
}

fn blob_schema() -> Value {
    json!({
        "type": "string",
        "description": "The blob_id in the note at the end of an output that was too long to show.",
        "examples": ["0199f3a2-7c1e-7000-8000-000000000001"],
    })
}

struct ReadResult {
    outputs: Arc<dyn OutputStore>,
}

#[derive(Deserialize)]
struct ReadResultInput {
    blob_id: String,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

#[async_trait]
impl BuiltinTool for ReadResult {
    type Input = ReadResultInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "read_result".into(),
            title: Some("Read result".into()),
            description: "Reads a page of an output that was too long to show."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "blob_id": blob_schema(),
                    "offset": {
                        "type": "integer",
                        "description": "Where to begin, in bytes; left out, at the beginning.",
                        "minimum": 0,
                        "examples": [0, 12000],
                    },
                    "limit": {
                        "type": "integer",
                        "description": format!("How much to read, in bytes; left out, {MAX_PAGE_BYTES}."),
                        "minimum": 1,
                        "maximum": MAX_PAGE_BYTES,
                        "examples": [4000],
                    },
                },
                "required": ["blob_id"],
                "additionalProperties": false,
            })
            .into(),
            annotations: READS_ONLY,
        }
    }

    fn keywords(&self) -> &'static str {
        "读取结果, 继续读取, 下一页, 讀取結果"
    }

    fn relevance(&self) -> Relevance {
        Relevance::AfterCutOutput
    }

    async fn run(&self, input: ReadResultInput, context: &CallContext) -> ToolResult {
        let bytes = fetch(&*self.outputs, &input.blob_id, context).await?;
        let limit = input.limit.unwrap_or(MAX_PAGE_BYTES).min(MAX_PAGE_BYTES);
        blocking(context, move |_| {
            page(&text(bytes), input.offset, limit).map(ToolOutput::text)
        })
        .await
    }
}

struct SearchResult {
    outputs: Arc<dyn OutputStore>,
}

#[derive(Deserialize)]
struct SearchResultInput {
    blob_id: String,
    query: String,
    page: Option<usize>,
}

#[async_trait]
impl BuiltinTool for SearchResult {
    type Input = SearchResultInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "search_result".into(),
            title: Some("Search result".into()),
            description: "Finds the places in an output that was too long to show where a text \
                          occurs, whatever its case."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "blob_id": blob_schema(),
                    "query": {
                        "type": "string",
                        "description": "The text to look for: plain text, not a pattern.",
                        "minLength": 1,
                        "maxLength": 1000,
                        "examples": ["error"],
                    },
                    "page": {
                        "type": "integer",
                        "description": format!("Which {HITS_PER_PAGE} places to show, counted from 1; left out, the first."),
                        "minimum": 1,
                        "examples": [2],
                    },
                },
                "required": ["blob_id", "query"],
                "additionalProperties": false,
            }).into(),
            annotations: READS_ONLY,
        }
    }

    fn keywords(&self) -> &'static str {
        "搜索结果, 在结果中查找, 搜尋結果"
    }

    fn relevance(&self) -> Relevance {
        Relevance::AfterCutOutput
    }

    async fn run(&self, input: SearchResultInput, context: &CallContext) -> ToolResult {
        let needle = CaseInsensitiveMatcher::new(&input.query).ok_or_else(|| {
            ToolError::invalid_input("`query` is empty: name the text to look for.")
        })?;
        let bytes = fetch(&*self.outputs, &input.blob_id, context).await?;
        let page = input.page.unwrap_or(1);
        blocking(context, move |stop| {
            search(&text(bytes), &needle, page, stop).map(ToolOutput::text)
        })
        .await
    }
}

pub(super) async fn fetch(
    outputs: &dyn OutputStore,
    blob: &str,
    context: &CallContext,
) -> Result<Vec<u8>, ToolError> {
    match outputs.get(&context.user, &BlobId::new(blob)).await {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => {
            let shown = shorten(blob, 80);
            Err(ToolError::failed(format!(
                "There is no kept output `{shown}`. Use a blob_id from the note at the end of an output."
            )))
        }
        Err(error) => {
            tracing::error!(%error, "a kept output could not be read back");
            Err(ToolError::new(
                ErrorKind::Unavailable,
                "The kept output cannot be read now. Try again later.",
            ))
        }
    }
}

/// Without a copy for what is valid, which is nearly everything.
pub(super) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A line that says what is shown, the page, a line that says how to go on.
fn page(text: &str, offset: usize, limit: usize) -> Result<String, ToolError> {
    if offset >= text.len() && offset > 0 {
        return Err(ToolError::failed(format!(
            "The output is {} bytes long; there is nothing at offset {offset}.",
            text.len()
        )));
    }
    let start = text.floor_char_boundary(offset);
    let mut end = text.floor_char_boundary(start.saturating_add(limit));
    // One character is the least: a page must lead on.
    if end == start {
        end = text.ceil_char_boundary(start + 1);
    }
    let onward = if end < text.len() {
        format!("[Read on with offset {end}.]")
    } else {
        "[This is the end.]".into()
    };
    Ok(format!(
        "[bytes {start}–{end} of {}]\n{}\n{onward}",
        text.len(),
        &text[start..end]
    ))
}

fn search(
    text: &str,
    needle: &CaseInsensitiveMatcher,
    page: usize,
    stop: &StopSignal,
) -> Result<String, ToolError> {
    let first = page.saturating_sub(1).saturating_mul(HITS_PER_PAGE);
    let mut shown = Vec::new();
    let mut total = 0;
    let (mut line, mut counted) = (1, 0);
    for place in needle.find_all(text) {
        // Not at every place: asking costs more than finding one.
        if total % 1000 == 0 {
            stop.check()?;
        }
        if total >= first && shown.len() < HITS_PER_PAGE {
            // Lines are counted from hit to hit, so that all of it is one pass.
            line += text[counted..place.start]
                .bytes()
                .filter(|byte| *byte == b'\n')
                .count();
            counted = place.start;
            shown.push(format!(
                "line {line}, offset {}: {}",
                place.start,
                around(text, &place)
            ));
        }
        total += 1;
    }
    let pages = total.div_ceil(HITS_PER_PAGE);
    Ok(match (total, shown.is_empty()) {
        (0, _) => "Nothing found.".into(),
        (_, true) => format!("There are only {pages} pages of results."),
        (_, false) => {
            let last = first + shown.len();
            let head = format!(
                "[{}–{last} of {total} places, page {page} of {pages}]",
                first + 1
            );
            let advice = format!("[Read around a place with {READ_RESULT} and its offset.]");
            format!("{head}\n{}\n{advice}", shown.join("\n"))
        }
    })
}

/// What stands around a place, on one line.
fn around(text: &str, place: &std::ops::Range<usize>) -> String {
    let start = chars_before(text, place.start, SHOWN_AROUND);
    let end = chars_after(text, place.end, SHOWN_AROUND);
    excerpt(text, start..end).replace(['\n', '\r', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_page(text: &str, offset: usize, limit: usize, expected: &str) {
        let said = page(text, offset, limit).unwrap_or_else(|error| error.message);
        assert_eq!(said, expected);
    }

    #[test]
    fn a_page_is_cut_between_characters() {
        check_page(
            "hello",
            0,
            100,
            "[bytes 0–5 of 5]\nhello\n[This is the end.]",
        );
        check_page(
            "hello",
            0,
            2,
            "[bytes 0–2 of 5]\nhe\n[Read on with offset 2.]",
        );
        check_page("hello", 4, 2, "[bytes 4–5 of 5]\no\n[This is the end.]");
        check_page(
            "hello",
            5,
            2,
            "The output is 5 bytes long; there is nothing at offset 5.",
        );
        check_page("", 0, 2, "[bytes 0–0 of 0]\n\n[This is the end.]");
        check_page(
            "中文字",
            0,
            4,
            "[bytes 0–3 of 9]\n中\n[Read on with offset 3.]",
        );
        check_page(
            "中文字",
            4,
            3,
            "[bytes 3–6 of 9]\n文\n[Read on with offset 6.]",
        );
        check_page(
            "中文字",
            0,
            1,
            "[bytes 0–3 of 9]\n中\n[Read on with offset 3.]",
        );
        check_page(
            "中文字",
            usize::MAX,
            1,
            &format!(
                "The output is 9 bytes long; there is nothing at offset {}.",
                usize::MAX
            ),
        );
    }

    #[track_caller]
    fn check_search(text: &str, query: &str, page: usize, expected: &str) {
        let needle = CaseInsensitiveMatcher::new(query).unwrap();
        assert_eq!(
            search(text, &needle, page, &StopSignal::never()).unwrap(),
            expected
        );
    }

    #[test]
    fn a_search_names_line_and_offset() {
        let advice = format!("[Read around a place with {READ_RESULT} and its offset.]");
        check_search(
            "a\nb\nCat here\n",
            "cat",
            1,
            &format!("[1–1 of 1 places, page 1 of 1]\nline 3, offset 4: a b Cat here \n{advice}"),
        );
        check_search(
            "一\n二",
            "二",
            1,
            &format!("[1–1 of 1 places, page 1 of 1]\nline 2, offset 4: 一 二\n{advice}"),
        );
        check_search("dog", "cat", 1, "Nothing found.");
        check_search("cat", "cat", 2, "There are only 1 pages of results.");
        let cats = "cat\n".repeat(25);
        let second = search(
            &cats,
            &CaseInsensitiveMatcher::new("cat").unwrap(),
            3,
            &StopSignal::never(),
        )
        .unwrap();
        assert!(
            second.starts_with("[21–25 of 25 places, page 3 of 3]\nline 21, offset 80: "),
            "{second}"
        );
    }

    #[test]
    fn a_search_stops_when_told() {
        let needle = CaseInsensitiveMatcher::new("cat").unwrap();
        assert_eq!(
            search("cat", &needle, 1, &StopSignal::now()),
            Err(ToolError::cancelled())
        );
    }
}
