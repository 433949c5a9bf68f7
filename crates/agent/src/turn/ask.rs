//! Waiting for a person, for hours if it takes them.
//!
//! The store has the last word on how it stands with a question: an answer may
//! be given in another tab, in another process, or while nobody was waiting.

use std::time::Duration;

use tenon_domain::{CallId, Door, EventBody, ToolCall, ToolError};
use tenon_store::{Result as StoreResult, Standing, now};

use super::{LOOK, Turn};

/// What came of a question.
pub(super) enum Asked {
    Allowed,
    Refused(ToolError),
    /// Tenon is shutting down; the question stays.
    Parked,
}

impl Turn {
    /// Puts the question on record.
    pub(super) async fn ask(&self, call: &CallId) -> StoreResult<()> {
        // The turn may go on in another process, which should know what it took.
        let store = &self.agent.store;
        store.keep_usage(&self.id, &self.usage()).await?;
        self.emit(vec![EventBody::CallAsked {
            call_id: call.clone(),
        }])
        .await
    }

    /// Waits for the answer to a question that is on record.
    pub(super) async fn answer_to(&self, call: &CallId) -> Asked {
        let asking = self.agent.questions.wait_for(call);
        let mut wait = self.agent.settings.approval_wait;
        loop {
            match self.agent.store.standing(call).await {
                Ok(Standing::Answered(verdict)) if verdict.allows() => return Asked::Allowed,
                Ok(Standing::Answered(_)) => return Asked::Refused(ToolError::refused()),
                Ok(Standing::Ended) => return Asked::Refused(ToolError::cancelled()),
                Ok(Standing::Waiting(since)) => {
                    wait = self.left(since);
                    if wait.is_zero() {
                        return Asked::Refused(ToolError::denied(
                            "Nobody answered whether this call may be made, so it was not. Do without it.",
                        ));
                    }
                }
                // A database that restarts comes back; the question is in it.
                Err(error) => {
                    tracing::warn!(%error, %call, "how it stands with a question cannot be read");
                }
            }
            tokio::select! {
                biased;
                () = self.place.cancel.cancelled() => {
                    return Asked::Refused(ToolError::cancelled());
                }
                () = self.agent.running.closing.cancelled() => return Asked::Parked,
                () = asking.answered() => {}
                () = tokio::time::sleep(LOOK.min(wait)) => {}
            }
        }
    }

    fn left(&self, since: i64) -> Duration {
        let waited = Duration::from_millis((now() - since).max(0).unsigned_abs());
        self.agent.settings.approval_wait.saturating_sub(waited)
    }
}

/// What would let a call be made where nobody can be asked.
pub(crate) fn advice(door: &Door, call: &ToolCall) -> String {
    let tool = &call.tool_id;
    match door {
        Door::Shell => format!("`--allow {tool}` or `--yes` would allow it."),
        Door::Key(_) => format!("The key's scope would have to allow `{tool}`."),
        Door::Page => format!("The policy of `{tool}` would have to be `allow`."),
    }
}
