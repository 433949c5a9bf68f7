//! Resources and prompts of a server: listed when somebody asks, then kept until the server says
//! that they changed, or is another one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::{Map, Value};
use tenon_domain::{ErrorDetail, ToolError};
use tenon_mcp::{Error, ListKind, ListVersions, McpConnection};
use tenon_tools::{ContextChange, ContextEntry, ContextKind, ContextSource, ResourceWatch};
use tokio::sync::{broadcast, watch};

use super::explain::{explain_connection, tool_error};
use super::server::McpServer;
use super::status::ActiveConnection;
use crate::supervisor::{Availability, UnavailableReason};

/// How many changes a subscriber may be behind; then it hears that the lists changed.
const MAX_UNREAD_CHANGES: usize = 256;

/// For a resource or a prompt, where the settings of the server name no timeout.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// What is known of a server's resources and prompts.
#[derive(Debug)]
pub(super) struct ContextCache {
    lists: Mutex<HashMap<ContextKind, CachedList>>,
    changes: broadcast::Sender<ContextChange>,
    /// By URI, how many watch it.
    watched: Arc<watch::Sender<BTreeMap<String, usize>>>,
}

#[derive(Debug, Clone)]
struct CachedList {
    /// Of which connection, and of which version of its list.
    connection: u64,
    version: u64,
    entries: Arc<[ContextEntry]>,
}

impl Default for ContextCache {
    fn default() -> Self {
        Self {
            lists: Mutex::default(),
            changes: broadcast::Sender::new(MAX_UNREAD_CHANGES),
            watched: Arc::new(watch::Sender::new(BTreeMap::new())),
        }
    }
}

impl ContextCache {
    /// Passes on what a connection notifies of, for as long as it is the one there is.
    pub(super) async fn forward(
        &self,
        connection: &McpConnection,
        list_timeout: Duration,
    ) -> Infallible {
        let mut versions = connection.list_versions();
        let mut updates = connection.resource_updates();
        let mut watched = self.watched.subscribe();
        let mut known = ListVersions::default();
        // It may be another server than before; who has never asked misses nothing.
        if !self.lists().is_empty() {
            self.announce(ContextChange::Resources);
            self.announce(ContextChange::Prompts);
        }
        // So that those that are watched already count as news to this connection.
        watched.mark_changed();
        loop {
            tokio::select! {
                changed = versions.changed() => {
                    let now = *versions.borrow_and_update();
                    if now.resources != known.resources {
                        self.announce(ContextChange::Resources);
                    }
                    if now.prompts != known.prompts {
                        self.announce(ContextChange::Prompts);
                    }
                    known = now;
                    if changed.is_err() {
                        return std::future::pending().await;
                    }
                }
                updated = updates.recv() => match updated {
                    Ok(uri) => self.announce(ContextChange::Resource(uri)),
                    Err(broadcast::error::RecvError::Lagged(_)) => self.announce(ContextChange::Resources),
                    Err(broadcast::error::RecvError::Closed) => return std::future::pending().await,
                },
                _ = watched.changed() => {
                    let uris: BTreeSet<String> = watched.borrow_and_update().keys().cloned().collect();
                    // The supervisor finds out by itself whether the connection still stands.
                    let _ = connection.watch_resources(uris, list_timeout).await;
                }
            }
        }
    }

    fn announce(&self, change: ContextChange) {
        // Nobody may be listening.
        let _ = self.changes.send(change);
    }

    fn lists(&self) -> MutexGuard<'_, HashMap<ContextKind, CachedList>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl McpServer {
    /// The connection there is; one that sleeps or is starting is waited for, but not one that failed.
    async fn context_connection(&self) -> Result<ActiveConnection, ToolError> {
        let core = &self.shared.core;
        if let Availability::Unavailable(reason) = core.status.availability() {
            return Err(core.errors.unavailable(&reason));
        }
        let wake = || self.shared.activity.request_start();
        core.connection("", |_| true, wake).await
    }

    fn context_error(&self, active: &ActiveConnection, subject: &str, error: Error) -> ToolError {
        let (shared, errors) = (&self.shared, &self.shared.core.errors);
        let lost = |why: ErrorDetail| {
            shared.doubt.notify_one();
            errors.not_sent(subject, &why)
        };
        match error {
            Error::LoginRequired { challenge } => {
                shared.demand_login(active.number, challenge);
                errors.unavailable(&UnavailableReason::LoginRequired)
            }
            // To read does nothing, so it does not matter whether it got through.
            Error::NotSent(why) | Error::ConnectionLost(why) => lost(explain_connection(&why)),
            other => tool_error(&other),
        }
    }

