//! The connection of one page: registrations come in, results of calls come back.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenon_domain::{CodedError, SourceId, SourceInfo, SourceKind, UserId};
use tenon_tools::ToolSource;
use tokio::sync::mpsc;

use super::check;
use super::device::RELOAD_GRACE;
use super::device_entry::{DeviceEntry, ServerEntry};
use super::device_hub::DeviceHub;
use super::error::{BrowserError, RegistrationFault};
use super::limits::MAX_SERVERS;
use super::local_server::{DiscoveryState, LocalServer};
use super::local_server_store::LocalServerRecord;
use super::local_tools::LocalTools;
use super::page::BrowserPage;
use super::wire::{
    DiscoveredServer, LocalCallResult, PageCommand, RegisteredServer, Registration,
    RegistrationResult,
};
use crate::call_progress::RemoteCallProgress;
use crate::import::clean;
use crate::{parse_queue, text};
use tenon_openapi::document::hash;

#[derive(Debug)]
pub struct PageConnection {
    hub: DeviceHub,
    entry: Arc<DeviceEntry>,
    page: Arc<BrowserPage>,
    frames: mpsc::Sender<PageCommand>,
    /// Whether its servers were marked as seen.
    is_marked: AtomicBool,
}

impl DeviceHub {
    /// Connects a page at its first registration. Commands to it go to `frames`.
    pub fn connect(
        &self,
        user: &UserId,
        registration: &Registration,
        frames: mpsc::Sender<PageCommand>,
    ) -> Result<PageConnection, BrowserError> {
        check::registration(registration)?;
        let entry = self.entry(user, &registration.device)?;
        let was_there = entry.device.is_there();
        let page = entry
            .device
            .add_page(&registration.page, frames.clone(), &registration.calls);
        if was_there {
            self.announce(&entry);
        } else {
            self.notify_of_servers(&entry);
        }
        Ok(PageConnection {
            hub: self.clone(),
            entry,
            page,
            frames,
            is_marked: AtomicBool::new(false),
        })
    }
}

impl PageConnection {
    /// Whether a registration is of this page, and its device is still known.
    pub fn is_for(&self, registration: &Registration) -> bool {
        self.page.id == registration.page
            && self.entry.device.id == registration.device.id
            && self.hub.contains(&self.entry)
    }

    /// Replaces the servers of the device by those that the page found.
    pub async fn register(
        &self,
        registration: Registration,
    ) -> Result<RegistrationResult, BrowserError> {
        check::registration(&registration)?;
        let _slot = parse_queue::acquire(&self.entry.registrations).await;
        if !self.hub.contains(&self.entry) {
            return Err(RegistrationFault::Forgotten.into());
        }
        let name = text::line(&registration.device.name, check::MAX_TITLE_CHARS);
        let renamed_from = self.entry.device.rename(name);
        if let Some(before) = &renamed_from {
            self.retitle_servers(before).await?;
        }
        let mut servers = Vec::new();
        let mut has_changed = renamed_from.is_some();
        for (number, found) in registration.servers.into_iter().enumerate() {
            let (registered, is_new) = if number < MAX_SERVERS {
                self.register_server(found).await
            } else {
                let error = RegistrationFault::too_many_servers().into();
                (self.refused(&found, &error), false)
            };
            has_changed |= is_new;
            servers.push(registered);
        }
        has_changed |= self.update_states(&servers, &registration.looking);
        if has_changed {
            self.hub.notify(&self.entry.device.user);
        }
        self.mark_seen(&servers).await;
        Ok(RegistrationResult {
            servers,
            problem: None,
        })
    }

    /// Calls servers as their computer is called now, where they were named with it.
    async fn retitle_servers(&self, before: &str) -> Result<(), BrowserError> {
        let suffix = title_suffix(before);
        let known: Vec<Arc<LocalServer>> = {
            let servers = self.entry.servers();
            servers.values().map(|entry| entry.server.clone()).collect()
        };
        for server in known {
            let info = server.info();
            let Some(title) = info.title.strip_suffix(&suffix) else {
                continue;
            };
            let title = format!("{title}{}", title_suffix(&self.entry.device.name()));
            let info = SourceInfo {
                title,
                ..info.clone()
            };
            self.connect_server(Arc::new(server.with_info(info)))
                .await?;
        }
        Ok(())
    }

