//! After a crash: tie what was left loose, so that every chat can go on.

use tenon_domain::{TurnOutcome, Usage};
use tenon_store::Result;

use crate::Agent;
use crate::end::End;

impl Agent {
    /// Ends the turns of processes that are gone: their text up to the last
    /// checkpoint stays, their calls are lost. Turns of living processes are
    /// left alone.
    pub async fn recover(&self) -> Result<usize> {
        let mut count = 0;
        for abandoned in self.store.abandoned().await? {
            for turn in &abandoned.turns {
                tracing::info!(chat = %turn.chat_id, turn = %turn.id, "turn was interrupted by a restart");
                let end = End {
                    outcome: TurnOutcome::Interrupted {
                        message: "Tenon was restarted during this answer.".into(),
                    },
                    usage: Usage::default(),
                    cost: None,
                };
                self.try_end(&turn.chat_id, &turn.id, end).await?;
                count += 1;
            }
        }
        Ok(count)
    }
}
