//! The metrics of OpenTelemetry's conventions for generative AI and MCP, measured on the spans of
//! the same operations: whether a trace is sampled makes no difference here.

use std::time::Instant;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// The bounds that the conventions advise.
const SECONDS: [f64; 14] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const MCP_SECONDS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];
const TOKENS: [f64; 14] = [
    1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0,
    16777216.0, 67108864.0,
];

/// What tells the measurements of an operation apart. Each has few values, whatever others send.
const GEN_AI_ATTRIBUTES: &[&str] = &[
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "error.type",
];
const MCP_CLIENT_ATTRIBUTES: &[&str] = &[
    "mcp.method.name",
    "mcp.protocol.version",
    "gen_ai.tool.name",
    "network.transport",
    "rpc.response.status_code",
    "error.type",
];
const MCP_SERVER_ATTRIBUTES: &[&str] =
    &["mcp.method.name", "rpc.response.status_code", "error.type"];

const FIRST_CHUNK: &str = "gen_ai.response.time_to_first_chunk";
const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";

pub(super) struct SpanMetrics {
    operations: Histogram<f64>,
    first_chunks: Histogram<f64>,
    tokens: Histogram<u64>,
    mcp_requests: Histogram<f64>,
    mcp_answers: Histogram<f64>,
}

impl SpanMetrics {
    pub(super) fn new(meter: &Meter) -> Self {
        let seconds = |name: &'static str, help: &'static str, bounds: [f64; 14]| {
            let histogram = meter.f64_histogram(name).with_description(help);
            let histogram = histogram.with_unit("s").with_boundaries(bounds.to_vec());
            histogram.build()
        };
        Self {
            operations: seconds(
                "gen_ai.client.operation.duration",
                "How long requests to models, turns and tool calls took.",
                SECONDS,
            ),
            first_chunks: seconds(
                "gen_ai.client.operation.time_to_first_chunk",
                "How long it took until a model's answer began.",
                SECONDS,
            ),
            tokens: meter
                .u64_histogram("gen_ai.client.token.usage")
                .with_description("Tokens of requests to models.")
                .with_unit("{token}")
                .with_boundaries(TOKENS.to_vec())
                .build(),
            mcp_requests: seconds(
                "mcp.client.operation.duration",
                "How long requests to MCP servers took.",
                MCP_SECONDS,
            ),
            mcp_answers: seconds(
                "mcp.server.operation.duration",
                "How long answers to MCP clients took.",
                MCP_SECONDS,
            ),
        }
    }

    fn measure(&self, span: &MeasuredSpan) {
        let seconds = span.started.elapsed().as_secs_f64();
        let durations = match span.operation {
            MeasuredOperation::Chat | MeasuredOperation::Agent => &self.operations,
            MeasuredOperation::McpRequest => &self.mcp_requests,
            MeasuredOperation::McpAnswer => &self.mcp_answers,
        };
        durations.record(seconds, &span.attributes);
        // The tokens of a turn are those of its requests.
        if span.operation != MeasuredOperation::Chat {
            return;
        }
        if let Some(seconds) = span.first_chunk {
            self.first_chunks.record(seconds, &span.attributes);
        }
        for (kind, count) in [("input", span.input_tokens), ("output", span.output_tokens)] {
            if let Some(count) = count {
                let mut attributes = span.attributes.clone();
                attributes.push(KeyValue::new("gen_ai.token.type", kind));
                self.tokens.record(count, &attributes);
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MeasuredOperation {
    Chat,
    /// A turn or a tool call.
    Agent,
    /// To a server.
    McpRequest,
    /// To a client.
    McpAnswer,
}

impl MeasuredOperation {
    fn of(span: &Metadata<'_>) -> Option<Self> {
        match span.name() {
            "chat" => Some(Self::Chat),
            "invoke_agent" | "execute_tool" => Some(Self::Agent),
            "mcp.client" => Some(Self::McpRequest),
            "mcp.server" => Some(Self::McpAnswer),
            _ => None,
        }
    }

    fn attributes(self) -> &'static [&'static str] {
        match self {
            Self::Chat | Self::Agent => GEN_AI_ATTRIBUTES,
            Self::McpRequest => MCP_CLIENT_ATTRIBUTES,
            Self::McpAnswer => MCP_SERVER_ATTRIBUTES,
        }
    }
}

/// An operation that runs, and what is known of it.
struct MeasuredSpan {
    operation: MeasuredOperation,
    started: Instant,
    attributes: Vec<KeyValue>,
    first_chunk: Option<f64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl MeasuredSpan {
    fn add(&mut self, field: &Field, value: impl Into<opentelemetry::Value>) {
        let name = field.name();
        if self.operation.attributes().contains(&name) {
            self.attributes.push(KeyValue::new(name, value));
        }
    }
}

impl Visit for MeasuredSpan {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == FIRST_CHUNK {
            self.first_chunk = Some(value);
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        match field.name() {
            INPUT_TOKENS => self.input_tokens = u64::try_from(value).ok(),
            OUTPUT_TOKENS => self.output_tokens = u64::try_from(value).ok(),
            _ => self.add(field, value),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if self.operation.attributes().contains(&field.name()) {
            self.add(field, format!("{value:?}"));
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanMetrics {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let (Some(operation), Some(span)) = (
            MeasuredOperation::of(attributes.metadata()),
            context.span(id),
        ) else {
            return;
        };
        let mut measured = MeasuredSpan {
            operation,
            started: Instant::now(),
            attributes: Vec::new(),
            first_chunk: None,
            input_tokens: None,
            output_tokens: None,
        };
        attributes.record(&mut measured);
        span.extensions_mut().insert(measured);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        if let Some(measured) = span.extensions_mut().get_mut::<MeasuredSpan>() {
            values.record(measured);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id);
        let measured = span.and_then(|span| span.extensions_mut().remove::<MeasuredSpan>());
        if let Some(measured) = measured {
            self.measure(&measured);
        }
    }
}
