//! The end of a turn: nothing of it may stay open, whatever went wrong.

use tenon_domain::{
    CallEndError, CallRecord, CallStatus, ChatId, Cost, EventBody, MessageRecord, ToolError,
    TurnId, TurnOutcome, Usage,
};
use tenon_store::{Error, Result};

use crate::Agent;
use crate::store_backoff::StoreBackoff;

/// How a turn ended, and what it took.
#[derive(Debug, Clone)]
pub(crate) struct TurnEnd {
    pub outcome: TurnOutcome,
    pub usage: Usage,
    pub cost: Option<Cost>,
}

impl Agent {
    /// Writes down how a turn ended, together with an end for everything of it that has none.
    /// Until that is stored nothing else can be said in the chat, so it is tried as long as it
    /// takes; what a shutdown cuts off the next start does.
    pub(crate) async fn end(&self, chat: &ChatId, turn: &TurnId, end: TurnEnd) {
        let mut backoff = StoreBackoff::new();
        loop {
            match self.try_end(chat, turn, end.clone()).await {
                Ok(()) => return,
                Err(Error::NotFound(what)) => {
                    tracing::info!(%chat, %turn, "the {what} was deleted during a turn");
                    return;
                }
                Err(Error::NotOwner | Error::LeaseLost) => {
                    tracing::warn!(%chat, %turn, "another server ends this turn: this one has lost its lease");
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, %chat, %turn, "the end of a turn could not be written down yet");
                }
            }
            if backoff.wait(&self.running.closing).await.is_break() {
                break;
            }
        }
        // A database that was only locked for a moment may take it now.
        if let Err(error) = self.try_end(chat, turn, end).await {
            tracing::error!(%error, %chat, %turn, "the end of a turn could not be written down; the next start will do it");
        }
    }

    /// The same, tried once.
    pub(crate) async fn try_end(&self, chat: &ChatId, turn: &TurnId, end: TurnEnd) -> Result<()> {
        let (messages, calls) = self.store.open_items(turn).await?;
        let mut ends = loose(messages, calls);
        ends.push(EventBody::TurnFinished {
            turn_id: turn.clone(),
            outcome: end.outcome,
            usage: end.usage,
            cost: end.cost,
        });
        match self.feed.emit(chat, ends).await {
            // Somebody else wrote it down first.
            Err(Error::TooLate(_)) if !self.store.is_open(turn).await? => Ok(()),
            other => other,
        }
    }
}

/// Ends for messages that were being spoken and calls that have no result.
fn loose(messages: Vec<MessageRecord>, calls: Vec<CallRecord>) -> Vec<EventBody> {
    let messages = messages
        .into_iter()
        .map(|message| EventBody::MessageFinished {
            message_id: message.id,
            parts: message.parts,
        });
    let calls = calls.into_iter().map(|call| {
        let error = if call.is_paused() {
            CallEndError::TurnEnded.into()
        } else {
            ToolError::lost()
        };
        EventBody::CallFinished {
            call_id: call.id,
            status: CallStatus::of(&Err(error.clone())),
            output: None,
            error: Some(error),
            duration_ms: 0,
        }
    });
    messages.chain(calls).collect()
}
