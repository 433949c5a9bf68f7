//! An entry of the hub: a device and the servers that were found on it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tenon_domain::{SourceId, SourceInfo, SourceState, UserId};
use tenon_tools::{Connection, ToolSource};
use tokio::sync::Semaphore;

use super::cluster_wire::ServerPresence;
use super::device::Device;
use super::local_server::LocalServer;
use super::wire::{DeviceInfo, LocalProtocol};
use crate::call_routes::CallRoutes;
use crate::lock::lock;

pub(super) struct DeviceEntry {
    pub(super) device: Arc<Device>,
    servers: Mutex<BTreeMap<SourceId, ServerEntry>>,
    /// One registration at a time.
    pub(super) registrations: Arc<Semaphore>,
}

pub(super) struct ServerEntry {
    pub(super) server: Arc<LocalServer>,
    /// None: it has nothing to offer yet.
    #[expect(dead_code, reason = "entry")]
    pub(super) connection: Option<Connection>,
}

/// A device as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceStatus {
    pub info: DeviceInfo,
    pub is_there: bool,
    /// The ids of its open pages, the latest last.
    pub pages: Vec<String>,
    pub servers: Vec<LocalStatus>,
}

/// A server on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalStatus {
    pub info: SourceInfo,
    pub device: DeviceInfo,
    pub url: String,
    pub via: LocalProtocol,
    pub state: SourceState,
    pub tools: usize,
}

impl DeviceEntry {
    pub(super) fn new(user: &UserId, info: &DeviceInfo, routes: CallRoutes) -> Self {
        Self {
            device: Arc::new(Device::new(user, info, routes)),
            servers: Mutex::default(),
            registrations: Arc::new(Semaphore::new(1)),
        }
    }

    pub(super) fn info(&self) -> DeviceInfo {
        DeviceInfo {
            id: self.device.id.clone(),
            name: self.device.name(),
        }
    }

    pub(super) fn status(&self) -> DeviceStatus {
        let servers = self.servers();
        DeviceStatus {
            info: self.info(),
            is_there: self.device.is_there(),
            pages: [self.device.remote_pages(), self.device.open_pages()].concat(),
            servers: servers.values().map(ServerEntry::status).collect(),
        }
    }

    /// Whether it has the servers that others say it has, with the same tools, and no more. What its
    /// pages here found is known best here.
    pub(super) fn has_servers_of_others(&self) -> bool {
        let servers = self.servers();
        let told = self.device.remote_servers();
        let is_here = self.device.is_here();
        let is_found_here = |known: &ServerEntry| is_here && known.server.is_found();
        let is_same = |told: &ServerPresence| {
            let known = servers.get(&told.id);
            known
                .is_some_and(|known| is_found_here(known) || known.server.tools_hash() == told.hash)
        };
        let is_told = |(id, known): (&SourceId, &ServerEntry)| {
            is_found_here(known) || told.iter().any(|told| told.id == *id)
        };
        told.iter().all(is_same) && servers.iter().all(is_told)
    }

    pub(super) fn servers(&self) -> MutexGuard<'_, BTreeMap<SourceId, ServerEntry>> {
        lock(&self.servers)
    }
}

impl ServerEntry {
    pub(super) fn status(&self) -> LocalStatus {
        let server = &self.server;
        LocalStatus {
            info: server.info().clone(),
            device: DeviceInfo {
                id: server.device.id.clone(),
                name: server.device.name(),
            },
            url: server.url.clone(),
            via: server.via,
            state: server.state(),
            tools: server.count(),
        }
    }
}

impl std::fmt::Debug for DeviceEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DeviceEntry").field(&self.device.id).finish()
    }
}
