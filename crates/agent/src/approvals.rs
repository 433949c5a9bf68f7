//! Approvals: calls that wait for a person, and the person's decisions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tenon_domain::{CallId, Caller, ChatId, EventBody, Policy, ToolAccess, UserId, Verdict};
use tenon_store::{ApprovalScope, ApprovalState, Error as StoreError, PendingApproval};
use tokio::sync::Notify;

use crate::lock::lock;
use crate::{Agent, Error};

/// The approvals that are waited for in this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Approvals {
    waiting: Arc<Mutex<WaitingCalls>>,
}

/// The calls that wait, each with its chat and what wakes it.
type WaitingCalls = HashMap<CallId, (ChatId, Arc<Notify>)>;

/// A wait for one approval; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ApprovalWait {
    approvals: Approvals,
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
        let (approval, state) = self.store.approval(user, call).await?;
        if !matches!(state, ApprovalState::Waiting(_)) {
            return Err(Error::NotWaiting);
        }
        // In a task of its own, so that the answer is stored even if the client disconnects.
        let (agent, user) = (self.clone(), user.clone());
        let deciding = tokio::spawn(async move {
            agent.decide(&approval, verdict).await?;
            agent.decide_others(&user, &approval, verdict).await;
            Ok(())
        });
        // The task neither panics nor is aborted, so an error only means that the runtime shuts
        // down.
        deciding.await.unwrap_or(Err(Error::Closing))
    }

    /// Applies the answer to other waiting calls. Failures are not fatal: those calls can still be
    /// answered by hand.
    async fn decide_others(&self, user: &UserId, approval: &PendingApproval, verdict: Verdict) {
        let scope = match verdict {
            Verdict::Once | Verdict::Denied => return,
            Verdict::Chat => ApprovalScope::Chat(&approval.chat_id),
            Verdict::Always => ApprovalScope::User,
        };
        let others = match self
            .store
            .pending_approvals(user, &approval.tool_id, scope)
            .await
        {
            Ok(others) => others,
            Err(error) => {
                tracing::warn!(%error, tool = %approval.tool_id, "calls that wait cannot be read");
                return;
            }
        };
        for other in others {
            // A chat that has a rule of its own for the tool keeps it, and its approval.
            let allowed = self
                .store
                .tool_settings(user, None, Some(&other.chat_id))
                .await;
            let allowed = allowed.map(|settings| {
                let access = ToolAccess::all(user, Caller::chat_model()).with_settings(settings);
                let toolset = self.registry.toolset(access);
                let tool = toolset.find(&other.tool_id)?;
                let is_allowed = toolset.policy(tool) == Policy::Allow;
                toolset.set_policy(tool).filter(|_| is_allowed)
            });
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

    async fn decide(&self, approval: &PendingApproval, verdict: Verdict) -> Result<(), Error> {
        let answered = EventBody::CallAnswered {
            call_id: approval.call_id.clone(),
            verdict,
        };
        match self.feed.emit(&approval.chat_id, vec![answered]).await {
            Ok(()) => {}
            Err(StoreError::TooLate(_)) => return Err(Error::NotWaiting),
            Err(error) => return Err(error.into()),
        }
        tracing::info!(call = %approval.call_id, tool = %approval.tool_id, ?verdict, "call answered");
        self.approvals.wake(&approval.call_id);
        Ok(())
    }
}

impl Approvals {
    pub(crate) fn wait_for(&self, chat: &ChatId, call: &CallId) -> ApprovalWait {
        let answered = Arc::new(Notify::new());
        let waiting = (chat.clone(), answered.clone());
        self.waiting().insert(call.clone(), waiting);
        ApprovalWait {
            approvals: self.clone(),
            call: call.clone(),
            answered,
        }
    }

    /// If no task waits here, the process that waits finds the answer in the store.
    fn wake(&self, call: &CallId) {
        if let Some((_, answered)) = self.waiting().get(call) {
            answered.notify_one();
        }
    }

    /// Wakes the calls that wait in one chat, or in all: the answer may have been stored by another
    /// server.
    pub(crate) fn wake_in(&self, chat: Option<&ChatId>) {
        for (of, answered) in self.waiting().values() {
            if chat.is_none_or(|chat| chat == of) {
                answered.notify_one();
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<CallId, (ChatId, Arc<Notify>)>> {
        lock(&self.waiting)
    }
}

impl ApprovalWait {
    /// Something was answered since this was last asked.
    pub(crate) async fn answered(&self) {
        self.answered.notified().await;
    }
}

impl Drop for ApprovalWait {
    fn drop(&mut self) {
        self.approvals.waiting().remove(&self.call);
    }
}
