//! One question to a model's server, asked again for as long as that helps
//! and nothing of an answer has been shown.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tenon_domain::WireFormat;

use super::compiled_tool::CompiledTool;
use super::response_reader::{ReadState, ResponseFormat, ResponseReader};
use super::{Capabilities, CapabilityChange, Remote, RequestPlan, ServerKnowledge, ToolCompiler};
use crate::remote::provider_error::ProviderError;
use crate::remote::{anthropic, deferral, http, openai, responses, says_no_images};
use crate::{AttemptLog, Error, ModelDelta, ModelFault, ModelRequest, ModelStream};

/// How often a busy server is asked in all.
const MAX_ATTEMPTS: u32 = 4;

/// The same while it loads its model, which takes a large one minutes.
const MAX_LOADING_ATTEMPTS: u32 = 60;

/// How often a request is mended after it was refused.
const MAX_ADJUSTMENTS: u32 = 12;

/// The first wait is about this long; each further one twice as long.
const BASE_BACKOFF: Duration = Duration::from_secs(1);

/// How long after the last word a server may take to end its answer.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// A longer `Retry-After` is reported as an error instead of being waited for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

type Bytes = Pin<Box<dyn Stream<Item = reqwest::Result<bytes::Bytes>> + Send>>;

pub(super) struct RetryingStream {
    remote: Remote,
    /// Capabilities shared by all requests to this server, and those that this stream works with.
    known: Arc<ServerKnowledge>,
    capabilities: Capabilities,
    request: ModelRequest,
    /// The last one that progress out.
    plan: Option<RequestPlan>,
    /// How many tools the caller knows to be left out.
    left_out: usize,
    phase: Phase,
    attempts: u32,
    adjustments: u32,
    /// Something that is not yet known to help.
    has_unconfirmed_changes: bool,
    ready: VecDeque<ModelDelta>,
    /// Something that a person may have seen: from here on nothing is asked again.
    has_output: bool,
}

enum Phase {
    Send,
    Wait(Duration),
    Read(Box<OpenResponse>),
    /// The answer is complete, or failed with this error.
    Done(Option<Error>),
}

struct OpenResponse {
    bytes: Bytes,
    reader: ResponseReader,
}

impl RetryingStream {
    pub(super) fn new(remote: Remote, known: Arc<ServerKnowledge>, request: ModelRequest) -> Self {
        let capabilities = lock(&known.capabilities).clone();
        Self {
            remote,
            known,
            capabilities,
            request,
            plan: None,
            left_out: 0,
            phase: Phase::Send,
            attempts: 0,
            adjustments: 0,
            has_unconfirmed_changes: false,
            ready: VecDeque::new(),
            has_output: false,
        }
    }

    pub(super) fn into_stream(self) -> ModelStream {
        let stream = Box::new(self);
        stream::unfold(stream, |mut stream| async move {
            let next = stream.next().await?;
            Some((next, stream))
        })
        .boxed()
    }

