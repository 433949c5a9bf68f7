//! One page of a device: its connection, and the calls it was given.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tenon_domain::{CallId, SourceId};
use tenon_tools::CallContext;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::wire::{ExecuteTool, LocalCallOutcome, LocalCallResult, PageCommand};
use crate::call_progress::RemoteCallProgress;
use crate::lock::lock;

/// A page that has not begun after this may be asleep (browsers throttle background tabs). The
/// call goes to another page, if there is one.
const START_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a page whose connection broke may take to reconnect before its calls fail. A page
/// that was closed is not waited for.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Progress that arrives faster than it is read is dropped.
const PROGRESS_QUEUE: usize = 16;

pub(super) struct BrowserPage {
    pub(super) id: String,
    link: watch::Sender<PageLink>,
    pending: Mutex<HashMap<CallId, PendingCall>>,
    /// The servers that it found when it last looked. Another browser of the same computer may
    /// reach others.
    found: Mutex<HashSet<SourceId>>,
}

#[derive(Clone)]
enum PageLink {
    Up(mpsc::Sender<PageCommand>),
    /// Its connection broke; it may come back.
    Lost,
    /// The page was closed.
    Gone,
}

struct PendingCall {
    progress: mpsc::Sender<RemoteCallProgress>,
    end: oneshot::Sender<LocalCallOutcome>,
}

/// How a dispatched call ended.
#[derive(Debug)]
pub(super) enum DispatchOutcome {
    Ended(LocalCallOutcome),
    /// The page never began with it, so another one may.
    NotBegun,
    /// The page began and is gone: the outcome is unknown.
    Midway,
}

impl BrowserPage {
    pub(super) fn new(id: String, frames: mpsc::Sender<PageCommand>) -> Self {
        Self {
            id,
            link: watch::Sender::new(PageLink::Up(frames)),
            pending: Mutex::default(),
            found: Mutex::default(),
        }
    }

    pub(super) fn set_found(&self, servers: HashSet<SourceId>) {
        *lock(&self.found) = servers;
    }

    pub(super) fn has_found(&self, server: &SourceId) -> bool {
        let found = lock(&self.found);
        found.contains(server)
    }

    pub(super) fn is_up(&self) -> bool {
        matches!(*self.link.borrow(), PageLink::Up(_))
    }

    /// Whether calls currently wait for the page to reconnect.
    pub(super) fn is_awaited(&self) -> bool {
        matches!(*self.link.borrow(), PageLink::Lost) && !self.pending().is_empty()
    }

    /// Takes a new connection. Of the calls that the page works on, those that are no longer
    /// pending are cancelled.
    pub(super) fn reconnect(&self, frames: mpsc::Sender<PageCommand>, works_on: &[CallId]) {
        let unwanted = |call: &&CallId| !self.pending().contains_key(*call);
        for call_id in works_on.iter().filter(unwanted).cloned() {
            let _ = frames.try_send(PageCommand::Cancel { call_id });
        }
        self.link.send_replace(PageLink::Up(frames));
    }

    /// Handles the end of a connection, unless a newer one has replaced it.
    pub(super) fn disconnect(&self, frames: &mpsc::Sender<PageCommand>, for_good: bool) {
        self.link.send_if_modified(|link| {
            let is_this = matches!(link, PageLink::Up(now) if now.same_channel(frames));
            if is_this {
                *link = if for_good {
                    PageLink::Gone
                } else {
                    PageLink::Lost
                };
            }
            is_this
        });
    }

    pub(super) fn progress(&self, progress: RemoteCallProgress) {
        if let Some(call) = self.pending().get(&progress.call_id) {
            let _ = call.progress.try_send(progress);
        }
    }

    /// Delivers a result; one for a call that is no longer pending is dropped.
    pub(super) fn finish(&self, result: LocalCallResult) {
        if let Some(call) = self.pending().remove(&result.call_id) {
            let _ = call.end.send(result.outcome);
        }
    }

    /// Lets the page execute a call. Dropping the future cancels it.
    pub(super) async fn execute(
        &self,
        order: &ExecuteTool,
        context: &CallContext,
        has_others: impl Fn() -> bool,
    ) -> DispatchOutcome {
        let mut link = self.link.subscribe();
        let Some(mut pending) = self.dispatch(order, &mut link) else {
            return DispatchOutcome::NotBegun;
        };
        let mut has_begun = false;
        let mut until = Instant::now() + START_TIMEOUT;
        let mut is_lost = false;
        let gone = |has_begun: bool| {
            if has_begun {
                DispatchOutcome::Midway
            } else {
                DispatchOutcome::NotBegun
            }
        };
        loop {
            tokio::select! {
                biased;
                outcome = &mut pending.end => return match outcome {
                    Ok(outcome) => DispatchOutcome::Ended(outcome),
                    Err(_) => gone(has_begun),
                },
                Some(progress) = pending.progress.recv() => {
                    has_begun = true;
                    progress.report(context);
                }
                changed = link.changed() => {
                    let now = link.borrow_and_update().clone();
                    match now {
                        PageLink::Up(frames) if changed.is_ok() => {
                            is_lost = false;
                            if !has_begun {
                                // The first frame may have been lost with the old connection; the
                                // page ignores a call id it already has.
                                let _ = frames.try_send(PageCommand::Execute(Box::new(order.clone())));
                                until = Instant::now() + START_TIMEOUT;
                            }
                        }
                        PageLink::Lost if has_begun || !has_others() => {
                            is_lost = true;
                            until = Instant::now() + RECONNECT_TIMEOUT;
                        }
                        PageLink::Up(_) | PageLink::Lost | PageLink::Gone => return gone(has_begun),
                    }
                }
                () = sleep_until(until), if is_lost || !has_begun => {
                    if is_lost || has_others() {
                        return gone(has_begun);
                    }
                    until = Instant::now() + START_TIMEOUT;
                }
            }
        }
    }

    fn dispatch<'a>(
        &'a self,
        order: &ExecuteTool,
        link: &mut watch::Receiver<PageLink>,
    ) -> Option<PendingCallGuard<'a>> {
        let PageLink::Up(frames) = link.borrow_and_update().clone() else {
            return None;
        };
        let (progress, progress_receiver) = mpsc::channel(PROGRESS_QUEUE);
        let (end, end_receiver) = oneshot::channel();
        let call = PendingCall { progress, end };
        self.pending().insert(order.call_id.clone(), call);
        let pending = PendingCallGuard {
            page: self,
            call: order.call_id.clone(),
            progress: progress_receiver,
            end: end_receiver,
        };
        // A full queue means that the page reads nothing.
        let sent = frames.try_send(PageCommand::Execute(Box::new(order.clone())));
        sent.is_ok().then_some(pending)
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<CallId, PendingCall>> {
        lock(&self.pending)
    }
}

/// A dispatched call; dropping it cancels the call.
struct PendingCallGuard<'a> {
    page: &'a BrowserPage,
    call: CallId,
    progress: mpsc::Receiver<RemoteCallProgress>,
    end: oneshot::Receiver<LocalCallOutcome>,
}

impl Drop for PendingCallGuard<'_> {
    fn drop(&mut self) {
        if self.page.pending().remove(&self.call).is_none() {
            // It has ended.
            return;
        }
        if let PageLink::Up(frames) = &*self.page.link.borrow() {
            let call_id = self.call.clone();
            let _ = frames.try_send(PageCommand::Cancel { call_id });
        }
    }
}

impl std::fmt::Debug for BrowserPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BrowserPage").field(&self.id).finish()
    }
}
