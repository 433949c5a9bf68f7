//! Results of calls as MCP has them.

use serde_json::Value;
use serde_json::value::RawValue;
use tenon_domain::{BlobId, Content, ToolOutput, ToolResult};
use tenon_mcp::message::STATELESS_VERSION;
use tenon_mcp::{CallToolResult, McpContentBlock, ResourceLink};

/// What is kept aside is read as a resource.
const BLOB_URI: &str = "tenon://blobs/";

/// The id of the blob that a URI names.
pub(super) fn blob_id(uri: &str) -> Option<BlobId> {
    let id = uri.strip_prefix(BLOB_URI)?;
    let is_id = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_id.then(|| BlobId::new(id))
}

/// The result of an MCP server behind, as it wrote it. None: it is no result.
pub(super) fn passed_on(reply: &RawValue, protocol: &str) -> Option<CallToolResult> {
    let mut result = CallToolResult::read(serde_json::from_str(reply.get()).ok()?);
    let structured = result.structured_content.take();
    result.structured_content = structured.filter(|value| is_structured(value, protocol));
    Some(result)
}

/// A failed tool is a result that the client's model reads.
pub(super) fn call_result(result: ToolResult, protocol: &str) -> CallToolResult {
    match result {
        Ok(output) => succeeded(output, protocol),
        Err(error) => CallToolResult {
            content: vec![McpContentBlock::Text(error.message)],
            structured_content: None,
            is_error: true,
        },
    }
}

/// Before 2026-07-28 structured content has to be an object.
fn is_structured(value: &Value, protocol: &str) -> bool {
    value.is_object() || protocol == STATELESS_VERSION
}

fn succeeded(output: ToolOutput, protocol: &str) -> CallToolResult {
    let structured = output.structured();
    let structured = structured.filter(|value| is_structured(value, protocol));
    CallToolResult {
        structured_content: structured.cloned(),
        content: output.content.into_iter().map(block).collect(),
        is_error: false,
    }
}

fn block(content: Content) -> McpContentBlock {
    match content {
        Content::Text { text } => McpContentBlock::Text(text),
        Content::Json { value } => McpContentBlock::Text(value.to_string()),
        Content::Image { media_type, data } => McpContentBlock::Image {
            mime_type: Some(media_type),
            data,
        },
        Content::File {
            media_type, data, ..
        } => McpContentBlock::Audio {
            mime_type: Some(media_type),
            data,
        },
        Content::Blob {
            blob_id,
            media_type,
            name,
            bytes,
        } => McpContentBlock::ResourceLink(ResourceLink {
            uri: format!("{BLOB_URI}{blob_id}"),
            name: name.unwrap_or_else(|| blob_id.to_string()),
            title: String::new(),
            description: format!("{bytes} bytes"),
            mime_type: Some(media_type),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenon_domain::ToolError;

    use super::*;

    #[test]
    fn structured_output_is_what_the_version_allows() {
        let check = |value: Value, protocol: &str, is_sent: bool| {
            let content = vec![Content::Json {
                value: value.clone(),
            }];
            let result = call_result(Ok(ToolOutput { content }), protocol);
            assert_eq!(
                result.structured_content.is_some(),
                is_sent,
                "{value} {protocol}"
            );
            assert_eq!(result.content, [McpContentBlock::Text(value.to_string())]);
        };
        check(json!({"a": 1}), "2025-06-18", true);
        check(json!({"a": 1}), STATELESS_VERSION, true);
        check(json!([1]), "2025-06-18", false);
        check(json!([1]), STATELESS_VERSION, true);
    }

    #[test]
    fn what_a_server_answers_is_passed_on() {
        let reply = json!({"content": [], "structuredContent": {"a": 1}, "isError": true});
        let reply = RawValue::from_string(reply.to_string()).unwrap();
        let result = passed_on(&reply, "2025-06-18").unwrap();
        assert!(result.is_error);
        assert_eq!(result.structured_content, Some(json!({"a": 1})));
    }

    #[test]
    fn a_failed_tool_is_a_result() {
        let result = call_result(Err(ToolError::failed("No such file.")), "");
        assert!(result.is_error);
        assert_eq!(
            result.content,
            [McpContentBlock::Text("No such file.".into())]
        );
    }

    #[test]
    fn a_blob_is_found_by_the_link_to_it() {
        let blob = Content::Blob {
            blob_id: BlobId::new("a-1"),
            media_type: "audio/wav".into(),
            name: None,
            bytes: 7,
        };
        let McpContentBlock::ResourceLink(link) = block(blob) else {
            panic!("a blob is a link");
        };
        assert_eq!(blob_id(&link.uri), Some(BlobId::new("a-1")));
        assert_eq!(blob_id("tenon://blobs/../x"), None);
        assert_eq!(blob_id("tenon+git+file:///x"), None);
    }
}
