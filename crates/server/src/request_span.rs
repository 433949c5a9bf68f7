//! The span of one HTTP request, with the attributes that OpenTelemetry's conventions for HTTP
//! name. A client that follows traces sends `traceparent`: then it is part of the client's.

use axum::extract::MatchedPath;
use axum::http::request::Parts;
use axum::response::Response;
use tenon_net::TraceContext;
use tracing::Span;
use tracing::field::Empty;

/// Opens the span. It is named after the route template, without the ids in the path; a path that
/// no template has matched has none.
pub(crate) fn open(request: &Parts) -> Span {
    let route = || {
        let route = request.extensions.get::<MatchedPath>();
        route.map_or(request.uri.path(), MatchedPath::as_str)
    };
    let span = tracing::info_span!(
        "http.request",
        "otel.name" = format!("{} {}", request.method, route()),
        "otel.kind" = "server",
        "otel.status_code" = Empty,
        "http.request.method" = request.method.as_str(),
        "http.route" = route(),
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

/// Puts on it how it was answered. What follows in the body of the response is not part of it.
pub(crate) fn finish(span: &Span, response: &Response) {
    let status = response.status();
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.record("error.type", status.as_str());
        span.record("otel.status_code", "ERROR");
    }
}
