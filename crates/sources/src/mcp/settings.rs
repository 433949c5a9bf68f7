//! Settings of an MCP server and its dependencies.

use std::fmt;
use std::sync::Arc;

use tenon_domain::{McpConfig, SourceInfo, ToolDefinition};
use tenon_mcp::TokenProvider;
use tenon_net::Network;
use tokio::sync::{Semaphore, watch};

use crate::variables::VariableResolver;

/// Everything an [`super::McpServer`] needs from its owner.
pub struct McpSettings {
    pub info: SourceInfo,
    /// With its `${NAME}`s.
    pub config: McpConfig,
    pub fill: Arc<dyn VariableResolver<McpConfig>>,
    /// Access tokens, where people log in. Not for programs.
    pub tokens: Option<Arc<dyn TokenProvider>>,
    /// Where its address may lead.
    pub network: Network,
    /// The tools of its last run, listed until the server lists its own.
    pub known: Vec<ToolDefinition>,
    pub start: StartMode,
    /// How many servers may be on their way up at once: all of one owner share it.
    pub starts: Arc<Semaphore>,
    /// How many pages are open: while there are any, changes that a server does not tell of
    /// are looked for more often.
    pub viewers: watch::Receiver<usize>,
}

/// When a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartMode {
    /// At once, and again whenever it dies.
    Now,
    /// At the first call; it sleeps until then.
    OnCall,
}

impl fmt::Debug for McpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpSettings")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
