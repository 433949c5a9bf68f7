//! The devices of all users, as this process knows them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use tenon_domain::{SourceId, UserId};
use tenon_tools::{Registry, ToolSource};
use tokio::sync::{Notify, Semaphore, broadcast};

use super::device_entry::{DeviceEntry, DeviceStatus, LocalStatus, ServerEntry};
use super::error::{BrowserError, RegistrationFault};
use super::limits::MAX_DEVICES;
use super::local_server::LocalServer;
use super::local_server_store::{LocalServerRecord, LocalServerStore};
use super::wire::DeviceInfo;
use crate::call_routes::CallRoutes;
use crate::lock::lock;
use crate::parse_queue;

/// How many changes a slow subscriber may miss before it has to read everything again.
const CHANGE_QUEUE: usize = 256;

/// Registers devices, their pages and the servers found on them. Cheap to clone.
#[derive(Clone)]
pub struct DeviceHub(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) registry: Arc<Registry>,
    pub(super) store: Arc<dyn LocalServerStore>,
    pub(super) parse_slots: ParseSlots,
    pub(super) routes: CallRoutes,
    /// Notified where a device at another server has tools that are not listed here.
    pub(super) restore: Arc<Notify>,
    devices: Mutex<HashMap<(UserId, String), Arc<DeviceEntry>>>,
    changes: broadcast::Sender<ToolsChanged>,
}

/// The semaphore that bounds how many documents of one user are parsed at once.
pub type ParseSlots = Box<dyn Fn(&UserId) -> Arc<Semaphore> + Send + Sync>;

/// The tools of this user changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsChanged(pub UserId);

impl DeviceHub {
    pub fn new(
        registry: Arc<Registry>,
        store: Arc<dyn LocalServerStore>,
        parse_slots: ParseSlots,
        routes: CallRoutes,
    ) -> Self {
        let hub = Self(Arc::new(Inner {
            registry,
            store,
            parse_slots,
            routes,
            restore: Arc::default(),
            devices: Mutex::default(),
            changes: broadcast::Sender::new(CHANGE_QUEUE),
        }));
        hub.join_cluster();
        hub
    }

    /// Registers the stored servers again, as offline. One that cannot be registered is skipped.
    pub async fn restore(&self) -> Result<(), BrowserError> {
        let records = self.0.store.load().await?;
        self.list_all(records).await;
        Ok(())
    }

    /// The same for one device, whose servers another process stored.
    pub(super) async fn restore_device(&self, entry: &DeviceEntry) -> Result<(), BrowserError> {
        // After a registration that is under way.
        let _slot = parse_queue::acquire(&entry.registrations).await;
        let device = &entry.device;
        let records = self.0.store.load_device(&device.user, &device.id).await?;
        let is_stored = |id: &SourceId| records.iter().any(|record| record.info.id == *id);
        // Servers that pages here have just found are kept, although they may not be in the store
        // yet.
        let is_here = device.is_here();
        entry
            .servers()
            .retain(|id, known| is_stored(id) || (is_here && known.server.is_found()));
        self.list_all(records).await;
        Ok(())
    }

    async fn list_all(&self, records: Vec<LocalServerRecord>) {
        for record in records {
            let id = record.info.id.clone();
            if let Err(error) = self.list(record).await {
                tracing::warn!(%id, %error, "what a browser found is not listed");
            }
        }
    }

    async fn list(&self, record: LocalServerRecord) -> Result<(), BrowserError> {
        let owner = record.info.owner.clone();
        let user = owner.ok_or(RegistrationFault::NoOwner)?;
        let device = self.entry(&user, &record.device)?;
        let server = Arc::new(LocalServer::new(
            record.info,
            device.device.clone(),
            record.url,
            record.via,
            record.tools,
        ));
        let id = server.info().id.clone();
        // Pages of this server may have said more of it.
        let is_same = |known: &LocalServer| {
            known.info() == server.info() && known.tools_hash() == server.tools_hash()
        };
        let known = device.servers().get(&id).map(|entry| entry.server.clone());
        if known.is_some_and(|known| known.is_parsed() || is_same(&known)) {
            return Ok(());
        }
        let connected = self.0.registry.connect(server.clone()).await;
        let connection = connected.map_err(BrowserError::Registry)?;
        let entry = ServerEntry {
            server,
            connection: Some(connection),
        };
        device.servers().insert(id, entry);
        Ok(())
    }

    pub fn subscribe(&self) -> broadcast::Receiver<ToolsChanged> {
        self.0.changes.subscribe()
    }

    pub fn devices(&self, user: &UserId) -> Vec<DeviceStatus> {
        let mut devices: Vec<DeviceStatus> =
            self.all(user).iter().map(|entry| entry.status()).collect();
        devices.sort_by(|a, b| a.info.id.cmp(&b.info.id));
        devices
    }

    /// The status of a source that was found on a device of this user.
    pub fn status(&self, user: &UserId, source: &SourceId) -> Option<LocalStatus> {
        let all = self.all(user);
        let mut entries = all.iter().filter_map(|entry| {
            let servers = entry.servers();
            servers.get(source).map(ServerEntry::status)
        });
        entries.next()
    }

    /// Removes a device and the servers found on it, and says whether there was one. Pages of it
    /// that are still open register again.
    pub async fn forget(&self, user: &UserId, device: &str) -> Result<bool, BrowserError> {
        let entry = self.known(user, device);
        if let Some(entry) = &entry {
            // After a registration that is under way.
            let _slot = parse_queue::acquire(&entry.registrations).await;
            self.drop_servers(entry, |_| true).await?;
            self.lock().remove(&(user.clone(), device.to_owned()));
            self.notify(user);
        }
        self.announce_forgotten(user, device);
        Ok(entry.is_some())
    }

