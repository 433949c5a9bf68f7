//! The span of one request to a server, with the attributes that OpenTelemetry's conventions for
//! MCP name.

use tracing::field::{Empty, display};
use tracing::instrument::Instrumented;
use tracing::{Instrument, Span};

use crate::error::Error;
use crate::request_target::RequestTarget;
use crate::transport::Transport;

#[derive(Debug)]
pub(crate) struct RequestSpan(Span);

impl RequestSpan {
    /// `name` is what the method is applied to.
    pub(crate) fn open(method: &str, name: Option<&str>, transport: &Transport) -> Self {
        let target = RequestTarget::new(method, name);
        let span = tracing::info_span!(
            "mcp.client",
            "otel.name" = %target,
            "otel.kind" = "client",
            "otel.status_code" = Empty,
            "mcp.method.name" = target.method,
            "mcp.session.id" = Empty,
            "mcp.protocol.version" = Empty,
            "jsonrpc.request.id" = Empty,
            "gen_ai.operation.name" = Empty,
            "gen_ai.tool.name" = Empty,
            "gen_ai.prompt.name" = Empty,
            "network.transport" = Empty,
            "network.protocol.name" = Empty,
            "server.address" = Empty,
            "server.port" = Empty,
            "rpc.response.status_code" = Empty,
            "error.type" = Empty,
        );
        if span.is_disabled() {
            return Self(span);
        }
        target.record(&span);
        let (session_id, version) = transport.session();
        if let Some(id) = &session_id {
            span.record("mcp.session.id", id);
        }
        if let Some(version) = &version {
            span.record("mcp.protocol.version", version);
        }
        match transport.url() {
            None => {
                span.record("network.transport", "pipe");
            }
            Some(url) => {
                span.record("network.transport", "tcp");
                span.record("network.protocol.name", "http");
                span.record("server.address", url.host_str());
                span.record("server.port", url.port_or_known_default().map(i64::from));
            }
        }
        Self(span)
    }

    /// What waits for the response, in this span.
    pub(crate) fn enter<F: Future>(&self, response: F) -> Instrumented<F> {
        response.instrument(self.0.clone())
    }

    /// Puts on it how the request went.
    pub(crate) fn finish<T>(&self, response: &Result<T, Error>) {
        if let Err(error) = response {
            self.fail(error);
        }
    }

    /// The request went well, and its result says that the tool did not.
    pub(crate) fn tool_failed(&self) {
        self.0.record("error.type", "tool_error");
        self.0.record("otel.status_code", "ERROR");
    }

    fn fail(&self, error: &Error) {
        if self.0.is_disabled() {
            return;
        }
        self.0.record("otel.status_code", "ERROR");
        let kind = match error {
            Error::Rpc(error) => {
                let code = display(error.code);
                self.0.record("rpc.response.status_code", &code);
                self.0.record("error.type", &code);
                return;
            }
            Error::HttpStatus { status, .. } => {
                self.0.record("error.type", display(status));
                return;
            }
            Error::LoginRequired { .. } => "login_required",
            Error::NotSent(_) => "not_sent",
            Error::ConnectionLost(_) => "connection_lost",
            Error::Protocol(_) => "protocol",
            Error::Timeout | Error::ListTimeout | Error::ConnectTimeout { .. } => "timeout",
            Error::Start(_) => "not_started",
        };
        self.0.record("error.type", kind);
    }
}
