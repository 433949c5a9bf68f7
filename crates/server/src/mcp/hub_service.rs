//! What one user can see and call now, as an MCP server offers it.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::stream::BoxStream;
use serde_json::{Map, Value, json};
use tenon_app::app::App;
use tenon_app::tools::ToolCaller;
use tenon_domain::text::line;
use tenon_domain::{BlobId, CallId, ToolCall, ToolId, UserId};
use tenon_mcp::server::{
    Listing, McpService, PromptRequest, RequestContext, ServerCapabilities, ServerChange,
};
use tenon_mcp::{CallToolResult, RpcError};
use tenon_store::fresh_id;
use tenon_tools::{ContextKind, Toolset};
use tokio_util::sync::CancellationToken;

use super::changes::changes;
use super::hub_caller::{HubCaller, ToolsMode};
use super::output::{blob_id, call_result, passed_on};
use super::tool_listings::{ToolListings, search_listing};
use crate::mcp_call_client::McpCallClient;
use crate::mcp_context::{McpContext, ResourceWatches, has_resources};
use crate::reply_cell::MAX_REPLY_BYTES;

/// What a client calls itself, in the audit log.
const MAX_CLIENT_NAME_CHARS: usize = 80;

const INSTRUCTIONS: &str = "Tenon gathers the tools of many servers; the title of each says which it belongs to. \
Tools that need a person's approval are listed only where the API key allows them.";

pub struct HubService {
    app: App,
    listings: ToolListings,
    watches: ResourceWatches<UserId>,
}

impl HubService {
    pub fn new(app: App) -> Self {
        Self {
            app,
            listings: ToolListings::default(),
            watches: ResourceWatches::default(),
        }
    }

    async fn toolset(&self, caller: &HubCaller) -> Result<Toolset, RpcError> {
        let access = caller.access(&self.app).await;
        let access = access.map_err(|error| storage_error(&error))?;
        let toolset = self.app.registry.toolset(access);
        Ok(match caller.mode() {
            ToolsMode::All => toolset,
            ToolsMode::Search => toolset.with_search(),
        })
    }

    async fn context(&self, caller: &HubCaller) -> Result<McpContext, RpcError> {
        let toolset = self.toolset(caller).await?;
        Ok(McpContext::of_all(&toolset.context_sources()))
    }

    /// A result that has resources, with the names they are offered by.
    async fn with_offered_resources(
        &self,
        caller: &HubCaller,
        tool: &ToolId,
        mut result: CallToolResult,
    ) -> Result<CallToolResult, RpcError> {
        let toolset = self.toolset(caller).await?;
        if let Some(tool) = toolset.find(tool) {
            let context = McpContext::of_all(&toolset.context_sources());
            context.offer_resources(&tool.source.info().id, &mut result);
        }
        Ok(result)
    }

    /// What a tool gave that was kept aside.
    async fn read_blob(
        &self,
        caller: &HubCaller,
        uri: &str,
        id: &BlobId,
    ) -> Result<Vec<Value>, RpcError> {
        let blob = self.app.store.blob(&caller.user().id, id).await;
        let blob = blob.map_err(|error| match error {
            tenon_store::Error::NotFound(_) => RpcError::resource_not_found(uri),
            error => storage_error(&error),
        })?;
        let mut content = json!({"uri": uri, "mimeType": blob.media_type});
        match String::from_utf8(blob.data) {
            Ok(text) => content["text"] = text.into(),
            Err(bytes) => content["blob"] = STANDARD.encode(bytes.as_bytes()).into(),
        }
        Ok(vec![content])
    }
}

impl McpService for HubService {
    type Caller = HubCaller;

    fn capabilities(&self, _caller: &HubCaller) -> ServerCapabilities {
        McpContext::CAPABILITIES
    }

    fn instructions(&self, caller: &HubCaller) -> Option<String> {
        let prompt = caller
            .expert()
            .map(|expert| &expert.definition.system_prompt);
        Some(match prompt {
            Some(prompt) if !prompt.is_empty() => format!("{prompt}\n\n{INSTRUCTIONS}"),
            Some(_) | None => INSTRUCTIONS.to_owned(),
        })
    }

