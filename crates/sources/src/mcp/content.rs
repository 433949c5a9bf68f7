//! The result of a call, as content of the domain.

use serde_json::{Map, Value};
use tenon_domain::{Content, ToolError, ToolOutput};
use tenon_mcp::{CallToolResult, EmbeddedResource, McpContentBlock, ResourceLink};
use tenon_net::media_type::essence;

use crate::call_error::{ServerCallError, failed};
use tenon_domain::text;

/// A result that a page brought.
pub(crate) fn read(result: Map<String, Value>) -> Result<ToolOutput, ToolError> {
    convert(CallToolResult::read(result))
}

/// What the server marks as an error is one.
pub(super) fn convert(result: CallToolResult) -> Result<ToolOutput, ToolError> {
    let mut content: Vec<Content> = result.content.into_iter().map(block).collect();
    if let Some(structured) = result.structured_content {
        add_structured(structured, &mut content);
    }
    let output = ToolOutput { content };
    if !result.is_error {
        return Ok(output);
    }
    let said = output.to_text();
    if said.trim().is_empty() {
        return Err(failed(ServerCallError::WithoutReason));
    }
    Err(ToolError::failed(text::without_controls(&said)))
}

/// Most servers send the same twice, as a text and as a value. It is kept once: as a
/// value, unless that only wraps the text.
fn add_structured(structured: Value, content: &mut Vec<Content>) {
    let wrapped = match &structured {
        Value::Object(object) if object.len() == 1 => object.get("result"),
        _ => None,
    };
    let says = |text: &str, value: &Value| {
        value.as_str() == Some(text)
            || serde_json::from_str(text).is_ok_and(|read: Value| read == *value)
    };
    let texts = content.iter().filter_map(|part| match part {
        Content::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    let whole = texts.join("\n");
    if wrapped.is_some_and(|wrapped| says(&whole, wrapped)) {
        return;
    }
    // A list comes as one text for each of its members.
    let members = wrapped.and_then(Value::as_array);
    let one_by_one = members.is_some_and(|members| {
        !members.is_empty()
            && members.len() == texts.len()
            && members
                .iter()
                .zip(&texts)
                .all(|(member, text)| says(text, member))
    });
    let is_repeated = |part: &Content| match part {
        Content::Text { text } => says(text, &structured) || one_by_one,
        _ => false,
    };
    let index = content
        .iter()
        .position(is_repeated)
        .unwrap_or(content.len());
    content.retain(|part| !is_repeated(part));
    let index = index.min(content.len());
    content.insert(index, Content::Json { value: structured });
}

fn block(block: McpContentBlock) -> Content {
    match block {
        McpContentBlock::Text(text) => Content::Text { text },
        McpContentBlock::Value(value) => Content::Json { value },
        McpContentBlock::Image { mime_type, data } => image(media_type(mime_type), data),
        McpContentBlock::Audio { mime_type, data } => file(media_type(mime_type), None, data),
        McpContentBlock::Resource(Some(resource)) => embedded(resource),
        McpContentBlock::Resource(None) => note("a resource that is empty"),
        McpContentBlock::ResourceLink(link) => resource_link(&link),
        McpContentBlock::Unknown { kind, block } => {
            let kind = text::line(&kind, 40);
            Content::Text {
                text: format!(
                    "[content of the kind \"{kind}\", which Tenon does not know: {block}]"
                ),
            }
        }
    }
}

fn image(media_type: String, data: String) -> Content {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    // What is none would make a model refuse the whole chat.
    if media_type.starts_with("image/") && !data.is_empty() && data.bytes().all(is_base64) {
        Content::Image { media_type, data }
    } else {
        note(&format!("an image that cannot be shown, {media_type}"))
    }
}

fn embedded(resource: EmbeddedResource) -> Content {
    let uri = text::line(&resource.uri, 500);
    let media_type = media_type(resource.mime_type);
    if let Some(text) = resource.text {
        return Content::Text {
            text: format!("[{uri}]\n{text}"),
        };
    }
    match resource.blob {
        Some(data) if media_type.starts_with("image/") => image(media_type, data),
        Some(data) => {
            let name = uri.rsplit(['/', '\\']).next().map(ToOwned::to_owned);
            file(media_type, name, data)
        }
        None => note(&format!("{uri}, which is empty")),
    }
}

/// Without the parameters of its type: only a response over HTTP can say that a page is to
/// be shown.
fn file(media_type: String, name: Option<String>, data: String) -> Content {
    if data.is_empty() {
        return note(&format!("a file that is empty, {media_type}"));
    }
    Content::File {
        media_type: essence(&media_type),
        name: name.filter(|name| !name.is_empty()),
        data,
    }
}

fn resource_link(link: &ResourceLink) -> Content {
    let title = Some(link.title.as_str()).filter(|title| !title.is_empty());
    let mut parts = vec![
        text::line(title.unwrap_or(&link.name), 200),
        text::line(&link.uri, 2000),
        text::line(link.mime_type.as_deref().unwrap_or_default(), 100),
        text::line(&link.description, 1000),
    ];
    parts.retain(|part| !part.is_empty());
    note(&format!("link: {}", parts.join(", ")))
}

fn media_type(mime_type: Option<String>) -> String {
    match text::line(&mime_type.unwrap_or_default(), 100) {
        none if none.is_empty() => "application/octet-stream".to_owned(),
        media_type => media_type,
    }
}

fn note(what: &str) -> Content {
    Content::Text {
        text: format!("[{what}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(result: Value, expected: &[Content]) {
        let Value::Object(object) = result.clone() else {
            panic!("{result}");
        };
        assert_eq!(read(object).unwrap().content, expected, "{result}");
    }

    fn text(text: &str) -> Content {
        Content::Text { text: text.into() }
    }

    #[test]
    fn every_kind_of_content_becomes_one_we_know_or_is_named() {
        let one = |part: Value| json!({ "content": [part] });
        check(one(json!({ "type": "text", "text": "hi" })), &[text("hi")]);
        let image = Content::Image {
            media_type: "image/png".into(),
            data: "aGk=".into(),
        };
        check(
            one(json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" })),
            std::slice::from_ref(&image),
        );
        check(
            one(
                json!({ "type": "resource", "resource": { "uri": "a://b", "mimeType": "image/png", "blob": "aGk=" } }),
            ),
            &[image],
        );
        check(
            one(json!({ "type": "image", "data": "<svg>", "mimeType": "image/png" })),
            &[text("[an image that cannot be shown, image/png]")],
        );
        check(
            one(json!({ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" })),
            &[Content::File {
                media_type: "audio/wav".into(),
                name: None,
                data: "aGk=".into(),
            }],
        );
        // Nothing but an answer over HTTP can say that a page is to be shown.
        check(
            one(
                json!({ "type": "resource", "resource": { "uri": "ui://a", "mimeType": tenon_domain::SHOWN_PAGE, "blob": "aGk=" } }),
            ),
            &[Content::File {
                media_type: "text/html".into(),
                name: Some("a".into()),
                data: "aGk=".into(),
            }],
        );
        check(
            one(
                json!({ "type": "resource", "resource": { "uri": "file:///a/b.zip", "blob": "aGk=" } }),
            ),
            &[Content::File {
                media_type: "application/octet-stream".into(),
                name: Some("b.zip".into()),
                data: "aGk=".into(),
            }],
        );
        check(
            one(json!({ "type": "resource", "resource": { "uri": "file:///a.txt", "text": "A" } })),
            &[text("[file:///a.txt]\nA")],
        );
        check(
            one(
                json!({ "type": "resource_link", "uri": "file:///a.txt", "name": "a", "mimeType": "text/plain" }),
            ),
            &[text("[link: a, file:///a.txt, text/plain]")],
        );
        check(
            one(json!({ "type": "hologram", "x": 1 })),
            &[text(
                "[content of the kind \"hologram\", which Tenon does not know: {\"type\":\"hologram\",\"x\":1}]",
            )],
        );
    }

    #[test]
    fn what_is_said_twice_is_told_once() {
        let value = json!({ "temperature": 20 });
        let json_part = Content::Json {
            value: value.clone(),
        };
        check(
            json!({ "content": [{ "type": "text", "text": "{ \"temperature\": 20 }" }], "structuredContent": value }),
            std::slice::from_ref(&json_part),
        );
        check(
            json!({ "structuredContent": value }),
            std::slice::from_ref(&json_part),
        );
        check(
            json!({ "content": [{ "type": "text", "text": "It is warm." }], "structuredContent": value }),
            &[text("It is warm."), json_part],
        );
        check(
            json!({ "content": [{ "type": "text", "text": "hello" }], "structuredContent": { "result": "hello" } }),
            &[text("hello")],
        );
        check(
            json!({ "content": [{ "type": "text", "text": "1" }, { "type": "text", "text": "2" }], "structuredContent": { "result": [1, 2] } }),
            &[Content::Json {
                value: json!({ "result": [1, 2] }),
            }],
        );
    }

    #[test]
    fn an_error_is_told_in_the_words_of_the_tool() {
        let failed = |content: Value| {
            let result = json!({ "isError": true, "content": content });
            read(result.as_object().unwrap().clone())
                .unwrap_err()
                .message
        };
        assert_eq!(
            failed(json!([{ "type": "text", "text": "No such file." }])),
            "No such file."
        );
        let coloured = json!([{ "type": "text", "text": "\u{1b}[31mNo\n\tsuch\u{7} file." }]);
        assert_eq!(failed(coloured), "[31mNo\n\tsuch file.");
        assert_eq!(failed(json!([])), "The tool failed without saying why.");
    }
}
