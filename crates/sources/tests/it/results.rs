//! Reading back what was too long to show.

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_domain::{
    Annotations, Content, ErrorKind, SourceId, SourceInfo, SourceKind, ToolDefinition, ToolOutput,
    ToolResult, UserId,
};
use tenon_tools::{CallContext, OutputStore, ToolSource};

use crate::harness::BuiltinHarness;

/// The page without the line before and the line after it, and where the next begins.
fn take_apart(page: &str) -> (&str, Option<usize>) {
    let (_, rest) = page.split_once('\n').unwrap();
    let (content, onward) = rest.rsplit_once('\n').unwrap();
    let next = onward
        .strip_prefix("[Read on with offset ")
        .and_then(|rest| rest.strip_suffix(".]"));
    (content, next.map(|offset| offset.parse().unwrap()))
}

/// Reads on and on, as a model would, until the end.
async fn read_all(harness: &BuiltinHarness, blob: &str, limit: usize) -> String {
    let mut whole = String::new();
    let mut next = Some(0);
    while let Some(offset) = next {
        let input = json!({"blob_id": blob, "offset": offset, "limit": limit});
        let output = harness.call("read_result", input).await.unwrap();
        let [Content::Text { text }] = output.content.as_slice() else {
            panic!(
                "a page must not be cut and kept again: {:?}",
                output.content.len()
            );
        };
        let (content, onward) = take_apart(text);
        whole.push_str(content);
        next = onward;
    }
    whole
}

#[tokio::test]
async fn the_pages_of_an_output_are_the_output() {
    let harness = BuiltinHarness::new().await;
    let text: String = (0..20_000)
        .map(|n| format!("{n} 行：你好, wörld 💡\r\n"))
        .collect();
    let blob = harness.keep(text.clone()).await;
    for limit in [12_000, 5_001, 997] {
        assert!(
            read_all(&harness, &blob, limit).await == text,
            "with pages of {limit}"
        );
    }
}

#[tokio::test]
async fn the_pages_of_an_output_that_is_not_utf_8_can_be_read() {
    let harness = BuiltinHarness::new().await;
    let bytes = b"\xff\xfe good \xf0\x9f\n".repeat(3000);
    let blob = harness.keep(bytes.clone()).await;
    assert!(read_all(&harness, &blob, 12_000).await == String::from_utf8_lossy(&bytes));
}

/// A source with one tool, that says far too much.
struct Giant {
    info: SourceInfo,
    says: String,
}

#[async_trait]
impl ToolSource for Giant {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        vec![ToolDefinition {
            name: "talk".into(),
            title: None,
            description: String::new(),
            input_schema: json!({"type": "object"}).into(),
            annotations: Annotations::default(),
        }]
    }

    async fn call(&self, _tool: &str, _input: Value, _context: &CallContext) -> ToolResult {
        Ok(ToolOutput::text(self.says.clone()))
    }
}

#[tokio::test]
async fn fifty_megabytes_on_one_line_are_kept_paged_and_searched() {
    let mut text = "0123456789 数据 ".repeat(50 * 1024 * 1024 / 18);
    let middle = text.floor_char_boundary(text.len() / 2);
    text.insert_str(middle, "NEEDLE");
    let mut harness = BuiltinHarness::new().await;
    let info = SourceInfo {
        id: SourceId::new("builtin:giant"),
        kind: SourceKind::Builtin,
        name: "giant".into(),
        title: "Giant".into(),
        owner: None,
    };
    harness
        .connect(Giant {
            info,
            says: text.clone(),
        })
        .await;
    let output = harness.call("talk", json!({})).await.unwrap();
    let Some(Content::Blob { blob_id, .. }) = output.content.last() else {
        panic!("{:?}", output.content.last());
    };
    let blob = blob_id.as_str();

    // All pages would take minutes; the first, one in the middle and the last stand for them.
    for offset in [0, middle, text.len() - 100] {
        let page = harness
            .text("read_result", json!({"blob_id": blob, "offset": offset}))
            .await;
        let start = text.floor_char_boundary(offset);
        let end = text.floor_char_boundary(start + 12_000);
        let next = (end < text.len()).then_some(end);
        assert_eq!(take_apart(&page), (&text[start..end], next));
    }
    let found = harness
        .text("search_result", json!({"blob_id": blob, "query": "needle"}))
        .await;
    let expected = format!("[1–1 of 1 places, page 1 of 1]\nline 1, offset {middle}: …");
    assert!(found.starts_with(&expected), "{found}");
}

#[tokio::test]
async fn a_tool_output_that_was_too_long_is_read_back_with_the_id_in_its_note() {
    let harness = BuiltinHarness::new().await;
    let text = "一行文字\n".repeat(10_000);
    harness
        .text("write_file", json!({"path": "long.txt", "content": text}))
        .await;
    let output = harness
        .call("read_file", json!({"path": "long.txt", "limit": 20_000}))
        .await
        .unwrap();
    let Some(Content::Blob { blob_id, bytes, .. }) = output.content.last() else {
        panic!("{:?}", output.content.last());
    };
    assert_eq!(*bytes, text.len() as u64);
    assert!(read_all(&harness, blob_id.as_str(), 12_000).await == text);
}

#[tokio::test]
async fn an_output_is_read_by_its_owner_only() {
    let harness = BuiltinHarness::new().await;
    let mut somebody = harness.context.clone();
    somebody.user = UserId::new("somebody");
    let other = harness
        .outputs
        .put(&somebody, "text/plain", b"secret".into())
        .await
        .unwrap();
    for (tool, input) in [
        ("read_result", json!({"blob_id": other.as_str()})),
        (
            "search_result",
            json!({"blob_id": other.as_str(), "query": "secret"}),
        ),
    ] {
        let message = format!(
            "There is no kept output `{other}`. Use a blob_id from the note at the end of an output."
        );
        assert_eq!(
            harness.error(tool, input).await,
            (ErrorKind::Failed, message)
        );
    }
}

#[tokio::test]
async fn a_page_beyond_the_end_says_where_the_end_is() {
    let harness = BuiltinHarness::new().await;
    let blob = harness.keep("short").await;
    let error = harness
        .error("read_result", json!({"blob_id": blob, "offset": 5}))
        .await;
    let message = "The output is 5 bytes long; there is nothing at offset 5.";
    assert_eq!(error, (ErrorKind::Failed, message.to_owned()));
    let (kind, _) = harness
        .error("read_result", json!({"blob_id": blob, "limit": 12_001}))
        .await;
    assert_eq!(kind, ErrorKind::InvalidInput);
}
