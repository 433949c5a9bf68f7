//! The [`StreamSink`] of a turn: passes deltas to the feed and checkpoints the text.

use std::sync::PoisonError;
use std::time::Duration;

use async_trait::async_trait;
use tenon_domain::{DeltaKind, EventBody, MessageId, ModelWait, OmittedTool, Part};

use super::Turn;
use crate::model_step::StreamSink;

pub(super) struct TurnSink<'a> {
    pub(super) turn: &'a Turn,
    pub(super) message: &'a MessageId,
}

#[async_trait]
impl StreamSink for TurnSink<'_> {
    fn grown(&self, part: usize, kind: DeltaKind, text: String) {
        let (feed, chat) = (&self.turn.agent.feed, &self.turn.chat);
        feed.delta(chat, self.message, part, kind, text);
    }

    fn retries_in(&self, wait: Duration) {
        self.turn.agent.feed.waiting(ModelWait {
            chat_id: self.turn.chat.clone(),
            message_id: self.message.clone(),
            wait_ms: wait.as_millis() as u64,
        });
    }

    async fn left_out(&self, tools: &[OmittedTool]) {
        let chat = &self.turn.chat;
        {
            let told = &self.turn.left_out;
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if *told == tools {
                return;
            }
            *told = tools.to_vec();
        }
        for tool in tools {
            tracing::warn!(
                tool = tool.display_name,
                id = %tool.tool_id,
                why = tool.why,
                model = self.turn.model.provider.name(),
                "a tool was not put before the model"
            );
        }
        let event = EventBody::ToolsLeftOut {
            turn_id: self.turn.id.clone(),
            tools: tools.to_vec(),
        };
        if let Err(error) = self.turn.emit(vec![event]).await {
            // The answer goes on without them, as it would have anyway.
            tracing::warn!(%error, %chat, "tools that were left out could not be written down");
        }
    }

    async fn checkpoint(&self, parts: Vec<Part>) {
        let kept = self.turn.agent.store.checkpoint(self.message, &parts).await;
        if let Err(error) = kept {
            // The words are still on their way to the screen; the end of the message tries again.
            tracing::warn!(%error, chat = %self.turn.chat, "a checkpoint could not be written");
        }
    }
}
