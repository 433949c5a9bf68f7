//! `GET /metrics`: what is counted while the process runs, in the text format of Prometheus.
//!
//! Counters live where things happen: calls in `tools`, turns and tokens in `agent`, requests and
//! sockets here. Each label has a bound.

mod exposition;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use tenon_app::app::App;
use tenon_tools::{CallStatistics, LATENCY_BOUNDS_US};

use exposition::{Exposition, MetricKind};

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
    /// Which part of the server a path belongs to.
    pub(crate) fn area(path: &str) -> usize {
        let first = path.trim_start_matches('/').split('/').next();
        match first {
            Some("api") => 0,
            Some("v1") => 1,
            Some("mcp" | "sse" | "mcpo") => 2,
            Some("health" | "metrics") => 3,
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
    let text = render(&app, &http);
    ([(header::CONTENT_TYPE, exposition::CONTENT_TYPE)], text).into_response()
}

fn render(app: &App, http: &HttpMetrics) -> String {
    let mut out = Exposition::default();
    out.family(
        "tenon_build_info",
        MetricKind::Gauge,
        "The running version.",
    );
    let version = env!("CARGO_PKG_VERSION");
    out.sample("tenon_build_info", &[("version", version)], 1);
    write_calls(&mut out, &app.registry.call_statistics());

    out.family("tenon_sources", MetricKind::Gauge, "Tool sources by state.");
    for count in app.registry.source_counts() {
        let labels = [("kind", count.kind), ("state", count.state)];
        out.sample("tenon_sources", &labels, count.sources);
    }
    write_turns(&mut out, app);
    write_http(&mut out, http);

    out.family(
        "tenon_audit_entries_lost_total",
        MetricKind::Counter,
        "Entries of the audit log that could not be written.",
    );
    let lost = app.store.lost_audit_entries();
    out.sample("tenon_audit_entries_lost_total", &[], lost);
    out.finish()
}

fn write_calls(out: &mut Exposition, calls: &[CallStatistics]) {
    const CALLS: &str = "tenon_tool_calls_total";
    out.family(
        CALLS,
        MetricKind::Counter,
        "Tool calls by source and outcome.",
    );
    for call in calls {
        let source = &call.source;
        for (outcome, count) in &call.outcomes {
            let labels = [
                ("kind", source.kind),
                ("source", source.name.as_str()),
                ("outcome", outcome),
            ];
            out.sample(CALLS, &labels, count);
        }
    }
    const SECONDS: &str = "tenon_tool_call_seconds";
    out.family(SECONDS, MetricKind::Histogram, "How long tool calls took.");
    for call in calls {
        let labels = [
            ("kind", call.source.kind),
            ("source", call.source.name.as_str()),
        ];
        let bounds = LATENCY_BOUNDS_US.map(|bound| bound as f64 / 1e6);
        let total = call.total.as_secs_f64();
        out.histogram(SECONDS, &labels, &bounds, &call.latencies, total);
    }
}

fn write_turns(out: &mut Exposition, app: &App) {
    const TURNS: &str = "tenon_turns_total";
    let help = "Turns of chats, and completions of API clients, that have ended.";
    out.family(TURNS, MetricKind::Counter, help);
    for count in app.agent.run_counts() {
        let labels = [("kind", count.kind), ("outcome", count.outcome)];
        out.sample(TURNS, &labels, count.runs);
    }
    const RUNNING: &str = "tenon_turns_running";
    out.family(
        RUNNING,
        MetricKind::Gauge,
        "Turns and completions that run now.",
    );
    out.sample(RUNNING, &[], app.agent.running_tasks());
    const TOKENS: &str = "tenon_model_tokens_total";
    out.family(
        TOKENS,
        MetricKind::Counter,
        "Tokens as models' servers count them.",
    );
    for (model, usage) in app.agent.tokens_by_model() {
        let directions = [
            ("input", usage.input_tokens),
            ("output", usage.output_tokens),
            ("cache_read", usage.cache_read_tokens),
            ("cache_write", usage.cache_write_tokens),
        ];
        for (direction, tokens) in directions {
            let labels = [("model", model.as_str()), ("direction", direction)];
            out.sample(TOKENS, &labels, tokens);
        }
    }
}

fn write_http(out: &mut Exposition, http: &HttpMetrics) {
    const REQUESTS: &str = "tenon_http_requests_total";
    out.family(
        REQUESTS,
        MetricKind::Counter,
        "HTTP requests that were answered.",
    );
    for (area, counts) in AREAS.into_iter().zip(&http.0.requests) {
        for (status, count) in STATUSES.into_iter().zip(counts) {
            let count = count.load(Ordering::Relaxed);
            if count > 0 {
                let labels = [("area", area), ("status", status)];
                out.sample(REQUESTS, &labels, count);
            }
        }
    }
    const SOCKETS: &str = "tenon_sockets_open";
    out.family(SOCKETS, MetricKind::Gauge, "Open WebSockets of pages.");
    let open = http.0.open_sockets.load(Ordering::Relaxed);
    out.sample(SOCKETS, &[], open);
}
