//! Converts the outcome of a call into mcpo's response.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_domain::{Content, ToolOutput};

use super::fault::McpoFault;

/// What mcpo says of a tool that failed and gave no reason.
const UNKNOWN_ERROR: &str = "Unknown tool execution error";

/// More than this is no remark about a result. Each is compared with every member of it.
const MAX_PROSE_BLOCKS: usize = 8;

/// A result of `tools/call`, as far as mcpo looks into it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawCallResult<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
    is_error: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultBlock<'a> {
    r#type: String,
    text: Option<String>,
    #[serde(default)]
    data: String,
    #[serde(default)]
    mime_type: String,
    #[serde(borrow)]
    resource: Option<&'a RawValue>,
}

/// The JSON that answers a call, from the result as its MCP server wrote it.
pub(crate) fn from_mcp(raw: &RawValue) -> Result<Vec<u8>, McpoFault> {
    // What is no such result has no content.
    let result: RawCallResult<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    if result.is_error {
        let first = result.content.first().and_then(|block| block_of(block));
        let message = first.and_then(|block| block.text);
        return Err(McpoFault::ToolFailed(
            message.unwrap_or_else(|| UNKNOWN_ERROR.to_owned()),
        ));
    }
    let mut items = ItemWriter::default();
    if let Some(structured) = result.structured_content
        && says_less(&result.content, structured)
    {
        items.add_raw(structured.get());
        return Ok(items.finish());
    }
    for raw in &result.content {
        match block_of(raw) {
            Some(block) => items.add_block(raw, &block),
            None => items.add_raw(raw.get()),
        }
    }
    Ok(items.finish())
}

/// Whether the content is prose about the structured result, or nothing. A program wants the result
/// itself then, as the document describes it. mcpo loses it, but its clients rely on plain text of
/// tools that wrap their text in an object.
fn says_less(content: &[&RawValue], structured: &RawValue) -> bool {
    // As raw values: only those that may be the text are looked into.
    let Ok(members) = serde_json::from_str::<HashMap<String, &RawValue>>(structured.get()) else {
        return content.is_empty();
    };
    content.len() <= MAX_PROSE_BLOCKS
        && content.iter().all(|raw| {
            let block = block_of(raw).filter(|block| block.r#type == "text");
            let text = block.and_then(|block| block.text);
            text.is_some_and(|text| {
                let is_json = serde_json::from_str::<&RawValue>(&text).is_ok();
                !is_json && !members.values().any(|value| is_text(value, &text))
            })
        })
}

fn is_text(value: &RawValue, text: &str) -> bool {
    // No escape is shorter than what it stands for.
    let json = value.get();
    json.starts_with('"')
        && json.len() >= text.len() + 2
        && serde_json::from_str::<String>(json).is_ok_and(|value| value == text)
}

/// The same from a result of any other tool.
pub(crate) fn from_output(output: &ToolOutput) -> Vec<u8> {
    let mut items = ItemWriter::default();
    for part in &output.content {
        match part {
            Content::Text { text } => items.add_text(text),
            Content::Json { value } => items.add_raw(&value.to_string()),
            Content::Image { media_type, data }
            | Content::File {
                media_type, data, ..
            } => items.add_data(media_type, data),
            Content::Blob { .. } => {
                items.add_raw(&serde_json::to_value(part).unwrap_or_default().to_string());
            }
        }
    }
    items.finish()
}

fn block_of(raw: &RawValue) -> Option<ResultBlock<'_>> {
    serde_json::from_str(raw.get()).ok()
}

/// One item stands for itself; none or several are an array.
#[derive(Default)]
struct ItemWriter {
    json: String,
    count: usize,
}

impl ItemWriter {
    fn add_block(&mut self, raw: &RawValue, block: &ResultBlock<'_>) {
        match (block.r#type.as_str(), &block.text, block.resource) {
            ("text", Some(text), _) => self.add_text(text),
            ("image" | "audio", _, _) => self.add_data(&block.mime_type, &block.data),
            ("resource", _, Some(resource)) => self.add_raw(resource.get()),
            _ => self.add_raw(raw.get()),
        }
    }

