//! Presence of devices: which server has connections from which device's pages. Servers tell each
//! other over the bus.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tenon_bus::{BusState, IncomingRequest, MAX_NOTE_BYTES, Note, json_batches};
use tenon_domain::{ToolError, UserId};
use tenon_tools::ToolSource;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tracing::Instrument;

use super::cluster_wire::{
    ASK_DEVICES, CALL, CallTarget, DEVICES, DeviceCall, DeviceNote, DevicePresence,
    ForgottenDevice, ServerPresence,
};
use super::device_entry::DeviceEntry;
use super::device_hub::{DeviceHub, Inner};
use super::wire::LocalCallOutcome;
use crate::call_error::{ServerCallError, unavailable};

/// How many notes of other servers may wait here.
const NOTE_QUEUE: usize = 1024;

/// Time within which a server that has a page of a device has to answer a presence request.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// How soon the tools of devices are read again that could not be.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

const RESTORE_TIMEOUT: Duration = Duration::from_secs(5);

impl DeviceHub {
    /// Announces devices here to other servers, learns of theirs, and executes calls for them.
    pub(super) fn join_cluster(&self) {
        let bus = self.0.routes.bus();
        if bus.is_alone() {
            return;
        }
        // The bus must not own what owns it.
        let weak = || Arc::downgrade(&self.0);
        let serving = weak();
        bus.serve(CALL, move |request| {
            let hub = serving.upgrade().map(DeviceHub);
            async move {
                let outcome = match hub {
                    Some(hub) => hub.execute_routed(&request).await,
                    None => Err(unavailable(ServerCallError::LocalToolGone)),
                };
                serde_json::to_vec(&outcome).unwrap_or_default()
            }
        });
        let topics = [DEVICES, ASK_DEVICES].map(|topic| bus.notes(topic, NOTE_QUEUE));
        tokio::spawn(receive(weak(), topics));
        tokio::spawn(follow_bus(weak(), bus.state(), bus.peers()));
        tokio::spawn(restore_others(weak(), self.0.restore.clone()));
    }

    /// Forgets what servers said that are gone, or said nothing since.
    fn retain_remote(&self, keeps: impl Fn(&Arc<str>, Instant) -> bool) {
        for entry in self.everybodys() {
            if entry.device.retain_remote(&keeps) {
                self.notify_here(&entry.device.user);
                self.drop_if_empty(&entry);
            }
        }
    }

    fn take_presence(&self, from: &Arc<str>, presence: DevicePresence) {
        let user = presence.user.clone();
        let entry = match self.entry(&user, &presence.device) {
            Ok(entry) => entry,
            Err(error) => {
                let device = presence.device.name;
                tracing::warn!(%device, %error, "a device at another server is not listed");
                return;
            }
        };
        let mut is_news = entry.device.set_remote(from, presence);
        // The server may have left the cluster while its note was queued here.
        if !self.0.routes.bus().peers().borrow().contains(from) {
            is_news |= entry.device.retain_remote(|server, _| server != from);
        }
        if is_news {
            self.notify_here(&user);
        }
        if has_unknown_servers(&entry) {
            self.0.restore.notify_one();
        }
        self.drop_if_empty(&entry);
    }

