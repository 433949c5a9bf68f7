//! What can be asked of the bridge: an immutable snapshot, swapped when a server changes.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use serde_json::{Map, Value, json};
use tenon_domain::ToolResult;
use tenon_domain::{CallId, ToolCall};
use tenon_mcp::server::Listing;
use tenon_sources::mcp::McpServerInfo;
use tenon_tools::{CallContext, Tool, Toolset};
use tokio::sync::watch;
use tokio::time::timeout;

use super::document_bytes::DocumentBytes;
use super::header_forwarding::HeaderForwarding;
use crate::mcpo::arguments::ArgumentForm;
use crate::mcpo::document::{DocumentTool, MainDocument, ServerDocument};

/// Who asks while servers are on their way up waits so long for them: half a list would be taken for the
/// whole.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(30);

/// What documents say of the bridge itself.
#[derive(Debug)]
pub(super) struct BridgeLabels {
    pub(super) title: String,
    pub(super) version: String,
    pub(super) description: String,
    /// Where a proxy has put all of it; empty: nowhere.
    pub(super) root_path: String,
    /// With a slash at both ends.
    pub(super) path_prefix: String,
    pub(super) has_key: bool,
    /// Whether there is one server, at the root.
    pub(super) is_single: bool,
}

/// The newest snapshot.
pub(super) struct Routes {
    table: ArcSwap<RouteTable>,
    changes: watch::Sender<u64>,
}

pub(super) struct RouteTable {
    labels: Arc<BridgeLabels>,
    toolset: Toolset,
    /// In the order of the configuration.
    servers: Vec<Arc<ServerRoutes>>,
    by_name: HashMap<String, usize>,
    main_document: OnceLock<DocumentBytes>,
    tool_list: OnceLock<DocumentBytes>,
    /// All tools by their ids: the server's number, and the tool's.
    by_id: OnceLock<HashMap<String, (usize, usize)>>,
    listing: OnceLock<Arc<Listing>>,
}

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
    tools: Vec<ToolRoute>,
    by_tool: HashMap<String, usize>,
    document: OnceLock<DocumentBytes>,
    listing: OnceLock<Arc<Listing>>,
}

pub(super) struct ToolRoute {
    tool: Arc<Tool>,
    /// Read at the first call: most tools of a large server are never called.
    form: OnceLock<ArgumentForm>,
}

impl Routes {
    pub(super) fn new(table: RouteTable) -> Self {
        Self {
            table: ArcSwap::from_pointee(table),
            changes: watch::Sender::new(0),
        }
    }

    pub(super) fn load(&self) -> Arc<RouteTable> {
        self.table.load_full()
    }

    /// Counts up with each new snapshot.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn publish(&self, table: RouteTable) {
        self.table.store(Arc::new(table));
        self.changes.send_modify(|times| *times += 1);
    }

    /// The snapshot once this server, or every one, has come up or failed to.
    pub(super) async fn settled(&self, server: Option<&str>) -> Arc<RouteTable> {
        // Before the first look, so that no change is missed.
        let mut changes = self.changes.subscribe();
        let settled = async {
            loop {
                let table = self.load();
                if table.is_settled(server) || changes.changed().await.is_err() {
                    return table;
                }
            }
        };
        let settled = timeout(SETTLE_TIMEOUT, settled).await;
        settled.unwrap_or_else(|_| self.load())
    }
}

impl RouteTable {
    pub(super) fn new(
        labels: Arc<BridgeLabels>,
        toolset: Toolset,
        servers: Vec<Arc<ServerRoutes>>,
    ) -> Self {
        let names = servers.iter().enumerate();
        let by_name = names.map(|(number, server)| (server.name.clone(), number));
        Self {
            by_name: by_name.collect(),
            labels,
            toolset,
            servers,
            main_document: OnceLock::new(),
            tool_list: OnceLock::new(),
            by_id: OnceLock::new(),
            listing: OnceLock::new(),
        }
    }

    pub(super) fn labels(&self) -> &BridgeLabels {
        &self.labels
    }

    pub(super) fn server(&self, name: &str) -> Option<&Arc<ServerRoutes>> {
        self.by_name.get(name).map(|number| &self.servers[*number])
    }

    /// The one server, where there is only one, at the root.
    pub(super) fn single(&self) -> Option<&Arc<ServerRoutes>> {
        self.servers.first().filter(|_| self.labels.is_single)
    }

