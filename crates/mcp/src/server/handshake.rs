//! What a client of the handshake era has agreed on with the server.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::client_profile::{ClientProfile, LogLevel};
use super::notification::MAX_SUBSCRIPTIONS;
use super::service::{ServerCapabilities, ServerChange};

#[derive(Debug)]
pub(super) struct HandshakeState {
    pub(super) client: Arc<ClientProfile>,
    settings: Mutex<ClientSettings>,
}

#[derive(Debug)]
struct ClientSettings {
    log_level: LogLevel,
    subscriptions: HashSet<String>,
}

impl HandshakeState {
    pub(super) fn new(client: ClientProfile) -> Self {
        Self {
            client: Arc::new(client),
            settings: Mutex::new(ClientSettings {
                log_level: LogLevel::Info,
                subscriptions: HashSet::new(),
            }),
        }
    }

    pub(super) fn log_level(&self) -> LogLevel {
        self.settings().log_level
    }

    pub(super) fn set_log_level(&self, level: LogLevel) {
        self.settings().log_level = level;
    }

    /// Whether there is room for one more.
    pub(super) fn subscribe(&self, uri: &str) -> bool {
        let mut settings = self.settings();
        let has_room = settings.subscriptions.len() < MAX_SUBSCRIPTIONS;
        if has_room {
            settings.subscriptions.insert(uri.to_owned());
        }
        has_room
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.settings().subscriptions.remove(uri);
    }

    /// Whether the client hears of a change.
    pub(super) fn follows(&self, change: &ServerChange, capabilities: ServerCapabilities) -> bool {
        match change {
            ServerChange::Tools => capabilities.tools,
            ServerChange::Prompts => capabilities.prompts,
            ServerChange::Resources => capabilities.resources,
            ServerChange::Resource(uri) => self.settings().subscriptions.contains(uri),
        }
    }

    /// Of 2025-03-26, and of the JSON-RPC that the version before it refers to.
    pub(super) fn allows_batches(&self) -> bool {
        matches!(&*self.client.protocol, "2025-03-26" | "2024-11-05")
    }

    fn settings(&self) -> MutexGuard<'_, ClientSettings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
