//! Everybody's devices, as this process knows them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenon_domain::{SourceId, UserId};
use tenon_tools::{Registry, ToolSource};
use tokio::sync::{Semaphore, broadcast, mpsc};

use super::check;
use super::held::{DeviceStatus, Held, LocalStatus, Place};
use super::remember::{Memory, Remembered};
use super::seat::Seat;
use super::server::LocalServer;
use super::wire::{DeviceInfo, Frame, Registration};
use crate::{apart, text};

const MAX_DEVICES: usize = 50;

/// How many changes a slow page may miss before it looks at everything anew.
const BACKLOG: usize = 256;

/// Cheap to clone.
#[derive(Clone)]
pub struct Desk(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) registry: Arc<Registry>,
    pub(super) memory: Arc<dyn Memory>,
    pub(super) parses: Parses,
    devices: Mutex<HashMap<(UserId, String), Arc<Held>>>,
    told: broadcast::Sender<Told>,
}

/// How many documents of one person may be read at once.
pub type Parses = Box<dyn Fn(&UserId) -> Arc<Semaphore> + Send + Sync>;

/// Whose tools are not what they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told(pub UserId);

impl Desk {
    pub fn new(registry: Arc<Registry>, memory: Arc<dyn Memory>, parses: Parses) -> Self {
        Self(Arc::new(Inner {
            registry,
            memory,
            parses,
            devices: Mutex::default(),
            told: broadcast::Sender::new(BACKLOG),
        }))
    }

    /// Lists what was found before this process was. One that cannot be listed costs only
    /// itself. The error is a sentence.
    pub async fn restore(&self) -> Result<(), String> {
        for remembered in self.0.memory.load().await? {
            let id = remembered.info.id.clone();
            if let Err(why) = self.list(remembered).await {
                tracing::warn!(%id, why, "what a browser found is not listed");
            }
        }
        Ok(())
    }

    async fn list(&self, remembered: Remembered) -> Result<(), String> {
        let owner = remembered.info.owner.clone();
        let user = owner.ok_or("It is nobody's.")?;
        let held = self.held(&user, &remembered.device)?;
        let server = Arc::new(LocalServer::new(
            remembered.info,
            held.device.clone(),
            remembered.url,
            remembered.via,
            remembered.tools,
        ));
        let connected = self.0.registry.connect(server.clone()).await;
        let connection = connected.map_err(|error| error.to_string())?;
        let id = server.info().id.clone();
        let place = Place {
            server,
            connection: Some(connection),
        };
        held.servers().insert(id, place);
        Ok(())
    }

    /// A page that offers something for the first time. What is sent to it comes out of
    /// the other end of `frames`. The error is a sentence.
    pub fn sit(
        &self,
        user: &UserId,
        registration: &Registration,
        frames: mpsc::Sender<Frame>,
    ) -> Result<Seat, String> {
        check::registration(registration)?;
        let held = self.held(user, &registration.device)?;
        let was_there = held.device.is_there();
        held.device
            .rename(&text::line(&registration.device.name, check::MAX_TITLE));
        let page = held
            .device
            .arrive(&registration.page, frames.clone(), &registration.calls);
        if !was_there {
            self.tell(user);
        }
        Ok(Seat::new(self.clone(), held, page, frames))
    }

    /// Whenever somebody's tools change.
    pub fn news(&self) -> broadcast::Receiver<Told> {
        self.0.told.subscribe()
    }

    pub fn devices(&self, user: &UserId) -> Vec<DeviceStatus> {
        let mut devices: Vec<DeviceStatus> =
            self.all(user).iter().map(|held| held.status()).collect();
        devices.sort_by(|a, b| a.info.id.cmp(&b.info.id));
        devices
    }

    /// What is known of a source, if it is on somebody's machine.
    pub fn about(&self, user: &UserId, source: &SourceId) -> Option<LocalStatus> {
        let all = self.all(user);
        let mut places = all.iter().filter_map(|held| {
            let servers = held.servers();
            servers.get(source).map(Place::status)
        });
        places.next()
    }

    /// Forgets a device and all that was found there. Its pages say it again, if there
    /// are any. Whether there was one.
    pub async fn forget(&self, user: &UserId, device: &str) -> Result<bool, String> {
        let held = self.lock().remove(&(user.clone(), device.to_owned()));
        let Some(held) = held else {
            return Ok(false);
        };
        // What a page says of it meanwhile is taken in first.
        let _turn = apart::turn(&held.turns).await;
        self.drop_servers(&held, |_| true).await?;
        self.tell(user);
        Ok(true)
    }

    /// All devices of somebody who is gone.
    pub async fn forget_user(&self, user: &UserId) -> Result<(), String> {
        for held in self.all(user) {
            self.forget(user, &held.device.id).await?;
        }
        Ok(())
    }

    pub(super) async fn drop_servers(
        &self,
        held: &Held,
        which: impl Fn(&LocalServer) -> bool,
    ) -> Result<bool, String> {
        let gone: Vec<(SourceId, Place)> = {
            let mut servers = held.servers();
            servers
                .extract_if(.., |_, place| which(&place.server))
                .collect()
        };
        let ids: Vec<SourceId> = gone.iter().map(|(id, _)| id.clone()).collect();
        drop(gone);
        if !ids.is_empty() {
            self.0.memory.forget(&ids).await?;
        }
        Ok(!ids.is_empty())
    }

    /// One that has neither a page nor anything to list is no device.
    pub(super) fn drop_if_empty(&self, held: &Arc<Held>) {
        let mut devices = self.lock();
        if is_empty(held) {
            let key = (held.device.user.clone(), held.device.id.clone());
            devices.remove(&key);
        }
    }

    fn all(&self, user: &UserId) -> Vec<Arc<Held>> {
        let devices = self.lock();
        let own = devices.iter().filter(|((owner, _), _)| owner == user);
        own.map(|(_, held)| held.clone()).collect()
    }

    fn held(&self, user: &UserId, info: &DeviceInfo) -> Result<Arc<Held>, String> {
        let mut devices = self.lock();
        let key = (user.clone(), info.id.clone());
        if let Some(held) = devices.get(&key) {
            return Ok(held.clone());
        }
        let own = |(owner, _): &(UserId, String)| owner == user;
        if devices.keys().filter(|key| own(key)).count() >= MAX_DEVICES {
            devices.retain(|key, held| !own(key) || !is_empty(held));
        }
        if devices.keys().filter(|key| own(key)).count() >= MAX_DEVICES {
            return Err(format!(
                "There are {MAX_DEVICES} browsers with tools already. Forget one of them first."
            ));
        }
        let held = Arc::new(Held::new(user, info));
        devices.insert(key, held.clone());
        Ok(held)
    }

    pub(super) fn holds(&self, held: &Arc<Held>) -> bool {
        let key = (held.device.user.clone(), held.device.id.clone());
        self.lock()
            .get(&key)
            .is_some_and(|known| Arc::ptr_eq(known, held))
    }

    pub(super) fn tell(&self, user: &UserId) {
        // Nobody listens where no page is open.
        let _ = self.0.told.send(Told(user.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(UserId, String), Arc<Held>>> {
        let devices = self.0.devices.lock();
        devices.unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_empty(held: &Held) -> bool {
    !held.device.has_page() && held.servers().is_empty()
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}
