//! Calls that wait for a person, and the person's answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenon_domain::{CallId, EventBody, Policy, UserId, Verdict};
use tenon_store::{Error as StoreError, Question, Scope, Standing};
use tokio::sync::Notify;

use crate::{Agent, Error};

/// The questions that are waited for in this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Questions {
    waiting: Arc<Mutex<HashMap<CallId, Arc<Notify>>>>,
}

/// Somebody waits for an answer, until this is dropped.
#[derive(Debug)]
pub(crate) struct Asking {
    questions: Questions,
    call: CallId,
    answered: Arc<Notify>,
}

impl Agent {
    /// Decides about a call that waits for this user. Of two answers one
    /// counts; what is to be remembered of it holds at once, for other calls
    /// that wait too.
    pub async fn answer(
        &self,
        user: &UserId,
        call: &CallId,
        verdict: Verdict,
    ) -> Result<(), Error> {
        let (question, standing) = self.store.question(user, call).await?;
        if !matches!(standing, Standing::Waiting(_)) {
            return Err(Error::NotWaiting);
        }
        // On a task of its own: a client that hangs up halfway has answered all the same.
        let (agent, user) = (self.clone(), user.clone());
        let deciding = tokio::spawn(async move {
            agent.decide(&question, verdict).await?;
            agent.decide_others(&user, &question, verdict).await;
            Ok(())
        });
        // It does not panic and is not aborted; only a runtime that ends can cut it off.
        deciding.await.unwrap_or(Err(Error::Closing))
    }

    /// The answer counts whatever becomes of these: who is not reached can still be asked.
    async fn decide_others(&self, user: &UserId, question: &Question, verdict: Verdict) {
        let scope = match verdict {
            Verdict::Once | Verdict::Denied => return,
            Verdict::Chat => Scope::Chat(&question.chat_id),
            Verdict::Always => Scope::User,
        };
        let others = match self.store.waiting(user, &question.tool_id, scope).await {
            Ok(others) => others,
            Err(error) => {
                tracing::warn!(%error, tool = %question.tool_id, "calls that wait cannot be read");
                return;
            }
        };
        for other in others {
            // A chat that has a rule of its own for the tool keeps it, and its question.
            let allowed = self
                .store
                .tool_settings(user, None, Some(&other.chat_id))
                .await;
            let allowed = allowed.map(|settings| settings.about(&other.tool_id).policy);
            if !matches!(allowed, Ok(Some((Policy::Allow, _)))) {
                continue;
            }
            match self.decide(&other, Verdict::Once).await {
                // Somebody was faster, or the chat is gone: then it is decided.
                Ok(()) | Err(Error::NotWaiting | Error::Store(StoreError::NotFound(_))) => {}
                Err(error) => {
                    tracing::warn!(%error, call = %other.call_id, "a call that waits cannot be answered");
                }
            }
        }
    }

    async fn decide(&self, question: &Question, verdict: Verdict) -> Result<(), Error> {
        let answered = EventBody::CallAnswered {
            call_id: question.call_id.clone(),
            verdict,
        };
        match self.feed.emit(&question.chat_id, vec![answered]).await {
            Ok(()) => {}
            Err(StoreError::TooLate(_)) => return Err(Error::NotWaiting),
            Err(error) => return Err(error.into()),
        }
        tracing::info!(call = %question.call_id, tool = %question.tool_id, ?verdict, "call answered");
        self.questions.wake(&question.call_id);
        Ok(())
    }
}

impl Questions {
    pub(crate) fn wait_for(&self, call: &CallId) -> Asking {
        let answered = Arc::new(Notify::new());
        self.waiting().insert(call.clone(), answered.clone());
        Asking {
            questions: self.clone(),
            call: call.clone(),
            answered,
        }
    }

    /// Where nobody waits here, whoever does finds the answer in the store.
    fn wake(&self, call: &CallId) {
        if let Some(answered) = self.waiting().get(call) {
            answered.notify_one();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<CallId, Arc<Notify>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asking {
    /// Something was answered since this was last asked.
    pub(crate) async fn answered(&self) {
        self.answered.notified().await;
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.questions.waiting().remove(&self.call);
    }
}
