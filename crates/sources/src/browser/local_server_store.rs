//! Stores the servers of devices, so that their tools are listed while a device is offline.

use async_trait::async_trait;
use tenon_domain::{SourceId, SourceInfo, ToolDefinition, UserId};

use super::error::BrowserError;
use super::wire::{DeviceInfo, LocalProtocol};

/// A server that a page found.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalServerRecord {
    /// Its owner is the person.
    pub info: SourceInfo,
    pub device: DeviceInfo,
    pub url: String,
    pub via: LocalProtocol,
    pub tools: Vec<ToolDefinition>,
}

/// Persistent storage of local servers, implemented on top of a database.
#[async_trait]
pub trait LocalServerStore: Send + Sync {
    async fn load(&self) -> Result<Vec<LocalServerRecord>, BrowserError>;

    /// Loads the stored servers of one device.
    async fn load_device(
        &self,
        user: &UserId,
        device: &str,
    ) -> Result<Vec<LocalServerRecord>, BrowserError>;

    async fn save(&self, server: &LocalServerRecord) -> Result<(), BrowserError>;

    /// Notes that these servers are in use; those not seen for long are deleted.
    async fn mark_seen(&self, servers: &[SourceId]) -> Result<(), BrowserError>;

    /// Deletes those, and says which are left.
    async fn delete_unseen(&self) -> Result<Vec<SourceId>, BrowserError>;

    async fn delete(&self, servers: &[SourceId]) -> Result<(), BrowserError>;
}
