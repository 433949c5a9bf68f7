//! Tools that the client of a request runs, and what it is told of their calls.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{ToolCall, ToolId};
use tenon_sources::browser::ClientServer;
use tenon_tools::RequestTools;

/// The servers that only the client reaches, by the ids of their tools.
#[derive(Debug, Default)]
pub(super) struct ClientTools(HashMap<ToolId, ClientOperation>);

#[derive(Debug)]
struct ClientOperation {
    server: Arc<ClientServer>,
    /// What its document calls it.
    name: String,
}

impl ClientTools {
    pub(super) fn new(servers: &[Arc<ClientServer>], tools: &RequestTools) -> Self {
        let tools = tools.tools().filter_map(|tool| {
            let is_its = |server: &&Arc<ClientServer>| {
                let server: *const ClientServer = Arc::as_ptr(server);
                std::ptr::addr_eq(server, Arc::as_ptr(&tool.source))
            };
            let server = servers.iter().find(is_its)?.clone();
            let name = tool.spec.name.clone();
            Some((tool.spec.id.clone(), ClientOperation { server, name }))
        });
        Self(tools.collect())
    }

    /// A call as OpenAI's clients know it. Of a server that came along it also says which operation
    /// it is, and the request to send.
    pub(super) fn call(&self, made: &ToolCall) -> Value {
        let arguments = match &made.input {
            // What the model sent was no JSON: the client is shown it as it was.
            Value::String(raw) => raw.clone(),
            input => input.to_string(),
        };
        let function = json!({"name": made.tool_id, "arguments": arguments});
        let mut call = json!({"id": made.id, "type": "function", "function": function});
        if let Some(ClientOperation { server, name }) = self.0.get(&made.tool_id) {
            let request = server.request(name, &made.input);
            call["tool_server"] =
                json!({"url": server.url(), "operation": name, "request": request});
        }
        call
    }
}
