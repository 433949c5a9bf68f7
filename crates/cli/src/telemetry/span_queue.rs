//! The queue of ended spans before export: attributes get their conventional types and are bounded,
//! then spans wait for the next batch.

use std::time::Duration;

use opentelemetry::{Array, Context, KeyValue, StringValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchSpanProcessor, Span, SpanData, SpanExporter, SpanProcessor};

/// Longer texts are cut: with content, a queue of whole conversations would be in memory otherwise.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Lists, for the conventions. A field of `tracing` can only be a text.
const LISTS: [&str; 1] = ["gen_ai.response.finish_reasons"];

#[derive(Debug)]
pub(super) struct SpanQueue(BatchSpanProcessor);

impl SpanQueue {
    /// Its length and the size of batches are those of `OTEL_BSP_…`.
    pub(super) fn new(exporter: impl SpanExporter + 'static) -> Self {
        Self(BatchSpanProcessor::builder(exporter).build())
    }
}

impl SpanProcessor for SpanQueue {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.0.on_start(span, context);
    }

    fn on_end(&self, mut span: SpanData) {
        if !span.span_context.is_sampled() {
            return;
        }
        span.attributes.iter_mut().for_each(tidy);
        self.0.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

fn tidy(attribute: &mut KeyValue) {
    let Value::String(text) = &attribute.value else {
        return;
    };
    if LISTS.contains(&attribute.key.as_str()) {
        let list = vec![text.clone()];
        attribute.value = Value::Array(Array::String(list));
    } else if text.as_str().len() > MAX_TEXT_BYTES {
        let text = text.as_str();
        let end = text.floor_char_boundary(MAX_TEXT_BYTES);
        attribute.value = Value::String(StringValue::from(format!("{}…", &text[..end])));
    }
}
