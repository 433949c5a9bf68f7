//! The span of one request of a client, with the attributes that OpenTelemetry's conventions for MCP
//! name. A client that follows traces says which one in `_meta`: then it is part of that.

use serde_json::value::RawValue;
use tenon_net::TraceContext;
use tracing::Span;
use tracing::field::Empty;

use super::message::ClientRequest;

pub(super) fn open(request: &ClientRequest<'_>) -> Span {
    let span = tracing::info_span!(
        "mcp.server_request",
        "otel.name" = Empty,
        "otel.kind" = "server",
        "mcp.method.name" = &*request.method,
        "jsonrpc.request.id" = request.id.get().trim_matches('"'),
        "gen_ai.operation.name" = Empty,
        "gen_ai.tool.name" = Empty,
        "gen_ai.prompt.name" = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    let method = &*request.method;
    let target = request.params.name.as_deref();
    match (method, target) {
        ("tools/call", Some(tool)) => {
            span.record("gen_ai.operation.name", "execute_tool");
            span.record("gen_ai.tool.name", tool);
            span.record("otel.name", format!("{method} {tool}"));
        }
        ("prompts/get", Some(prompt)) => {
            span.record("gen_ai.prompt.name", prompt);
            span.record("otel.name", format!("{method} {prompt}"));
        }
        _ => {
            span.record("otel.name", method);
        }
    }
    if let Some(parent) = parent(request) {
        parent.adopt(&span);
    }
    span
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