    async fn tools(&self, caller: &HubCaller) -> Result<Arc<Listing>, RpcError> {
        let toolset = self.toolset(caller).await?;
        Ok(match caller.mode() {
            ToolsMode::All => self.listings.get(caller, &toolset),
            ToolsMode::Search => Arc::new(search_listing(&toolset)),
        })
    }

    async fn call_tool(
        &self,
        context: &RequestContext<HubCaller>,
        name: &str,
        arguments: Value,
    ) -> Result<CallToolResult, RpcError> {
        let caller = context.caller();
        let cancel = CancellationToken::new();
        // Dropping the request, because the client disconnected or cancelled, cancels the call.
        let _dropped = cancel.clone().drop_guard();
        let client = Arc::new(McpCallClient::new(context.clone()));
        let mut call = ToolCall {
            id: CallId(fresh_id()),
            tool_id: ToolId::new(name),
            input: arguments,
        };
        let profile = context.client();
        let client_name = line(
            &format!("{} {}", profile.name, profile.version),
            MAX_CLIENT_NAME_CHARS,
        );
        let tool_caller = ToolCaller {
            client: Some(&client_name)
                .filter(|name| !name.is_empty())
                .map(String::as_str),
            ..caller.tool_caller()
        };
        let tools = &self.app.tools;
        let called = tools.call_for(client.clone(), tool_caller, &mut call, cancel);
        let result = called.await.map_err(|error| storage_error(&error))?;
        let result = result.ok_or_else(|| RpcError::unknown_tool(name))?;
        let protocol = &context.client().protocol;
        // What the call makes of an error says as much.
        let reply = client.take_reply().and_then(Result::ok);
        let reply = reply.filter(|reply| reply.get().len() <= MAX_REPLY_BYTES);
        match reply.and_then(|reply| passed_on(&reply, protocol)) {
            Some(result) if has_resources(&result) => {
                // Boxed: few results have some.
                Box::pin(self.with_offered_resources(caller, &call.tool_id, result)).await
            }
            Some(result) => Ok(result),
            None => Ok(call_result(result, protocol)),
        }
    }

    async fn resources(&self, caller: &HubCaller) -> Result<Arc<Listing>, RpcError> {
        let context = self.context(caller).await?;
        Ok(context.resources(ContextKind::Resources).await)
    }

    async fn resource_templates(&self, caller: &HubCaller) -> Result<Arc<Listing>, RpcError> {
        let context = self.context(caller).await?;
        Ok(context.resources(ContextKind::ResourceTemplates).await)
    }

    async fn read_resource(
        &self,
        context: &RequestContext<HubCaller>,
        uri: &str,
    ) -> Result<Vec<Value>, RpcError> {
        let caller = context.caller();
        if let Some(id) = blob_id(uri) {
            return self.read_blob(caller, uri, &id).await;
        }
        self.context(caller).await?.read_resource(uri).await
    }

    async fn subscribe_resource(&self, caller: &HubCaller, uri: &str) -> Result<(), RpcError> {
        let context = self.context(caller).await?;
        let watch = context.watch_resource(uri)?;
        self.watches.add(caller.user().id.clone(), uri, watch);
        Ok(())
    }

    async fn prompts(&self, caller: &HubCaller) -> Result<Arc<Listing>, RpcError> {
        Ok(self.context(caller).await?.prompts().await)
    }

    async fn get_prompt(
        &self,
        context: &RequestContext<HubCaller>,
        prompt: PromptRequest,
    ) -> Result<Map<String, Value>, RpcError> {
        let hub = self.context(context.caller()).await?;
        hub.get_prompt(prompt).await
    }

    async fn complete(
        &self,
        context: &RequestContext<HubCaller>,
        params: Value,
    ) -> Result<Value, RpcError> {
        let hub = self.context(context.caller()).await?;
        hub.complete(params).await
    }

    fn changes(&self, caller: &HubCaller) -> BoxStream<'static, ServerChange> {
        changes(self.app.clone(), caller.clone())
    }
}

/// The cause is only logged, because it may contain private data.
fn storage_error(error: &tenon_store::Error) -> RpcError {
    tracing::error!(%error, "the store failed an MCP request");
    RpcError::new(
        RpcError::INTERNAL_ERROR,
        "Tenon cannot read its data. Its log says why.",
    )
}

impl std::fmt::Debug for HubService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HubService").finish_non_exhaustive()
    }
}
