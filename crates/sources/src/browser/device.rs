//! One computer of one person, and the pages that its browsers have open.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tenon_domain::{CallId, SourceId, SourceState, ToolError, UserId};
use tenon_tools::CallContext;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout_at};

use super::cluster_wire::{CALL, CallTarget, DeviceCall, DevicePresence, ServerPresence};
use super::page::{BrowserPage, DispatchOutcome};
use super::wire::{
    DeviceInfo, ExecuteTool, LocalCallFailure, LocalCallOutcome, LocalFailureKind, PageCommand,
};
use crate::call_error::{ServerCallError, unavailable};
use crate::call_routes::{CallRoutes, RouteError, RoutedCall};
use crate::lock::lock;

/// While a page reloads it is disconnected for a moment. For this long the device counts as
/// online, and calls that have not begun wait.
pub(super) const RELOAD_GRACE: Duration = Duration::from_secs(4);

/// Per device. Each page holds a socket and may be offered calls.
const MAX_PAGES: usize = 64;

/// How many pages a call is offered to before it fails.
const MAX_PAGES_TRIED: usize = 5;

pub(super) struct Device {
    pub(super) user: UserId,
    pub(super) id: String,
    name: Mutex<String>,
    pages: Mutex<Pages>,
    /// Presence of this device at other servers, with the time of the last note from each.
    remote: Mutex<BTreeMap<Arc<str>, (DevicePresence, Instant)>>,
    routes: CallRoutes,
    /// Counts up whenever a page comes or goes.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Pages {
    /// In the order of their connections.
    all: Vec<Arc<BrowserPage>>,
    /// When the last one left.
    left: Option<Instant>,
}

impl Device {
    pub(super) fn new(user: &UserId, info: &DeviceInfo, routes: CallRoutes) -> Self {
        Self {
            user: user.clone(),
            id: info.id.clone(),
            name: Mutex::new(info.name.clone()),
            pages: Mutex::default(),
            remote: Mutex::default(),
            routes,
            changes: watch::Sender::new(0),
        }
    }

    pub(super) fn name(&self) -> String {
        let name = lock(&self.name);
        name.clone()
    }

    /// Gives it a name, and says which one it had if that was another.
    pub(super) fn rename(&self, name: String) -> Option<String> {
        let mut now = lock(&self.name);
        if *now == name {
            return None;
        }
        Some(std::mem::replace(&mut now, name))
    }

    /// Adds a page, or reconnects one that is known.
    pub(super) fn add_page(
        &self,
        page: &str,
        frames: mpsc::Sender<PageCommand>,
        works_on: &[CallId],
    ) -> Arc<BrowserPage> {
        let page = {
            let mut pages = self.pages();
            pages
                .all
                .retain(|known| known.is_up() || known.is_awaited() || known.id == page);
            let known = pages.all.iter().position(|known| known.id == page);
            let page = match known {
                Some(index) => pages.all.remove(index),
                None => Arc::new(BrowserPage::new(page.to_owned(), frames.clone())),
            };
            page.reconnect(frames, works_on);
            if pages.all.len() == MAX_PAGES {
                pages.all.remove(0);
            }
            pages.all.push(page.clone());
            pages.left = None;
            page
        };
        self.changed();
        page
    }

    /// Handles the end of a connection, and says whether that was the last page.
    pub(super) fn disconnect(
        &self,
        page: &BrowserPage,
        frames: &mpsc::Sender<PageCommand>,
        for_good: bool,
    ) -> bool {
        page.disconnect(frames, for_good);
        let is_last = {
            let mut pages = self.pages();
            pages.all.retain(|page| page.is_up() || page.is_awaited());
            let is_last = !pages.all.iter().any(|page| page.is_up());
            if is_last {
                pages.left.get_or_insert_with(Instant::now);
            }
            is_last
        };
        self.changed();
        is_last
    }

    pub(super) fn has_page(&self) -> bool {
        self.pages().all.iter().any(|page| page.is_up())
    }

    /// Whether a page is there, with this server or another, or was a moment ago.
    pub(super) fn is_there(&self) -> bool {
        self.is_here() || self.is_elsewhere()
    }

    pub(super) fn is_elsewhere(&self) -> bool {
        !self.remote().is_empty()
    }

    /// Stores the presence reported by another server. Returns whether anything changed.
    pub(super) fn set_remote(&self, server: &Arc<str>, presence: DevicePresence) -> bool {
        let mut remote = self.remote();
        if !presence.is_there {
            return remote.remove(server).is_some();
        }
        let told = (presence.clone(), Instant::now());
        let before = remote.insert(server.clone(), told);
        before.is_none_or(|(before, _)| before != presence)
    }

    /// Keeps what these servers say. Whether others said something.
    pub(super) fn retain_remote(&self, keeps: impl Fn(&Arc<str>, Instant) -> bool) -> bool {
        let mut remote = self.remote();
        let before = remote.len();
        remote.retain(|server, (_, told)| keeps(server, *told));
        remote.len() < before
    }

    /// The best state that other servers report for a local server, and which of them reports it.
    pub(super) fn remote_state(&self, id: &SourceId) -> Option<(Arc<str>, SourceState)> {
        let remote = self.remote();
        let mut states: Vec<(Arc<str>, SourceState)> = remote
            .iter()
            .filter_map(|(server, (presence, _))| {
                let told = presence.servers.iter().find(|told| told.id == *id)?;
                Some((server.clone(), told.state.clone()))
            })
            .collect();
        let is_ready = |(_, state): &(Arc<str>, SourceState)| *state == SourceState::Ready;
        match states.iter().position(is_ready) {
            Some(ready) => Some(states.swap_remove(ready)),
            None => states.pop(),
        }
    }