    async fn next(&mut self) -> Option<Result<ModelDelta, Error>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            let progress = match &mut self.phase {
                Phase::Done(error) => return error.take().map(Err),
                Phase::Wait(time) => {
                    tokio::time::sleep(*time).await;
                    self.phase = Phase::Send;
                    Ok(())
                }
                Phase::Send => self.send().await,
                Phase::Read(response) => {
                    let read = response.read(&self.remote, &self.request.attempts).await;
                    let deltas = response.reader.deltas.drain(..);
                    self.has_output |= deltas.as_slice().iter().any(is_output);
                    self.ready.extend(deltas);
                    if self.has_output && std::mem::take(&mut self.has_unconfirmed_changes) {
                        // The changed request succeeded, so the learned capabilities are confirmed
                        // and shared.
                        lock(&self.known.capabilities).absorb(&self.capabilities);
                    }
                    match read {
                        Ok(ReadState::Done) => {
                            self.request.attempts.ended();
                            self.drain_connection();
                        }
                        // Keep-alives have no words, but they show that somebody is there.
                        Ok(ReadState::Pending) if self.ready.is_empty() => {
                            self.ready.push_back(ModelDelta::Alive);
                        }
                        Ok(ReadState::Pending) | Err(_) => {}
                    }
                    read.map(|_| ())
                }
            };
            if let Err(error) = progress {
                self.phase = self.next_phase(error);
            }
        }
    }

    async fn send(&mut self) -> Result<(), ProviderError> {
        let ModelRequest {
            tools, deferred, ..
        } = &self.request;
        let deferred = deferral::compiled_ahead(&self.remote, deferred);
        ToolCompiler::prepare(&self.known, tools, deferred, &self.remote).await;
        let (capabilities, compiler) = (self.capabilities.clone(), &self.known.compiler);
        let (plan, left_out) =
            RequestPlan::new(&self.remote, compiler, capabilities, &self.request)?;
        if !left_out.is_empty() && self.left_out != left_out.len() {
            self.left_out = left_out.len();
            self.ready.push_back(ModelDelta::OmittedTool(left_out));
        }
        let plan = self.plan.insert(plan);
        let (path, body) = match self.remote.format {
            WireFormat::Openai => (openai::PATH, openai::encode(&self.remote, plan)),
            WireFormat::Responses => (responses::PATH, responses::encode(&self.remote, plan)),
            WireFormat::Anthropic => (anthropic::PATH, anthropic::encode(&self.remote, plan)),
        };
        let attempts = &self.request.attempts;
        let response = http::post_logged(&self.remote, path, &body, attempts).await?;
        self.phase = Phase::Read(Box::new(OpenResponse::new(
            &self.remote,
            &plan.tools,
            response,
        )));
        Ok(())
    }

    /// Ends well: a connection whose last bytes are read can be used again.
    fn drain_connection(&mut self) {
        let over = std::mem::replace(&mut self.phase, Phase::Done(None));
        if let Phase::Read(mut response) = over {
            tokio::spawn(async move {
                let rest = async { while let Some(Ok(_)) = response.bytes.next().await {} };
                let _ = tokio::time::timeout(DRAIN_TIMEOUT, rest).await;
            });
        }
    }

    /// After a chat of this weight was too long. What cannot be told shorter is not sent again.
    fn shrink(&mut self, weight: usize, context_tokens: Option<u64>) -> CapabilityChange {
        self.capabilities.context_tokens = context_tokens.or(self.capabilities.context_tokens);
        let change = self.capabilities.shrink(weight);
        let (capabilities, compiler) = (self.capabilities.clone(), &self.known.compiler);
        let next = RequestPlan::new(&self.remote, compiler, capabilities, &self.request);
        match next {
            Ok((next, _)) if next.weight() < weight => change,
            Ok(_) | Err(_) => CapabilityChange::None,
        }
    }

    /// Decides about an error: retry, retry with a reduced request, or give up.
    fn next_phase(&mut self, error: ProviderError) -> Phase {
        self.request.attempts.failed(|| error.clone().detail());
        if let ProviderError::Refused {
            fault: ModelFault::NoImages { .. },
        } = &error
        {
            // In the server's own words; no answer without the pictures will ever confirm it.
            lock(&self.known.capabilities).sees_images = false;
        }
        if self.has_output {
            return Phase::Done(Some(Error::Interrupted(error.detail())));
        }
        // Figures of an answer that was never given.
        self.ready
            .retain(|delta| matches!(delta, ModelDelta::OmittedTool(_)));
        let learned = match (&error, &self.plan) {
            (ProviderError::Rejected { said, .. }, Some(plan)) => {
                let refuses_images = || says_no_images(&said.to_lowercase());
                let has_images = plan.shows_images() || plan.has_user_images() && refuses_images();
                self.capabilities.learn(said, &plan.tools, has_images)
            }
            (ProviderError::ContextFull { context_tokens, .. }, Some(plan)) => {
                let weight = plan.weight();
                self.shrink(weight, *context_tokens)
            }
            _ => CapabilityChange::None,
        };
        self.adjustments += u32::from(learned == CapabilityChange::Changed);
        if learned != CapabilityChange::None && self.adjustments <= MAX_ADJUSTMENTS {
            self.has_unconfirmed_changes = true;
            let why = error.detail();
            tracing::info!(
                model = self.remote.name,
                %why,
                "asking again without what was refused"
            );
            return Phase::Send;
        }
        self.attempts += 1;
        let is_loading = matches!(
            error,
            ProviderError::Busy {
                fault: ModelFault::Loading { .. },
                ..
            }
        );
        let max_attempts = if is_loading {
            MAX_LOADING_ATTEMPTS
        } else {
            MAX_ATTEMPTS
        };
        match error {
            ProviderError::Busy {
                retry_after,
                fault: why,
            } if self.attempts < max_attempts
                && retry_after.is_none_or(|wait| wait <= MAX_RETRY_AFTER) =>
            {
                let wait = retry_after.unwrap_or_else(|| backoff(self.attempts));
                tracing::info!(model = self.remote.name, %why, ?wait, "asking again");
                self.request.attempts.waits(wait);
                self.ready.push_back(ModelDelta::Retry(wait));
                Phase::Wait(wait)
            }
            ProviderError::Busy { fault, .. } => Phase::Done(Some(Error::Busy(fault.into()))),
            error => Phase::Done(Some(Error::Refused(error.detail()))),
        }
    }
}

impl OpenResponse {
    fn new(remote: &Remote, tools: &[Arc<CompiledTool>], response: Response) -> Self {
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok());
        let format = match kind {
            Some(kind) if kind.starts_with("application/json") => ResponseFormat::Json,
            _ => ResponseFormat::EventStream,
        };
        Self {
            bytes: response.bytes_stream().boxed(),
            reader: ResponseReader::new(remote, format, tools),
        }
    }

    async fn read(
        &mut self,
        remote: &Remote,
        attempts: &AttemptLog,
    ) -> Result<ReadState, ProviderError> {
        match self.bytes.next().await {
            Some(Ok(bytes)) => {
                attempts.received(&bytes);
                self.reader.push(&bytes)
            }
            Some(Err(error)) => Err(ProviderError::connection(remote, &error)),
            None => self.reader.finish_input(),
        }
    }
}

pub(super) fn lock(capabilities: &Mutex<Capabilities>) -> MutexGuard<'_, Capabilities> {
    capabilities.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a delta is visible to people or stored in the history, so that a retry is no longer
/// possible.
fn is_output(delta: &ModelDelta) -> bool {
    match delta {
        ModelDelta::Text(_)
        | ModelDelta::Thinking(_)
        | ModelDelta::Call(_)
        | ModelDelta::Opaque(_) => true,
        ModelDelta::Keep(_)
        | ModelDelta::OmittedTool(_)
        | ModelDelta::Alive
        | ModelDelta::PromptProgress { .. }
        | ModelDelta::Retry(_)
        | ModelDelta::Usage(_)
        | ModelDelta::Stop(_) => false,
    }
}

/// Twice as long each time, and never twice the same: those who were turned
/// away together should not come back together.
fn backoff(attempt: u32) -> Duration {
    let longest = BASE_BACKOFF * 2_u32.pow(attempt.saturating_sub(1).min(6));
    let random = RandomState::new().hash_one(attempt) % 1_000;
    longest.mul_f64(0.5 + random as f64 / 2_000.0)
}
