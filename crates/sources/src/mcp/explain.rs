//! Errors of the protocol, in the sentences that people and models read.

use tenon_domain::{ErrorKind, ToolError};
use tenon_mcp::{ConnectionError, Error, ProtocolError, RpcError, ServerOutput, StartError};
use tenon_net::{RequestError, UrlError};

use super::header;
use crate::cause::Cause;
use crate::supervisor::{with_cause, with_said};

/// Why a server cannot be used, with what it said or wrote about it.
pub(super) fn explain(error: &Error) -> String {
    match error {
        Error::HttpStatus { excerpt, .. } if !excerpt.is_empty() => {
            with_said(&error.to_string(), excerpt)
        }
        Error::ConnectTimeout { output, .. } => explain_output(&error.to_string(), output),
        Error::NotSent(why) | Error::ConnectionLost(why) => explain_connection(why),
        Error::Protocol(why) => explain_protocol(why),
        Error::Start(why) => explain_start(why),
        Error::HttpStatus { .. }
        | Error::Rpc(_)
        | Error::LoginRequired { .. }
        | Error::Timeout
        | Error::ListTimeout => error.to_string(),
    }
}

pub(super) fn explain_connection(error: &ConnectionError) -> String {
    match error {
        ConnectionError::Exited { output, .. } | ConnectionError::OutputClosed { output, .. } => {
            explain_output(&error.to_string(), output)
        }
        ConnectionError::Request(RequestError::Refused(refused)) => explain_url(refused),
        ConnectionError::Protocol(why) => explain_protocol(why),
        ConnectionError::Request(_)
        | ConnectionError::InputClosed
        | ConnectionError::Closed
        | ConnectionError::ClosedByServer
        | ConnectionError::Truncated
        | ConnectionError::SessionForgotten => error.to_string(),
    }
}

/// An answer of the server that is no result, as a model reads it.
pub(super) fn tool_error(error: &Error) -> ToolError {
    match error {
        Error::Rpc(refusal) => {
            let kind = if refusal.code == RpcError::INVALID_PARAMS {
                ErrorKind::InvalidInput
            } else {
                ErrorKind::Failed
            };
            ToolError::new(kind, format!("The server refused the call: {refusal}"))
        }
        Error::Protocol(_) => ToolError::failed(explain(error)),
        Error::HttpStatus { .. }
        | Error::LoginRequired { .. }
        | Error::NotSent(_)
        | Error::ConnectionLost(_)
        | Error::Timeout
        | Error::ListTimeout
        | Error::ConnectTimeout { .. }
        | Error::Start(_) => ToolError::new(ErrorKind::Unavailable, explain(error)),
    }
}

fn explain_protocol(error: &ProtocolError) -> String {
    match error {
        ProtocolError::UnsupportedVersions(versions) => format!(
            "It speaks only versions of MCP that Tenon does not: {}.",
            versions.join(", ")
        ),
        ProtocolError::UnsupportedInputRequest(method) => {
            format!("The tool needs {method}, which Tenon does not offer.")
        }
        other => other.to_string(),
    }
}

fn explain_start(error: &StartError) -> String {
    match error {
        StartError::Url(refused) => explain_url(refused),
        StartError::Header(why) => header::sentence(why),
        StartError::ProgramNotFound(command) => format!(
            "`{command}` was not found. Install it on the machine Tenon runs on, or give its whole path; it is looked for in PATH."
        ),
        other => other.to_string(),
    }
}

fn explain_url(refused: &UrlError) -> String {
    match refused {
        UrlError::Private(_) => format!("{refused} Only an administrator can add a server there."),
        other => other.to_string(),
    }
}

fn explain_output(sentence: &str, output: &ServerOutput) -> String {
    with_cause(sentence, &Cause::of(&output.0))
}
