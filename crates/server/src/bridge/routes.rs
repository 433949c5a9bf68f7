//! The routes of the bridge: an immutable snapshot, replaced when a server changes.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use serde_json::{Value, json};
use tenon_domain::{CallId, ToolCall, ToolResult};
use tenon_mcp::server::Listing;
use tenon_tools::{CallContext, Toolset};
use tokio::sync::watch;
use tokio::time::timeout;

use super::labels::BridgeLabels;
use super::server_routes::{ServerRoutes, ToolRoute};
use crate::document_bytes::DocumentBytes;
use crate::mcp_context::McpContext;
use crate::mcpo::document::MainDocument;

/// How long a request waits for servers that are starting, because an incomplete list would look
/// complete.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(30);

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
        self.server(name)
            .map(|server| server.listing())
            .unwrap_or_default()
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

    /// Resources and prompts of one server, or of all.
    pub(super) fn context(&self, server: Option<&str>) -> McpContext {
        let mut sources = self.toolset.context_sources();
        // A removed server may still be stopping.
        sources.retain(|source| self.server(&source.info().name).is_some());
        let Some(name) = server else {
            return McpContext::of_all(&sources);
        };
        let source = sources.iter().find(|source| source.info().name == name);
        source.map_or_else(McpContext::default, |source| McpContext::of_one(source))
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
