//! The tool servers of a task: those of a folder of configurations, each started for that task
//! alone, and otherwise those of the hub.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use tenon_domain::{
    CodedError, ErrorDetail, McpConfig, McpTransport, SourceConfig, SourceId, SourceInfo,
    SourceKind, SourceState,
};
use tenon_sources::import::{self, ImportedServer};
use tenon_sources::mcp::{McpServer, McpSettings, StartMode};
use tenon_sources::variables::{LiteralConfig, Variable, fill, mentioned};
use tenon_sources::{Network, SupervisedServer};
use tokio::sync::{Semaphore, watch};

use super::TaskError;
use super::folder::TaskFolder;
use crate::sources::Sources;

/// For a server to come up: `npx` and `uvx` may have to install it first.
const START_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// How many servers of all tasks may be on their way up at once.
const PARALLEL_STARTS: usize = 4;

/// It does not run as root without this.
const BROWSER_SERVER: &str = "playwright_with_chunk";
const NO_SANDBOX: &str = "--no-sandbox";

/// The configurations of a folder, by the names that tasks use.
#[derive(Debug, Default)]
pub struct ServerFolder {
    servers: BTreeMap<String, ImportedServer>,
    /// What was wrong with files of the folder; the others are used.
    pub notes: Vec<String>,
}

impl ServerFolder {
    pub fn read(path: &Path) -> Result<Self, TaskError> {
        let folder = TaskFolder::open(path)?;
        let unreadable = format!("The folder {} cannot be read", path.display());
        let entries = std::fs::read_dir(path).map_err(TaskError::io(unreadable))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        let mut found = Self::default();
        for name in names {
            let (stem, extension) = name.rsplit_once('.').unwrap_or_default();
            if !matches!(extension, "yaml" | "yml" | "json") {
                continue;
            }
            let read = folder.text(&name).map_err(|error| error.to_string());
            let read = read.and_then(|text| {
                import::read(&text, Some(stem)).map_err(|error| error.to_string())
            });
            match read {
                Ok(read) => {
                    let servers = read.servers.into_iter();
                    let servers = servers.map(|server| (server.title.clone(), server));
                    found.servers.extend(servers);
                }
                Err(why) => found.notes.push(format!("{name}: {why}")),
            }
        }
        Ok(found)
    }

    pub fn has(&self, name: &str) -> bool {
        self.servers.contains_key(name)
    }
}

/// Values of the variables in the configuration of a task's servers.
pub(super) struct ServerVariables<'a> {
    pub(super) workspace: &'a Path,
    /// Of the task, which count first, and of all.
    pub(super) tokens: [&'a BTreeMap<String, String>; 2],
    pub(super) set: &'a BTreeMap<String, String>,
    /// Where secrets and the environment have the rest.
    pub(super) sources: &'a Sources,
}

/// Starts the servers of tasks.
#[derive(Debug)]
pub(super) struct ServerStarter {
    starts: Arc<Semaphore>,
    /// No pages are open.
    viewers: watch::Sender<usize>,
}

impl ServerStarter {
    pub(super) fn new() -> Self {
        Self {
            starts: Arc::new(Semaphore::new(PARALLEL_STARTS)),
            viewers: watch::Sender::new(0),
        }
    }

    /// Starts these servers of a folder and waits until they are up. All end when they are dropped.
    pub(super) async fn start(
        &self,
        folder: &ServerFolder,
        names: &[&str],
        variables: &ServerVariables<'_>,
    ) -> Result<Vec<Arc<McpServer>>, TaskError> {
        let starting = names.iter().map(|name| async move {
            let imported = folder.servers.get(*name);
            let imported = imported.ok_or_else(|| TaskError::UnknownServer {
                name: (*name).to_owned(),
            })?;
            let config = filled(name, imported, variables).await?;
            self.start_one(name, config).await
        });
        try_join_all(starting).await
    }

