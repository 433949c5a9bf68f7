//! Evaluating how well a model calls tools, in each mode that its wire format has.
//!
//! Nothing outside the model's server is touched: the tools are pure functions of the evaluation.

mod prompts;
mod scoring;
mod tools;

use std::time::{Duration, Instant};

use futures::StreamExt;
use tenon_domain::{
    CallId, EvaluationReport, Message, Part, PromptResult, ToolAnswer, ToolCall, ToolUse,
};

use crate::remote::RemoteProvider;
use crate::{Assembler, Error, ModelFault, ModelReply, ModelRequest, Remote, chat_span, probe};
use prompts::{EvaluationPrompt, PROMPTS};
use scoring::{PromptTranscript, TranscriptEnd};

/// How many prompts there are.
pub const MAX_PROMPTS: usize = PROMPTS.len();

/// How long one prompt may take with all its steps, unless somebody says otherwise.
pub const DEFAULT_PROMPT_TIMEOUT: Duration = Duration::from_secs(60);

/// Two steps and the answer, with room for one mistake and one repetition.
const MAX_STEPS: usize = 5;

/// A mode that is too slow for this many prompts in a row is not measured any further.
const MAX_TIMEOUTS_IN_A_ROW: usize = 3;

const SYSTEM: &str = "You are a helpful assistant with tools. Use them where they help with what \
    the user asks, then answer in a short sentence with what they returned. Where no tool is \
    needed, just answer. The user's calendar and clock are right; today is 2 March 2026.";

#[derive(Debug, Clone)]
pub struct EvaluationOptions {
    pub modes: Vec<ToolUse>,
    /// At most [`MAX_PROMPTS`]: the first ones, which are of all kinds.
    pub prompts: usize,
    pub prompt_timeout: Duration,
}

/// One run. What was measured stays in the report, however the run ends.
#[derive(Debug)]
pub struct Evaluation {
    remote: Remote,
    options: EvaluationOptions,
    report: EvaluationReport,
}

/// How a prompt ended.
enum PromptEnd {
    Scored(PromptTranscript),
    /// The server does not take requests of this mode.
    Impossible(Error),
}

impl Evaluation {
    pub fn new(remote: Remote, options: EvaluationOptions) -> Self {
        let prompts = options.prompts.min(MAX_PROMPTS);
        Self {
            report: EvaluationReport::new(&options.modes, prompts),
            remote,
            options,
        }
    }

    pub fn report(&self) -> &EvaluationReport {
        &self.report
    }

    /// Fails where the server cannot be used at all, or not any more.
    pub async fn run(
        &mut self,
        mut on_result: impl FnMut(&EvaluationReport, &PromptResult),
    ) -> Result<(), Error> {
        // Load the model and check the key first, because these do not depend on the mode.
        probe::answer(&self.remote, &mut |_| {}).await?;
        for mode in self.options.modes.clone() {
            self.run_mode(mode, &mut on_result).await?;
        }
        Ok(())
    }

    async fn run_mode(
        &mut self,
        mode: ToolUse,
        on_result: &mut impl FnMut(&EvaluationReport, &PromptResult),
    ) -> Result<(), Error> {
        let provider = RemoteProvider::new(Remote {
            tools: mode,
            ..self.remote.clone()
        });
        let mut timeouts = 0;
        for (number, prompt) in PROMPTS
            .iter()
            .take(self.report.prompts_per_mode)
            .enumerate()
        {
            let asked = Instant::now();
            let transcript = match self.ask(&provider, mode, number == 0, prompt).await? {
                PromptEnd::Scored(transcript) => transcript,
                PromptEnd::Impossible(error) => {
                    self.report.abandon(mode, error.detail());
                    return Ok(());
                }
            };
            let result = PromptResult {
                mode,
                kind: prompt.kind,
                prompt: prompt.text.into(),
                outcome: prompt.outcome(&transcript),
                is_first_call_right: prompt.is_first_call_right(&transcript),
                is_answer_right: prompt.is_answer_right(&transcript),
                duration_ms: asked.elapsed().as_millis() as u64,
            };
            self.report.record(&result);
            on_result(&self.report, &result);
            let is_late = transcript.end == TranscriptEnd::TimedOut;
            timeouts = if is_late { timeouts + 1 } else { 0 };
            if timeouts == MAX_TIMEOUTS_IN_A_ROW {
                let seconds = self.options.prompt_timeout.as_secs().into();
                let fault = ModelFault::EvaluationTooSlow { seconds };
                self.report.abandon(mode, fault.into());
                return Ok(());
            }
        }
        Ok(())
    }

    async fn ask(
        &self,
        provider: &RemoteProvider,
        mode: ToolUse,
        is_first: bool,
        prompt: &EvaluationPrompt,
    ) -> Result<PromptEnd, Error> {
        let mut transcript = PromptTranscript::default();
        let conversation = converse(provider, prompt, &mut transcript);
        let ended = tokio::time::timeout(self.options.prompt_timeout, conversation).await;
        if mode == ToolUse::Native && !provider.takes_tools() {
            // The provider fell back to describing tools in the prompt, which is measured as a mode
            // of its own.
            let host = self.remote.host().into();
            let fault = ModelFault::ToolsRefused { host };
            return Ok(PromptEnd::Impossible(fault.into()));
        }
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error @ Error::Refused(_))) if is_first => {
                return Ok(PromptEnd::Impossible(error));
            }
            Ok(Err(Error::Refused(_) | Error::Interrupted(_))) => {
                transcript.end = TranscriptEnd::Failed;
            }
            Ok(Err(error @ Error::Busy(_))) => return Err(error),
            Err(_elapsed) => transcript.end = TranscriptEnd::TimedOut,
        }
        Ok(PromptEnd::Scored(transcript))
    }
}

/// Asks, simulates what is called, and asks again, until there is an answer.
async fn converse(
    provider: &RemoteProvider,
    prompt: &EvaluationPrompt,
    transcript: &mut PromptTranscript,
) -> Result<(), Error> {
    let text = prompt.text.to_owned();
    let mut messages = vec![Message::user(text)];
    for _ in 0..MAX_STEPS {
        let request = ModelRequest {
            system: SYSTEM.into(),
            messages: messages.clone(),
            tools: tools::specs(),
            ..ModelRequest::default()
        };
        let ModelReply { parts, .. } = complete(provider, request, transcript.calls.len()).await?;
        let calls: Vec<ToolCall> = parts.iter().filter_map(Part::as_call).cloned().collect();
        if calls.is_empty() {
            transcript.answer = Part::words(&parts);
            return Ok(());
        }
        let answers = calls.iter().map(|call| ToolAnswer {
            call_id: call.id.clone(),
            tool_id: call.tool_id.clone(),
            result: tools::simulate(call),
        });
        let answers = answers.collect();
        messages.extend([Message::Assistant { parts }, Message::Tools { answers }]);
        transcript.calls.extend(calls);
    }
    Ok(())
}

/// `crate::complete` numbers the calls of one reply; these are numbered through a conversation.
async fn complete(
    provider: &RemoteProvider,
    request: ModelRequest,
    mut number: usize,
) -> Result<ModelReply, Error> {
    let mut deltas = chat_span::stream(provider, request).await?;
    let mut assembler = Assembler::default();
    while let Some(delta) = deltas.next().await {
        assembler.push(delta?);
    }
    Ok(assembler.finish(|| {
        number += 1;
        CallId(format!("call_{number}"))
    }))
}
