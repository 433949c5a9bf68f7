//! The trait by which the agent loop stores and streams its results.

use std::time::Duration;

use async_trait::async_trait;
use tenon_domain::{
    CallRecord, DeltaKind, Message, MessageId, OmittedTool, Part, ToolAnswer, ToolError, ToolResult,
};
use tenon_store::Result as StoreResult;
use tenon_tools::{CallContext, ReadyCall};

use crate::step_trace::StepTrace;

/// Records a run of the loop, and is its way to whoever waits for the answer. A turn's stores and
/// publishes; a completion's streams to its client and stores nothing.
///
/// Write-ahead: the loop awaits each method before it goes on, so what has to survive a crash is
/// stored when the method returns.
#[async_trait]
pub(crate) trait Recorder: Send + Sync {
    /// The model is about to be asked.
    async fn message_started(&self, _message: &MessageId) -> StoreResult<()> {
        Ok(())
    }

    /// A model was asked for the message, in as many attempts as it took.
    fn model_called(&self, _message: &MessageId, _step: StepTrace) {}

    /// A part of the message got longer by this text.
    fn delta(&self, message: &MessageId, part: usize, kind: DeltaKind, text: String);

    /// The provider is asked again after this.
    fn retry_scheduled(&self, _message: &MessageId, _wait: Duration) {}

    /// The provider has read so many tokens of the prompt.
    fn prompt_progress(&self, _message: &MessageId, _processed: u64, _total: u64) {}

    /// Tools that were not sent to the model.
    async fn tools_omitted(&self, _tools: &[OmittedTool]) {}

    /// Saves the text so far.
    async fn checkpoint(&self, _message: &MessageId, _parts: Vec<Part>) {}

    /// The message is whole. Its calls are recorded with it, before any of them is dispatched.
    async fn message_finished(
        &self,
        message: &MessageId,
        parts: &[Part],
        calls: &[CallRecord],
    ) -> StoreResult<()>;

    /// Asks a person about a call, or goes on waiting where they were asked already. Called only
    /// for a caller who can be asked: [`Caller::ChatModel`](tenon_domain::Caller::ChatModel).
    async fn approve(&self, _call: &CallRecord) -> StoreResult<ApprovalOutcome> {
        Ok(ApprovalOutcome::Refused(ToolError::refused()))
    }

    /// Runs a call, recorded as running.
    async fn dispatch(
        &self,
        ready: ReadyCall<'_>,
        context: CallContext,
    ) -> StoreResult<ToolResult> {
        Ok(ready.run(&context).await)
    }

    /// Hands calls over to whoever brought their tools along, with the steps that were made for this answer
    /// before. None: their results come with another request, and this answer ends.
    async fn hand_over(
        &self,
        calls: &[CallRecord],
        steps: Vec<Message>,
    ) -> StoreResult<Option<Vec<ToolAnswer>>>;

    async fn call_finished(
        &self,
        call: &CallRecord,
        result: &ToolResult,
        took: Duration,
    ) -> StoreResult<()>;
}

/// The outcome of an approval.
pub(crate) enum ApprovalOutcome {
    Allowed,
    Refused(ToolError),
    /// Tenon is shutting down; the approval stays pending.
    Parked,
}