    /// A text that is JSON is the value that it says, digit for digit.
    fn add_text(&mut self, text: &str) {
        match serde_json::from_str::<&RawValue>(text) {
            Ok(json) => self.add_raw(json.get()),
            Err(_) => self.add_raw(&Value::from(text).to_string()),
        }
    }

    fn add_data(&mut self, media_type: &str, data: &str) {
        let url = format!("data:{media_type};base64,{data}");
        self.add_raw(&Value::String(url).to_string());
    }

    fn add_raw(&mut self, json: &str) {
        if self.count > 0 {
            self.json.push(',');
        }
        self.json.push_str(json);
        self.count += 1;
    }

    fn finish(self) -> Vec<u8> {
        let json = match self.count {
            1 => self.json,
            _ => format!("[{}]", self.json),
        };
        json.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::to_raw_value;

    fn shape(result: Value) -> Result<String, McpoFault> {
        let raw = to_raw_value(&result).unwrap();
        from_mcp(&raw).map(|json| String::from_utf8(json).unwrap())
    }

    #[track_caller]
    fn check(content: Value, expected: &str) {
        let shaped = shape(json!({ "content": content.clone() })).unwrap();
        assert_eq!(shaped, expected, "{content}");
    }

    #[test]
    fn content_has_the_shapes_of_mcpo() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        check(json!([text("hello")]), r#""hello""#);
        check(
            json!([text("12345678901234567890123")]),
            "12345678901234567890123",
        );
        check(json!([text("{\"a\": 1}")]), r#"{"a": 1}"#);
        check(json!([text("")]), r#""""#);
        check(json!([text("1"), text("two")]), r#"[1,"two"]"#);
        check(json!([]), "[]");
        let image = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
        check(json!([image]), r#""data:image/png;base64,aGk=""#);
    }

    #[test]
    fn what_mcpo_drops_is_told() {
        let audio = json!({ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" });
        check(json!([audio]), r#""data:audio/wav;base64,aGk=""#);
        let resource = json!({ "type": "resource", "resource": { "uri": "a://b", "text": "hi" } });
        check(json!([resource]), r#"{"uri":"a://b","text":"hi"}"#);
        let link = json!({ "type": "resource_link", "uri": "a://b", "name": "b" });
        check(
            json!([link]),
            r#"{"type":"resource_link","uri":"a://b","name":"b"}"#,
        );
    }

    #[test]
    fn what_is_only_told_in_prose_is_answered_as_it_is_structured() {
        let check = |texts: &[&str], structured: Value, expected: &str| {
            let blocks = texts
                .iter()
                .map(|text| json!({ "type": "text", "text": text }));
            let result = json!({
                "content": blocks.collect::<Vec<_>>(),
                "structuredContent": structured,
            });
            assert_eq!(shape(result).unwrap(), expected);
        };
        check(&[], json!({ "a": 1 }), r#"{"a":1}"#);
        check(&[], json!([1]), "[1]");
        check(&["It is one."], json!({ "a": 1 }), r#"{"a":1}"#);
        check(&["It is", "one."], json!({ "a": 1 }), r#"{"a":1}"#);
        // As mcpo answers.
        check(&["{\"a\": 1}"], json!({ "a": 1 }), r#"{"a": 1}"#);
        check(&["hi"], json!({ "result": "hi" }), r#""hi""#);
        check(
            &["Done."],
            json!({ "ok": true, "message": "Done." }),
            r#""Done.""#,
        );
    }

    #[test]
    fn a_failed_tool_is_told_in_its_own_words() {
        let failed = |content: Value| {
            let result = json!({ "isError": true, "content": content });
            match shape(result) {
                Err(McpoFault::ToolFailed(message)) => message,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(failed(json!([{ "type": "text", "text": "No." }])), "No.");
        assert_eq!(failed(json!([])), UNKNOWN_ERROR);
    }
}
