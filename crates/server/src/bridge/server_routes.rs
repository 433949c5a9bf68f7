//! The routes of one server: its document, its MCP listing, and its tools by name.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};
use tenon_domain::SourceId;
use tenon_mcp::server::Listing;
use tenon_sources::mcp::McpServerInfo;
use tenon_tools::Tool;

use super::header_forwarding::HeaderForwarding;
use super::labels::BridgeLabels;
use crate::document_bytes::DocumentBytes;
use crate::mcpo::arguments::ArgumentForm;
use crate::mcpo::document::{DocumentTool, MainDocument, ServerDocument};

/// What one server offers.
pub(super) struct ServerRoutes {
    pub(super) name: String,
    /// None: it was never up.
    pub(super) about: Option<McpServerInfo>,
    /// Whether it has come up, or failed to.
    pub(super) is_settled: bool,
    /// Whether its tools are known.
    pub(super) is_listed: bool,
    pub(super) forwarding: HeaderForwarding,
    pub(super) tools: Vec<ToolRoute>,
    by_tool: HashMap<String, usize>,
    document: OnceLock<DocumentBytes>,
    listing: OnceLock<Arc<Listing>>,
}

pub(super) struct ToolRoute {
    pub(super) tool: Arc<Tool>,
    /// Read at the first call: most tools of a large server are never called.
    form: OnceLock<ArgumentForm>,
}

impl ServerRoutes {
    pub(super) fn new(
        name: String,
        about: Option<McpServerInfo>,
        forwarding: HeaderForwarding,
        tools: impl IntoIterator<Item = Arc<Tool>>,
    ) -> Self {
        let tools = tools.into_iter().map(|tool| ToolRoute {
            tool,
            form: OnceLock::new(),
        });
        let tools: Vec<ToolRoute> = tools.collect();
        let names = tools.iter().enumerate();
        let by_tool = names.map(|(number, route)| (route.tool.spec.name.clone(), number));
        Self {
            name,
            about,
            is_settled: false,
            is_listed: false,
            forwarding,
            by_tool: by_tool.collect(),
            tools,
            document: OnceLock::new(),
            listing: OnceLock::new(),
        }
    }

    pub(super) fn with_state(self, is_settled: bool, is_listed: bool) -> Self {
        Self {
            is_settled,
            is_listed,
            ..self
        }
    }

    pub(super) fn tool(&self, name: &str) -> Option<&ToolRoute> {
        self.by_tool.get(name).map(|number| &self.tools[*number])
    }

    /// Its tools over MCP, under their own names.
    pub(super) fn listing(&self) -> Arc<Listing> {
        let write = || {
            let tools = self.tools.iter();
            tools.map(|route| route.describe(&route.tool.spec.name))
        };
        let listing = self.listing.get_or_init(|| Arc::new(Listing::new(write())));
        listing.clone()
    }

    pub(super) fn document(&self, labels: &BridgeLabels) -> &DocumentBytes {
        self.document
            .get_or_init(|| DocumentBytes::new(self.write_document(labels)))
    }

    fn write_document(&self, labels: &BridgeLabels) -> Vec<u8> {
        let tools = self.tools.iter().map(|route| {
            let spec = &route.tool.spec;
            DocumentTool {
                name: &spec.name,
                description: &spec.description,
                input_schema: &spec.input_schema,
                output_schema: route.tool.source.output_schema(&spec.name),
            }
        });
        let base_path = Some(labels.path_of(&self.name)).filter(|path| !path.is_empty());
        let title = self.about.as_ref().map(|about| about.name.as_str());
        let title = title.filter(|name| !name.is_empty()).unwrap_or(&self.name);
        let version = self.about.as_ref().map(|about| about.version.as_str());
        let instructions = self
            .about
            .as_ref()
            .and_then(|about| about.instructions.clone());
        let description = match &self.about {
            None => format!("{title} MCP Server\n\n- [back to tool list](/docs)"),
            Some(_) => instructions.unwrap_or_else(|| format!("{title} MCP Server")),
        };
        let document = ServerDocument {
            title,
            version: version
                .filter(|version| !version.is_empty())
                .unwrap_or(MainDocument::VERSION),
            description: &description,
            base_path: base_path.as_deref(),
            has_key: labels.has_key,
        };
        document.write(tools)
    }
}

impl ToolRoute {
    pub(super) fn source(&self) -> &SourceId {
        &self.tool.source.info().id
    }

    /// As an object of MCP.
    pub(super) fn describe(&self, name: &str) -> Value {
        let spec = &self.tool.spec;
        let mut described = Map::new();
        described.insert("name".to_owned(), json!(name));
        if spec.title != spec.name {
            described.insert("title".to_owned(), json!(spec.title));
        }
        described.insert("description".to_owned(), json!(spec.description));
        described.insert("inputSchema".to_owned(), spec.input_schema.value());
        if let Some(schema) = self.tool.source.output_schema(&spec.name) {
            described.insert("outputSchema".to_owned(), schema.value());
        }
        let hints = spec.annotations;
        let hints = json!({
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        });
        described.insert("annotations".to_owned(), hints);
        Value::Object(described)
    }

    pub(super) fn form(&self) -> &ArgumentForm {
        let schema = &self.tool.spec.input_schema;
        self.form.get_or_init(|| ArgumentForm::new(schema))
    }
}
