//! One model step: streams a reply, within time and size limits.

mod repetition;

use std::time::Duration;

use futures::{FutureExt, StreamExt};
use tenon_domain::{
    CallId, DeltaKind, ErrorDetail, MessageId, Part, StopReason, TurnOutcome, tool_id,
};
use tenon_llm::assemble::{DraftBody, Growth};
use tenon_llm::{
    Assembler, AttemptLog, Error as ModelError, ModelDelta, ModelReply, ModelRequest, ModelStream,
    Provider, chat_span,
};
use tenon_store::fresh_id;
use tenon_tools::Toolset;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::recorder::Recorder;
use crate::step_trace::StepTrace;
use crate::{AgentSettings, TurnFault};

/// `kill -9` may cost the last second of streamed text; this leaves time for the write itself.
const CHECKPOINT_INTERVAL: Duration = Duration::from_millis(700);

/// A model that asks for more calls than are made in a step is told so, call by
/// call, and learns from it; one that asks for this many times as many is broken.
const MAX_CALLS_FACTOR: usize = 4;

/// A request to a model, and where its reply goes.
pub(crate) struct ModelStep<'a> {
    pub model: &'a dyn Provider,
    pub toolset: &'a Toolset,
    pub cancel: &'a CancellationToken,
    pub settings: &'a AgentSettings,
    pub message: &'a MessageId,
    pub recorder: &'a dyn Recorder,
}

/// The reply, and the outcome of the turn if the reply was cut off.
pub(crate) struct StepResult {
    pub reply: ModelReply,
    pub cut: Option<TurnOutcome>,
}

impl ModelStep<'_> {
    pub(crate) async fn run(&self, mut request: ModelRequest) -> StepResult {
        let mut assembler = Assembler::default();
        request.attempts = AttemptLog::recording();
        let attempts = request.attempts.clone();
        let (started, mut first_token) = (Instant::now(), None);
        let streamed = tokio::time::timeout(
            self.settings.model_time,
            self.stream(request, &mut assembler, &mut first_token),
        );
        let cut = match streamed.await {
            Ok(ended) => ended.err(),
            Err(_elapsed) => Some(interrupted(TurnFault::Timeout)),
        };
        let mut reply = assembler.finish(|| CallId(fresh_id()));
        for part in &mut reply.parts {
            if let Part::Call { call, .. } = part {
                call.tool_id = tool_id::sanitise(call.tool_id.as_str());
            }
        }
        let cut = cut.or_else(|| unfinished(reply.stop));
        let step = StepTrace {
            started: started.into_std(),
            first_token,
            usage: reply.usage,
            stop: reply.stop,
            error: cut.as_ref().and_then(fault_of),
            attempts: attempts.take(),
        };
        self.recorder.model_called(self.message, step);
        if cut.is_some() {
            // Calls of a sentence that was cut off are not to be made, and so not to be
            // remembered; nor are a provider's own ones, whose other half may be missing.
            reply
                .parts
                .retain(|part| !matches!(part, Part::Call { .. } | Part::Opaque { .. }));
        }
        StepResult { reply, cut }
    }

    async fn stream(
        &self,
        request: ModelRequest,
        assembler: &mut Assembler,
        first_token: &mut Option<std::time::Instant>,
    ) -> Result<(), TurnOutcome> {
        let mut deltas = self.open(request).await?;
        let mut unsaved: Option<Instant> = None;
        let mut last_delta = Instant::now();
        let mut received_bytes = 0;
        loop {
            if self.cancel.is_cancelled() {
                return Err(TurnOutcome::Stopped);
            }
            if unsaved.is_some_and(|since| since.elapsed() >= CHECKPOINT_INTERVAL) {
                let saved = self.recorder.checkpoint(self.message, texts(assembler));
                self.unless_stopped(saved).await?;
                unsaved = None;
            }
            let silence = self.silence_limit(assembler);
            // A delta that is there already needs no timeout.
            let received = match deltas.next().now_or_never() {
                Some(received) => received,
                None => {
                    let save_at =
                        unsaved.map_or(last_delta + silence, |since| since + CHECKPOINT_INTERVAL);
                    tokio::select! {
                        biased;
                        () = self.cancel.cancelled() => continue,
                        () = tokio::time::sleep_until(save_at), if unsaved.is_some() => continue,
                        received = tokio::time::timeout_at(last_delta + silence, deltas.next()) => {
                            received.map_err(|_| self.silent(assembler))?
                        }
                    }
                }
            };
            let Some(delta) = received else { return Ok(()) };
            let delta = delta.map_err(outcome)?;
            last_delta = Instant::now();
            match &delta {
                ModelDelta::Retry(wait) => {
                    // Until it is asked again, the silence is ours.
                    last_delta += *wait;
                    self.recorder.retry_scheduled(self.message, *wait);
                }
                ModelDelta::PromptProgress { processed, total } => {
                    let recorder = self.recorder;
                    recorder.prompt_progress(self.message, *processed, *total);
                }
                ModelDelta::OmittedTool(tools) => {
                    self.unless_stopped(self.recorder.tools_omitted(tools))
                        .await?;
                }
                _ => {}
            }
            received_bytes += weight(&delta);
            if let Some(growth) = assembler.push(delta) {
                first_token.get_or_insert_with(std::time::Instant::now);
                self.check_limits(received_bytes, assembler)?;
                self.check_repetition(assembler, &growth)?;
                self.pass_on(assembler, growth);
                unsaved.get_or_insert(last_delta);
            }
        }
    }

    async fn open(&self, request: ModelRequest) -> Result<ModelStream, TurnOutcome> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(TurnOutcome::Stopped),
            opened = tokio::time::timeout(self.settings.model_silence, chat_span::stream(self.model, request)) => {
                opened.map_err(|_| self.silent(&Assembler::default()))?.map_err(outcome)
            }
        }
    }

    /// How long nothing may come.
    fn silence_limit(&self, assembler: &Assembler) -> Duration {
        if assembler.drafts().is_empty() && self.model.is_local() {
            self.settings.local_first_word
        } else {
            self.settings.model_silence
        }
    }

    /// The stop button does not wait for a slow database.
    async fn unless_stopped(&self, work: impl Future<Output = ()>) -> Result<(), TurnOutcome> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(TurnOutcome::Stopped),
            () = work => Ok(()),
        }
    }

    fn check_limits(
        &self,
        received_bytes: usize,
        assembler: &Assembler,
    ) -> Result<(), TurnOutcome> {
        if received_bytes > self.settings.reply_bytes {
            return Err(interrupted(TurnFault::TooLong));
        }
        let max = MAX_CALLS_FACTOR * self.settings.calls_per_step;
        if assembler.calls() > max {
            return Err(interrupted(TurnFault::TooManyCalls { max }));
        }
        Ok(())
    }

    /// Small models on people's machines get caught in a word, and go on until their context is full.
    fn check_repetition(&self, assembler: &Assembler, growth: &Growth) -> Result<(), TurnOutcome> {
        let written = match &assembler.drafts()[growth.part].body {
            DraftBody::Text(text) | DraftBody::Thinking(text) => text,
            DraftBody::Call(call) => &call.arguments,
            DraftBody::Opaque => return Ok(()),
        };
        if self.model.is_local() && repetition::grew_repetitive(written, growth.text.len()) {
            let name = self.model.name().into();
            return Err(interrupted(TurnFault::RepeatsText { name }));
        }
        Ok(())
    }

    fn pass_on(&self, assembler: &Assembler, growth: Growth) {
        let kind = match &assembler.drafts()[growth.part].body {
            DraftBody::Text(_) | DraftBody::Opaque => DeltaKind::Text,
            DraftBody::Thinking(_) => DeltaKind::Thinking,
            DraftBody::Call(call) => {
                let id = tool_id::sanitise(&call.name);
                let display_name = match self.toolset.get(&id) {
                    Some(tool) => tool.spec.display_name.clone(),
                    None => id.0,
                };
                DeltaKind::Input { display_name }
            }
        };
        let recorder = self.recorder;
        recorder.delta(self.message, growth.part, kind, growth.text);
    }

    fn silent(&self, assembler: &Assembler) -> TurnOutcome {
        let name = self.model.name().into();
        let seconds = self.silence_limit(assembler).as_secs();
        if assembler.drafts().is_empty() {
            TurnOutcome::Failed(TurnFault::NoReply { name, seconds }.into())
        } else {
            interrupted(TurnFault::Stalled { name, seconds })
        }
    }
}