    async fn start_one(&self, name: &str, config: McpConfig) -> Result<Arc<McpServer>, TaskError> {
        let info = SourceInfo {
            id: SourceId::new(format!("task:{name}")),
            kind: SourceKind::Mcp,
            name: name.to_owned(),
            title: name.to_owned(),
            owner: None,
        };
        let server = McpServer::new(McpSettings {
            info,
            config,
            fill: Arc::new(LiteralConfig),
            tokens: None,
            // Whoever started the run named the folder.
            network: Network::Anywhere,
            known: Vec::new(),
            start: StartMode::Now,
            starts: self.starts.clone(),
            viewers: self.viewers.subscribe(),
        });
        let up = wait_until_up(name, &server);
        match tokio::time::timeout(START_TIMEOUT, up).await {
            Ok(up) => up.map(|()| server),
            Err(_elapsed) => Err(match server.status().state {
                SourceState::Degraded { why } => unusable(name, why),
                _ => TaskError::ServerTimeout {
                    name: name.to_owned(),
                    seconds: START_TIMEOUT.as_secs(),
                },
            }),
        }
    }
}

pub(super) async fn stop_all(servers: &[Arc<McpServer>]) {
    join_all(servers.iter().map(|server| server.stop())).await;
}

/// Starts that fail are tried again by the supervisor, until it gives up.
async fn wait_until_up(name: &str, server: &McpServer) -> Result<(), TaskError> {
    let mut changes = server.changes();
    loop {
        changes.borrow_and_update();
        match server.status().state {
            SourceState::Ready => return Ok(()),
            SourceState::Failed { why } => return Err(unusable(name, why)),
            SourceState::Starting
            | SourceState::Degraded { .. }
            | SourceState::Sleeping
            | SourceState::Off
            | SourceState::Offline => {}
        }
        if changes.changed().await.is_err() {
            // Its supervisor is gone; the timeout says so.
            std::future::pending::<()>().await;
        }
    }
}

async fn filled(
    name: &str,
    imported: &ImportedServer,
    variables: &ServerVariables<'_>,
) -> Result<McpConfig, TaskError> {
    let config = imported.config.as_ref();
    let config = config.map_err(|error| unusable(name, error.detail()))?;
    let SourceConfig::Mcp(config) = config else {
        return Err(TaskError::NotMcp {
            name: name.to_owned(),
        });
    };
    let mut values = HashMap::new();
    for variable in mentioned(config) {
        if let Some(value) = variables.value(&variable).await {
            values.insert(variable, value);
        }
    }
    let filled = fill(config, &|variable| values.get(variable).cloned());
    let mut filled = filled.map_err(|error| TaskError::Unset {
        name: name.to_owned(),
        why: Box::new(error.detail()),
    })?;
    if let McpTransport::Stdio { args, cwd, .. } = &mut filled.transport {
        if name == BROWSER_SERVER && is_root() {
            args.push(NO_SANDBOX.into());
        }
        let workspace = variables.workspace.to_string_lossy();
        cwd.get_or_insert_with(|| workspace.into_owned());
    }
    Ok(filled)
}

impl ServerVariables<'_> {
    async fn value(&self, variable: &Variable) -> Option<String> {
        let Variable::Shared(name) = variable else {
            return None;
        };
        if name == "agent_workspace" {
            return Some(self.workspace.to_string_lossy().into_owned());
        }
        if let Some(token) = name.strip_prefix("token.") {
            let known = self.tokens.iter().find_map(|tokens| tokens.get(token));
            if let Some(value) = known {
                return Some(value.clone());
            }
        }
        match self.set.get(name) {
            Some(value) => Some(value.clone()),
            None => self.sources.shared_value(name).await,
        }
    }
}

fn unusable(name: &str, why: ErrorDetail) -> TaskError {
    TaskError::Server {
        name: name.to_owned(),
        why: Box::new(why),
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