    fn is_settled(&self, server: Option<&str>) -> bool {
        match server {
            Some(name) => self.server(name).is_none_or(|server| server.is_settled),
            None => self.servers.iter().all(|server| server.is_settled),
        }
    }

    fn listed(&self) -> impl Iterator<Item = &Arc<ServerRoutes>> {
        self.servers.iter().filter(|server| server.is_listed)
    }

    pub(super) fn main_document(&self) -> &DocumentBytes {
        self.main_document.get_or_init(|| {
            let names = self.listed().map(|server| server.name.clone());
            let names: Vec<String> = names.collect();
            let labels = &self.labels;
            let document = MainDocument {
                title: &labels.title,
                version: &labels.version,
                description: &labels.description,
                path_prefix: &labels.path_prefix,
                root_path: &labels.root_path,
                servers: &names,
            };
            DocumentBytes::new(document.write())
        })
    }

    pub(super) fn server_document<'a>(&self, server: &'a ServerRoutes) -> &'a DocumentBytes {
        server
            .document
            .get_or_init(|| DocumentBytes::new(server.write_document(&self.labels)))
    }

    /// All servers and their tools, for programs.
    pub(super) fn tool_list(&self) -> &DocumentBytes {
        self.tool_list.get_or_init(|| {
            let servers = self.servers.iter().map(|server| {
                let base = self.labels.path_of(&server.name);
                let tools = server.tools.iter().map(|route| {
                    let spec = &route.tool.spec;
                    json!({
                        "name": spec.name,
                        "description": spec.description,
                        "path": format!("{base}/{}", spec.name),
                    })
                });
                json!({
                    "name": server.name,
                    "ready": server.is_listed,
                    "title": server.about.as_ref().map(|about| &about.name),
                    "version": server.about.as_ref().map(|about| &about.version),
                    "openapi": format!("{base}/openapi.json"),
                    "mcp": format!("{base}/mcp"),
                    "tools": tools.collect::<Value>(),
                })
            });
            let servers: Value = servers.collect();
            DocumentBytes::new(json!({ "servers": servers }).to_string().into_bytes())
        })
    }

    /// The tools of one server over MCP, or of all: under their ids then, which keep them apart.
    pub(super) fn listing(&self, server: Option<&str>) -> Arc<Listing> {
        let Some(name) = server else {
            let tools = || self.servers.iter().flat_map(|server| &server.tools);
            let write = || tools().map(|route| route.describe(route.tool.spec.id.as_str()));
            let listing = self.listing.get_or_init(|| Arc::new(Listing::new(write())));
            return listing.clone();
        };
        let Some(server) = self.server(name) else {
            return Arc::default();
        };
        let write = || {
            let tools = server.tools.iter();
            tools.map(|route| route.describe(&route.tool.spec.name))
        };
        let listing = server
            .listing
            .get_or_init(|| Arc::new(Listing::new(write())));
        listing.clone()
    }

    /// A tool by the name it has over MCP.
    pub(super) fn mcp_tool(&self, server: Option<&str>, name: &str) -> Option<&ToolRoute> {
        if let Some(server) = server {
            return self.server(server)?.tool(name);
        }
        let by_id = self.by_id.get_or_init(|| {
            let servers = self.servers.iter().enumerate();
            let tools = servers.flat_map(|(at, server)| {
                let ids = server.tools.iter().enumerate();
                ids.map(move |(number, route)| (route.tool.spec.id.0.clone(), (at, number)))
            });
            tools.collect()
        });
        let (server, tool) = by_id.get(name)?;
        Some(&self.servers[*server].tools[*tool])
    }

    /// Makes a call, by the path of all calls. The arguments come back.
    pub(super) async fn call(
        &self,
        route: &ToolRoute,
        arguments: Value,
        context: &CallContext,
    ) -> (ToolResult, Value) {
        let call = ToolCall {
            id: CallId(context.call_id.0.clone()),
            tool_id: route.tool.spec.id.clone(),
            input: arguments,
        };
        let result = self.toolset.call(&call, context).await;
        (result, call.input)
    }
}

impl BridgeLabels {
    /// Where the paths of a server begin, as clients see it.
    pub(super) fn path_of(&self, server: &str) -> String {
        if self.is_single {
            return self.root_path.clone();
        }
        format!("{}{}{server}", self.root_path, self.path_prefix)
    }
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
    /// As an object of MCP.
    fn describe(&self, name: &str) -> Value {
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
