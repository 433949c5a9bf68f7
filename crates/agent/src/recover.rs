//! After a crash: tie what was left loose, so that every chat can go on.

use tenon_domain::{EventBody, TurnOutcome, Usage};
use tenon_store::{OpenTurn, Result};

use crate::{Agent, end};

impl Agent {
    /// Ends the turns of processes that are gone: their text up to the last
    /// checkpoint stays, their calls are lost. Turns of living processes are
    /// left alone.
    pub async fn recover(&self) -> Result<usize> {
        let mut count = 0;
        for abandoned in self.store.abandoned().await? {
            for turn in &abandoned.turns {
                tracing::info!(chat = %turn.chat_id, turn = %turn.id, "turn was interrupted by a restart");
                self.feed.emit(&turn.chat_id, ends(turn)).await?;
                count += 1;
            }
        }
        Ok(count)
    }
}

fn ends(turn: &OpenTurn) -> Vec<EventBody> {
    let mut ends = end::loose(turn.messages.clone(), turn.calls.clone());
    ends.push(EventBody::TurnFinished {
        turn_id: turn.id.clone(),
        outcome: TurnOutcome::Interrupted {
            message: "Tenon was restarted during this answer.".into(),
        },
        usage: Usage::default(),
    });
    ends
}
