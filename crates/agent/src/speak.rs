//! One step of a model: from the request to the last word.

use std::time::Duration;

use async_trait::async_trait;
use futures::{FutureExt, StreamExt};
use tenon_domain::{CallId, DeltaKind, LeftOut, Part, StopReason, TurnOutcome, tool_id};
use tenon_llm::assemble::{DraftBody, Growth};
use tenon_llm::{Assembler, Delta, Deltas, Error as ModelError, Provider, Reply, Request};
use tenon_store::fresh_id;
use tenon_tools::Toolset;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Settings;

/// `kill -9` may cost the last second of streamed text; this leaves room for the write itself.
const CHECKPOINT: Duration = Duration::from_millis(700);

/// A model that asks for more calls than are made in a step is told so, call by
/// call, and learns from it; one that asks for this many times as many is broken.
const PATIENCE: usize = 4;

/// A model about to speak.
pub(crate) struct Speech<'a> {
    pub model: &'a dyn Provider,
    pub toolset: &'a Toolset,
    pub cancel: &'a CancellationToken,
    pub settings: &'a Settings,
    pub listener: &'a dyn Listener,
}

/// Who hears a model speak, word by word.
#[async_trait]
pub(crate) trait Listener: Send + Sync {
    /// A part of the message has grown.
    fn grown(&self, part: usize, kind: DeltaKind, text: String);

    /// The provider is asked again after this.
    fn waits(&self, _wait: Duration) {}

    /// Tools that were not put before the model.
    async fn left_out(&self, _tools: &[LeftOut]) {}

    /// What was said so far, to be kept.
    async fn keep(&self, _parts: Vec<Part>) {}
}

/// What was said, and how the turn ends if it was cut off.
pub(crate) struct Spoken {
    pub reply: Reply,
    pub cut: Option<TurnOutcome>,
}

impl Speech<'_> {
    pub(crate) async fn run(&self, request: Request) -> Spoken {
        let mut assembler = Assembler::default();
        let listened = tokio::time::timeout(
            self.settings.model_time,
            self.listen(request, &mut assembler),
        );
        let cut = match listened.await {
            Ok(heard) => heard.err(),
            Err(_elapsed) => Some(interrupted("The answer took too long and was cut off.")),
        };
        let mut reply = assembler.finish(|| CallId(fresh_id()));
        for part in &mut reply.parts {
            if let Part::Call { call, .. } = part {
                call.tool_id = tool_id::sanitise(call.tool_id.as_str());
            }
        }
        let cut = cut.or_else(|| unfinished(reply.stop));
        if cut.is_some() {
            // Calls of a sentence that was cut off are not to be made, and so not to be
            // remembered; nor are a provider's own ones, whose other half may be missing.
            reply
                .parts
                .retain(|part| !matches!(part, Part::Call { .. } | Part::Opaque { .. }));
        }
        Spoken { reply, cut }
    }

    async fn listen(&self, request: Request, assembler: &mut Assembler) -> Result<(), TurnOutcome> {
        let silence = self.settings.model_silence;
        let mut deltas = self.open(request).await?;
        let mut unsaved: Option<Instant> = None;
        let mut last_word = Instant::now();
        let mut said = 0;
        loop {
            if self.cancel.is_cancelled() {
                return Err(TurnOutcome::Stopped);
            }
            if unsaved.is_some_and(|since| since.elapsed() >= CHECKPOINT) {
                self.unless_stopped(self.listener.keep(kept(assembler)))
                    .await?;
                unsaved = None;
            }
            // What has come already needs no clock.
            let heard = match deltas.next().now_or_never() {
                Some(heard) => heard,
                None => {
                    let save_at = unsaved.map_or(last_word + silence, |since| since + CHECKPOINT);
                    tokio::select! {
                        biased;
                        () = self.cancel.cancelled() => continue,
                        () = tokio::time::sleep_until(save_at), if unsaved.is_some() => continue,
                        heard = tokio::time::timeout_at(last_word + silence, deltas.next()) => {
                            heard.map_err(|_| self.silent(assembler))?
                        }
                    }
                }
            };
            let Some(delta) = heard else { return Ok(()) };
            let delta = delta.map_err(outcome)?;
            last_word = Instant::now();
            match &delta {
                Delta::Retry(wait) => {
                    // Until it is asked again, the silence is ours.
                    last_word += *wait;
                    self.listener.waits(*wait);
                }
                Delta::LeftOut(tools) => {
                    self.unless_stopped(self.listener.left_out(tools)).await?;
                }
                _ => {}
            }
            said += weight(&delta);
            if let Some(growth) = assembler.push(delta) {
                self.check_limits(said, assembler)?;
                self.pass_on(assembler, growth);
                unsaved.get_or_insert(last_word);
            }
        }
    }

    async fn open(&self, request: Request) -> Result<Deltas, TurnOutcome> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(TurnOutcome::Stopped),
            opened = tokio::time::timeout(self.settings.model_silence, self.model.stream(request)) => {
                opened.map_err(|_| self.silent(&Assembler::default()))?.map_err(outcome)
            }
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

    fn check_limits(&self, said: usize, assembler: &Assembler) -> Result<(), TurnOutcome> {
        if said > self.settings.reply_bytes {
            return Err(interrupted("The answer grew too long and was cut off."));
        }
        let most = PATIENCE * self.settings.calls_per_step;
        if assembler.calls() > most {
            return Err(interrupted(&format!(
                "The model asked for more than {most} calls at once and was cut off."
            )));
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
        self.listener.grown(growth.part, kind, growth.text);
    }

    fn silent(&self, assembler: &Assembler) -> TurnOutcome {
        let (name, seconds) = (self.model.name(), self.settings.model_silence.as_secs());
        if assembler.drafts().is_empty() {
            TurnOutcome::Failed {
                message: format!(
                    "{name} said nothing for {seconds} s. Check that it is running, or choose another model."
                ),
            }
        } else {
            interrupted(&format!(
                "{name} fell silent for {seconds} s in mid-sentence."
            ))
        }
    }
}

