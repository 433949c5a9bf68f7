//! One connection to a server, from the first word to the last.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use serde_json::Value;
use tenon_domain::{McpConfig, McpTransport, ToolDefinition, ToolOutput};
use tenon_tools::CallContext;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::call;
use super::era::{self, Opened};
use super::fault::Fault;
use super::list::{self, Page};
use super::listen;
use super::logs::Logs;
use super::process::Program;
use super::settings::Tokens;
use super::site::Site;
use super::talk::{Talk, Wire};
use super::words;
use tenon_net::Network;

/// What a server said of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    pub name: String,
    pub version: String,
    /// "2025-11-25"
    pub protocol: String,
}

/// How a server turned out to speak. Kept by its owner from one link to the next,
/// so that only the first one has to find it out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Era {
    #[default]
    Unknown,
    Stateless,
    Handshake,
    /// Legacy SSE, which is always of the handshake era.
    Sse,
}

/// What a link is opened with.
pub(super) struct Opening {
    /// With every variable filled in.
    pub(super) config: McpConfig,
    pub(super) era: Era,
    pub(super) logs: Logs,
    /// How long the first words may take.
    pub(super) patience: Duration,
    /// Where processes end that did not get so far.
    pub(super) endings: TaskTracker,
    pub(super) tokens: Option<Arc<dyn Tokens>>,
    pub(super) network: Network,
}

/// Why there is no link.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoLink {
    /// It wants to know who comes. The challenge is what its answer said about where to log in.
    #[error("it asks for a log-in")]
    LogIn { challenge: Option<String> },
    /// It cannot be reached, or has ended.
    #[error("{0}")]
    Gone(String),
    /// What a person can do about it, in one sentence.
    #[error("{0}")]
    Failed(String),
}

/// How a call over a link went wrong.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallFault {
    /// It was never sent: the connection had ended, or could not be made.
    Unreached(String),
    /// The connection ended before the answer. Whether it took effect is not known.
    Broken(String),
    /// The token is not good any more, or not for this. The challenge is what its answer said about that.
    LogIn { challenge: Option<String> },
    /// The server's own answer: the tool said no, or there is no such tool.
    Told(tenon_domain::ToolError),
}

/// The tools a server offers, and what is wrong with the others.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) tools: Vec<ToolDefinition>,
    /// Sentences.
    pub(crate) problems: Vec<String>,
}

/// Cheap to share: calls run side by side.
#[derive(Debug)]
pub(super) struct Link {
    talk: Arc<Talk>,
    era: Era,
    about: About,
    /// Asks to be told about changes.
    listening: Option<JoinHandle<()>>,
    /// The tools that are run as tasks or not at all.
    tasks: ArcSwap<list::Names>,
}

impl Link {
    pub(super) async fn open(opening: Opening) -> Result<Arc<Self>, NoLink> {
        let (logs, patience) = (opening.logs.clone(), opening.patience);
        match tokio::time::timeout(patience, connect(opening)).await {
            Ok(opened) => Ok(Arc::new(Self::new(opened?).await)),
            Err(_) => {
                let seconds = patience.as_secs_f32();
                let why = format!("It did not answer within {seconds} s.");
                let why = words::with_cause(&why, &logs.cause());
                Err(NoLink::Failed(why))
            }
        }
    }

    async fn new(opened: Opened) -> Self {
        let talk = Arc::new(opened.talk);
        let subscribes = opened.era == Era::Stateless && opened.tells_changes;
        let mut listening = subscribes.then(|| tokio::spawn(listen::subscribe(talk.clone())));
        if let Some(listening) = &mut listening {
            // Asked for their list before that, a tool that comes in between would be missed.
            let promised = async {
                tokio::select! {
                    () = talk.board.promised() => {}
                    _ = listening => {}
                }
            };
            let _ = tokio::time::timeout(listen::PROMISE, promised).await;
        }
        Self {
            talk,
            era: opened.era,
            about: opened.about,
            listening,
            tasks: ArcSwap::default(),
        }
    }

    pub(super) fn about(&self) -> &About {
        &self.about
    }

    pub(super) fn era(&self) -> Era {
        self.era
    }

    pub(super) fn pid(&self) -> Option<u32> {
        match &self.talk.wire {
            Wire::Stdio(stdio) => Some(stdio.pid()),
            Wire::Sse(_) | Wire::Http(_) => None,
        }
    }

    /// All tools, page after page.
    pub(super) async fn tools(&self, patience: Duration) -> Result<Listed, NoLink> {
        let listing = list::all(&self.talk, patience);
        let Page {
            listed,
            tasks,
            mirrors,
        } = tokio::time::timeout(patience, listing)
            .await
            .map_err(|_| NoLink::Failed("It did not list its tools in time.".into()))?
            .map_err(Fault::no_link)?;
        self.tasks.store(Arc::new(tasks));
        if let Wire::Http(http) = &self.talk.wire {
            http.mirror(mirrors);
        }
        Ok(listed)
    }

    /// Dropping it cancels the call on the server. Deadlines are the caller's affair.
    pub(super) async fn call(
        &self,
        tool: &str,
        input: Value,
        context: &CallContext,
    ) -> Result<ToolOutput, CallFault> {
        let how = match self.tasks.load().contains(tool) {
            true => call::How::AsTask,
            false => call::How::Plainly,
        };
        call::call(&self.talk, tool, &input, how, context).await
    }

    /// Counts up whenever the list of tools has changed.
    pub(super) fn changed(&self) -> watch::Receiver<u64> {
        self.talk.board.changed()
    }

    /// Whether it would be noticed if the server went away or its tools changed. None: always.
    pub(super) fn streams(&self) -> Option<watch::Receiver<bool>> {
        match &self.talk.wire {
            Wire::Stdio(_) | Wire::Sse(_) => None,
            Wire::Http(_) => Some(self.talk.board.streams()),
        }
    }

    /// Comes back when the connection has ended by itself, with what is known about why.
    pub(super) async fn ended(&self) -> String {
        self.talk.board.ended().await
    }

    /// Says goodbye and ends the process with all its children, within a few seconds.
    pub(super) async fn close(&self) {
        self.stop_listening();
        self.talk.wire.close().await;
    }

    fn stop_listening(&self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stop_listening();
    }
}

async fn connect(opening: Opening) -> Result<Opened, NoLink> {
    let Opening {
        config,
        era,
        logs,
        patience: _,
        endings,
        tokens,
        network,
    } = opening;
    let site = |url: &str, headers| {
        let site = Site::new(url, headers, tokens, network);
        site.map(Arc::new).map_err(NoLink::Failed)
    };
    match config.transport {
        McpTransport::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            let program = Program {
                command,
                args,
                env,
                cwd,
            };
            era::program(&program, era, &logs, &endings).await
        }
        McpTransport::Http { url, headers } => {
            era::address(site(&url, &headers)?, era, &logs).await
        }
        McpTransport::Sse { url, headers } => {
            let opened = era::legacy(site(&url, &headers)?, &logs).await;
            opened.map_err(Fault::no_link)
        }
    }
}
