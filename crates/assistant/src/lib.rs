//! The built-in assistant: answers without a language model.
//!
//! It matches the user's words to the tools at hand, reads the arguments from the message by
//! each tool's schema, asks back when one is missing, and says what came of it. It never
//! pretends to be a language model, and no rule in it names a tool. It remembers nothing:
//! every step is worked out from the messages, so a turn can go on after a restart.
//!
//! The way of a message: [`conversation`] → [`planner`] (→ [`clause`] → [`tool_catalog`] →
//! [`argument_reader`]) → [`replies`].

mod conversation;
mod planner;

mod argument_reader;
mod clause;
mod lexer;
mod parameters;
mod sums;
mod tool_catalog;

mod language;
mod replies;
mod vocabulary;

use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use tenon_domain::StopReason;
use tenon_llm::{
    CallFragment, Error, GenerationOptions, ModelDelta, ModelFault, ModelRequest, ModelStream,
    OptionFault, Provider, ToolChoice,
};
use tokio::sync::Semaphore;

use clause::Clause;
use conversation::Exchange;
use planner::{NextStep, PlannedCall};
use tool_catalog::ToolCatalog;

/// A text is streamed in at most so many chunks. With [`CHUNK_PAUSE`] this bounds how long it
/// takes.
const MAX_CHUNKS: usize = 40;
/// A few words: enough to see it stream.
const MIN_CHUNK_CHARS: usize = 12;
const CHUNK_PAUSE: Duration = Duration::from_millis(8);
/// Nothing here counts in tokens: the usual estimate.
const CHARS_PER_TOKEN: usize = 4;
const MAX_BLOCKING_THREADS: usize = 2;

/// Answers without a language model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Assistant;

#[async_trait]
impl Provider for Assistant {
    fn name(&self) -> &str {
        "Built-in assistant"
    }

    fn takes_images(&self) -> bool {
        false
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, Error> {
        let max_tokens = request.options.max_tokens;
        let mut step = next_step(request).await?;
        let stop = if max_tokens.is_some_and(|max_tokens| step.cut_text(max_tokens)) {
            StopReason::Length
        } else if step.calls.is_empty() {
            StopReason::End
        } else {
            StopReason::ToolCalls
        };
        let spoken = stream::iter(chunks(&step.text)).then(|chunk| async move {
            tokio::time::sleep(CHUNK_PAUSE).await;
            ModelDelta::Text(chunk)
        });
        let calls = step.calls.into_iter().zip(0_u64..).map(|(call, index)| {
            ModelDelta::Call(CallFragment {
                index: Some(index),
                id: None,
                name: Some(call.tool),
                arguments: call.arguments.to_string(),
                provider_block: None,
            })
        });
        // No usage: no tokens were used.
        let last = calls.chain([ModelDelta::Stop(stop)]).collect::<Vec<_>>();
        Ok(spoken.chain(stream::iter(last)).map(Ok).boxed())
    }

    /// How tokens are drawn matters nothing to one that draws none.
    fn unsupported_option(
        &self,
        options: &GenerationOptions,
        has_tools: bool,
    ) -> Option<OptionFault> {
        let requires_call = matches!(
            options.tool_choice,
            Some(ToolChoice::Required | ToolChoice::Tool(_))
        );
        let option = if options.response_format.is_some() {
            "response_format"
        } else if options.sampling.contains_key("logit_bias") {
            "logit_bias"
        } else if has_tools && requires_call {
            "tool_choice"
        } else if has_tools && options.parallel_tool_calls == Some(false) {
            "parallel_tool_calls"
        } else {
            return None;
        };
        Some(OptionFault::Unsupported {
            option: option.to_owned(),
            model: self.name().to_owned(),
        })
    }
}

/// What to say and what to call now.
#[derive(Debug)]
struct AssistantStep {
    text: String,
    calls: Vec<PlannedCall>,
}

impl AssistantStep {
    /// Whether the text was longer than so many tokens, and is no more.
    fn cut_text(&mut self, max_tokens: u64) -> bool {
        let max_chars = usize::try_from(max_tokens).unwrap_or(usize::MAX);
        let max_chars = max_chars.saturating_mul(CHARS_PER_TOKEN);
        let Some((end, _)) = self.text.char_indices().nth(max_chars) else {
            return false;
        };
        self.text.truncate(end);
        true
    }
}

/// With thousands of tools at hand this takes its time, which others need the thread for.
async fn next_step(request: ModelRequest) -> Result<AssistantStep, Error> {
    static THREADS: Semaphore = Semaphore::const_new(MAX_BLOCKING_THREADS);
    let permit = THREADS.acquire().await.ok();
    let thinking = tokio::task::spawn_blocking(move || {
        let step = think(&request);
        drop(permit);
        step
    });
    let failed = |_panic| Error::from(ModelFault::AssistantFailed);
    thinking.await.map_err(failed)
}

fn think(request: &ModelRequest) -> AssistantStep {
    let catalog = ToolCatalog::new(request.tools.iter().map(AsRef::as_ref));
    let exchanges = conversation::exchanges(&request.messages);
    let Exchange { said, calls, .. } = exchanges.last().cloned().unwrap_or_default();
    let language = language::language(
        exchanges.iter().map(|exchange| exchange.said),
        request.language,
    );
    let report = || replies::report(language, &catalog, &calls);
    let (text, calls) = match planner::next(&catalog, &exchanges) {
        NextStep::Call(calls) => (String::new(), calls),
        NextStep::Ask { tool, parameter } => {
            let question = replies::question(language, &tool.spec.display_name, &parameter);
            let text = format!("{}\n\n{question}", report());
            (text.trim_start().to_owned(), Vec::new())
        }
        NextStep::Report => (report(), Vec::new()),
        NextStep::Introduce => {
            let intent = Clause::new(said).intent();
            (
                replies::introduction(language, intent, &catalog),
                Vec::new(),
            )
        }
    };
    AssistantStep { text, calls }
}

/// A text in pieces, never more than [`MAX_CHUNKS`].
fn chunks(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let length = MIN_CHUNK_CHARS.max(characters.len().div_ceil(MAX_CHUNKS));
    characters.chunks(length).map(String::from_iter).collect()
}

#[cfg(test)]
mod tests;
