//! A turn hears its model: those who watch are told, and what was said is kept.

use std::sync::PoisonError;
use std::time::Duration;

use async_trait::async_trait;
use tenon_domain::{DeltaKind, EventBody, LeftOut, MessageId, Part, Waiting};

use super::Turn;
use crate::speak::Listener;

pub(super) struct Listening<'a> {
    pub(super) turn: &'a Turn,
    pub(super) message: &'a MessageId,
}

#[async_trait]
impl Listener for Listening<'_> {
    fn grown(&self, part: usize, kind: DeltaKind, text: String) {
        let (feed, chat) = (&self.turn.agent.feed, &self.turn.chat);
        feed.delta(chat, self.message, part, kind, text);
    }

    fn waits(&self, wait: Duration) {
        self.turn.agent.feed.waiting(Waiting {
            chat_id: self.turn.chat.clone(),
            message_id: self.message.clone(),
            wait_ms: wait.as_millis() as u64,
        });
    }

    async fn left_out(&self, tools: &[LeftOut]) {
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

    async fn keep(&self, parts: Vec<Part>) {
        let kept = self.turn.agent.store.checkpoint(self.message, &parts).await;
        if let Err(error) = kept {
            // The words are still on their way to the screen; the end of the message tries again.
            tracing::warn!(%error, chat = %self.turn.chat, "a checkpoint could not be written");
        }
    }
}
