//! What a server is run with.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tenon_domain::{McpConfig, SourceInfo, ToolDefinition};
use tokio::sync::{Semaphore, watch};

use crate::variables::Fill;
use tenon_net::Network;

/// Everything an [`super::McpServer`] needs from its owner.
pub struct Settings {
    pub info: SourceInfo,
    /// With its `${NAME}`s.
    pub config: McpConfig,
    pub fill: Arc<dyn Fill<McpConfig>>,
    /// What gets us in, where people log in. Not for programs.
    pub tokens: Option<Arc<dyn Tokens>>,
    /// Where it may be.
    pub network: Network,
    /// What it offered when it last worked. Listed until it says otherwise.
    pub known: Vec<ToolDefinition>,
    pub start: Start,
    /// How many servers may be on their way up at once: all of one owner share it.
    pub starts: Arc<Semaphore>,
    /// How many pages are open: while there are any, changes that a server does not tell of
    /// are looked for more often.
    pub viewers: watch::Receiver<usize>,
}

/// When a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At once, and again whenever it dies.
    Now,
    /// At the first call; it sleeps until then.
    OnCall,
}

/// Tokens for a server where people log in. Many requests ask at the same time;
/// whoever implements this refreshes once for all of them.
#[async_trait]
pub trait Tokens: Send + Sync {
    /// One that is good for the next moments. None: nobody has logged in.
    async fn token(&self) -> Option<String>;

    /// The server refused this one: another, if there is a way to get it without a person.
    async fn instead_of(&self, refused: &str) -> Option<String>;
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
