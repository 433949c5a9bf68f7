//! The result of a call, written as the protocol has it.

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::content::{CallToolResult, EmbeddedResource, McpContentBlock};

const UNKNOWN_TYPE: &str = "application/octet-stream";

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockJson<'a> {
    Text {
        text: &'a str,
    },
    #[serde(rename_all = "camelCase")]
    Image {
        data: &'a str,
        mime_type: &'a str,
    },
    #[serde(rename_all = "camelCase")]
    Audio {
        data: &'a str,
        mime_type: &'a str,
    },
    Resource {
        resource: ResourceJson<'a>,
    },
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        uri: &'a str,
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        title: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<&'a str>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceJson<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<&'a str>,
}

impl CallToolResult {
    /// A result of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![McpContentBlock::Text(text.into())],
            ..Self::default()
        }
    }

    /// What went wrong, for the model to read.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    pub(super) fn write_members(&self) -> String {
        let mut json = String::from(r#""content":"#);
        push(&mut json, &self.content);
        if let Some(structured) = &self.structured_content {
            json.push_str(r#","structuredContent":"#);
            push(&mut json, structured);
        }
        if self.is_error {
            json.push_str(r#","isError":true"#);
        }
        json
    }
}

impl Serialize for McpContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let block = match self {
            Self::Text(text) => BlockJson::Text { text },
            Self::Image { mime_type, data } => BlockJson::Image {
                data,
                mime_type: mime_type.as_deref().unwrap_or(UNKNOWN_TYPE),
            },
            Self::Audio { mime_type, data } => BlockJson::Audio {
                data,
                mime_type: mime_type.as_deref().unwrap_or(UNKNOWN_TYPE),
            },
            Self::Resource(Some(resource)) => BlockJson::Resource {
                resource: resource_json(resource),
            },
            Self::Resource(None) => BlockJson::Text { text: "" },
            Self::ResourceLink(link) => BlockJson::ResourceLink {
                uri: &link.uri,
                name: &link.name,
                title: &link.title,
                description: &link.description,
                mime_type: link.mime_type.as_deref(),
            },
            Self::Unknown { block, .. } => return block.serialize(serializer),
            Self::Value(Value::String(text)) => BlockJson::Text { text },
            Self::Value(value) => {
                let text = &value.to_string();
                return BlockJson::Text { text }.serialize(serializer);
            }
        };
        block.serialize(serializer)
    }
}

fn resource_json(resource: &EmbeddedResource) -> ResourceJson<'_> {
    let blob = resource.blob.as_deref();
    // One of the two has to be there.
    let text = resource.text.as_deref().or(blob.is_none().then_some(""));
    ResourceJson {
        uri: &resource.uri,
        mime_type: resource.mime_type.as_deref(),
        text,
        blob: blob.filter(|_| text.is_none()),
    }
}

fn push(json: &mut String, value: &impl Serialize) {
    let written = serde_json::to_string(value);
    json.push_str(&written.expect("texts and values that were JSON can be written as JSON"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What is read from a server and written to a client is the same.
    #[track_caller]
    fn check(result: Value) {
        let Value::Object(members) = result.clone() else {
            panic!("an object");
        };
        let written = format!("{{{}}}", CallToolResult::read(members).write_members());
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), result);
    }

    #[test]
    fn results_are_written_as_they_were_read() {
        check(json!({ "content": [] }));
        check(json!({
            "content": [
                { "type": "text", "text": "a\n\"b\"" },
                { "type": "image", "data": "AA==", "mimeType": "image/png" },
                { "type": "audio", "data": "AA==", "mimeType": "audio/wav" },
                { "type": "resource", "resource": { "uri": "x:y", "mimeType": "text/plain", "text": "t" } },
                { "type": "resource", "resource": { "uri": "x:z", "blob": "AA==" } },
                { "type": "resource_link", "uri": "x:l", "name": "l", "title": "L", "mimeType": "text/plain" },
                { "type": "hologram", "depth": 3 },
            ],
            "structuredContent": { "a": [1, 2.5] },
            "isError": true,
        }));
    }
}
