//! The span of one request to an OpenAPI server, with the attributes that OpenTelemetry's conventions
//! for HTTP name.

use tenon_domain::ToolError;
use tenon_openapi::operation::Operation;
use tenon_openapi::request::OpenapiRequest;
use tenon_openapi::response::OpenapiResponse;
use tracing::Span;
use tracing::field::Empty;

pub(super) fn open(operation: &Operation, request: &OpenapiRequest) -> Span {
    let url = &request.url;
    tracing::info_span!(
        "openapi.request",
        "otel.name" = format!("{} {}", request.method, operation.path),
        "otel.kind" = "client",
        "otel.status_code" = Empty,
        "http.request.method" = request.method.as_str(),
        "http.response.status_code" = Empty,
        // Without what an input put into it.
        "url.template" = operation.path,
        "server.address" = url.host_str(),
        "server.port" = url.port_or_known_default().map(i64::from),
        "error.type" = Empty,
    )
}

pub(super) fn finish(span: &Span, response: &Result<OpenapiResponse, ToolError>) {
    let failed = match response {
        Ok(response) => {
            let status = &response.status;
            span.record("http.response.status_code", i64::from(status.as_u16()));
            let is_error = status.is_client_error() || status.is_server_error();
            is_error.then_some(status.as_str())
        }
        Err(error) => Some(error.error_type()),
    };
    if let Some(kind) = failed {
        span.record("error.type", kind);
        span.record("otel.status_code", "ERROR");
    }
}
