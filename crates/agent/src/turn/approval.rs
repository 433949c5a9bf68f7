//! Waiting for approval, for hours if necessary.
//!
//! The store decides: an answer may be given in another tab, in another process, or while nothing
//! was waiting for it.

use std::time::Duration;

use tenon_domain::{CallEndError, CallId, EventBody, ToolError};
use tenon_store::{ApprovalState, Result as StoreResult, now};

use super::{POLL_INTERVAL, Turn};
use crate::recorder::ApprovalOutcome;

impl Turn {
    /// Records that the call needs approval.
    pub(super) async fn request_approval(&self, call: &CallId) -> StoreResult<()> {
        // The turn may be resumed by another process, which needs its usage so far.
        let store = &self.agent.store;
        store.keep_usage(&self.id, &self.usage.total()).await?;
        self.emit(vec![EventBody::CallAsked {
            call_id: call.clone(),
        }])
        .await
    }

    /// Waits for the decision on a recorded approval.
    pub(super) async fn await_approval(&self, call: &CallId) -> ApprovalOutcome {
        let waiting = self.agent.approvals.wait_for(&self.chat, call);
        let mut wait = self.agent.settings.approval_wait;
        loop {
            match self.agent.store.approval_state(call).await {
                Ok(ApprovalState::Answered(verdict)) if verdict.allows() => {
                    return ApprovalOutcome::Allowed;
                }
                Ok(ApprovalState::Answered(_)) => {
                    return ApprovalOutcome::Refused(ToolError::refused());
                }
                Ok(ApprovalState::Ended) => return ApprovalOutcome::Refused(ToolError::cancelled()),
                Ok(ApprovalState::Waiting(since)) => {
                    wait = self.time_left(since);
                    if wait.is_zero() {
                        return ApprovalOutcome::Refused(CallEndError::Unanswered.into());
                    }
                }
                // A database that restarts comes back; the question is in it.
                Err(error) => {
                    tracing::warn!(%error, %call, "how it stands with a question cannot be read");
                }
            }
            tokio::select! {
                biased;
                () = self.slot.cancel.cancelled() => {
                    return ApprovalOutcome::Refused(ToolError::cancelled());
                }
                () = self.agent.running.closing.cancelled() => return ApprovalOutcome::Parked,
                () = waiting.answered() => {}
                () = tokio::time::sleep(POLL_INTERVAL.min(wait)) => {}
            }
        }
    }

    fn time_left(&self, since: i64) -> Duration {
        let waited = Duration::from_millis((now() - since).max(0).unsigned_abs());
        self.agent.settings.approval_wait.saturating_sub(waited)
    }
}
