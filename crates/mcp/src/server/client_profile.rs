//! The client that sent a request, as it describes itself.

use serde::{Deserialize, Serialize};

use crate::peer::STATELESS_VERSION;

/// What a client said of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientProfile {
    pub name: String,
    pub version: String,
    /// The protocol version of the session or the request: "2025-11-25".
    pub protocol: String,
    /// Can show forms.
    pub elicitation: bool,
    /// Can open web pages on a server's request.
    pub url_elicitation: bool,
    pub sampling: bool,
    pub roots: bool,
}

/// As in RFC 5424, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl ClientProfile {
    /// 2026-07-28: every request stands alone.
    pub fn is_stateless(&self) -> bool {
        self.protocol == STATELESS_VERSION
    }
}
