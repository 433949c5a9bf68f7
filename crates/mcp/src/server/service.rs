//! The trait of a service behind the server, independent of transport and version.

use std::future::{Future, ready};
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt};
use serde_json::{Map, Value};

use super::context::RequestContext;
use super::listing::Listing;
use crate::content::CallToolResult;
use crate::jsonrpc::RpcError;

/// Offers tools, resources and prompts. The engine knows the protocol, an implementation knows
/// what there is and who may use it.
///
/// Everything is asked on behalf of a `Caller`, whom the transport has authenticated. What the
/// capabilities do not name is never asked for. A future is dropped when its request is cancelled or
/// its client is gone.
pub trait McpService: Send + Sync + 'static {
    /// The authenticated caller. Equal callers share sessions and may continue each other's calls.
    type Caller: Clone + PartialEq + Send + Sync + 'static;

    fn capabilities(&self, caller: &Self::Caller) -> ServerCapabilities;

    /// How to use this server, for the model of the client.
    fn instructions(&self, _caller: &Self::Caller) -> Option<String> {
        None
    }

    /// The tools, as objects of the protocol. Whoever is asked often prepares the listing once.
    fn tools(
        &self,
        caller: &Self::Caller,
    ) -> impl Future<Output = Result<Arc<Listing>, RpcError>> + Send;

    /// A tool that fails is a result with `is_error`. Errors are for the protocol: no such tool,
    /// or arguments that no tool could take. `arguments` is an object.
    fn call_tool(
        &self,
        context: &RequestContext<Self::Caller>,
        name: &str,
        arguments: Value,
    ) -> impl Future<Output = Result<CallToolResult, RpcError>> + Send;

    fn resources(
        &self,
        _caller: &Self::Caller,
    ) -> impl Future<Output = Result<Arc<Listing>, RpcError>> + Send {
        ready(Ok(Arc::default()))
    }

    fn resource_templates(
        &self,
        _caller: &Self::Caller,
    ) -> impl Future<Output = Result<Arc<Listing>, RpcError>> + Send {
        ready(Ok(Arc::default()))
    }

    /// The `contents` of a resource, as objects of the protocol.
    /// [`RpcError::resource_not_found`] where there is none.
    fn read_resource(
        &self,
        _context: &RequestContext<Self::Caller>,
        uri: &str,
    ) -> impl Future<Output = Result<Vec<Value>, RpcError>> + Send {
        ready(Err(RpcError::resource_not_found(uri)))
    }

    /// Somebody wants to follow a resource: from now on [`Self::changes`] tells of it. Clients do not always
    /// say that they are no longer interested.
    fn subscribe_resource(
        &self,
        _caller: &Self::Caller,
        _uri: &str,
    ) -> impl Future<Output = Result<(), RpcError>> + Send {
        ready(Ok(()))
    }

    fn prompts(
        &self,
        _caller: &Self::Caller,
    ) -> impl Future<Output = Result<Arc<Listing>, RpcError>> + Send {
        ready(Ok(Arc::default()))
    }

    /// A `GetPromptResult`: `messages`, and perhaps a `description`.
    fn get_prompt(
        &self,
        _context: &RequestContext<Self::Caller>,
        prompt: PromptRequest,
    ) -> impl Future<Output = Result<Map<String, Value>, RpcError>> + Send {
        ready(Err(RpcError::unknown_prompt(&prompt.name)))
    }

    /// The `completion` for the params of `completion/complete`: `values`, `total`, `hasMore`.
    fn complete(
        &self,
        _context: &RequestContext<Self::Caller>,
        _params: Value,
    ) -> impl Future<Output = Result<Value, RpcError>> + Send {
        ready(Ok(serde_json::json!({ "values": [] })))
    }

    /// What changes from now on, for as long as a client of the caller listens. A change that comes
    /// several times before anybody reads the stream may come once.
    fn changes(&self, _caller: &Self::Caller) -> BoxStream<'static, ServerChange> {
        stream::pending().boxed()
    }
}

/// How a server introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerIdentity {
    pub name: String,
    pub title: String,
    pub version: String,
}

/// What there is to ask for. Changes of a list are always announced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerCapabilities {
    pub tools: bool,
    pub resources: bool,
    pub resource_subscriptions: bool,
    pub prompts: bool,
    pub completions: bool,
    pub logging: bool,
}

/// A prompt that is to be filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptRequest {
    pub name: String,
    pub arguments: Map<String, Value>,
}

/// A list or resource that a client has to read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerChange {
    Tools,
    Prompts,
    Resources,
    /// What this resource says. Only those hear of it who subscribed to it.
    Resource(String),
}
