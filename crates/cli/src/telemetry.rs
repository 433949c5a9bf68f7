//! OpenTelemetry: spans and metrics to an OTLP receiver over HTTP, where one is configured.
//!
//! The crates open spans with `tracing` and know nothing of this. One layer turns them into spans
//! of OpenTelemetry, another one measures them. Neither ever waits: ended spans go into a bounded
//! queue that a thread of its own empties in batches, each within a deadline. What does not fit, or
//! cannot be sent, is dropped.

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
use opentelemetry_otlp::{
    MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tenon_net::trace_context;
use tenon_server::metrics::ServerMetrics;
use tenon_store::fresh_id;
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

/// Time for the last export at shutdown; what has not arrived by then is lost.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Spans and metrics on their way out.
#[derive(Debug, Default)]
pub struct Telemetry {
    tracer: Option<SdkTracerProvider>,
    meter: Option<SdkMeterProvider>,
}

impl Telemetry {
    /// Starts what the settings ask for, and the layers that feed it. Must be called inside a Tokio
    /// runtime.
    pub fn start(settings: &TelemetrySettings) -> Result<(Self, Vec<LogLayer>)> {
        let (mut telemetry, mut layers) = (Self::default(), Vec::new());
        let client = |signal| -> Result<Arc<dyn HttpClient>> {
            let client = ExportClient::new(signal, settings.timeout);
            Ok(Arc::new(client.context("telemetry cannot be sent")?))
        };
        let resource = resource();
        let content = settings.content;
        if let Some(url) = &settings.traces {
            let exporter = SpanExporter::builder()
                .with_http()
                .with_protocol(Protocol::HttpBinary)
                .with_shared_http_client(client("traces")?)
                .with_endpoint(url);
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
        if let Some(url) = &settings.metrics {
            let exporter = MetricExporter::builder()
                .with_http()
                .with_protocol(Protocol::HttpBinary)
                .with_shared_http_client(client("metrics")?)
                .with_endpoint(url);
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

    pub fn is_on(&self) -> bool {
        self.tracer.is_some() || self.meter.is_some()
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

/// The resource attributes: the service name and version, overridden by the operator's.
fn resource() -> Resource {
    let resource = Resource::builder_empty()
        .with_service_name("tenon")
        .with_attributes([
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            // Counters of several servers would overwrite each other without it.
            KeyValue::new("service.instance.id", fresh_id()),
        ])
        .with_detectors(&[
            Box::new(TelemetryResourceDetector),
            Box::new(EnvResourceDetector::new()),
        ]);
    // The standard puts it before OTEL_RESOURCE_ATTRIBUTES.
    let name = std::env::var("OTEL_SERVICE_NAME").unwrap_or_default();
    let resource = if name.is_empty() {
        resource
    } else {
        resource.with_service_name(name)
    };
    resource.build()
}
