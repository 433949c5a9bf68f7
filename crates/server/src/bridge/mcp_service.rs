//! The tools of the bridge over MCP: those of all servers, or of one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Map, Value};
use tenon_domain::{CallId, ToolError};
use tenon_mcp::server::{
    Listing, McpService, RequestContext, ServerCapabilities, ServerChange, ServerIdentity,
};
use tenon_mcp::{CallToolResult, McpContentBlock, RpcError};
use tenon_tools::{CallContext, CallOrigin, CallTimer};

use super::routes::Routes;
use super::servers::bridge_user;
use crate::mcp_call_client::McpCallClient;

/// Whose tools a client sees: those of this server, or of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct McpScope(pub(super) Option<Arc<str>>);

pub(super) struct BridgeMcpService {
    routes: Arc<Routes>,
    calls: AtomicU64,
}

impl BridgeMcpService {
    pub(super) fn new(routes: Arc<Routes>) -> Self {
        Self {
            routes,
            calls: AtomicU64::new(0),
        }
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
        ServerCapabilities {
            tools: true,
            ..ServerCapabilities::default()
        }
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
            // Its server may be on its way up.
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
                Ok(CallToolResult::read(result.unwrap_or_default()))
            }
            (None, Ok(output)) => Ok(text_result(output.to_text(), false)),
            (None, Err(ToolError { message, .. })) => Ok(text_result(message, true)),
        }
    }

    fn changes(&self, _scope: &McpScope) -> BoxStream<'static, ServerChange> {
        let changes = self.routes.changes();
        let changes = stream::unfold(changes, |mut changes| async {
            changes.changed().await.ok()?;
            Some((ServerChange::Tools, changes))
        });
        changes.boxed()
    }
}

fn text_result(text: String, is_error: bool) -> CallToolResult {
    CallToolResult {
        content: vec![McpContentBlock::Text(text)],
        structured_content: None,
        is_error,
    }
}