    /// Forgets the servers that no page has seen for long, and the devices that have no others.
    pub async fn forget_unseen(&self) -> Result<(), BrowserError> {
        let entries = self.everybodys();
        // A page may be open for longer than that.
        let open = entries.iter().filter(|entry| entry.device.has_page());
        let found: Vec<SourceId> = open
            .flat_map(|entry| {
                let servers = entry.servers();
                let found = servers.iter().filter(|(_, known)| known.server.is_found());
                found.map(|(id, _)| id.clone()).collect::<Vec<_>>()
            })
            .collect();
        if !found.is_empty() {
            self.0.store.mark_seen(&found).await?;
        }
        let left = self.0.store.delete_unseen().await?;
        let left: BTreeSet<SourceId> = left.into_iter().collect();
        for entry in entries {
            let before = entry.servers().len();
            // Servers that pages here have just found are kept, although they may not be in the
            // store yet.
            let is_here = entry.device.is_here();
            entry
                .servers()
                .retain(|id, known| left.contains(id) || (is_here && known.server.is_found()));
            if entry.servers().len() < before {
                self.notify(&entry.device.user);
                self.drop_if_empty(&entry);
            }
        }
        Ok(())
    }

    /// Another server forgot it. Pages of it that are still open register again.
    pub(super) fn drop_device(&self, user: &UserId, device: &str) {
        if self
            .lock()
            .remove(&(user.clone(), device.to_owned()))
            .is_some()
        {
            self.notify_here(user);
        }
    }

    /// Removes all devices of a deleted user.
    pub async fn forget_user(&self, user: &UserId) -> Result<(), BrowserError> {
        for entry in self.all(user) {
            self.forget(user, &entry.device.id).await?;
        }
        Ok(())
    }

    pub(super) async fn drop_servers(
        &self,
        entry: &DeviceEntry,
        which: impl Fn(&LocalServer) -> bool,
    ) -> Result<bool, BrowserError> {
        let ids: Vec<SourceId> = {
            let servers = entry.servers();
            let gone = servers.iter().filter(|(_, entry)| which(&entry.server));
            gone.map(|(id, _)| id.clone()).collect()
        };
        if !ids.is_empty() {
            self.0.store.delete(&ids).await?;
            entry.servers().retain(|id, _| !ids.contains(id));
        }
        Ok(!ids.is_empty())
    }

    /// Removes a device that has neither a page nor a server.
    pub(super) fn drop_if_empty(&self, entry: &Arc<DeviceEntry>) {
        let mut devices = self.lock();
        if is_empty(entry) {
            let key = (entry.device.user.clone(), entry.device.id.clone());
            devices.remove(&key);
        }
    }

    pub(super) fn all(&self, user: &UserId) -> Vec<Arc<DeviceEntry>> {
        let devices = self.lock();
        let own = devices.iter().filter(|((owner, _), _)| owner == user);
        own.map(|(_, entry)| entry.clone()).collect()
    }

    pub(super) fn known(&self, user: &UserId, device: &str) -> Option<Arc<DeviceEntry>> {
        self.lock().get(&(user.clone(), device.to_owned())).cloned()
    }

    pub(super) fn everybodys(&self) -> Vec<Arc<DeviceEntry>> {
        self.lock().values().cloned().collect()
    }

    pub(super) fn entry(
        &self,
        user: &UserId,
        info: &DeviceInfo,
    ) -> Result<Arc<DeviceEntry>, BrowserError> {
        let mut devices = self.lock();
        let key = (user.clone(), info.id.clone());
        if let Some(entry) = devices.get(&key) {
            return Ok(entry.clone());
        }
        let own = |(owner, _): &(UserId, String)| owner == user;
        if devices.keys().filter(|key| own(key)).count() >= MAX_DEVICES {
            devices.retain(|key, entry| !own(key) || !is_empty(entry));
        }
        if devices.keys().filter(|key| own(key)).count() >= MAX_DEVICES {
            return Err(RegistrationFault::too_many_devices().into());
        }
        let entry = DeviceEntry::new(user, info, self.0.routes.clone());
        let entry = Arc::new(entry);
        devices.insert(key, entry.clone());
        Ok(entry)
    }

    pub(super) fn contains(&self, entry: &Arc<DeviceEntry>) -> bool {
        let key = (entry.device.user.clone(), entry.device.id.clone());
        self.lock()
            .get(&key)
            .is_some_and(|known| Arc::ptr_eq(known, entry))
    }

    /// A device came or went: a change for pages where tools come and go with it.
    pub(super) fn notify_of_servers(&self, entry: &DeviceEntry) {
        self.announce(entry);
        if !entry.servers().is_empty() {
            self.notify_here(&entry.device.user);
        }
    }

    /// Tells the pages of the user, at all servers.
    pub(super) fn notify(&self, user: &UserId) {
        for entry in self.all(user) {
            self.announce(&entry);
        }
        self.notify_here(user);
    }

    pub(super) fn notify_here(&self, user: &UserId) {
        // Without an open page there are no subscribers.
        let _ = self.0.changes.send(ToolsChanged(user.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(UserId, String), Arc<DeviceEntry>>> {
        lock(&self.0.devices)
    }
}

fn is_empty(entry: &DeviceEntry) -> bool {
    !entry.device.has_page() && !entry.device.is_elsewhere() && entry.servers().is_empty()
}

impl std::fmt::Debug for DeviceHub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceHub").finish_non_exhaustive()
    }
}
