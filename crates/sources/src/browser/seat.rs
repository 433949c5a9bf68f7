//! A page that is connected.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenon_domain::{SourceId, SourceInfo, SourceKind, UserId};
use tenon_tools::ToolSource;
use tokio::sync::mpsc;

use super::check;
use super::desk::Desk;
use super::device::GRACE;
use super::held::{Held, Place};
use super::offer::Offer;
use super::page::Page;
use super::remember::Remembered;
use super::server::{LocalServer, Standing};
use super::wire::{
    Answered, Found, Frame, Problem, Registered, RegisteredServer, Registration, Sign,
};
use crate::import::clean;
use crate::openapi::document::hash;
use crate::{apart, text};

/// One page, as long as its connection lasts.
#[derive(Debug)]
pub struct Seat {
    desk: Desk,
    held: Arc<Held>,
    page: Arc<Page>,
    frames: mpsc::Sender<Frame>,
    /// Whether it was noted that what it found is in use.
    touched: AtomicBool,
}

impl Seat {
    pub(super) fn new(
        desk: Desk,
        held: Arc<Held>,
        page: Arc<Page>,
        frames: mpsc::Sender<Frame>,
    ) -> Self {
        Self {
            desk,
            held,
            page,
            frames,
            touched: AtomicBool::new(false),
        }
    }

    /// Whether it is the same page of the same device, which was not forgotten meanwhile.
    pub fn is_for(&self, registration: &Registration) -> bool {
        self.page.id == registration.page
            && self.held.device.id == registration.device.id
            && self.desk.holds(&self.held)
    }

    /// Takes in what the page has found: this, and nothing else, is there now.
    pub async fn register(&self, registration: Registration) -> Result<Registered, String> {
        check::registration(&registration)?;
        let _turn = apart::turn(&self.held.turns).await;
        if !self.desk.holds(&self.held) {
            return Err("This browser was forgotten meanwhile. Look again.".into());
        }
        let mut servers = Vec::new();
        let mut is_news = false;
        for (number, found) in registration.servers.into_iter().enumerate() {
            let (registered, is_new) = match number < check::MAX_SERVERS {
                true => self.take(found).await,
                false => (self.refused(&found, too_many()), false),
            };
            is_news |= is_new;
            servers.push(registered);
        }
        is_news |= self.stand(&servers, &registration.looking);
        if is_news {
            self.desk.tell(&self.held.device.user);
        }
        self.touch(&servers).await;
        Ok(Registered {
            servers,
            problem: None,
        })
    }

    /// The person no longer wants what is at an address.
    pub async fn unregister(&self, url: &str) -> Result<(), String> {
        let _turn = apart::turn(&self.held.turns).await;
        let is_at = |server: &LocalServer| server.url == url;
        if self.desk.drop_servers(&self.held, is_at).await? {
            self.desk.tell(&self.held.device.user);
        }
        Ok(())
    }

    pub fn sign(&self, sign: Sign) {
        self.page.sign(sign);
    }

    pub fn end(&self, answered: Answered) {
        self.page.end(answered);
    }

    /// The page was closed: it does not come back to what it owes.
    pub fn leave(&self) {
        self.go(true);
    }

    /// Its connection broke: it may come back.
    pub fn lose(&self) {
        self.go(false);
    }

