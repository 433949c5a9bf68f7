//! OpenTelemetry: spans and metrics to an OTLP receiver over HTTP, where one is configured.
//!
//! The crates open spans with `tracing` and know nothing of this. One layer turns them into spans of
//! OpenTelemetry, another one measures them. Neither ever waits: ended spans go into a bounded queue
//! that a thread of its own empties in batches, each within a deadline. What does not fit, or cannot
//! be sent, is dropped.

mod export_client;
mod propagator;
mod server_counters;
mod settings;
mod span_metrics;
mod span_queue;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::HttpClient;
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tenon_net::trace_context;
use tenon_server::metrics::ServerMetrics;
use tracing::Metadata;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;

use crate::log::LogLayer;
use export_client::ExportClient;
use propagator::OtelPropagator;
pub use settings::TelemetrySettings;
use span_metrics::SpanMetrics;
use span_queue::SpanQueue;

/// What spans and metrics say they come from.
const SCOPE: &str = "tenon";

/// What has not arrived after so long at the end is lost.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Spans and metrics on their way out.
#[derive(Debug, Default)]
pub struct Telemetry {
    tracer: Option<SdkTracerProvider>,
    meter: Option<SdkMeterProvider>,
}

impl Telemetry {
    /// Starts what the settings ask for, and the layers that feed it. Must be called inside a Tokio runtime.
    pub fn start(settings: &TelemetrySettings) -> Result<(Self, Vec<LogLayer>)> {
        let (mut telemetry, mut layers) = (Self::default(), Vec::new());
        if !settings.is_on() {
            return Ok((telemetry, layers));
        }
        let client = ExportClient::new(settings.timeout).context("telemetry cannot be sent")?;
        let client: Arc<dyn HttpClient> = Arc::new(client);
        let resource = resource();
        let content = settings.content;
        if settings.traces {
            let exporter = SpanExporter::builder()
                .with_http()
                .with_shared_http_client(client.clone());
            let exporter = match settings.endpoint("v1/traces") {
                Some(endpoint) => exporter.with_endpoint(endpoint),
                None => exporter,
            };
            let exporter = exporter.build().context("traces cannot be sent")?;
            let tracer = SdkTracerProvider::builder()
                .with_span_processor(SpanQueue::new(exporter))
                .with_resource(resource.clone())
                .build();
            let layer = tracing_opentelemetry::layer()
                .with_tracer(tracer.tracer(SCOPE))
                .with_location(false)
                .with_threads(false)
                .with_target(false)
                .with_tracked_inactivity(false);
            layers.push(
                layer
                    .with_filter(filter_fn(move |span| is_ours(span, content)))
                    .boxed(),
            );
            trace_context::install_propagator(OtelPropagator);
            telemetry.tracer = Some(tracer);
        }
        if settings.metrics {
            let exporter = MetricExporter::builder()
                .with_http()
                .with_shared_http_client(client);
            let exporter = match settings.endpoint("v1/metrics") {
                Some(endpoint) => exporter.with_endpoint(endpoint),
                None => exporter,
            };
            let exporter = exporter.build().context("metrics cannot be sent")?;
            let meter = SdkMeterProvider::builder()
                .with_reader(PeriodicReader::builder(exporter).build())
                .with_resource(resource)
                .build();
            let layer = SpanMetrics::new(&meter.meter(SCOPE));
            layers.push(
                layer
                    .with_filter(filter_fn(|span| is_ours(span, false)))
                    .boxed(),
            );
            telemetry.meter = Some(meter);
        }
        Ok((telemetry, layers))
    }

    /// Sends what a server counts as well.
    pub fn observe(&self, metrics: &ServerMetrics) {
        if let Some(meter) = &self.meter {
            server_counters::observe(&meter.meter(SCOPE), metrics);
        }
    }

    /// Sends what is left, as far as that goes in time.
    pub async fn shutdown(self) {
        let Self { tracer, meter } = self;
        // These block until the receiver has answered.
        let traces = tokio::task::spawn_blocking(move || {
            tracer.map(|tracer| tracer.shutdown_with_timeout(SHUTDOWN_TIMEOUT))
        });
        let metrics = tokio::task::spawn_blocking(move || {
            meter.map(|meter| meter.shutdown_with_timeout(SHUTDOWN_TIMEOUT))
        });
        let both = futures::future::join(traces, metrics);
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, both).await.is_err() {
            tracing::warn!("the last traces and metrics could not be sent in time");
        }
    }
}

/// Spans of our own crates alone: libraries have theirs, which nobody asked for.
fn is_ours(metadata: &Metadata<'_>, content: bool) -> bool {
    let target = metadata.target();
    metadata.is_span() && target.starts_with("tenon_") && (content || target != "tenon_content")
}

/// Who we are, in the operator's words where there are any.
fn resource() -> Resource {
    let resource = Resource::builder();
    let attributes = std::env::var("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let is_named =
        std::env::var_os("OTEL_SERVICE_NAME").is_some() || attributes.contains("service.name=");
    let resource = if is_named {
        resource
    } else {
        resource.with_service_name("tenon")
    };
    resource
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build()
}
