//! OpenAPI documents as mcpo writes them.

use serde_json::{Map, Value, json};
use tenon_domain::InputSchema;

use super::{names, schema};

/// The document that names all servers. Its description is the only list of them that clients know
/// of.
pub(crate) struct MainDocument<'a> {
    pub(crate) title: &'a str,
    pub(crate) version: &'a str,
    pub(crate) description: &'a str,
    /// Where the servers' paths begin, with a slash at both ends.
    pub(crate) path_prefix: &'a str,
    /// Where a proxy has put all of it; empty: nowhere.
    pub(crate) root_path: &'a str,
    pub(crate) servers: &'a [String],
}

/// What the document of one server says besides its tools.
pub(crate) struct ServerDocument<'a> {
    pub(crate) title: &'a str,
    pub(crate) version: &'a str,
    pub(crate) description: &'a str,
    /// The path that those of its tools begin with. None: they begin at the root.
    pub(crate) base_path: Option<&'a str>,
    /// Whether calls need a key.
    pub(crate) has_key: bool,
}

/// A tool in a document.
pub(crate) struct DocumentTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) input_schema: &'a InputSchema,
    pub(crate) output_schema: Option<InputSchema>,
}

impl MainDocument<'_> {
    /// What mcpo says where nobody chose otherwise.
    pub(crate) const TITLE: &'static str = "MCP OpenAPI Proxy";
    pub(crate) const VERSION: &'static str = "1.0";
    pub(crate) const DESCRIPTION: &'static str =
        "Automatically generated API from MCP Tool Schemas";

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut description = self.description.to_owned();
        if !self.servers.is_empty() {
            description.push_str("\n\n- **available tools**\u{ff1a}");
        }
        for name in self.servers {
            let prefix = self.path_prefix;
            description.push_str(&format!("\n    - [{name}]({prefix}{name}/docs)"));
        }
        let mut document = Map::new();
        document.insert("openapi".to_owned(), json!("3.1.0"));
        let info =
            json!({ "title": self.title, "description": description, "version": self.version });
        document.insert("info".to_owned(), info);
        if !self.root_path.is_empty() {
            document.insert("servers".to_owned(), json!([{ "url": self.root_path }]));
        }
        document.insert("paths".to_owned(), json!({}));
        Value::Object(document).to_string().into_bytes()
    }
}

impl ServerDocument<'_> {
    pub(crate) fn write<'t>(&self, tools: impl IntoIterator<Item = DocumentTool<'t>>) -> Vec<u8> {
        let mut components = Components::default();
        let mut paths = Map::new();
        for tool in tools {
            let path = format!("/{}", tool.name);
            let operation = self.operation(&tool, &mut components);
            paths.insert(path, json!({ "post": operation }));
        }
        let mut document = Map::new();
        document.insert("openapi".to_owned(), json!("3.1.0"));
        let info = json!({ "title": self.title, "description": self.description, "version": self.version });
        document.insert("info".to_owned(), info);
        if let Some(base_path) = self.base_path {
            document.insert("servers".to_owned(), json!([{ "url": base_path }]));
        }
        let has_key = self.has_key && !paths.is_empty();
        document.insert("paths".to_owned(), Value::Object(paths));
        if let Some(components) = components.finish(has_key) {
            document.insert("components".to_owned(), components);
        }
        Value::Object(document).to_string().into_bytes()
    }

    fn operation(&self, tool: &DocumentTool<'_>, components: &mut Components) -> Value {
        let id = names::operation_id(tool.name);
        let form = components.add(tool.name, "_form_model", tool.input_schema);
        let mut operation = Map::new();
        operation.insert("summary".to_owned(), json!(names::title(tool.name)));
        if !tool.description.is_empty() {
            operation.insert("description".to_owned(), json!(tool.description));
        }
        operation.insert("operationId".to_owned(), json!(id));
        let mut response = Map::new();
        if form.is_some() {
            let output = tool.output_schema.as_ref();
            let model =
                output.and_then(|schema| components.add(tool.name, "_response_model", schema));
            if let Some(model) = model {
                response.insert("anyOf".to_owned(), json!([{ "$ref": model }, {}]));
            }
            response.insert("title".to_owned(), json!(names::response_title(&id)));
        }
        let mut responses = Map::new();
        let response = json_content(Value::Object(response));
        let response = json!({ "description": "Successful Response", "content": response });
        responses.insert("200".to_owned(), response);
        if let Some(form) = form {
            let body =
                json!({ "content": json_content(json!({ "$ref": form })), "required": true });
            operation.insert("requestBody".to_owned(), body);
            let error = json_content(json!({ "$ref": "#/components/schemas/HTTPValidationError" }));
            let error = json!({ "description": "Validation Error", "content": error });
            responses.insert("422".to_owned(), error);
        }
        operation.insert("responses".to_owned(), Value::Object(responses));
        if self.has_key {
            operation.insert("security".to_owned(), json!([{ "HTTPBearer": [] }]));
        }
        Value::Object(operation)
    }
}