    /// The server that has this page open.
    pub(super) fn remote_page(&self, page: &str) -> Option<Arc<str>> {
        let remote = self.remote();
        let mut servers = remote.iter();
        let found =
            servers.find(|(_, (presence, _))| presence.pages.iter().any(|open| open == page));
        found.map(|(server, _)| server.clone())
    }

    pub(super) fn remote_pages(&self) -> Vec<String> {
        let remote = self.remote();
        remote
            .values()
            .flat_map(|(presence, _)| presence.pages.clone())
            .collect()
    }

    pub(super) fn remote_servers(&self) -> Vec<ServerPresence> {
        let remote = self.remote();
        remote
            .values()
            .flat_map(|(presence, _)| presence.servers.clone())
            .collect()
    }

    /// The same for pages of this server alone.
    pub(super) fn is_here(&self) -> bool {
        let pages = self.pages();
        let is_back_soon = |left: Instant| left.elapsed() < RELOAD_GRACE;
        pages.all.iter().any(|page| page.is_up()) || pages.left.is_some_and(is_back_soon)
    }

    /// Lets one of its pages execute a call, and another one as long as none has begun.
    pub(super) async fn execute(
        &self,
        server: &SourceId,
        order: &ExecuteTool,
        context: &CallContext,
    ) -> Result<LocalCallOutcome, ToolError> {
        let mut tried: Vec<String> = Vec::new();
        while tried.len() < MAX_PAGES_TRIED {
            let Some(page) = self.page(server, &tried).await else {
                return Err(unavailable(self.offline()));
            };
            tried.push(page.id.clone());
            let has_others = || self.pick(server, &tried).is_some();
            match page.execute(order, context, has_others).await {
                DispatchOutcome::Ended(LocalCallOutcome::Failed {
                    error:
                        LocalCallFailure {
                            kind: LocalFailureKind::Taken,
                            ..
                        },
                })
                | DispatchOutcome::Midway => return Err(unavailable(self.page_lost())),
                DispatchOutcome::Ended(outcome) => return Ok(outcome),
                DispatchOutcome::NotBegun => {}
            }
        }
        Err(unavailable(self.offline()))
    }

    /// Has another server execute a call with one of the pages that it has.
    pub(super) async fn execute_elsewhere(
        &self,
        server: &str,
        target: CallTarget,
        context: &CallContext,
    ) -> Result<LocalCallOutcome, ToolError> {
        let routed = DeviceCall {
            call: RoutedCall::new(context),
            device: self.id.clone(),
            target,
        };
        let routed = serde_json::to_vec(&routed).unwrap_or_default();
        let lost = || unavailable(self.page_lost());
        match self.routes.call(server, CALL, routed, context).await {
            Ok(outcome) => serde_json::from_slice(&outcome).unwrap_or_else(|_| Err(lost())),
            Err(RouteError::NotBegun) => Err(unavailable(self.offline())),
            Err(RouteError::Lost) => Err(lost()),
        }
    }

    /// Lets this very page execute a call.
    pub(super) async fn execute_on(
        &self,
        page: &BrowserPage,
        order: &ExecuteTool,
        context: &CallContext,
    ) -> Result<LocalCallOutcome, ServerCallError> {
        match page.execute(order, context, || false).await {
            DispatchOutcome::Ended(outcome) => Ok(outcome),
            DispatchOutcome::NotBegun => Err(self.offline()),
            DispatchOutcome::Midway => Err(self.page_lost()),
        }
    }

    /// Whether an open page found a server when it last looked.
    pub(super) fn finds(&self, server: &SourceId) -> bool {
        let pages = self.pages();
        let mut up = pages.all.iter().filter(|page| page.is_up());
        up.any(|page| page.has_found(server))
    }

    pub(super) fn open_pages(&self) -> Vec<String> {
        let pages = self.pages();
        let up = pages.all.iter().filter(|page| page.is_up());
        up.map(|page| page.id.clone()).collect()
    }

    pub(super) fn open_page(&self, id: &str) -> Option<Arc<BrowserPage>> {
        let pages = self.pages();
        let mut up = pages.all.iter().filter(|page| page.is_up());
        up.find(|page| page.id == id).cloned()
    }

    /// The page for a call. Waits for a reload, if there was a page a moment ago.
    async fn page(&self, server: &SourceId, tried: &[String]) -> Option<Arc<BrowserPage>> {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            if let Some(page) = self.pick(server, tried) {
                return Some(page);
            }
            let left = self.pages().left?;
            let changed = timeout_at(left + RELOAD_GRACE, changes.changed()).await;
            if !matches!(changed, Ok(Ok(()))) {
                return None;
            }
        }
    }

    /// The latest page that found the server: the likeliest to be in the foreground. One that has
    /// just come may not have looked yet.
    fn pick(&self, server: &SourceId, tried: &[String]) -> Option<Arc<BrowserPage>> {
        let pages = self.pages();
        let is_new = |page: &&Arc<BrowserPage>| page.is_up() && !tried.contains(&page.id);
        let mut new = pages.all.iter().rev().filter(is_new);
        let found = new.clone().find(|page| page.has_found(server));
        found.or_else(|| new.next()).cloned()
    }

    pub(super) fn offline(&self) -> ServerCallError {
        let device = self.name().into();
        ServerCallError::NoPage { device }
    }

    fn page_lost(&self) -> ServerCallError {
        let device = self.name().into();
        ServerCallError::PageLost { device }
    }

    fn remote(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, (DevicePresence, Instant)>> {
        lock(&self.remote)
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        lock(&self.pages)
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Device").field(&self.id).finish()
    }
}