/// The parts that a checkpoint saves: text, but no calls.
fn texts(assembler: &Assembler) -> Vec<Part> {
    let parts = assembler.drafts().iter();
    let parts = parts.filter_map(|draft| match &draft.body {
        DraftBody::Text(text) => Some(Part::text(text)),
        DraftBody::Thinking(text) => Some(Part::thinking(text)),
        DraftBody::Call(_) | DraftBody::Opaque => None,
    });
    parts.collect()
}

/// The weight of a delta towards the length limit. A call has a weight even without arguments.
fn weight(delta: &ModelDelta) -> usize {
    match delta {
        ModelDelta::Text(text) | ModelDelta::Thinking(text) => text.len(),
        ModelDelta::Call(call) => {
            1 + call.name.as_ref().map_or(0, String::len) + call.arguments.len()
        }
        // Not shown and sent back only to their maker; the adapters bound them.
        ModelDelta::Keep(_) | ModelDelta::Opaque(_) => 0,
        ModelDelta::OmittedTool(_)
        | ModelDelta::Alive
        | ModelDelta::PromptProgress { .. }
        | ModelDelta::Retry(_)
        | ModelDelta::Usage(_)
        | ModelDelta::Stop(_) => 0,
    }
}

/// Whether the model itself says that this was not all.
fn unfinished(stop: Option<StopReason>) -> Option<TurnOutcome> {
    match stop {
        Some(StopReason::End | StopReason::ToolCalls | StopReason::Paused) => None,
        Some(StopReason::Length) => Some(interrupted(TurnFault::LengthLimit)),
        Some(StopReason::Filtered) => Some(TurnOutcome::Failed(TurnFault::Filtered.into())),
        None => Some(interrupted(TurnFault::ModelBrokeOff)),
    }
}

fn fault_of(outcome: &TurnOutcome) -> Option<ErrorDetail> {
    match outcome {
        TurnOutcome::Failed(error) | TurnOutcome::Interrupted(error) => Some(error.clone()),
        TurnOutcome::Done | TurnOutcome::Stopped | TurnOutcome::StepLimit => None,
    }
}

fn interrupted(fault: TurnFault) -> TurnOutcome {
    TurnOutcome::Interrupted(fault.into())
}

fn outcome(error: ModelError) -> TurnOutcome {
    match error {
        ModelError::Refused(why) | ModelError::Busy(why) => TurnOutcome::Failed(why),
        ModelError::Interrupted(why) => TurnOutcome::Interrupted(why),
    }
}
