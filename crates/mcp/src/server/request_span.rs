//! The span of one request of a client, with the attributes that OpenTelemetry's conventions for MCP
//! name. A client that follows traces says which one in `_meta`: then it is part of that.

use futures::FutureExt;
use serde_json::value::RawValue;
use tenon_net::TraceContext;
use tracing::field::{Empty, display};
use tracing::{Instrument, Span};

use super::message::ClientRequest;
use crate::jsonrpc::RpcError;
use crate::request_target::RequestTarget;

pub(super) fn open(request: &ClientRequest<'_>) -> Span {
    let target = RequestTarget::new(&request.method, request.params.name.as_deref());
    let span = tracing::info_span!(
        "mcp.server",
        "otel.name" = %target,
        "otel.kind" = "server",
        "otel.status_code" = Empty,
        "mcp.method.name" = target.method,
        "jsonrpc.request.id" = request.id.get().trim_matches('"'),
        "gen_ai.operation.name" = Empty,
        "gen_ai.tool.name" = Empty,
        "gen_ai.prompt.name" = Empty,
        "rpc.response.status_code" = Empty,
        "error.type" = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    target.record(&span);
    if let Some(parent) = parent(request) {
        parent.set_parent_of(&span);
    }
    span
}

/// Answers in this span, and puts on it how that went.
pub(super) fn run<T>(
    span: Span,
    answering: impl Future<Output = Result<T, RpcError>>,
) -> impl Future<Output = Result<T, RpcError>> {
    let in_span = answering.instrument(span.clone());
    in_span.inspect(move |answer| {
        if let Err(error) = answer {
            let code = display(error.code);
            span.record("rpc.response.status_code", &code);
            span.record("error.type", &code);
            span.record("otel.status_code", "ERROR");
        }
    })
}

/// The request that is answered now goes well, and its result says that the tool did not.
pub(super) fn tool_failed() {
    let span = Span::current();
    span.record("error.type", "tool_error");
    span.record("otel.status_code", "ERROR");
}

fn parent(request: &ClientRequest<'_>) -> Option<TraceContext> {
    let meta = &request.params.meta;
    // What is no text is no context.
    let text = |value: Option<&RawValue>| serde_json::from_str::<String>(value?.get()).ok();
    let (traceparent, tracestate) = (text(meta.traceparent), text(meta.tracestate));
    TraceContext::read(|name| match name {
        "traceparent" => traceparent.as_deref(),
        _ => tracestate.as_deref(),
    })
}