    fn go(&self, for_good: bool) {
        let device = &self.held.device;
        if !device.leave(&self.page, &self.frames, for_good) {
            return;
        }
        // Only then is it away, for those who look at the list.
        let (desk, held) = (self.desk.clone(), self.held.clone());
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            desk.drop_if_empty(&held);
            desk.tell(&held.device.user);
        });
    }

    /// How all servers of the device stand now. Whether that is news.
    fn stand(&self, told: &[RegisteredServer], looking: &[String]) -> bool {
        let told: HashMap<&SourceId, &RegisteredServer> =
            told.iter().map(|one| (&one.source_id, one)).collect();
        let looking: HashSet<&str> = looking.iter().map(String::as_str).collect();
        let mut is_news = false;
        for (id, place) in self.held.servers().iter() {
            let server = &place.server;
            let standing = match told.get(id) {
                // It is there; what it offers now is on its way.
                Some(one) if one.wanted => continue,
                Some(one) => match &one.problem {
                    None => Standing::Found,
                    Some(problem) => Standing::Unusable(problem.message.clone()),
                },
                None if looking.contains(server.url.as_str()) => continue,
                None => Standing::Missing,
            };
            is_news |= server.stand(standing);
        }
        is_news
    }

    /// Once for each page, what it found counts as seen.
    async fn touch(&self, told: &[RegisteredServer]) {
        let is_usable = |one: &&RegisteredServer| !one.wanted && one.problem.is_none();
        let ids: Vec<SourceId> = told
            .iter()
            .filter(is_usable)
            .map(|one| one.source_id.clone())
            .collect();
        if ids.is_empty() || self.touched.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Err(why) = self.desk.0.memory.seen(&ids).await {
            tracing::warn!(why, "what a page found is not marked as seen");
        }
    }

    fn refused(&self, found: &Found, message: String) -> RegisteredServer {
        RegisteredServer {
            url: found.url.clone(),
            name: found.name.clone(),
            source_id: self.id_of(found),
            tools: 0,
            wanted: false,
            problem: Some(Problem { message }),
            notes: Vec::new(),
        }
    }

    /// One server that was found, and whether that is news.
    async fn take(&self, mut found: Found) -> (RegisteredServer, bool) {
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
            .held
            .servers()
            .get(&id)
            .map(|place| place.server.clone());
        // What is reached in another way is another server, whoever it was before.
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
        match self.take_offer(id.clone(), &mut found, known).await {
            Ok(server) => (answer(server.count(), server.notes()), true),
            Err(message) => (self.refused(&found, message), false),
        }
    }

    async fn take_offer(
        &self,
        id: SourceId,
        found: &mut Found,
        known: Option<Arc<LocalServer>>,
    ) -> Result<Arc<LocalServer>, String> {
        let at = check::found(found)?;
        let offered = found.offered.take().ok_or("It offers nothing.")?;
        let turns = (self.desk.0.parses)(&self.held.device.user);
        let turn = apart::turn(&turns).await;
        let offer = turn.work(move || Offer::read(offered, &at)).await?;
        let device = &self.held.device;
        let server = known.unwrap_or_else(|| {
            let info = info(id.clone(), found, &device.user);
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
        server.take(found.hash.clone(), offer);
        server.stand(Standing::Found);
        let connected = self.desk.0.registry.connect(server.clone()).await;
        let connection =
            connected.map_err(|error| format!("Its tools cannot be listed: {error}."))?;
        let place = Place {
            server: server.clone(),
            connection: Some(connection),
        };
        // The connection that was there before ends here, and takes nothing away.
        self.held.servers().insert(id, place);
        let remembered = Remembered {
            info: server.info().clone(),
            device: self.held.info(),
            url: found.url.clone(),
            via: found.via,
            tools: server.tools(),
        };
        if let Err(why) = self.desk.0.memory.keep(&remembered).await {
            tracing::warn!(why, "what a page found is not kept");
        }
        Ok(server)
    }

    /// What nobody has found for longest makes way for something new.
    async fn make_room(&self, id: &SourceId) -> Result<(), String> {
        let is_full = || {
            let servers = self.held.servers();
            servers.len() >= check::MAX_SERVERS && !servers.contains_key(id)
        };
        if is_full() {
            let is_missing = |server: &LocalServer| !server.is_found();
            self.desk.drop_servers(&self.held, is_missing).await?;
        }
        match is_full() {
            true => Err(too_many()),
            false => Ok(()),
        }
    }

    fn id_of(&self, found: &Found) -> SourceId {
        let device = &self.held.device;
        let parts = [device.id.as_str(), &found.url, &found.name];
        let whole = hash(parts.join("\n").as_bytes());
        SourceId(format!("local-{}:{}", &whole[..16], device.user))
    }
}

fn too_many() -> String {
    format!(
        "More than {} servers of one browser cannot be used. Switch off some of the addresses it looks at.",
        check::MAX_SERVERS
    )
}

fn info(id: SourceId, found: &Found, owner: &UserId) -> SourceInfo {
    let called = [&found.name, &found.title, &found.url];
    let name = called
        .iter()
        .map(|name| clean(name))
        .find(|name| !name.is_empty());
    let title = called
        .iter()
        .map(|title| text::line(title, check::MAX_TITLE));
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
