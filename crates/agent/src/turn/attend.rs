//! The attendant of a call in a turn: it tells those who watch how far the
//! call is, and puts the tool's questions before the chat's owner.
//!
//! Somebody is there when somebody can be asked for approval: at a chat of the
//! page, whether it is open now or not, and at a shell's terminal. For a key's
//! turn, and a shell without a terminal, every question is declined at once.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tenon_domain::{CallId, ChatId, EventBody, FormAnswer, FormId, FormOutcome, FormWants, UserId};
use tenon_store::Error as StoreError;
use tenon_tools::{Attendant, Progress};
use tokio_util::sync::CancellationToken;

use super::progress::Telling;
use super::{LOOK, Turn};
use crate::Agent;
use crate::forms::Shown;

pub(super) struct Attending {
    agent: Agent,
    chat: ChatId,
    call: CallId,
    user: UserId,
    can_ask: bool,
    /// The turn's stop button.
    stop: CancellationToken,
    /// Fires when the call has ended: who still asks, asks in vain.
    over: CancellationToken,
    telling: Arc<Telling>,
    /// The forms that were shown and have no answer on record.
    unanswered: Mutex<Vec<FormId>>,
}

/// The call is attended to, until this is dropped.
pub(super) struct Attended(pub(super) Arc<Attending>);

impl Turn {
    pub(super) fn attend(&self, call: &CallId) -> Attended {
        Attended(Arc::new(Attending {
            agent: self.agent.clone(),
            chat: self.chat.clone(),
            call: call.clone(),
            user: self.access.user.clone(),
            can_ask: self.can_ask,
            stop: self.place.cancel.clone(),
            over: CancellationToken::new(),
            telling: Telling::new(self.agent.feed.clone(), &self.chat, call),
            unanswered: Mutex::default(),
        }))
    }
}

#[async_trait]
impl Attendant for Attending {
    fn progress(&self, progress: Progress) {
        self.telling.tell(progress);
    }

    async fn ask(&self, message: String, wants: FormWants) -> FormAnswer {
        if !self.can_ask {
            return FormAnswer::Decline;
        }
        if self.is_late() {
            return FormAnswer::Cancel;
        }
        let forms = &self.agent.forms;
        let shown = forms.show(&self.chat, &self.call, &message, wants);
        let mut shown = match shown {
            Ok(shown) => shown,
            Err(why) => {
                tracing::warn!(call = %self.call, why, "a tool's form cannot be shown");
                return FormAnswer::Cancel;
            }
        };
        let form = shown.form.clone();
        self.unanswered().push(form.id.clone());
        let shown_event = EventBody::FormShown {
            call_id: self.call.clone(),
            form: form.clone(),
        };
        if !self.put_down(shown_event).await {
            self.unanswered().retain(|id| *id != form.id);
            return FormAnswer::Cancel;
        }
        let answer = self.answer_to(&mut shown).await;
        self.settle(&form.id, answer.outcome()).await;
        answer
    }
}

impl Attending {
    /// Waits for a person, until there is a reason not to.
    async fn answer_to(&self, shown: &mut Shown) -> FormAnswer {
        let deadline = tokio::time::sleep(self.agent.settings.form_wait);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return shown.withdraw(),
                () = self.over.cancelled() => return shown.withdraw(),
                () = self.agent.running.closing.cancelled() => return shown.withdraw(),
                answer = &mut shown.answer => return answer.unwrap_or(FormAnswer::Cancel),
                () = &mut deadline => return shown.withdraw(),
                () = tokio::time::sleep(LOOK) => {
                    if self.has_nobody().await {
                        self.stop.cancel();
                    }
                }
            }
        }
    }

    /// Puts on record what came of a form, unless the end of the call did so.
    async fn settle(&self, form: &FormId, outcome: FormOutcome) {
        let was_open = {
            let mut unanswered = self.unanswered();
            let before = unanswered.len();
            unanswered.retain(|id| id != form);
            unanswered.len() < before
        };
        if was_open {
            self.put_down(self.answered(form.clone(), outcome)).await;
        }
    }

    /// False: it could not be written. The tool has its answer all the same.
    async fn put_down(&self, event: EventBody) -> bool {
        match self.agent.feed.emit(&self.chat, vec![event]).await {
            Ok(()) => true,
            // The call or its chat came to an end first.
            Err(StoreError::TooLate(_) | StoreError::NotFound(_)) => false,
            Err(error) => {
                tracing::warn!(%error, call = %self.call, "a form could not be written down");
                false
            }
        }
    }

    /// Whether the one who should answer was disabled meanwhile, or the chat deleted.
    async fn has_nobody(&self) -> bool {
        let store = &self.agent.store;
        if matches!(store.is_active(&self.user).await, Ok(false)) {
            return true;
        }
        let chat = store.chat(&self.user, &self.chat).await;
        matches!(chat, Err(StoreError::NotFound(_)))
    }

    fn is_late(&self) -> bool {
        self.stop.is_cancelled()
            || self.over.is_cancelled()
            || self.agent.running.closing.is_cancelled()
    }

    fn answered(&self, form_id: FormId, outcome: FormOutcome) -> EventBody {
        EventBody::FormAnswered {
            call_id: self.call.clone(),
            form_id,
            outcome,
        }
    }

    fn unanswered(&self) -> MutexGuard<'_, Vec<FormId>> {
        self.unanswered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attended {
    /// The call has ended. What it still asked is over, and should be on record as that.
    pub(super) fn leave(&self) -> Vec<EventBody> {
        self.0.over.cancel();
        self.0.telling.finish();
        let open = std::mem::take(&mut *self.0.unanswered());
        open.into_iter()
            .map(|form| self.0.answered(form, FormOutcome::Cancelled))
            .collect()
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Attending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Attending").field(&self.call).finish()
    }
}
