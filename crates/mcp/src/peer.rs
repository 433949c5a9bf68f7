//! Client and server, as they introduce themselves, and the versions the client speaks.

/// The version without a handshake.
pub const STATELESS_VERSION: &str = "2026-07-28";

/// The newest version with one.
pub const HANDSHAKE_VERSION: &str = "2025-11-25";

/// The server's description of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerInfo {
    pub name: String,
    pub version: String,
    /// The protocol version: "2025-11-25".
    pub protocol: String,
    /// How to use it, in its own words.
    pub instructions: Option<String>,
}

/// Our description of ourselves to servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientInfo {
    pub name: String,
    pub title: String,
    pub version: String,
    pub capabilities: ClientCapabilities,
}

/// Features that a server may use during a call. Some servers offer more tools to clients with more
/// of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    pub elicitation: bool,
    pub sampling: bool,
    /// Calls of the stateless era that go on as tasks.
    pub tasks: bool,
}

impl ClientCapabilities {
    pub const ALL: Self = Self {
        elicitation: true,
        sampling: true,
        tasks: true,
    };
}

/// How a server turned out to speak. Kept from one connection to the next, so that only
/// the first one has to find it out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProtocolEra {
    #[default]
    Unknown,
    /// 2026-07-28: no handshake.
    Stateless,
    /// Up to 2025-11-25: `initialize` first.
    Handshake,
    /// Legacy HTTP with SSE, which always begins with a handshake.
    LegacySse,
}
