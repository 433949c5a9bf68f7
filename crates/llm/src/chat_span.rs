//! The span of one request to a model, with the attributes that OpenTelemetry's conventions for
//! generative AI name. It is open until the answer is whole or given up, retries included.

mod content;

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use futures::Stream;
use tenon_domain::{StopReason, Usage};
use tracing::field::Empty;
use tracing::{Instrument, Level, Span};

use crate::{Error, ModelDelta, ModelRequest, ModelStream, Provider};
use content::{OutputText, input_messages, system_instructions};

/// How much of a name that a server says is believed to be one.
const MAX_MODEL_BYTES: usize = 128;

/// The names of a model and its provider in traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelIdentity {
    /// One of the names that the conventions know, where there is one.
    pub provider: &'static str,
    /// What the server calls the model.
    pub model: String,
    /// The host and port of the server, where one is asked.
    pub server: Option<(String, u16)>,
}

/// Asks a model within a span. Without an enabled span this is just `provider.stream`.
pub async fn stream(provider: &dyn Provider, request: ModelRequest) -> Result<ModelStream, Error> {
    let span = open(provider, &request);
    if span.is_disabled() {
        return provider.stream(request).await;
    }
    let captures_content = tracing::span_enabled!(target: "tenon_content", Level::INFO);
    if captures_content {
        span.record(
            "gen_ai.system_instructions",
            system_instructions(&request.system),
        );
        span.record("gen_ai.input.messages", input_messages(&request.messages));
    }
    let started = Instant::now();
    let opened = provider.stream(request).instrument(span.clone()).await;
    let deltas = opened.inspect_err(|error| fail(&span, error))?;
    Ok(Box::pin(TracedStream {
        deltas,
        span,
        started,
        has_output: false,
        usage: Usage::default(),
        stop: None,
        output: captures_content.then(OutputText::default),
    }))
}

/// A server says which model answers: another name than it was asked for, as often as not.
pub(crate) fn record_response_model(model: &str) {
    let model = &model[..model.floor_char_boundary(MAX_MODEL_BYTES)];
    Span::current().record("gen_ai.response.model", model);
}

fn open(provider: &dyn Provider, request: &ModelRequest) -> Span {
    let span = tracing::info_span!(
        "chat",
        "otel.name" = Empty,
        "otel.kind" = Empty,
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "chat",
        "gen_ai.provider.name" = Empty,
        "gen_ai.request.model" = Empty,
        "gen_ai.request.stream" = true,
        "gen_ai.request.max_tokens" = request.options.max_tokens.map(int),
        "gen_ai.response.model" = Empty,
        "gen_ai.response.finish_reasons" = Empty,
        "gen_ai.response.time_to_first_chunk" = Empty,
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
        "gen_ai.usage.cache_read.input_tokens" = Empty,
        "gen_ai.usage.cache_creation.input_tokens" = Empty,
        "gen_ai.system_instructions" = Empty,
        "gen_ai.input.messages" = Empty,
        "gen_ai.output.messages" = Empty,
        "server.address" = Empty,
        "server.port" = Empty,
        "error.type" = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    let identity = provider.identity();
    span.record("otel.name", format!("chat {}", identity.model));
    span.record("gen_ai.provider.name", identity.provider);
    span.record("gen_ai.request.model", &identity.model);
    match &identity.server {
        // A model inside this process is not an outgoing request.
        None => span.record("otel.kind", "internal"),
        Some((host, port)) => {
            span.record("server.address", host);
            span.record("server.port", i64::from(*port));
            span.record("otel.kind", "client")
        }
    };
    span
}

fn fail(span: &Span, error: &Error) {
    let (Error::Refused(detail) | Error::Busy(detail) | Error::Interrupted(detail)) = error;
    span.record("error.type", &detail.code);
    span.record("otel.status_code", "ERROR");
}

/// OpenTelemetry knows no unsigned numbers.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The names of OpenAI's API, which the conventions use.
fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::End => "stop",
        StopReason::ToolCalls => "tool_calls",
        StopReason::Length => "length",
        StopReason::Filtered => "content_filter",
        StopReason::Paused => "pause_turn",
    }
}

/// Puts on the span what comes by.
struct TracedStream {
    deltas: ModelStream,
    span: Span,
    started: Instant,
    has_output: bool,
    usage: Usage,
    stop: Option<StopReason>,
    /// None: nobody may read it.
    output: Option<OutputText>,
}

impl Stream for TracedStream {
    type Item = Result<ModelDelta, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let _entered = this.span.enter();
        let item = ready!(this.deltas.as_mut().poll_next(context));
        match &item {
            Some(Ok(delta)) => match delta {
                ModelDelta::Text(_) | ModelDelta::Thinking(_) | ModelDelta::Call(_) => {
                    if !std::mem::replace(&mut this.has_output, true) {
                        let waited = this.started.elapsed().as_secs_f64();
                        this.span
                            .record("gen_ai.response.time_to_first_chunk", waited);
                    }
                    if let Some(output) = &mut this.output {
                        output.push(delta);
                    }
                }
                ModelDelta::Usage(usage) => this.usage = *usage,
                ModelDelta::Stop(stop) => this.stop = Some(*stop),
                _ => {}
            },
            Some(Err(error)) => fail(&this.span, error),
            None => {}
        }
        Poll::Ready(item)
    }
}

/// Records usage and finish reason also when the stream is dropped early, because the tokens were
/// paid for.
impl Drop for TracedStream {
    fn drop(&mut self) {
        let span = &self.span;
        let reason = self.stop.map(finish_reason);
        if let Some(reason) = reason {
            span.record("gen_ai.response.finish_reasons", reason);
        }
        if self.usage != Usage::default() {
            let usage = &self.usage;
            span.record("gen_ai.usage.input_tokens", int(usage.input_tokens));
            span.record("gen_ai.usage.output_tokens", int(usage.output_tokens));
            span.record(
                "gen_ai.usage.cache_read.input_tokens",
                int(usage.cache_read_tokens),
            );
            span.record(
                "gen_ai.usage.cache_creation.input_tokens",
                int(usage.cache_write_tokens),
            );
        }
        if let Some(output) = &self.output {
            span.record("gen_ai.output.messages", output.messages(reason));
        }
    }
}