    fn read_timeout(&self) -> Duration {
        self.shared.core.call_timeouts.of("").unwrap_or(READ_TIMEOUT)
    }
}

#[async_trait]
impl ContextSource for McpServer {
    async fn list(&self, kind: ContextKind) -> Result<Arc<[ContextEntry]>, ToolError> {
        let cache = &self.shared.context;
        let cached = cache.lists().get(&kind).cloned();
        let is_open = matches!(self.shared.core.status.availability(), Availability::Open(_));
        if let Some(cached) = cached.as_ref().filter(|_| !is_open) {
            // What it listed last stays, as its tools do.
            return Ok(cached.entries.clone());
        }
        let _guard = self.shared.activity.begin();
        let active = self.context_connection().await?;
        let versions = *active.connection.list_versions().borrow();
        let version = version_of(kind, versions);
        let is_current =
            |cached: &CachedList| cached.connection == active.number && cached.version == version;
        if let Some(cached) = cached.filter(is_current) {
            return Ok(cached.entries);
        }
        let timeout = self.shared.timeouts.list;
        let listed = active.connection.list(list_kind(kind), timeout).await;
        let listed = listed.map_err(|error| self.context_error(&active, "", error))?;
        let entries: Arc<[ContextEntry]> = listed
            .into_iter()
            .map(|entry| ContextEntry {
                key: entry.key,
                fields: entry.fields,
            })
            .collect();
        let cached = CachedList {
            connection: active.number,
            version,
            entries: entries.clone(),
        };
        cache.lists().insert(kind, cached);
        Ok(entries)
    }

    async fn read_resource(&self, uri: &str) -> Result<Vec<Value>, ToolError> {
        let _guard = self.shared.activity.begin();
        let active = self.context_connection().await?;
        let read = active.connection.read_resource(uri, self.read_timeout()).await;
        let mut read = read.map_err(|error| self.context_error(&active, uri, error))?;
        match read.remove("contents") {
            Some(Value::Array(contents)) => Ok(contents),
            _ => Ok(Vec::new()),
        }
    }

    async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, ToolError> {
        let _guard = self.shared.activity.begin();
        let active = self.context_connection().await?;
        let arguments = Value::Object(arguments);
        let filled = active.connection.get_prompt(name, &arguments, self.read_timeout());
        let filled = filled.await;
        filled.map_err(|error| self.context_error(&active, name, error))
    }

    async fn complete(&self, params: &Map<String, Value>) -> Result<Value, ToolError> {
        let _guard = self.shared.activity.begin();
        let active = self.context_connection().await?;
        let param = |name: &str| params.get(name).unwrap_or(&Value::Null);
        let (reference, argument) = (param("ref"), param("argument"));
        let timeout = self.shared.timeouts.list;
        let connection = &active.connection;
        let completed = connection.complete(reference, argument, param("context"), timeout);
        let completed = completed.await;
        let mut completed = completed.map_err(|error| self.context_error(&active, "", error))?;
        Ok(completed.remove("completion").unwrap_or_default())
    }

    fn watch_resource(&self, uri: &str) -> ResourceWatch {
        let watched = self.shared.context.watched.clone();
        let uri = uri.to_owned();
        watched.send_if_modified(|watched| {
            let watchers = watched.entry(uri.clone()).or_default();
            *watchers += 1;
            *watchers == 1
        });
        ResourceWatch::new(move || {
            watched.send_if_modified(|watched| match watched.get_mut(&uri) {
                Some(watchers) if *watchers > 1 => {
                    *watchers -= 1;
                    false
                }
                _ => watched.remove(&uri).is_some(),
            });
        })
    }

    fn changes(&self) -> BoxStream<'static, ContextChange> {
        let changes = self.shared.context.changes.subscribe();
        let next = |mut changes: broadcast::Receiver<ContextChange>| async move {
            match changes.recv().await {
                Ok(change) => Some((change, changes)),
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    Some((ContextChange::Resources, changes))
                }
                Err(broadcast::error::RecvError::Closed) => None,
            }
        };
        stream::unfold(changes, next).boxed()
    }
}

fn list_kind(kind: ContextKind) -> ListKind {
    match kind {
        ContextKind::Resources => ListKind::Resources,
        ContextKind::ResourceTemplates => ListKind::ResourceTemplates,
        ContextKind::Prompts => ListKind::Prompts,
    }
}

fn version_of(kind: ContextKind, versions: ListVersions) -> u64 {
    match kind {
        ContextKind::Resources | ContextKind::ResourceTemplates => versions.resources,
        ContextKind::Prompts => versions.prompts,
    }
}