    /// Reads the servers of a device that others say it has.
    async fn restore_unknown(&self, entry: &DeviceEntry) {
        let before = presence(entry).servers;
        let restored = timeout(RESTORE_TIMEOUT, self.restore_device(entry)).await;
        let error: Option<&dyn std::fmt::Display> = match &restored {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error),
            Err(late) => Some(late),
        };
        if let Some(error) = error {
            let device = entry.device.name();
            tracing::warn!(%device, %error, "the tools of a device at another server are not listed yet");
        }
        if presence(entry).servers != before {
            self.notify_here(&entry.device.user);
        }
    }

    /// Tells the other servers how a device is here, also that it is not any more.
    pub(super) fn announce(&self, entry: &DeviceEntry) {
        self.announce_to(None, [DeviceNote::Presence(presence(entry))]);
    }

    fn announce_all(&self, server: Option<&str>) {
        let entries = self.everybodys();
        let here = entries.iter().filter(|entry| entry.device.is_here());
        self.announce_to(
            server,
            here.map(|entry| DeviceNote::Presence(presence(entry))),
        );
    }

    /// Sends notes in batches that fit into one bus message.
    fn announce_to(&self, server: Option<&str>, all: impl IntoIterator<Item = DeviceNote>) {
        let bus = self.0.routes.bus();
        if !bus.is_connected() {
            return;
        }
        for note in json_batches(all, MAX_NOTE_BYTES) {
            match server {
                Some(server) => bus.notify(server, DEVICES, note),
                None => bus.broadcast(DEVICES, note),
            };
        }
    }

    pub(super) fn announce_forgotten(&self, user: &UserId, device: &str) {
        let gone = ForgottenDevice {
            user: user.clone(),
            device: device.to_owned(),
        };
        self.announce_to(None, [DeviceNote::Forgotten(gone)]);
    }

    /// Makes a call of another server with a page that is here.
    async fn execute_routed(
        &self,
        request: &IncomingRequest,
    ) -> Result<LocalCallOutcome, ToolError> {
        let routed = serde_json::from_slice::<DeviceCall>(&request.body);
        let routed = routed.map_err(|_| unavailable(ServerCallError::LocalToolGone))?;
        let span = routed.call.span();
        let executing = self.execute_device_call(&request.from, routed);
        executing.instrument(span).await
    }

    async fn execute_device_call(
        &self,
        from: &Arc<str>,
        routed: DeviceCall,
    ) -> Result<LocalCallOutcome, ToolError> {
        let gone = || unavailable(ServerCallError::LocalToolGone);
        let context = self.0.routes.context(from, &routed.call);
        let entry = self.known(&routed.call.user, &routed.device);
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

fn has_unknown_servers(entry: &DeviceEntry) -> bool {
    entry.device.is_elsewhere() && !entry.has_servers_of_others()
}

fn presence(entry: &DeviceEntry) -> DevicePresence {
    let servers = entry.servers();
    let servers = servers.values().map(|known| ServerPresence {
        id: known.server.info().id.clone(),
        state: known.server.state_here(),
        hash: known.server.tools_hash(),
    });
    DevicePresence {
        user: entry.device.user.clone(),
        device: entry.info(),
        is_there: entry.device.is_here(),
        pages: entry.device.open_pages(),
        servers: servers.collect(),
    }
}

async fn receive(hub: Weak<Inner>, topics: [mpsc::Receiver<Note>; 2]) {
    let upgrade = || hub.upgrade().map(DeviceHub);
    let [mut devices, mut asked] = topics;
    loop {
        tokio::select! {
            Some(note) = devices.recv() => {
                let Some(hub) = upgrade() else { return };
                let told: Vec<DeviceNote> = serde_json::from_slice(&note.body).unwrap_or_default();
                for device in told {
                    match device {
                        DeviceNote::Presence(presence) => hub.take_presence(&note.from, presence),
                        DeviceNote::Forgotten(gone) => hub.drop_device(&gone.user, &gone.device),
                    }
                }
            }
            Some(note) = asked.recv() => {
                let Some(hub) = upgrade() else { return };
                hub.announce_all(Some(&note.from));
            }
            else => return,
        }
    }
}

/// Reads the tools of devices at other servers. On the side: the database may be slow, and notes
/// of other servers must not wait for it.
async fn restore_others(hub: Weak<Inner>, restore: Arc<Notify>) {
    loop {
        // A timeout counts as a wake-up, so that failed reads are retried.
        let _ = timeout(RETRY_INTERVAL, restore.notified()).await;
        let Some(hub) = hub.upgrade().map(DeviceHub) else {
            return;
        };
        let entries = hub.everybodys();
        for entry in entries.iter().filter(|entry| has_unknown_servers(entry)) {
            hub.restore_unknown(entry).await;
        }
    }
}

async fn follow_bus(
    hub: Weak<Inner>,
    mut state: watch::Receiver<BusState>,
    mut peers: watch::Receiver<BTreeSet<Arc<str>>>,
) {
    state.mark_changed();
    let mut known = BTreeSet::new();
    // Time of the last presence request.
    let mut asked = None;
    loop {
        let answered = asked.map_or_else(Instant::now, |asked| asked + ANSWER_TIME);
        let event = tokio::select! {
            Ok(()) = state.changed() => BusEvent::State,
            Ok(()) = peers.changed() => BusEvent::Peers,
            () = sleep_until(answered), if asked.is_some() => BusEvent::Answered,
        };
        let Some(hub) = hub.upgrade().map(DeviceHub) else {
            return;
        };
        let bus = hub.0.routes.bus();
        match event {
            BusEvent::State => {
                if *state.borrow_and_update() == BusState::Connected {
                    // Notes sent while the bus was down are lost, so the presence of all peers is
                    // requested again.
                    asked = Some(Instant::now());
                    bus.broadcast(ASK_DEVICES, Vec::new());
                    hub.announce_all(None);
                }
            }
            BusEvent::Answered => {
                if let Some(asked) = asked.take() {
                    hub.retain_remote(|_, told| told >= asked);
                }
            }
            BusEvent::Peers => {
                let now = peers.borrow_and_update().clone();
                hub.retain_remote(|server, _| now.contains(server));
                // A peer that is visible again may have sent notes while it was not.
                for peer in now.difference(&known) {
                    bus.notify(peer, ASK_DEVICES, Vec::new());
                }
                known = now;
            }
        }
    }
}

enum BusEvent {
    State,
    Peers,
    Answered,
}
