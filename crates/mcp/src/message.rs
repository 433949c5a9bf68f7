//! Metadata of requests in every transport: headers, versions, and the client's identity.

use reqwest::header::HeaderName;
use serde_json::{Value, json};

use crate::jsonrpc::ParamsBuilder;
use crate::peer::ClientInfo;

pub use crate::peer::{HANDSHAKE_VERSION, STATELESS_VERSION};

pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Headers by which stateless requests repeat parts of their body.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The extension under which calls of the stateless era may become tasks.
const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

pub(crate) fn initialize_params(client: &ClientInfo) -> ParamsBuilder {
    ParamsBuilder::new()
        .with("protocolVersion", HANDSHAKE_VERSION)
        .with("capabilities", &capabilities(client))
        .with("clientInfo", &client_json(client))
}

/// What every request of the stateless era carries: the members of `_meta`.
pub(crate) fn stateless_meta(client: &ClientInfo) -> String {
    let name = "io.modelcontextprotocol";
    let mut capabilities = capabilities(client);
    if client.capabilities.tasks {
        capabilities["extensions"] = json!({ TASKS_EXTENSION: {} });
    }
    format!(
        r#""{name}/protocolVersion":"{STATELESS_VERSION}","{name}/clientInfo":{},"{name}/clientCapabilities":{capabilities}"#,
        client_json(client)
    )
}

fn capabilities(client: &ClientInfo) -> Value {
    let mut capabilities = json!({});
    if client.capabilities.elicitation {
        capabilities["elicitation"] = json!({ "form": {}, "url": {} });
    }
    if client.capabilities.sampling {
        capabilities["sampling"] = json!({});
    }
    capabilities
}

fn client_json(client: &ClientInfo) -> Value {
    json!({ "name": client.name, "title": client.title, "version": client.version })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{ProtocolVersion, TASKS_EXTENSION_ID};

    #[test]
    fn our_versions_are_the_newest_of_their_eras() {
        assert_eq!(STATELESS_VERSION, ProtocolVersion::LATEST.as_str());
        assert_eq!(
            HANDSHAKE_VERSION,
            ProtocolVersion::LATEST_WITH_INITIALIZE.as_str()
        );
        assert_eq!(TASKS_EXTENSION, TASKS_EXTENSION_ID);
    }
}
