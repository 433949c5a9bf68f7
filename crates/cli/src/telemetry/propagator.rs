//! W3C Trace Context for spans of `tracing`.

use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tenon_net::TraceContext;
use tenon_net::trace_context::TracePropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

pub(super) struct OtelPropagator;

impl TracePropagator for OtelPropagator {
    fn current(&self) -> Option<TraceContext> {
        let context = Context::current();
        let span = context.span();
        let span = span.span_context();
        if !span.is_valid() {
            return None;
        }
        let (trace, id, flags) = (span.trace_id(), span.span_id(), span.trace_flags());
        let state = span.trace_state().header();
        Some(TraceContext {
            traceparent: format!("00-{trace}-{id}-{flags:02x}"),
            tracestate: Some(state).filter(|state| !state.is_empty()),
        })
    }

    fn set_parent(&self, span: &Span, parent: &TraceContext) {
        let parent =
            TraceContextPropagator::new().extract_with_context(&Context::new(), &Pairs(parent));
        // An invalid trace context counts as no parent.
        if parent.span().span_context().is_valid() {
            // It fails where a span is filtered out, which then needs no parent.
            let _ = span.set_parent(parent);
        }
    }
}

struct Pairs<'a>(&'a TraceContext);

impl Extractor for Pairs<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0
            .pairs()
            .find_map(|(name, value)| (name == key).then_some(value))
    }

    fn keys(&self) -> Vec<&str> {
        self.0.pairs().map(|(name, _)| name).collect()
    }
}
