//! The description of a server: an OpenAPI document, or a list `capabilities[]` with an HTTP
//! `invocation` each, which becomes operations like any other.

use serde_json::Value;
use tenon_openapi::discover;
use tenon_openapi::document::{self, DocumentError};
use tenon_openapi::note::OperationError;
use tenon_openapi::operation::{Operation, ParsedDocument, SkippedOperation};
use tenon_openapi::parse as openapi;
use tenon_skills::{SkillTool, SkillToolRun, capabilities};
use tenon_text::line;

/// Whether a value describes a server in one of these forms.
pub(crate) fn may_be_description(value: &Value) -> bool {
    document::may_be_document(value) || capabilities::has_capabilities(value)
}

/// Whether it has tools of its own, and is no list of servers behind an mcpo.
pub(crate) fn has_tools(description: &Value) -> bool {
    discover::has_paths(description) || capabilities::has_capabilities(description)
}

pub(crate) fn parse(description: &Value) -> Result<ParsedDocument, DocumentError> {
    let is_openapi = document::is_document(description);
    if is_openapi || !capabilities::has_capabilities(description) {
        return openapi::parse(description);
    }
    let info = |name: &str| {
        let info = ["serverInfo", "info"]
            .iter()
            .find_map(|key| description.get(key)?.get(name)?.as_str());
        info.unwrap_or_default()
    };
    let title = Some(info("title")).filter(|title| !title.is_empty());
    let mut parsed = ParsedDocument {
        title: line(title.unwrap_or_else(|| info("name")), 200),
        version: line(info("version"), 100),
        description: line(info("description"), 4000),
        operations: Vec::new(),
        skipped: Vec::new(),
        notes: Vec::new(),
        schemes: Vec::new(),
    };
    for tool in capabilities::tools(description) {
        match tool {
            Ok(tool) => parsed.operations.extend(operation(tool)),
            Err(error) => parsed.skipped.push(SkippedOperation {
                operation: error.file,
                reason: OperationError::Capability(error.problem.to_string()),
            }),
        }
    }
    Ok(parsed)
}

/// None: it is called in no way that a server has.
fn operation(tool: SkillTool) -> Option<Operation> {
    let SkillToolRun::Http(mapping) = tool.run else {
        return None;
    };
    let mut operation = mapping.operation().clone();
    operation.title = tool.title;
    operation.description = tool.description;
    // Relative to the server, wherever its description lies.
    for server in &mut operation.servers {
        if server.is_empty() {
            "/".clone_into(server);
        }
    }
    Some(operation)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenon_openapi::request;
    use url::Url;

    use super::*;

    #[test]
    fn capabilities_are_operations_of_their_server() {
        let description = json!({
            "serverInfo": {"name": "Home", "version": "2"},
            "capabilities": [
                {
                    "id": "lamp.set", "name": "Lamp", "description": "Switches a lamp.",
                    "parameters": {"type": "object", "properties": {
                        "room": {"type": "string"}, "on": {"type": "boolean"},
                    }, "required": ["room"]},
                    "invocation": {"type": "http", "method": "POST", "url": "/lamps/{room}",
                        "mapping": {"on": "body"}},
                },
                {"id": "socket", "parameters": {"type": "object"}, "invocation": {"type": "ws", "url": "/x"}},
            ],
        });
        assert!(may_be_description(&description));
        let parsed = parse(&description).unwrap();
        assert_eq!(
            (parsed.title.as_str(), parsed.version.as_str()),
            ("Home", "2")
        );
        let [operation] = parsed.operations.as_slice() else {
            panic!("{:?}", parsed.operations);
        };
        assert_eq!(operation.title.as_deref(), Some("Lamp"));
        let base = Url::parse("http://localhost:8000/about/capabilities.json").unwrap();
        let input = json!({"room": "a/b", "on": true});
        let request = request::build(operation, &base, &input).unwrap();
        assert_eq!(request.url.as_str(), "http://localhost:8000/lamps/a%2Fb");
        assert_eq!(request.body.as_deref(), Some(br#"{"on":true}"#.as_slice()));
        let [skipped] = parsed.skipped.as_slice() else {
            panic!("{:?}", parsed.skipped);
        };
        assert_eq!(
            skipped.reason.to_string(),
            "The invocation of `socket` is of type `ws`: only `http` can be called."
        );
    }

    #[test]
    fn what_mcp_calls_capabilities_is_no_description() {
        assert!(!may_be_description(&json!({"capabilities": {"tools": {}}})));
        assert!(parse(&json!({"capabilities": {"tools": {}}})).is_err());
    }
}
