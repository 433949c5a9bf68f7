//! What is counted while the process runs; `GET /metrics` gives it in the text format of
//! Prometheus.
//!
//! Counters live where things happen: calls in `tools`, turns and tokens in `agent`, requests and
//! sockets here. Each label has a bound.

mod exposition;
mod family;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use tenon_app::app::App;
use tenon_tools::{CallStatistics, LATENCY_BOUNDS_US};

pub use family::{MetricFamily, MetricKind, MetricSample, SampleValue};

/// Parts of the server that requests are counted by.
const AREAS: [&str; 5] = ["api", "v1", "mcp", "health", "page"];

/// Classes of HTTP status.
const STATUSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The counters of HTTP. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpMetrics(Arc<HttpCounters>);

#[derive(Debug, Default)]
struct HttpCounters {
    requests: [[AtomicU64; STATUSES.len()]; AREAS.len()],
    open_sockets: AtomicI64,
}

/// An open socket; dropping it takes it off the count.
#[derive(Debug)]
pub(crate) struct OpenSocket(HttpMetrics);

impl HttpMetrics {
    /// The part of the API that a path belongs to, as a label.
    pub(crate) fn area(path: &str) -> usize {
        let first = path.trim_start_matches('/').split('/').next();
        match first {
            Some("api") => 0,
            Some("v1") => 1,
            Some("mcp" | "sse" | "mcpo") => 2,
            Some("health" | "ready" | "metrics") => 3,
            _ => 4,
        }
    }

    pub(crate) fn answered(&self, area: usize, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).clamp(1, STATUSES.len());
        let counter = &self.0.requests[area][class - 1];
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn socket(&self) -> OpenSocket {
        self.0.open_sockets.fetch_add(1, Ordering::Relaxed);
        OpenSocket(self.clone())
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        self.0.0.open_sockets.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) async fn show(State(app): State<App>, State(http): State<HttpMetrics>) -> Response {
    let families = ServerMetrics { app, http }.families();
    let text = exposition::write(&families);
    ([(header::CONTENT_TYPE, exposition::CONTENT_TYPE)], text).into_response()
}

/// All that a server counts. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ServerMetrics {
    app: App,
    pub(crate) http: HttpMetrics,
}

impl ServerMetrics {
    /// Of a server that is about to start: see [`crate::serve::serve_measured`].
    pub fn new(app: App) -> Self {
        let http = HttpMetrics::default();
        Self { app, http }
    }

    /// What was counted so far. The same families every time.
    pub fn families(&self) -> Vec<MetricFamily> {
        let calls = self.app.registry.call_statistics();
        vec![
            build_info(),
            tool_calls(&calls),
            tool_call_seconds(&calls),
            self.sources(),
            self.turns(),
            self.running_turns(),
            self.tokens(),
            self.requests(),
            self.sockets(),
            self.lost_audit_entries(),
        ]
    }

    fn sources(&self) -> MetricFamily {
        let help = "Tool sources by state.";
        let mut family = MetricFamily::new("tenon_sources", MetricKind::Gauge, help);
        for count in self.app.registry.source_counts() {
            let labels = [("kind", count.kind), ("state", count.state)];
            family.add(&labels, count.sources as f64);
        }
        family
    }

    fn turns(&self) -> MetricFamily {
        let help = "Turns of chats, and completions of API clients, that have ended.";
        let mut family = MetricFamily::new("tenon_turns_total", MetricKind::Counter, help);
        for count in self.app.agent.run_counts() {
            let labels = [("kind", count.kind), ("outcome", count.outcome)];
            family.add(&labels, count.runs as f64);
        }
        family
    }

    fn running_turns(&self) -> MetricFamily {
        let help = "Turns and completions that run now.";
        let mut family = MetricFamily::new("tenon_turns_running", MetricKind::Gauge, help);
        family.add(&[], self.app.agent.running_tasks() as f64);
        family
    }

    fn tokens(&self) -> MetricFamily {
        let help = "Tokens as models' servers count them.";
        let mut family = MetricFamily::new("tenon_model_tokens_total", MetricKind::Counter, help);
        for (model, usage) in self.app.agent.tokens_by_model() {
            let directions = [
                ("input", usage.input_tokens),
                ("output", usage.output_tokens),
                ("cache_read", usage.cache_read_tokens),
                ("cache_write", usage.cache_write_tokens),
            ];
            for (direction, tokens) in directions {
                let labels = [("model", model.as_str()), ("direction", direction)];
                family.add(&labels, tokens as f64);
            }
        }
        family
    }

    fn requests(&self) -> MetricFamily {
        let help = "HTTP requests that were answered.";
        let mut family = MetricFamily::new("tenon_http_requests_total", MetricKind::Counter, help);
        for (area, counts) in AREAS.into_iter().zip(&self.http.0.requests) {
            for (status, count) in STATUSES.into_iter().zip(counts) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    family.add(&[("area", area), ("status", status)], count as f64);
                }
            }
        }
        family
    }

    fn sockets(&self) -> MetricFamily {
        let help = "Open WebSockets of pages.";
        let mut family = MetricFamily::new("tenon_sockets_open", MetricKind::Gauge, help);
        let open = self.http.0.open_sockets.load(Ordering::Relaxed);
        family.add(&[], open as f64);
        family
    }

    fn lost_audit_entries(&self) -> MetricFamily {
        let (name, help) = (
            "tenon_audit_entries_lost_total",
            "Entries of the audit log that could not be written.",
        );
        let mut family = MetricFamily::new(name, MetricKind::Counter, help);
        family.add(&[], self.app.store.lost_audit_entries() as f64);
        family
    }
}

fn build_info() -> MetricFamily {
    let help = "The running version.";
    let mut family = MetricFamily::new("tenon_build_info", MetricKind::Gauge, help);
    family.add(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    family
}

fn tool_calls(calls: &[CallStatistics]) -> MetricFamily {
    let help = "Tool calls by source and outcome.";
    let mut family = MetricFamily::new("tenon_tool_calls_total", MetricKind::Counter, help);
    for call in calls {
        let source = &call.source;
        for (outcome, count) in &call.outcomes {
            let labels = [
                ("kind", source.kind),
                ("source", source.name.as_str()),
                ("outcome", outcome),
            ];
            family.add(&labels, *count as f64);
        }
    }
    family
}

fn tool_call_seconds(calls: &[CallStatistics]) -> MetricFamily {
    let help = "How long tool calls took.";
    let mut family = MetricFamily::new("tenon_tool_call_seconds", MetricKind::Histogram, help);
    for call in calls {
        let labels = [
            ("kind", call.source.kind),
            ("source", call.source.name.as_str()),
        ];
        let value = SampleValue::Histogram {
            bounds: LATENCY_BOUNDS_US.map(|bound| bound as f64 / 1e6).to_vec(),
            counts: call.latencies.to_vec(),
            sum: call.total.as_secs_f64(),
        };
        family.push(&labels, value);
    }
    family
}
