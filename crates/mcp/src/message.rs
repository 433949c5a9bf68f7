//! The messages of a client and the headers they go with, for who sends them by other means
//! than a [`McpConnection`](crate::McpConnection).

use reqwest::header::HeaderName;
use serde_json::{Value, json};

use crate::jsonrpc::{self, ParamsBuilder};
use crate::peer::{ClientInfo, ProtocolEra};

pub use crate::jsonrpc::RpcResponse;
pub use crate::peer::{HANDSHAKE_VERSION, STATELESS_VERSION};

pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// What a request of the stateless era repeats of its body.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The client that sends them, and the capabilities it offers.
#[derive(Debug)]
pub struct MessageWriter {
    pub client: ClientInfo,
    pub capabilities: Value,
}

impl MessageWriter {
    pub fn initialize(&self, id: u64) -> String {
        let params = initialize_params(&self.client, &self.capabilities);
        jsonrpc::request(id, "initialize", &params.finish(""))
    }

    pub fn initialized(&self) -> String {
        jsonrpc::notification("notifications/initialized", "{}")
    }

    pub fn discover(&self, id: u64) -> String {
        let meta = stateless_meta(&self.client, &self.capabilities);
        jsonrpc::request(id, "server/discover", &ParamsBuilder::new().finish(&meta))
    }

    /// One page of `tools/list`. Of the stateless era, every request introduces the client.
    pub fn list_tools(&self, id: u64, cursor: Option<&str>, era: ProtocolEra) -> String {
        let mut params = ParamsBuilder::new();
        if let Some(cursor) = cursor {
            params = params.with("cursor", cursor);
        }
        let meta = if era == ProtocolEra::Stateless {
            stateless_meta(&self.client, &self.capabilities)
        } else {
            String::new()
        };
        jsonrpc::request(id, "tools/list", &params.finish(&meta))
    }
}

pub(crate) fn initialize_params(client: &ClientInfo, capabilities: &Value) -> ParamsBuilder {
    ParamsBuilder::new()
        .with("protocolVersion", HANDSHAKE_VERSION)
        .with("capabilities", capabilities)
        .with("clientInfo", &client_json(client))
}

/// What every request of the stateless era carries: the members of `_meta`.
pub(crate) fn stateless_meta(client: &ClientInfo, capabilities: &Value) -> String {
    let name = "io.modelcontextprotocol";
    format!(
        r#""{name}/protocolVersion":"{STATELESS_VERSION}","{name}/clientInfo":{},"{name}/clientCapabilities":{capabilities}"#,
        client_json(client)
    )
}

fn client_json(client: &ClientInfo) -> Value {
    json!({ "name": client.name, "title": client.title, "version": client.version })
}