    /// Removes the servers at an address that the user no longer wants.
    pub async fn unregister(&self, url: &str) -> Result<(), BrowserError> {
        let _slot = parse_queue::acquire(&self.entry.registrations).await;
        let is_at = |server: &LocalServer| server.url == url;
        if self.hub.drop_servers(&self.entry, is_at).await? {
            self.hub.notify(&self.entry.device.user);
        }
        Ok(())
    }

    pub fn progress(&self, progress: RemoteCallProgress) {
        self.page.progress(progress);
    }

    pub fn finish(&self, result: LocalCallResult) {
        self.page.finish(result);
    }

    /// The page was closed: its calls fail at once.
    pub fn close(&self) {
        self.disconnect(true);
    }

    /// The connection broke: the page may reconnect.
    pub fn connection_lost(&self) {
        self.disconnect(false);
    }

    fn disconnect(&self, for_good: bool) {
        let device = &self.entry.device;
        if !device.disconnect(&self.page, &self.frames, for_good) {
            return self.hub.announce(&self.entry);
        }
        // The device counts as online until then.
        let (hub, entry) = (self.hub.clone(), self.entry.clone());
        tokio::spawn(async move {
            tokio::time::sleep(RELOAD_GRACE).await;
            if !entry.device.is_here() {
                hub.notify_of_servers(&entry);
            }
            hub.drop_if_empty(&entry);
        });
    }

    /// Updates the state of all servers of the device, and says whether one changed.
    fn update_states(&self, registered: &[RegisteredServer], looking: &[String]) -> bool {
        let registered: HashMap<&SourceId, &RegisteredServer> =
            registered.iter().map(|one| (&one.source_id, one)).collect();
        let looking: HashSet<&str> = looking.iter().map(String::as_str).collect();
        let found = registered.keys().map(|id| (*id).clone());
        self.page.set_found(found.collect());
        let mut has_changed = false;
        for (id, entry) in self.entry.servers().iter() {
            let server = &entry.server;
            let state = match registered.get(id) {
                // The page has found this server and will send its tools next.
                Some(one) if one.wanted => continue,
                Some(one) => match &one.problem {
                    None => DiscoveryState::Found,
                    Some(problem) => DiscoveryState::Unusable(problem.clone()),
                },
                None if looking.contains(server.url.as_str()) => continue,
                // Another browser of the computer reaches it.
                None if self.entry.device.finds(id) => continue,
                None => DiscoveryState::Missing,
            };
            has_changed |= server.set_state(state);
        }
        has_changed
    }

    /// Marks the servers as seen, once per page.
    async fn mark_seen(&self, registered: &[RegisteredServer]) {
        let is_usable = |one: &&RegisteredServer| !one.wanted && one.problem.is_none();
        let ids: Vec<SourceId> = registered
            .iter()
            .filter(is_usable)
            .map(|one| one.source_id.clone())
            .collect();
        if ids.is_empty() || self.is_marked.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Err(error) = self.hub.0.store.mark_seen(&ids).await {
            tracing::warn!(%error, "what a page found is not marked as seen");
        }
    }

    fn refused(&self, found: &DiscoveredServer, error: &BrowserError) -> RegisteredServer {
        RegisteredServer {
            url: found.url.clone(),
            name: found.name.clone(),
            source_id: self.id_of(found),
            tools: 0,
            wanted: false,
            problem: Some(error.detail()),
            notes: Vec::new(),
        }
    }

    /// Registers one server, and says whether its tools changed.
    async fn register_server(&self, mut found: DiscoveredServer) -> (RegisteredServer, bool) {
        let id = self.id_of(&found);
        let (url, name) = (found.url.clone(), found.name.clone());
        let answer = |tools, notes| RegisteredServer {
            url: url.clone(),
            name: name.clone(),
            source_id: id.clone(),
            tools,
            wanted: false,
            problem: None,
            notes,
        };
        let known = self
            .entry
            .servers()
            .get(&id)
            .map(|entry| entry.server.clone());
        // Over another protocol it is another server.
        let known = known.filter(|server| server.via == found.via);
        if let Some(server) = known.as_ref().filter(|server| server.has(&found.hash)) {
            return (answer(server.count(), server.notes()), false);
        }
        if found.offered.is_none() {
            let wanted = RegisteredServer {
                wanted: true,
                ..answer(0, Vec::new())
            };
            return (wanted, false);
        }
        match self.register_tools(id.clone(), &mut found, known).await {
            Ok(server) => (answer(server.count(), server.notes()), true),
            Err(error) => (self.refused(&found, &error), false),
        }
    }

