//! One browser of one person, and the pages it has open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenon_domain::{CallId, ErrorKind, ToolError, UserId};
use tenon_tools::CallContext;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout_at};

use super::page::{Page, Settled};
use super::wire::{DeviceInfo, Execute, Failure, FailureKind, Frame, Outcome};

/// A page that is loaded anew is away for a moment: so long the device counts as
/// there, and calls that have not begun wait.
pub(super) const GRACE: Duration = Duration::from_secs(4);

/// More pages than anybody has open.
const MAX_PAGES: usize = 64;

/// How often a call is handed on before it is given up.
const MAX_PAGES_TRIED: usize = 5;

pub(super) struct Device {
    pub(super) user: UserId,
    pub(super) id: String,
    name: Mutex<String>,
    pages: Mutex<Pages>,
    /// Counts up whenever a page comes or goes.
    moves: watch::Sender<u64>,
}

#[derive(Default)]
struct Pages {
    /// The one that came last comes last.
    all: Vec<Arc<Page>>,
    /// When the last one left.
    left: Option<Instant>,
}

impl Device {
    pub(super) fn new(user: &UserId, info: &DeviceInfo) -> Self {
        Self {
            user: user.clone(),
            id: info.id.clone(),
            name: Mutex::new(info.name.clone()),
            pages: Mutex::default(),
            moves: watch::Sender::new(0),
        }
    }

    pub(super) fn name(&self) -> String {
        let name = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        name.clone()
    }

    pub(super) fn rename(&self, name: &str) {
        let mut now = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        name.clone_into(&mut now);
    }

    /// A page is there, perhaps again.
    pub(super) fn arrive(
        &self,
        page: &str,
        frames: mpsc::Sender<Frame>,
        works_on: &[CallId],
    ) -> Arc<Page> {
        let page = {
            let mut pages = self.pages();
            pages
                .all
                .retain(|known| known.is_up() || known.is_awaited() || known.id == page);
            let known = pages.all.iter().position(|known| known.id == page);
            let arrived = match known {
                Some(place) => pages.all.remove(place),
                None => Arc::new(Page::new(page.to_owned(), frames.clone())),
            };
            arrived.back(frames, works_on);
            if pages.all.len() == MAX_PAGES {
                pages.all.remove(0);
            }
            pages.all.push(arrived.clone());
            pages.left = None;
            arrived
        };
        self.moved();
        page
    }

    /// A connection to a page ended. Whether that was the last page.
    pub(super) fn leave(&self, page: &Page, frames: &mpsc::Sender<Frame>, for_good: bool) -> bool {
        page.leave(frames, for_good);
        let is_last = {
            let mut pages = self.pages();
            pages.all.retain(|page| page.is_up() || page.is_awaited());
            let is_last = !pages.all.iter().any(|page| page.is_up());
            if is_last {
                pages.left.get_or_insert_with(Instant::now);
            }
            is_last
        };
        self.moved();
        is_last
    }

    pub(super) fn has_page(&self) -> bool {
        self.pages().all.iter().any(|page| page.is_up())
    }

    /// Whether a page is there, or was a moment ago.
    pub(super) fn is_there(&self) -> bool {
        let pages = self.pages();
        let is_back_soon = |left: Instant| left.elapsed() < GRACE;
        pages.all.iter().any(|page| page.is_up()) || pages.left.is_some_and(is_back_soon)
    }

    /// Has one of its pages make a call: another one, while the first has not begun with it.
    pub(super) async fn make(
        &self,
        order: &Execute,
        context: &CallContext,
    ) -> Result<Outcome, ToolError> {
        let mut tried: Vec<String> = Vec::new();
        while tried.len() < MAX_PAGES_TRIED {
            let Some(page) = self.page(&tried).await else {
                return Err(self.away());
            };
            // Those that are still to be tried, without this one.
            tried.push(page.id.clone());
            let has_others = || self.pick(&tried).is_some();
            match page.make(order, context, has_others).await {
                Settled::Ended(Outcome::Failed {
                    error:
                        Failure {
                            kind: FailureKind::Taken,
                            ..
                        },
                })
                | Settled::Midway => return Err(self.gone()),
                Settled::Ended(outcome) => return Ok(outcome),
                Settled::NotBegun => {}
            }
        }
        Err(self.away())
    }

    /// The page to ask: waits a moment for one, if there was one a moment ago.
    async fn page(&self, tried: &[String]) -> Option<Arc<Page>> {
        let mut moves = self.moves.subscribe();
        loop {
            moves.borrow_and_update();
            if let Some(page) = self.pick(tried) {
                return Some(page);
            }
            let left = self.pages().left?;
            let moved = timeout_at(left + GRACE, moves.changed()).await;
            if !matches!(moved, Ok(Ok(()))) {
                return None;
            }
        }
    }

    /// The one that came last is the likeliest to be looked at.
    fn pick(&self, tried: &[String]) -> Option<Arc<Page>> {
        let pages = self.pages();
        let mut up = pages.all.iter().rev().filter(|page| page.is_up());
        let is_new = |page: &&Arc<Page>| !tried.contains(&page.id);
        up.find(is_new).cloned()
    }

    pub(super) fn away(&self) -> ToolError {
        ToolError::new(ErrorKind::Unavailable, self.away_in_words())
    }

    pub(super) fn away_in_words(&self) -> String {
        format!(
            "This tool runs on the user's own computer, through a page of Tenon in {}, and no such \
             page is open now. Nothing was done. Ask the user to open Tenon there, or do without it.",
            self.name()
        )
    }

    fn gone(&self) -> ToolError {
        ToolError::new(
            ErrorKind::Unavailable,
            format!(
                "The page in {} that made this call was closed or lost its connection before the \
                 answer came. Whether the call took effect is not known: check before repeating it.",
                self.name()
            ),
        )
    }

    fn moved(&self) {
        self.moves.send_modify(|moves| *moves += 1);
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Device").field(&self.id).finish()
    }
}
