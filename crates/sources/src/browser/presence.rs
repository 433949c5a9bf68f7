//! Which devices have pages with which server: told to the others, and heard from them.

use std::sync::Arc;

use tenon_bus::{BusState, Note};
use tenon_domain::{ToolError, UserId};
use tenon_openapi::document::hash;
use tenon_tools::ToolSource;
use tokio::sync::mpsc;

use super::cluster_wire::{
    ANNOUNCE, CALL, CallTarget, DeviceCall, DevicePresence, FORGET, ForgottenDevice, PRESENCE,
    ServerPresence,
};
use super::device_entry::DeviceEntry;
use super::device_hub::DeviceHub;
use super::error::BrowserError;
use super::wire::LocalCallOutcome;
use crate::call_error::{ServerCallError, unavailable};

/// How many announcements of other servers may wait here.
const NOTE_QUEUE: usize = 1024;

impl DeviceHub {
    /// Tells other servers of the devices here, hears of theirs, and makes their calls.
    pub(super) fn join_cluster(&self) {
        let bus = self.0.routes.bus();
        if bus.is_alone() {
            return;
        }
        let hub = self.clone();
        bus.serve(CALL, move |note| {
            let hub = hub.clone();
            async move {
                let outcome = hub.execute_routed(&note).await;
                serde_json::to_vec(&outcome).unwrap_or_default()
            }
        });
        let topics = [PRESENCE, ANNOUNCE, FORGET].map(|topic| bus.notes(topic, NOTE_QUEUE));
        tokio::spawn(self.clone().hear(topics));
        tokio::spawn(self.clone().follow_bus());
    }

    async fn hear(self, topics: [mpsc::Receiver<Note>; 3]) {
        let [mut presence, mut announce, mut forget] = topics;
        loop {
            tokio::select! {
                Some(note) = presence.recv() => {
                    let Ok(presence) = serde_json::from_slice::<DevicePresence>(&note.body) else {
                        continue;
                    };
                    if let Err(error) = self.take_presence(&note.from, presence).await {
                        tracing::warn!(%error, "a device at another server is not listed");
                    }
                }
                Some(note) = announce.recv() => {
                    for entry in self.everybodys() {
                        self.announce_to(Some(&note.from), &entry);
                    }
                }
                Some(note) = forget.recv() => {
                    if let Ok(gone) = serde_json::from_slice::<ForgottenDevice>(&note.body) {
                        self.drop_device(&gone.user, &gone.device);
                    }
                }
                else => return,
            }
        }
    }

    /// After the bus was away nobody knows what was missed.
    async fn follow_bus(self) {
        let bus = self.0.routes.bus();
        let (mut state, mut peers) = (bus.state(), bus.peers());
        state.mark_changed();
        loop {
            tokio::select! {
                Ok(()) = state.changed() => {
                    if *state.borrow_and_update() == BusState::Connected {
                        bus.broadcast(ANNOUNCE, Vec::new());
                        for entry in self.everybodys() {
                            self.announce_to(None, &entry);
                        }
                    }
                }
                Ok(()) = peers.changed() => {
                    let peers = peers.borrow_and_update().clone();
                    for entry in self.everybodys() {
                        if entry.device.retain_remote(|server| peers.contains(server)) {
                            self.notify_here(&entry.device.user);
                        }
                    }
                }
                else => return,
            }
        }
    }

    async fn take_presence(
        &self,
        from: &Arc<str>,
        presence: DevicePresence,
    ) -> Result<(), BrowserError> {
        let user = presence.user.clone();
        let entry = self.entry(&user, &presence.device)?;
        let is_known = {
            let servers = entry.servers();
            presence.servers.iter().all(|told| {
                let known = servers.get(&told.id);
                known.is_some_and(|known| tools_hash(&*known.server) == told.hash)
            })
        };
        if !is_known {
            self.restore_device(&user, &presence.device.id).await?;
        }
        if entry.device.set_remote(from, presence) {
            self.notify_here(&user);
        }
        self.drop_if_empty(&entry);
        Ok(())
    }

    /// Tells the other servers how a device is here.
    pub(super) fn announce(&self, entry: &DeviceEntry) {
        self.announce_to(None, entry);
    }

    fn announce_to(&self, server: Option<&str>, entry: &DeviceEntry) {
        let bus = self.0.routes.bus();
        if !bus.is_connected() {
            return;
        }
        let servers = entry.servers();
        let servers = servers.values().map(|known| ServerPresence {
            id: known.server.info().id.clone(),
            state: known.server.state_here(),
            hash: tools_hash(&*known.server),
        });
        let presence = DevicePresence {
            user: entry.device.user.clone(),
            device: entry.info(),
            is_there: entry.device.is_here(),
            pages: entry.device.open_pages(),
            servers: servers.collect(),
        };
        let presence = serde_json::to_vec(&presence).unwrap_or_default();
        match server {
            Some(server) => bus.notify(server, PRESENCE, presence),
            None => bus.broadcast(PRESENCE, presence),
        };
    }

    pub(super) fn announce_forgotten(&self, user: &UserId, device: &str) {
        let gone = ForgottenDevice {
            user: user.clone(),
            device: device.to_owned(),
        };
        let gone = serde_json::to_vec(&gone).unwrap_or_default();
        self.0.routes.bus().broadcast(FORGET, gone);
    }

    /// Makes a call of another server with a page that is here.
    async fn execute_routed(&self, note: &Note) -> Result<LocalCallOutcome, ToolError> {
        let gone = || unavailable(ServerCallError::LocalToolGone);
        let routed: DeviceCall = serde_json::from_slice(&note.body).map_err(|_| gone())?;
        let context = self.0.routes.context(&note.from, &routed.call);
        let entries = self.all(&routed.call.user);
        let entry = entries
            .iter()
            .find(|entry| entry.device.id == routed.device);
        let entry = entry.ok_or_else(gone)?;
        match routed.target {
            CallTarget::Tool {
                server,
                tool,
                input,
            } => {
                let known = entry
                    .servers()
                    .get(&server)
                    .map(|entry| entry.server.clone());
                let known = known.ok_or_else(gone)?;
                known.execute_here(&tool, input, &context).await
            }
            CallTarget::Page { page, order } => {
                let device = &entry.device;
                let page = device.open_page(&page);
                let page = page.ok_or_else(|| unavailable(device.offline()))?;
                let executed = device.execute_on(&page, &order, &context).await;
                executed.map_err(unavailable)
            }
        }
    }
}

fn tools_hash(server: &dyn ToolSource) -> String {
    let tools = serde_json::to_vec(&server.tools()).unwrap_or_default();
    hash(&tools)
}