fn json_content(schema: Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

/// The models of all tools.
#[derive(Default)]
struct Components(Map<String, Value>);

impl Components {
    /// The reference to a model. None: it has no properties.
    fn add(&mut self, tool: &str, suffix: &str, schema: &InputSchema) -> Option<String> {
        let mut name = names::component(tool, suffix);
        let mut number = 1;
        // Two names may differ only in what a component's name cannot have.
        while self.0.contains_key(&name) {
            number += 1;
            name = names::component(tool, &format!("_{number}{suffix}"));
        }
        let model = schema::component(&name, schema)?;
        let reference = format!("#/components/schemas/{name}");
        self.0.insert(name, model);
        Some(reference)
    }

    fn finish(self, has_key: bool) -> Option<Value> {
        let mut components = Map::new();
        if !self.0.is_empty() {
            let mut schemas = Map::new();
            schemas.insert("HTTPValidationError".to_owned(), http_validation_error());
            schemas.insert("ValidationError".to_owned(), validation_error());
            schemas.extend(self.0);
            components.insert("schemas".to_owned(), Value::Object(schemas));
        }
        if has_key {
            let schemes = json!({ "HTTPBearer": { "type": "http", "scheme": "bearer" } });
            components.insert("securitySchemes".to_owned(), schemes);
        }
        (!components.is_empty()).then_some(Value::Object(components))
    }
}

fn http_validation_error() -> Value {
    let items = json!({ "$ref": "#/components/schemas/ValidationError" });
    json!({
        "properties": { "detail": { "items": items, "type": "array", "title": "Detail" } },
        "type": "object",
        "title": "HTTPValidationError",
    })
}

fn validation_error() -> Value {
    let items = json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] });
    json!({
        "properties": {
            "loc": { "items": items, "type": "array", "title": "Location" },
            "msg": { "type": "string", "title": "Message" },
            "type": { "type": "string", "title": "Error Type" },
        },
        "type": "object",
        "required": ["loc", "msg", "type"],
        "title": "ValidationError",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main(servers: &[&str], path_prefix: &str) -> String {
        let servers: Vec<String> = servers.iter().map(ToString::to_string).collect();
        let document = MainDocument {
            title: MainDocument::TITLE,
            version: MainDocument::VERSION,
            description: MainDocument::DESCRIPTION,
            path_prefix,
            root_path: "",
            servers: &servers,
        };
        String::from_utf8(document.write()).unwrap()
    }

    #[test]
    fn the_main_document_is_that_of_mcpo() {
        assert_eq!(
            main(&["time", "memory"], "/"),
            r#"{"openapi":"3.1.0","info":{"title":"MCP OpenAPI Proxy","description":"Automatically generated API from MCP Tool Schemas\n\n- **available tools**："#
                .to_owned()
                + r#"\n    - [time](/time/docs)\n    - [memory](/memory/docs)","version":"1.0"},"paths":{}}"#
        );
        assert!(main(&["time"], "/api/tools/").contains("[time](/api/tools/time/docs)"));
        assert!(main(&[], "/").contains(r#"MCP Tool Schemas","version""#));
    }

    #[test]
    fn the_document_of_a_server_is_that_of_mcpo() {
        let about = ServerDocument {
            title: "mcp-time",
            version: "1.2",
            description: "mcp-time MCP Server",
            base_path: Some("/time"),
            has_key: true,
        };
        let schema = json!({ "type": "object", "properties": { "zone": { "type": "string" } }, "required": ["zone"] }).into();
        let empty = json!({ "type": "object" }).into();
        let output = json!({ "type": "object", "properties": { "now": { "type": "string" } } });
        let tools = [
            DocumentTool {
                name: "get-time",
                description: "Tells the time",
                input_schema: &schema,
                output_schema: Some(output.into()),
            },
            DocumentTool {
                name: "reset_all",
                description: "",
                input_schema: &empty,
                output_schema: None,
            },
        ];
        let written: Value = serde_json::from_slice(&about.write(tools)).unwrap();
        let paths = json!({
            "/get-time": { "post": {
                "summary": "Get-Time",
                "description": "Tells the time",
                "operationId": "tool_get_time_post",
                "responses": {
                    "200": { "description": "Successful Response", "content": { "application/json": { "schema": {
                        "anyOf": [{ "$ref": "#/components/schemas/get-time_response_model" }, {}],
                        "title": "Response Tool Get Time Post",
                    } } } },
                    "422": { "description": "Validation Error", "content": { "application/json": { "schema": {
                        "$ref": "#/components/schemas/HTTPValidationError",
                    } } } },
                },
                "requestBody": { "required": true, "content": { "application/json": { "schema": {
                    "$ref": "#/components/schemas/get-time_form_model",
                } } } },
                "security": [{ "HTTPBearer": [] }],
            } },
            "/reset_all": { "post": {
                "summary": "Reset All",
                "operationId": "tool_reset_all_post",
                "responses": { "200": {
                    "description": "Successful Response",
                    "content": { "application/json": { "schema": {} } },
                } },
                "security": [{ "HTTPBearer": [] }],
            } },
        });
        assert_eq!(written["paths"], paths);
        assert_eq!(written["servers"], json!([{ "url": "/time" }]));
        let models = written["components"]["schemas"].as_object().unwrap();
        let names: Vec<&str> = models.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "HTTPValidationError",
                "ValidationError",
                "get-time_form_model",
                "get-time_response_model"
            ]
        );
    }
}