    async fn register_tools(
        &self,
        id: SourceId,
        found: &mut DiscoveredServer,
        known: Option<Arc<LocalServer>>,
    ) -> Result<Arc<LocalServer>, BrowserError> {
        let at = check::server(found)?;
        let offered = found.offered.take().ok_or(RegistrationFault::NoTools)?;
        let slots = (self.hub.0.parse_slots)(&self.entry.device.user);
        let slot = parse_queue::acquire(&slots).await;
        let tools = slot.run(move || LocalTools::read(offered, &at)).await?;
        let device = &self.entry.device;
        let server = known.unwrap_or_else(|| {
            let mut info = info(id.clone(), found, &device.user);
            // Users with several computers see the name of the computer in the title.
            if self.hub.all(&device.user).len() > 1 {
                info.title += &title_suffix(&device.name());
            }
            let url = found.url.clone();
            Arc::new(LocalServer::new(
                info,
                device.clone(),
                url,
                found.via,
                Vec::new(),
            ))
        });
        self.make_room(&id).await?;
        server.set_tools(found.hash.clone(), tools);
        server.set_state(DiscoveryState::Found);
        self.connect_server(server.clone()).await?;
        Ok(server)
    }

    /// Lists a server, in the place of the one of its id, and keeps it.
    async fn connect_server(&self, server: Arc<LocalServer>) -> Result<(), BrowserError> {
        let connected = self.hub.0.registry.connect(server.clone()).await;
        let connection = connected.map_err(BrowserError::Registry)?;
        let entry = ServerEntry {
            server: server.clone(),
            connection: Some(connection),
        };
        // Dropping the earlier connection removes nothing: it has been replaced.
        let id = server.info().id.clone();
        self.entry.servers().insert(id, entry);
        let record = LocalServerRecord {
            info: server.info().clone(),
            device: self.entry.info(),
            url: server.url.clone(),
            via: server.via,
            tools: server.tools(),
        };
        if let Err(error) = self.hub.0.store.save(&record).await {
            tracing::warn!(%error, "what a page found is not kept");
        }
        Ok(())
    }

    /// Removes servers that are missing, if there is no room for a new one.
    async fn make_room(&self, id: &SourceId) -> Result<(), BrowserError> {
        let is_full = || {
            let servers = self.entry.servers();
            servers.len() >= MAX_SERVERS && !servers.contains_key(id)
        };
        if is_full() {
            let is_missing = |server: &LocalServer| !server.is_found();
            self.hub.drop_servers(&self.entry, is_missing).await?;
        }
        if is_full() {
            return Err(RegistrationFault::too_many_servers().into());
        }
        Ok(())
    }

    fn id_of(&self, found: &DiscoveredServer) -> SourceId {
        let device = &self.entry.device;
        let parts = [device.id.as_str(), &found.url, &found.name];
        let whole = hash(parts.join("\n").as_bytes());
        SourceId(format!("local-{}:{}", &whole[..16], device.user))
    }
}

/// The end of a title that says which computer a server is on.
fn title_suffix(device: &str) -> String {
    format!(" · {device}")
}

fn info(id: SourceId, found: &DiscoveredServer, owner: &UserId) -> SourceInfo {
    let called = [&found.name, &found.title, &found.url];
    let name = called
        .iter()
        .map(|name| clean(name))
        .find(|name| !name.is_empty());
    let title = called
        .iter()
        .map(|title| text::line(title, check::MAX_TITLE_CHARS));
    SourceInfo {
        id,
        kind: SourceKind::Browser,
        name: name.unwrap_or_else(|| "local".to_owned()),
        title: title
            .into_iter()
            .find(|title| !title.is_empty())
            .unwrap_or_default(),
        owner: Some(owner.clone()),
    }
}
