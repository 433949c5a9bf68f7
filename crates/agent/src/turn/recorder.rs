//! The [`Recorder`] of a turn: the feed and the store.

use std::time::Duration;

use async_trait::async_trait;
use tenon_domain::{
    CallRecord, CallStatus, DeltaKind, EventBody, Message, MessageId, ModelWait, OmittedTool, Part,
    PromptProgress, Role, ToolAnswer, ToolResult,
};
use tenon_store::Result as StoreResult;
use tenon_tools::{CallContext, ReadyCall};

use super::Turn;
use crate::lock::lock;
use crate::recorder::{ApprovalOutcome, Recorder};
use crate::step_trace::{ModelCaller, StepTrace};

#[async_trait]
impl Recorder for Turn {
    async fn message_started(&self, message: &MessageId) -> StoreResult<()> {
        let message = self.message(message.clone(), Role::Assistant, Vec::new());
        self.emit(vec![EventBody::MessageStarted { message }]).await
    }

    fn model_called(&self, message: &MessageId, step: StepTrace) {
        let caller = ModelCaller {
            user: &self.access.user,
            turn: Some(&self.id),
            message: Some(message),
            model: &self.model,
            keeps_requests: self.agent.settings.keeps_requests,
        };
        step.store(&self.agent.store, caller);
    }

    fn delta(&self, message: &MessageId, part: usize, kind: DeltaKind, text: String) {
        let feed = &self.agent.feed;
        if let Some(client) = &self.client {
            client.stream.delta(kind.clone(), text.clone());
        }
        feed.delta(&self.chat, message, part, kind, text);
    }

    fn retry_scheduled(&self, message: &MessageId, wait: Duration) {
        self.agent.feed.waiting(ModelWait {
            chat_id: self.chat.clone(),
            message_id: message.clone(),
            wait_ms: wait.as_millis() as u64,
        });
    }

    fn prompt_progress(&self, message: &MessageId, processed: u64, total: u64) {
        self.agent.feed.prompt_progress(PromptProgress {
            chat_id: self.chat.clone(),
            message_id: message.clone(),
            processed,
            total,
        });
    }

    async fn tools_omitted(&self, tools: &[OmittedTool]) {
        {
            let mut reported = lock(&self.omitted_tools);
            if *reported == tools {
                return;
            }
            *reported = tools.to_vec();
        }
        for tool in tools {
            tracing::warn!(
                tool = tool.display_name,
                id = %tool.tool_id,
                why = %tool.why,
                model = self.model.provider.name(),
                "a tool was not put before the model"
            );
        }
        let event = EventBody::ToolsLeftOut {
            turn_id: self.id.clone(),
            tools: tools.to_vec(),
        };
        if let Err(error) = self.emit(vec![event]).await {
            // The answer goes on without them, as it would have anyway.
            tracing::warn!(%error, chat = %self.chat, "tools that were left out could not be written down");
        }
    }

    async fn checkpoint(&self, message: &MessageId, parts: Vec<Part>) {
        let saved = self.agent.store.checkpoint(message, &parts).await;
        if let Err(error) = saved {
            // The words are still on their way to the screen; the end of the message tries again.
            tracing::warn!(%error, chat = %self.chat, "a checkpoint could not be written");
        }
    }

    async fn message_finished(
        &self,
        message: &MessageId,
        parts: &[Part],
        calls: &[CallRecord],
    ) -> StoreResult<()> {
        if let Some(client) = &self.client {
            client.stream.message_finished(parts);
        }
        let finished = EventBody::MessageFinished {
            message_id: message.clone(),
            parts: parts.to_vec(),
        };
        let requests = calls.iter().cloned();
        let requests = requests.map(|call| EventBody::CallRequested { call });
        let events = [finished].into_iter().chain(requests);
        self.emit(events.collect()).await
    }

    async fn approve(&self, call: &CallRecord) -> StoreResult<ApprovalOutcome> {
        if !call.is_paused() {
            self.request_approval(&call.id).await?;
        }
        Ok(self.await_approval(&call.id).await)
    }

    async fn dispatch(
        &self,
        ready: ReadyCall<'_>,
        mut context: CallContext,
    ) -> StoreResult<ToolResult> {
        let call_id = context.call_id.clone();
        self.emit(vec![EventBody::CallStarted { call_id }]).await?;
        let client = self.call_client(&context.call_id);
        context.client = client.0.clone();
        let result = ready.run(&context).await;
        let open_forms = client.finish();
        if !open_forms.is_empty() {
            self.emit(open_forms).await?;
        }
        Ok(result)
    }

    async fn hand_over(
        &self,
        calls: &[CallRecord],
        _steps: Vec<Message>,
    ) -> StoreResult<Option<Vec<ToolAnswer>>> {
        match &self.client {
            Some(client) => Ok(Some(self.hand_over_to(client, calls).await?)),
            // Only a client brings such tools along.
            None => Ok(None),
        }
    }

    async fn call_finished(
        &self,
        call: &CallRecord,
        result: &ToolResult,
        took: Duration,
    ) -> StoreResult<()> {
        let finished = EventBody::CallFinished {
            call_id: call.id.clone(),
            status: CallStatus::of(result),
            output: result.as_ref().ok().cloned(),
            error: result.as_ref().err().cloned(),
            duration_ms: took.as_millis() as u64,
        };
        self.emit(vec![finished]).await
    }
}
