//! One page of a device: whether it is there, and what it owes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenon_domain::CallId;
use tenon_tools::{CallContext, Progress};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::wire::{Answered, Execute, Frame, Outcome, Sign};

/// A page that says nothing for so long may be asleep. Another one, if there is
/// one, is asked instead.
const HESITATION: Duration = Duration::from_secs(3);

/// So long a page whose connection broke may take to come back to its calls. One
/// that says goodbye is not waited for.
const RETURN: Duration = Duration::from_secs(5);

/// What comes faster than anybody looks is left out.
const SIGNS: usize = 16;

pub(super) struct Page {
    pub(super) id: String,
    link: watch::Sender<Link>,
    owed: Mutex<HashMap<CallId, Debt>>,
}

#[derive(Clone)]
enum Link {
    Up(mpsc::Sender<Frame>),
    /// Its connection broke; it may come back.
    Lost,
    /// It was closed.
    Gone,
}

struct Debt {
    signs: mpsc::Sender<Sign>,
    end: oneshot::Sender<Outcome>,
}

/// What came of a call that was given to a page.
#[derive(Debug)]
pub(super) enum Settled {
    Ended(Outcome),
    /// The page has not begun, and will not: another one may.
    NotBegun,
    /// The page is gone with it.
    Midway,
}

impl Page {
    pub(super) fn new(id: String, frames: mpsc::Sender<Frame>) -> Self {
        Self {
            id,
            link: watch::Sender::new(Link::Up(frames)),
            owed: Mutex::default(),
        }
    }

    pub(super) fn is_up(&self) -> bool {
        matches!(*self.link.borrow(), Link::Up(_))
    }

    /// Whether it may still come back to something.
    pub(super) fn is_awaited(&self) -> bool {
        matches!(*self.link.borrow(), Link::Lost) && !self.owed().is_empty()
    }

    /// It is here again, over another connection, and works on these calls. Those that
    /// nobody waits for any more are cancelled.
    pub(super) fn back(&self, frames: mpsc::Sender<Frame>, works_on: &[CallId]) {
        let unwanted = |call: &&CallId| !self.owed().contains_key(*call);
        for call_id in works_on.iter().filter(unwanted).cloned() {
            let _ = frames.try_send(Frame::Cancel { call_id });
        }
        self.link.send_replace(Link::Up(frames));
    }

    /// A connection ended. It may be another's by now.
    pub(super) fn leave(&self, frames: &mpsc::Sender<Frame>, for_good: bool) {
        self.link.send_if_modified(|link| {
            let is_this = matches!(link, Link::Up(now) if now.same_channel(frames));
            if is_this {
                *link = if for_good { Link::Gone } else { Link::Lost };
            }
            is_this
        });
    }

    pub(super) fn sign(&self, sign: Sign) {
        if let Some(debt) = self.owed().get(&sign.call_id) {
            let _ = debt.signs.try_send(sign);
        }
    }

    /// What nobody waits for any more is nobody's.
    pub(super) fn end(&self, answered: Answered) {
        if let Some(debt) = self.owed().remove(&answered.call_id) {
            let _ = debt.end.send(answered.outcome);
        }
    }

    /// Has it make a call. Dropped, the call is cancelled.
    pub(super) async fn make(
        &self,
        order: &Execute,
        context: &CallContext,
        has_others: impl Fn() -> bool,
    ) -> Settled {
        let mut link = self.link.subscribe();
        let Some(mut owed) = self.owe(order, &mut link) else {
            return Settled::NotBegun;
        };
        let mut has_begun = false;
        let mut until = Instant::now() + HESITATION;
        let mut is_lost = false;
        let over = |has_begun: bool| match has_begun {
            true => Settled::Midway,
            false => Settled::NotBegun,
        };
        loop {
            tokio::select! {
                biased;
                outcome = &mut owed.end => return match outcome {
                    Ok(outcome) => Settled::Ended(outcome),
                    Err(_) => over(has_begun),
                },
                Some(sign) = owed.signs.recv() => {
                    has_begun = true;
                    tell(sign, context);
                }
                moved = link.changed() => {
                    let now = link.borrow_and_update().clone();
                    match now {
                        Link::Up(frames) if moved.is_ok() => {
                            is_lost = false;
                            if !has_begun {
                                // It may have been lost with the connection. Whoever has it
                                // already takes it once.
                                let _ = frames.try_send(Frame::Execute(Box::new(order.clone())));
                                until = Instant::now() + HESITATION;
                            }
                        }
                        Link::Lost if has_begun || !has_others() => {
                            is_lost = true;
                            until = Instant::now() + RETURN;
                        }
                        Link::Up(_) | Link::Lost | Link::Gone => return over(has_begun),
                    }
                }
                () = sleep_until(until), if is_lost || !has_begun => {
                    if is_lost || has_others() {
                        return over(has_begun);
                    }
                    until = Instant::now() + HESITATION;
                }
            }
        }
    }

    fn owe<'a>(&'a self, order: &Execute, link: &mut watch::Receiver<Link>) -> Option<Owed<'a>> {
        let Link::Up(frames) = link.borrow_and_update().clone() else {
            return None;
        };
        let (signs, hears_signs) = mpsc::channel(SIGNS);
        let (end, hears_end) = oneshot::channel();
        let debt = Debt { signs, end };
        self.owed().insert(order.call_id.clone(), debt);
        let owed = Owed {
            page: self,
            call: order.call_id.clone(),
            signs: hears_signs,
            end: hears_end,
        };
        // One that does not take what it is sent is as good as gone.
        let sent = frames.try_send(Frame::Execute(Box::new(order.clone())));
        sent.is_ok().then_some(owed)
    }

    fn owed(&self) -> MutexGuard<'_, HashMap<CallId, Debt>> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that is waited for.
struct Owed<'a> {
    page: &'a Page,
    call: CallId,
    signs: mpsc::Receiver<Sign>,
    end: oneshot::Receiver<Outcome>,
}

impl Drop for Owed<'_> {
    fn drop(&mut self) {
        if self.page.owed().remove(&self.call).is_none() {
            // It has ended.
            return;
        }
        if let Link::Up(frames) = &*self.page.link.borrow() {
            let call_id = self.call.clone();
            let _ = frames.try_send(Frame::Cancel { call_id });
        }
    }
}

fn tell(sign: Sign, context: &CallContext) {
    match sign.progress {
        None => context.pulse.beat(),
        Some(progress) => context.progress(Progress {
            progress,
            total: sign.total,
            message: sign.message,
        }),
    }
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Page").field(&self.id).finish()
    }
}
