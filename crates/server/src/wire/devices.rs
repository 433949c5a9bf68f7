//! The JSON of devices: people's own browsers.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{SourceId, SourceState};
use tenon_sources::browser::{DeviceStatus, LocalProtocol, LocalStatus, PageCommand};
use ts_rs::TS;

use super::ServerFrame;

/// `GET /api/devices`
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DeviceView {
    pub id: String,
    /// "Chrome on Linux"
    pub name: String,
    /// Whether a page is open there.
    pub online: bool,
    /// The ids of those that are, the latest last: what `session_id` of a chat completion can name.
    pub pages: Vec<String>,
    pub servers: Vec<LocalServerView>,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LocalServerView {
    pub source_id: SourceId,
    pub title: String,
    pub url: String,
    pub via: LocalProtocol,
    #[serde(flatten)]
    pub state: SourceState,
    pub tools: usize,
}

/// `POST /api/devices/behind`: which servers are behind an mcpo?
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpoDiscoveryRequest {
    /// Where its main document was read.
    pub url: String,
    #[ts(type = "unknown")]
    pub document: Value,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct McpoServer {
    pub name: String,
    /// Where its document is.
    pub url: String,
}

/// `GET` and `PUT /api/devices/endpoints`: what somebody's pages look at on every machine
/// they use. Null: nothing was ever kept. Keys are not, ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LocalEndpoint {
    pub url: String,
    #[serde(default)]
    pub name: String,
    pub kind: EndpointKind,
    pub enabled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum EndpointKind {
    /// Whatever it turns out to be.
    Auto,
    Openapi,
    Mcp,
}

impl From<PageCommand> for ServerFrame {
    fn from(frame: PageCommand) -> Self {
        match frame {
            PageCommand::Execute(order) => Self::Execute(order),
            PageCommand::Cancel { call_id } => Self::Cancel { call_id },
        }
    }
}

impl From<DeviceStatus> for DeviceView {
    fn from(device: DeviceStatus) -> Self {
        Self {
            id: device.info.id,
            name: device.info.name,
            online: device.is_there,
            pages: device.pages,
            servers: device.servers.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<LocalStatus> for LocalServerView {
    fn from(server: LocalStatus) -> Self {
        Self {
            source_id: server.info.id,
            title: server.info.title,
            url: server.url,
            via: server.via,
            state: server.state,
            tools: server.tools,
        }
    }
}
