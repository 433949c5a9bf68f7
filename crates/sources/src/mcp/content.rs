//! What a tool of a server said, in Tenon's words.

use serde_json::{Map, Value};
use tenon_domain::{Content, ToolError, ToolOutput};

use super::text;

/// The result of a call; what the server marks as an error is one.
pub(crate) fn read(mut result: Map<String, Value>) -> Result<ToolOutput, ToolError> {
    let failed = matches!(result.get("isError"), Some(Value::Bool(true)));
    let structured = result
        .remove("structuredContent")
        .filter(|value| !value.is_null());
    let mut content: Vec<Content> = match result.remove("content") {
        Some(Value::Array(parts)) => parts.into_iter().map(part).collect(),
        Some(Value::String(text)) => vec![Content::Text { text }],
        Some(Value::Null) | None => Vec::new(),
        Some(other) => vec![part(other)],
    };
    // What the first servers gave.
    let structured = structured.or_else(|| result.remove("toolResult"));
    if let Some(structured) = structured {
        add(structured, &mut content);
    }
    let output = ToolOutput { content };
    match failed {
        false => Ok(output),
        true => Err(ToolError::failed(match output.to_text() {
            said if said.trim().is_empty() => "The tool failed without saying why.".to_owned(),
            said => text::whole(&said),
        })),
    }
}

/// Most servers say the same twice, as a text and as a value. It is told once:
/// as a value, unless that only wraps the text.
fn add(structured: Value, content: &mut Vec<Content>) {
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
    let said = |part: &Content| match part {
        Content::Text { text } => says(text, &structured) || one_by_one,
        _ => false,
    };
    let place = content.iter().position(said).unwrap_or(content.len());
    content.retain(|part| !said(part));
    let place = place.min(content.len());
    content.insert(place, Content::Json { value: structured });
}

fn part(part: Value) -> Content {
    let Value::Object(mut part) = part else {
        return Content::Json { value: part };
    };
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "text" => match part.remove("text") {
            Some(Value::String(text)) => Content::Text { text },
            other => Content::Json {
                value: other.unwrap_or_default(),
            },
        },
        "image" => picture(&mut part),
        "audio" => file(media_type(&part), None, part.remove("data")),
        "resource" => match part.remove("resource") {
            Some(Value::Object(resource)) => embedded(resource),
            _ => note("a resource that is empty"),
        },
        "resource_link" => link(&part),
        other => {
            let other = text::line(other, 40);
            let whole = Value::Object(part).to_string();
            Content::Text {
                text: format!(
                    "[content of the kind \"{other}\", which Tenon does not know: {whole}]"
                ),
            }
        }
    }
}

fn picture(part: &mut Map<String, Value>) -> Content {
    let media_type = media_type(part);
    let data = match part.remove("data") {
        Some(Value::String(data)) => data,
        _ => String::new(),
    };
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    // What is none would make a model refuse the whole chat.
    match media_type.starts_with("image/") && !data.is_empty() && data.bytes().all(base64) {
        true => Content::Image { media_type, data },
        false => note(&format!("an image that cannot be shown, {media_type}")),
    }
}

fn embedded(mut resource: Map<String, Value>) -> Content {
    let uri = text::line(string(&resource, "uri"), 500);
    let media_type = media_type(&resource);
    if let Some(Value::String(text)) = resource.remove("text") {
        return Content::Text {
            text: format!("[{uri}]\n{text}"),
        };
    }
    match resource.remove("blob") {
        Some(Value::String(data)) if media_type.starts_with("image/") => {
            let mut part = Map::from_iter([
                ("mimeType".to_owned(), Value::String(media_type)),
                ("data".to_owned(), Value::String(data)),
            ]);
            picture(&mut part)
        }
        Some(data @ Value::String(_)) => {
            let name = uri.rsplit(['/', '\\']).next().map(ToOwned::to_owned);
            file(media_type, name, Some(data))
        }
        _ => note(&format!("{uri}, which is empty")),
    }
}

/// Without what else is said of its type: that would be of use to nobody here, and
/// only an answer over HTTP can say that a page is to be shown.
fn file(media_type: String, name: Option<String>, data: Option<Value>) -> Content {
    match data {
        Some(Value::String(data)) if !data.is_empty() => Content::File {
            media_type: essence(&media_type),
            name: name.filter(|name| !name.is_empty()),
            data,
        },
        _ => note(&format!("a file that is empty, {media_type}")),
    }
}

fn link(part: &Map<String, Value>) -> Content {
    let title = Some(string(part, "title")).filter(|title| !title.is_empty());
    let mut shown = vec![
        text::line(title.unwrap_or(string(part, "name")), 200),
        text::line(string(part, "uri"), 2000),
        text::line(string(part, "mimeType"), 100),
        text::line(string(part, "description"), 1000),
    ];
    shown.retain(|piece| !piece.is_empty());
    note(&format!("link: {}", shown.join(", ")))
}

fn media_type(part: &Map<String, Value>) -> String {
    match text::line(string(part, "mimeType"), 100) {
        none if none.is_empty() => "application/octet-stream".to_owned(),
        media_type => media_type,
    }
}

/// "audio/ogg; codecs=opus" → "audio/ogg".
fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_owned()
}

fn string<'a>(part: &'a Map<String, Value>, name: &str) -> &'a str {
    part.get(name).and_then(Value::as_str).unwrap_or_default()
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
