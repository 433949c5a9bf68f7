//! After a crash: tie what was left loose, so that every chat can go on.

use tenon_domain::{CallStatus, EventBody, ToolError, TurnOutcome, Usage};
use tenon_store::{OpenTurn, Result};

use crate::Agent;

impl Agent {
    /// Ends the turns a former process was running: their text up to the last
    /// checkpoint stays, their calls are lost. Call it only while no other
    /// process runs turns on this database.
    pub async fn recover(&self) -> Result<usize> {
        let open = self.store.open_turns().await?;
        let count = open.len();
        for turn in open {
            tracing::info!(chat = %turn.chat_id, turn = %turn.id, "turn was interrupted by a restart");
            let chat = turn.chat_id.clone();
            self.feed.emit(&chat, ends(turn)).await?;
        }
        Ok(count)
    }
}

fn ends(turn: OpenTurn) -> Vec<EventBody> {
    let messages = turn
        .messages
        .into_iter()
        .map(|message| EventBody::MessageFinished {
            message_id: message.id,
            parts: message.parts,
        });
    let calls = turn
        .calls
        .into_iter()
        .map(|call_id| EventBody::CallFinished {
            call_id,
            status: CallStatus::Lost,
            output: None,
            error: Some(ToolError::lost()),
            duration_ms: 0,
        });
    let end = EventBody::TurnFinished {
        turn_id: turn.id,
        outcome: TurnOutcome::Interrupted {
            message: "Tenon was restarted during this answer.".into(),
        },
        usage: Usage::default(),
    };
    messages.chain(calls).chain([end]).collect()
}
