//! The [`CallClient`] of a call in a turn: sends its progress to the feed, and its elicitations to
//! the owner of the chat.
//!
//! It asks where somebody could also be asked for approval: in a chat of the page, whether that is
//! open now or not, and at a shell's terminal. In a key's turn, and a shell without a terminal,
//! elicitations are declined at once.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use tenon_domain::{
    CallId, ChatId, EventBody, FormAnswer, FormId, FormOutcome, FormRequest, UserId,
};
use tenon_store::Error as StoreError;
use tenon_tools::{CallClient, ProgressUpdate};
use tokio_util::sync::CancellationToken;

use super::progress_throttle::ProgressThrottle;
use super::{POLL_INTERVAL, Turn};
use crate::Agent;
use crate::forms::PendingForm;
use crate::lock::lock;

pub(super) struct TurnClient {
    agent: Agent,
    chat: ChatId,
    call: CallId,
    user: UserId,
    can_ask: bool,
    /// The turn's stop button.
    stop: CancellationToken,
    /// Fires when the call has ended.
    ended: CancellationToken,
    throttle: Arc<ProgressThrottle>,
    /// The forms that were shown and have no answer on record.
    unanswered: Mutex<Vec<FormId>>,
}

/// Ends the client with the call.
pub(super) struct TurnClientGuard(pub(super) Arc<TurnClient>);

impl Turn {
    pub(super) fn call_client(&self, call: &CallId) -> TurnClientGuard {
        TurnClientGuard(Arc::new(TurnClient {
            agent: self.agent.clone(),
            chat: self.chat.clone(),
            call: call.clone(),
            user: self.access.user.clone(),
            can_ask: self.can_ask,
            stop: self.slot.cancel.clone(),
            ended: CancellationToken::new(),
            throttle: ProgressThrottle::new(self.agent.feed.clone(), &self.chat, call),
            unanswered: Mutex::default(),
        }))
    }
}

#[async_trait]
impl CallClient for TurnClient {
    fn progress(&self, progress: ProgressUpdate) {
        self.throttle.report(progress);
    }

    async fn ask(&self, message: String, request: FormRequest) -> FormAnswer {
        if !self.can_ask {
            return FormAnswer::Decline;
        }
        if self.is_late() {
            return FormAnswer::Cancel;
        }
        let forms = &self.agent.forms;
        let shown = forms.show(&self.chat, &self.call, &message, request);
        let mut shown = match shown {
            Ok(shown) => shown,
            Err(error) => {
                tracing::warn!(call = %self.call, %error, "a tool's form cannot be shown");
                return FormAnswer::Cancel;
            }
        };
        let form = shown.form.clone();
        self.unanswered().push(form.id.clone());
        let shown_event = EventBody::FormShown {
            call_id: self.call.clone(),
            form: form.clone(),
        };
        if !self.record(shown_event).await {
            self.unanswered().retain(|id| *id != form.id);
            return FormAnswer::Cancel;
        }
        let answer = self.answer_to(&mut shown).await;
        self.close_form(&form.id, answer.outcome()).await;
        answer
    }
}

impl TurnClient {
    /// Waits for a person, until there is a reason not to.
    async fn answer_to(&self, shown: &mut PendingForm) -> FormAnswer {
        let deadline = tokio::time::sleep(self.agent.settings.form_wait);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return shown.withdraw(),
                () = self.ended.cancelled() => return shown.withdraw(),
                () = self.agent.running.closing.cancelled() => return shown.withdraw(),
                answer = &mut shown.answer => return answer.unwrap_or(FormAnswer::Cancel),
                () = &mut deadline => return shown.withdraw(),
                () = tokio::time::sleep(POLL_INTERVAL) => {
                    if self.has_no_user().await {
                        self.stop.cancel();
                    }
                }
            }
        }
    }

    /// Records the outcome of a form, unless the end of the call did so.
    async fn close_form(&self, form: &FormId, outcome: FormOutcome) {
        let was_open = {
            let mut unanswered = self.unanswered();
            let before = unanswered.len();
            unanswered.retain(|id| id != form);
            unanswered.len() < before
        };
        if was_open {
            self.record(self.answered(form.clone(), outcome)).await;
        }
    }

    /// Returns false if the event could not be stored. The tool gets its answer anyway.
    async fn record(&self, event: EventBody) -> bool {
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
    async fn has_no_user(&self) -> bool {
        let store = &self.agent.store;
        if matches!(store.is_active(&self.user).await, Ok(false)) {
            return true;
        }
        let chat = store.chat(&self.user, &self.chat).await;
        matches!(chat, Err(StoreError::NotFound(_)))
    }

    fn is_late(&self) -> bool {
        self.stop.is_cancelled()
            || self.ended.is_cancelled()
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
        lock(&self.unanswered)
    }
}

impl TurnClientGuard {
    /// The call has ended. Returns the events that close its open forms.
    pub(super) fn finish(&self) -> Vec<EventBody> {
        self.0.ended.cancel();
        self.0.throttle.finish();
        let open = std::mem::take(&mut *self.0.unanswered());
        open.into_iter()
            .map(|form| self.0.answered(form, FormOutcome::Cancelled))
            .collect()
    }
}

impl Drop for TurnClientGuard {
    fn drop(&mut self) {
        self.finish();
    }
}

impl fmt::Debug for TurnClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TurnClient").field(&self.call).finish()
    }
}
