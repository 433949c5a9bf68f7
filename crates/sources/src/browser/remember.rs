//! What is kept of devices, so that their tools are listed while they are away.

use async_trait::async_trait;
use tenon_domain::{SourceId, SourceInfo, ToolDefinition};

use super::wire::{DeviceInfo, Via};

/// A server that was found by somebody's page.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// Its owner is the person.
    pub info: SourceInfo,
    pub device: DeviceInfo,
    pub url: String,
    pub via: Via,
    pub tools: Vec<ToolDefinition>,
}

/// Where it is kept. The errors are sentences.
#[async_trait]
pub trait Memory: Send + Sync {
    async fn load(&self) -> Result<Vec<Remembered>, String>;

    async fn keep(&self, server: &Remembered) -> Result<(), String>;

    /// They are in use.
    async fn seen(&self, servers: &[SourceId]) -> Result<(), String>;

    async fn forget(&self, servers: &[SourceId]) -> Result<(), String>;
}
