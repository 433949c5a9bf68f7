//! Resources and prompts of a server.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde_json::{Map, Value};
use tenon_domain::{ErrorDetail, ToolError};
use tenon_mcp::{EntryKind, Error, ListVersions};
use tenon_tools::{ContextChange, ContextEntry, ContextKind, ContextSource, ResourceWatch};

use super::context_cache::CachedList;
use super::explain::{explain_connection, tool_error};
use super::server::McpServer;
use super::status::ActiveConnection;
use crate::supervisor::{Availability, UnavailableReason};

/// For a resource or a prompt, where the settings of the server name no timeout.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

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
            // Reading has no side effects, so it does not matter whether the request arrived.
            Error::NotSent(why) | Error::ConnectionLost(why) => lost(explain_connection(&why)),
            other => tool_error(&other),
        }
    }

    fn read_timeout(&self) -> Duration {
        self.shared
            .core
            .call_timeouts
            .of("")
            .unwrap_or(READ_TIMEOUT)
    }
}

#[async_trait]
impl ContextSource for McpServer {
    async fn list(&self, kind: ContextKind) -> Result<Arc<[ContextEntry]>, ToolError> {
        let cache = &self.shared.context;
        let cached = cache.get(kind);
        let is_open = matches!(
            self.shared.core.status.availability(),
            Availability::Open(_)
        );
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
        let listed = active.connection.list(entry_kind(kind), timeout).await;
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
        cache.set(kind, cached);
        Ok(entries)
    }

    async fn read_resource(&self, uri: &str) -> Result<Vec<Value>, ToolError> {
        let _guard = self.shared.activity.begin();
        let active = self.context_connection().await?;
        let read = active
            .connection
            .read_resource(uri, self.read_timeout())
            .await;
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
        let filled = active
            .connection
            .get_prompt(name, &arguments, self.read_timeout());
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
        self.shared.context.watch_resource(uri)
    }

    fn changes(&self) -> BoxStream<'static, ContextChange> {
        self.shared.context.changes()
    }
}

fn entry_kind(kind: ContextKind) -> EntryKind {
    match kind {
        ContextKind::Resources => EntryKind::Resources,
        ContextKind::ResourceTemplates => EntryKind::ResourceTemplates,
        ContextKind::Prompts => EntryKind::Prompts,
    }
}

fn version_of(kind: ContextKind, versions: ListVersions) -> u64 {
    match kind {
        ContextKind::Resources | ContextKind::ResourceTemplates => versions.resources,
        ContextKind::Prompts => versions.prompts,
    }
}