/// What is worth keeping before the end: the words.
fn kept(assembler: &Assembler) -> Vec<Part> {
    let parts = assembler.drafts().iter();
    let parts = parts.filter_map(|draft| match &draft.body {
        DraftBody::Text(text) => Some(Part::text(text)),
        DraftBody::Thinking(text) => Some(Part::thinking(text)),
        DraftBody::Call(_) | DraftBody::Opaque => None,
    });
    parts.collect()
}

/// What a delta takes of what may be said. A call has a weight also where
/// nothing is written in it.
fn weight(delta: &Delta) -> usize {
    match delta {
        Delta::Text(text) | Delta::Thinking(text) => text.len(),
        Delta::Call(call) => 1 + call.name.as_ref().map_or(0, String::len) + call.arguments.len(),
        // Told back to their maker and not shown; the adapters bound what they hear.
        Delta::Keep(_) | Delta::Opaque(_) => 0,
        Delta::LeftOut(_) | Delta::Alive | Delta::Retry(_) | Delta::Usage(_) | Delta::Stop(_) => 0,
    }
}

/// Whether the model itself says that this was not all.
fn unfinished(stop: Option<StopReason>) -> Option<TurnOutcome> {
    match stop {
        Some(StopReason::End | StopReason::ToolCalls | StopReason::Paused) => None,
        Some(StopReason::Length) => Some(interrupted(
            "The answer reached the model's limit of length.",
        )),
        Some(StopReason::Filtered) => Some(TurnOutcome::Failed {
            message: "The model's provider withheld the rest of this answer.".into(),
        }),
        None => Some(interrupted("The model's answer broke off.")),
    }
}

fn interrupted(message: &str) -> TurnOutcome {
    TurnOutcome::Interrupted {
        message: message.into(),
    }
}

fn outcome(error: ModelError) -> TurnOutcome {
    match error {
        ModelError::Refused(message) | ModelError::Busy(message) => TurnOutcome::Failed { message },
        ModelError::Interrupted(message) => TurnOutcome::Interrupted { message },
    }
}
