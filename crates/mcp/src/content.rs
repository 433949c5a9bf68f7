//! The result of a call, as the protocol has it.
//!
//! Reading never fails: what is missing is empty, and what is unknown is kept as it came.

use serde_json::{Map, Value};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallToolResult {
    pub content: Vec<McpContentBlock>,
    /// `structuredContent`, or `toolResult` of the first servers.
    pub structured_content: Option<Value>,
    pub is_error: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum McpContentBlock {
    Text(String),
    /// Base64, which nobody has checked yet.
    Image {
        mime_type: Option<String>,
        data: String,
    },
    Audio {
        mime_type: Option<String>,
        data: String,
    },
    /// None: the block has no resource in it.
    Resource(Option<EmbeddedResource>),
    ResourceLink(ResourceLink),
    /// Of a type this client does not know, as it came.
    Unknown {
        kind: String,
        block: Value,
    },
    /// A value where a block should be.
    Value(Value),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbeddedResource {
    pub uri: String,
    pub mime_type: Option<String>,
    pub text: Option<String>,
    /// Base64.
    pub blob: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceLink {
    pub uri: String,
    pub name: String,
    pub title: String,
    pub description: String,
    pub mime_type: Option<String>,
}

impl CallToolResult {
    pub fn read(mut result: Map<String, Value>) -> Self {
        let is_error = matches!(result.get("isError"), Some(Value::Bool(true)));
        let structured = result
            .remove("structuredContent")
            .filter(|value| !value.is_null());
        let content = match result.remove("content") {
            Some(Value::Array(blocks)) => blocks.into_iter().map(McpContentBlock::read).collect(),
            Some(Value::String(text)) => vec![McpContentBlock::Text(text)],
            Some(Value::Null) | None => Vec::new(),
            Some(other) => vec![McpContentBlock::read(other)],
        };
        Self {
            content,
            structured_content: structured.or_else(|| result.remove("toolResult")),
            is_error,
        }
    }
}

impl McpContentBlock {
    fn read(block: Value) -> Self {
        let Value::Object(mut block) = block else {
            return Self::Value(block);
        };
        let kind = block.get("type").and_then(Value::as_str);
        match kind.unwrap_or_default() {
            "text" => match block.remove("text") {
                Some(Value::String(text)) => Self::Text(text),
                other => Self::Value(other.unwrap_or_default()),
            },
            "image" => Self::Image {
                mime_type: take_string(&mut block, "mimeType"),
                data: take_string(&mut block, "data").unwrap_or_default(),
            },
            "audio" => Self::Audio {
                mime_type: take_string(&mut block, "mimeType"),
                data: take_string(&mut block, "data").unwrap_or_default(),
            },
            "resource" => Self::Resource(match block.remove("resource") {
                Some(Value::Object(mut resource)) => Some(EmbeddedResource {
                    uri: take_string(&mut resource, "uri").unwrap_or_default(),
                    mime_type: take_string(&mut resource, "mimeType"),
                    text: take_string(&mut resource, "text"),
                    blob: take_string(&mut resource, "blob"),
                }),
                _ => None,
            }),
            "resource_link" => {
                let mut take = |name| take_string(&mut block, name);
                Self::ResourceLink(ResourceLink {
                    uri: take("uri").unwrap_or_default(),
                    name: take("name").unwrap_or_default(),
                    title: take("title").unwrap_or_default(),
                    description: take("description").unwrap_or_default(),
                    mime_type: take("mimeType"),
                })
            }
            other => Self::Unknown {
                kind: other.to_owned(),
                block: Value::Object(block),
            },
        }
    }
}

fn take_string(object: &mut Map<String, Value>, name: &str) -> Option<String> {
    match object.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(content: Value, expected: McpContentBlock) {
        let result = json!({ "content": content });
        let read = CallToolResult::read(result.as_object().unwrap().clone());
        assert_eq!(read.content, [expected], "{result}");
    }

    #[test]
    fn every_block_is_read_or_kept_as_it_came() {
        let text = |text: &str| McpContentBlock::Text(text.into());
        check(json!("hi"), text("hi"));
        check(json!([{ "type": "text", "text": "hi" }]), text("hi"));
        check(
            json!([{ "type": "text", "text": 5 }]),
            McpContentBlock::Value(json!(5)),
        );
        check(json!([5]), McpContentBlock::Value(json!(5)));
        check(
            json!([{ "type": "image", "data": "aGk=", "mimeType": "image/png" }]),
            McpContentBlock::Image {
                mime_type: Some("image/png".into()),
                data: "aGk=".into(),
            },
        );
        check(
            json!([{ "type": "resource" }]),
            McpContentBlock::Resource(None),
        );
        let hologram = json!({ "type": "hologram", "x": 1 });
        check(
            json!([hologram]),
            McpContentBlock::Unknown {
                kind: "hologram".into(),
                block: hologram,
            },
        );
    }

    #[test]
    fn what_is_missing_is_empty() {
        assert_eq!(CallToolResult::read(Map::new()), CallToolResult::default());
        let old = json!({ "toolResult": 7, "structuredContent": null, "isError": true });
        let read = CallToolResult::read(old.as_object().unwrap().clone());
        assert_eq!(read.structured_content, Some(json!(7)));
        assert!(read.is_error);
    }
}
