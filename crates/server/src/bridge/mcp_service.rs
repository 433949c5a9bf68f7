//! The bridge over MCP: tools, resources and prompts of all servers, or of one under its own names.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Map, Value};
use tenon_domain::{CallId, ToolError};
use tenon_mcp::server::{
    Listing, McpService, PromptRequest, RequestContext, ServerCapabilities, ServerChange,
    ServerIdentity,
};
use tenon_mcp::{CallToolResult, McpContentBlock, RpcError};
use tenon_tools::{CallContext, CallOrigin, CallTimer, ContextKind};
use tokio::sync::watch;

use super::routes::Routes;
use super::servers::bridge_user;
use crate::mcp_call_client::McpCallClient;
use crate::mcp_context::{ContextChanges, McpContext, ResourceWatches, has_resources};

/// Whose tools a client sees: those of this server, or of all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct McpScope(pub(super) Option<Arc<str>>);

pub(super) struct BridgeMcpService {
    routes: Arc<Routes>,
    watches: ResourceWatches<McpScope>,
    calls: AtomicU64,
}

impl BridgeMcpService {
    pub(super) fn new(routes: Arc<Routes>) -> Self {
        Self {
            routes,
            watches: ResourceWatches::default(),
            calls: AtomicU64::new(0),
        }
    }

    async fn context(&self, scope: &McpScope) -> McpContext {
        let server = scope.0.as_deref();
        self.routes.settled(server).await.context(server)
    }

    pub(super) fn identity() -> ServerIdentity {
        ServerIdentity {
            name: "tenon-bridge".to_owned(),
            title: "Tenon bridge".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl McpService for BridgeMcpService {
    type Caller = McpScope;

    fn capabilities(&self, _scope: &McpScope) -> ServerCapabilities {
        McpContext::CAPABILITIES
    }

    fn instructions(&self, scope: &McpScope) -> Option<String> {
        let table = self.routes.load();
        let server = table.server(scope.0.as_deref()?)?;
        server.about.as_ref()?.instructions.clone()
    }

    async fn tools(&self, scope: &McpScope) -> Result<Arc<Listing>, RpcError> {
        let server = scope.0.as_deref();
        let table = self.routes.settled(server).await;
        Ok(table.listing(server))
    }

    async fn call_tool(
        &self,
        context: &RequestContext<McpScope>,
        name: &str,
        arguments: Value,
    ) -> Result<CallToolResult, RpcError> {
        let server = context.caller().0.as_deref();
        let mut table = self.routes.load();
        if table.mcp_tool(server, name).is_none() {
            // Its server may still be starting.
            table = self.routes.settled(server).await;
        }
        let route = table.mcp_tool(server, name);
        let route = route.ok_or_else(|| RpcError::unknown_tool(name))?;
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let client = Arc::new(McpCallClient::new(context.clone()));
        let call = CallContext {
            call_id: CallId(format!("mcp-{number}")),
            origin: CallOrigin::default(),
            user: bridge_user(),
            workspace: None,
            cancel: context.cancellation().clone(),
            client: client.clone(),
            timer: CallTimer::default(),
        };
        let (result, _) = table.call(route, arguments, &call).await;
        match (client.take_reply(), result) {
            (Some(reply), _) => {
                let result = serde_json::from_str::<Map<String, Value>>(reply?.get());
                let mut result = CallToolResult::read(result.unwrap_or_default());
                if has_resources(&result) {
                    let context = table.context(server);
                    context.offer_resources(route.source(), &mut result);
                }
                Ok(result)
            }
            (None, Ok(output)) => Ok(text_result(output.to_text(), false)),
            (None, Err(ToolError { message, .. })) => Ok(text_result(message, true)),
        }
    }

    async fn resources(&self, scope: &McpScope) -> Result<Arc<Listing>, RpcError> {
        let context = self.context(scope).await;
        Ok(context.resources(ContextKind::Resources).await)
    }

    async fn resource_templates(&self, scope: &McpScope) -> Result<Arc<Listing>, RpcError> {
        let context = self.context(scope).await;
        Ok(context.resources(ContextKind::ResourceTemplates).await)
    }

    async fn read_resource(
        &self,
        context: &RequestContext<McpScope>,
        uri: &str,
    ) -> Result<Vec<Value>, RpcError> {
        self.context(context.caller())
            .await
            .read_resource(uri)
            .await
    }

    async fn subscribe_resource(&self, scope: &McpScope, uri: &str) -> Result<(), RpcError> {
        let watch = self.context(scope).await.watch_resource(uri)?;
        self.watches.add(scope.clone(), uri, watch);
        Ok(())
    }

    async fn prompts(&self, scope: &McpScope) -> Result<Arc<Listing>, RpcError> {
        Ok(self.context(scope).await.prompts().await)
    }

    async fn get_prompt(
        &self,
        context: &RequestContext<McpScope>,
        prompt: PromptRequest,
    ) -> Result<Map<String, Value>, RpcError> {
        self.context(context.caller())
            .await
            .get_prompt(prompt)
            .await
    }

    async fn complete(
        &self,
        context: &RequestContext<McpScope>,
        params: Value,
    ) -> Result<Value, RpcError> {
        self.context(context.caller()).await.complete(params).await
    }

    fn changes(&self, scope: &McpScope) -> BoxStream<'static, ServerChange> {
        let table_changes = self.routes.changes();
        let mut changes = BridgeChanges {
            routes: self.routes.clone(),
            scope: scope.clone(),
            table_changes,
            context: ContextChanges::default(),
            pending: Vec::new(),
        };
        changes.follow();
        let changes = stream::unfold(changes, |mut changes| async {
            Some((changes.next().await?, changes))
        });
        changes.boxed()
    }
}

struct BridgeChanges {
    routes: Arc<Routes>,
    scope: McpScope,
    table_changes: watch::Receiver<u64>,
    context: ContextChanges,
    pending: Vec<ServerChange>,
}

impl BridgeChanges {
    /// True: the servers are others than before.
    fn follow(&mut self) -> bool {
        let context = self.routes.load().context(self.scope.0.as_deref());
        self.context.follow(&context)
    }

    async fn next(&mut self) -> Option<ServerChange> {
        if let Some(change) = self.pending.pop() {
            return Some(change);
        }
        tokio::select! {
            changed = self.table_changes.changed() => {
                changed.ok()?;
                if self.follow() {
                    self.pending.extend([ServerChange::Prompts, ServerChange::Resources]);
                }
                Some(ServerChange::Tools)
            }
            Some(change) = self.context.next() => Some(change),
        }
    }
}

fn text_result(text: String, is_error: bool) -> CallToolResult {
    CallToolResult {
        content: vec![McpContentBlock::Text(text)],
        structured_content: None,
        is_error,
    }
}
