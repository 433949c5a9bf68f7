//! The span of a turn or a completion, with the attributes that OpenTelemetry's conventions for generative
//! AI name.

use tenon_domain::{ChatId, TurnId, TurnOutcome, Usage};
use tenon_net::TraceContext;
use tracing::Span;
use tracing::field::Empty;

use crate::request::{TurnModel, TurnProfile};

/// Opens it. The request that asked may be answered long before this ends, and a span of
/// `tracing` is not over before its children are: so its place in the trace comes as a context.
pub(crate) fn open(
    parent: Option<&TraceContext>,
    model: &TurnModel,
    profile: &TurnProfile,
    turn: Option<(&ChatId, &TurnId)>,
) -> Span {
    let span = tracing::info_span!(
        parent: None,
        "invoke_agent",
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "invoke_agent",
        "gen_ai.provider.name" = Empty,
        "gen_ai.request.model" = Empty,
        "gen_ai.conversation.id" = turn.map(|(chat, _)| chat.as_str()),
        "gen_ai.agent.id" = profile.expert.as_ref().map(|expert| expert.as_str()),
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
        "tenon.turn.id" = turn.map(|(_, turn)| turn.as_str()),
        "tenon.turn.outcome" = Empty,
        "error.type" = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    let identity = model.provider.identity();
    span.record("gen_ai.provider.name", identity.provider);
    span.record("gen_ai.request.model", &identity.model);
    if let Some(parent) = parent {
        parent.set_parent_of(&span);
    }
    span
}

/// Puts on it how it went.
pub(crate) fn finish(span: &Span, outcome: &TurnOutcome, usage: &Usage) {
    if span.is_disabled() {
        return;
    }
    // OpenTelemetry knows no unsigned numbers.
    span.record("gen_ai.usage.input_tokens", usage.input_tokens as i64);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens as i64);
    let (name, error) = match outcome {
        TurnOutcome::Done => ("done", None),
        TurnOutcome::Stopped => ("stopped", None),
        TurnOutcome::StepLimit => ("step_limit", None),
        TurnOutcome::Failed(error) => ("failed", Some(error)),
        TurnOutcome::Interrupted(error) => ("interrupted", Some(error)),
    };
    span.record("tenon.turn.outcome", name);
    if let Some(error) = error {
        span.record("error.type", &error.code);
        span.record("otel.status_code", "ERROR");
    }
}

/// Opens a span for naming the chat, linked to the turn but not part of it.
pub(crate) fn open_title(turn: &Span) -> Span {
    let span = tracing::info_span!(parent: None, "name_chat");
    if let Some(parent) = turn.in_scope(TraceContext::current) {
        parent.set_parent_of(&span);
    }
    span
}
