//! The span of one HTTP request, with the attributes that OpenTelemetry's conventions for HTTP
//! name. A client that follows traces sends `traceparent`: then it is part of the client's.

use axum::http::request::Parts;
use axum::response::Response;
use futures::FutureExt;
use tenon_net::TraceContext;
use tracing::field::Empty;
use tracing::{Instrument, Span};

/// Opens the span. It is named after the template of the route, without the ids in the path.
pub(crate) fn open(request: &Parts, route: &str) -> Span {
    let span = tracing::info_span!(
        "http.request",
        "otel.name" = format!("{} {route}", request.method),
        "otel.kind" = "server",
        "otel.status_code" = Empty,
        "http.request.method" = request.method.as_str(),
        "http.route" = route,
        "http.response.status_code" = Empty,
        "error.type" = Empty,
    );
    if !span.is_disabled()
        && let Some(parent) = TraceContext::from_headers(&request.headers)
    {
        parent.set_parent_of(&span);
    }
    span
}

/// Answers in this span, and puts on it how. What follows in the body of the response is not part
/// of it.
pub(crate) fn run(
    span: Span,
    answering: impl Future<Output = Response>,
) -> impl Future<Output = Response> {
    let in_span = answering.instrument(span.clone());
    in_span.inspect(move |response| finish(&span, response))
}

fn finish(span: &Span, response: &Response) {
    let status = response.status();
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.record("error.type", status.as_str());
        span.record("otel.status_code", "ERROR");
    }
}
