//! The span of one tool call, with the attributes that OpenTelemetry's conventions for generative
//! AI name.

use tenon_domain::{RunsOn, ToolCall, ToolResult};
use tracing::field::Empty;
use tracing::{Level, Span};

use crate::call_metrics::kind_label;
use crate::catalog::Tool;

/// Servers choose the names of their tools.
const MAX_NAME_BYTES: usize = 64;

/// Opens the span of a call.
pub(crate) fn open(tool: &Tool, call: &ToolCall) -> Span {
    let (spec, source) = (&tool.spec, tool.source.info());
    let name = &spec.name[..spec.name.floor_char_boundary(MAX_NAME_BYTES)];
    let span = tracing::info_span!(
        "execute_tool",
        "otel.name" = format!("execute_tool {name}"),
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "execute_tool",
        "gen_ai.tool.name" = name,
        "gen_ai.tool.call.id" = call.id.as_str(),
        // An extension calls what is outside by itself; a function is run by the client.
        "gen_ai.tool.type" = match spec.runs_on {
            RunsOn::Server => "extension",
            RunsOn::Browser => "function",
        },
        "gen_ai.tool.call.arguments" = Empty,
        "gen_ai.tool.call.result" = Empty,
        "tenon.tool.id" = spec.id.as_str(),
        "tenon.source.kind" = kind_label(source.kind),
        // What people connect for themselves is theirs.
        "tenon.source.name" = if source.owner.is_some() {
            "(personal)"
        } else {
            &source.name
        },
        "error.type" = Empty,
    );
    if captures_content(&span) {
        span.record("gen_ai.tool.call.arguments", call.input.to_string());
    }
    span
}

/// Puts on it how the call went.
pub(crate) fn finish(span: &Span, result: &ToolResult) {
    match result {
        Ok(output) if captures_content(span) => {
            span.record("gen_ai.tool.call.result", output.to_text());
        }
        Ok(_) => {}
        Err(error) => {
            span.record("error.type", error.error_type());
            span.record("otel.status_code", "ERROR");
        }
    }
}

/// Whether inputs and outputs are recorded. They are private: the exporter enables this target only
/// if the operator says so.
fn captures_content(span: &Span) -> bool {
    !span.is_disabled() && tracing::span_enabled!(target: "tenon_content", Level::INFO)
}
