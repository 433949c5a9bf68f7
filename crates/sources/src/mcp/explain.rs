//! Errors of the protocol as codes, for people, and as sentences that models read.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use tenon_domain::{ErrorDetail, ErrorKind, ErrorParam, ToolError};
use tenon_mcp::{ConnectionError, Error, ProtocolError, RpcError, ServerOutput, StartError};

use super::header;
use crate::call_error::{ServerCallError, failed, unavailable};
use crate::cause::Cause;
use crate::fault::{ServerFault, advice_and_output, request_fault, url_fault};

/// Why a server cannot be used, with what it said or wrote about it.
pub(super) fn explain(error: &Error) -> ErrorDetail {
    let fault = match error {
        Error::HttpStatus { status, excerpt } => http_status(*status, excerpt.into()),
        Error::ConnectTimeout { after, output } => {
            let (advice, wrote) = output_params(output);
            ServerFault::ConnectTimeout {
                seconds: after.as_secs_f32().to_string().into(),
                advice,
                wrote,
            }
        }
        Error::NotSent(why) | Error::ConnectionLost(why) => return explain_connection(why),
        Error::Protocol(why) => explain_protocol(why),
        Error::Start(why) => return explain_start(why),
        Error::Rpc(refusal) => ServerFault::Refused {
            said: tenon_domain::text::line(&refusal.to_string(), MAX_QUOTE_CHARS).into(),
        },
        Error::LoginRequired { .. } => ServerFault::LoginRequired,
        Error::Timeout => ServerFault::Timeout,
        Error::ListTimeout => ServerFault::ListTimeout,
    };
    fault.into()
}

/// How much of a server's own words fits into a sentence.
const MAX_QUOTE_CHARS: usize = 300;

pub(super) fn explain_connection(error: &ConnectionError) -> ErrorDetail {
    let fault = match error {
        ConnectionError::Exited {
            command,
            status,
            output,
        } => exited(command.into(), *status, output),
        ConnectionError::OutputClosed { command, output } => {
            let (advice, wrote) = output_params(output);
            ServerFault::OutputClosed {
                command: command.into(),
                advice,
                wrote,
            }
        }
        ConnectionError::Request(why) => request_fault(why),
        ConnectionError::Protocol(why) => explain_protocol(why),
        ConnectionError::InputClosed => ServerFault::InputClosed,
        ConnectionError::Closed => ServerFault::Closed,
        ConnectionError::ClosedByServer => ServerFault::ClosedByServer,
        ConnectionError::Truncated => ServerFault::Truncated,
        ConnectionError::SessionForgotten => ServerFault::SessionForgotten,
    };
    fault.into()
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
            let said = refusal.to_string().into();
            ToolError::coded(kind, ServerCallError::Refused { said })
        }
        Error::Protocol(_) => failed(explain(error)),
        Error::HttpStatus { .. }
        | Error::LoginRequired { .. }
        | Error::NotSent(_)
        | Error::ConnectionLost(_)
        | Error::Timeout
        | Error::ListTimeout
        | Error::ConnectTimeout { .. }
        | Error::Start(_) => unavailable(explain(error)),
    }
}

fn http_status(status: u16, said: ErrorParam) -> ServerFault {
    match status {
        403 => ServerFault::Forbidden { said },
        404 => ServerFault::NotFound { said },
        429 => ServerFault::RateLimited { said },
        500..=599 => ServerFault::ServerError { status, said },
        _ => ServerFault::HttpStatus { status, said },
    }
}

fn exited(command: ErrorParam, status: ExitStatus, output: &ServerOutput) -> ServerFault {
    let (advice, wrote) = output_params(output);
    match (status.code(), status.signal()) {
        (Some(code), _) => ServerFault::Exited {
            command,
            code: code.into(),
            advice,
            wrote,
        },
        (None, Some(signal)) => ServerFault::Killed {
            command,
            signal: signal.into(),
            advice,
            wrote,
        },
        (None, None) => ServerFault::Ended {
            command,
            advice,
            wrote,
        },
    }
}

fn explain_protocol(error: &ProtocolError) -> ServerFault {
    match error {
        ProtocolError::UnsupportedVersions(versions) => ServerFault::UnsupportedVersions {
            versions: versions.join(", ").into(),
        },
        ProtocolError::UnsupportedInputRequest(method) => ServerFault::UnsupportedInputRequest {
            method: method.into(),
        },
        ProtocolError::WebPage => ServerFault::WebPage,
        ProtocolError::ContentType(media_type) => ServerFault::ContentType {
            media_type: media_type.into(),
        },
        ProtocolError::NotAnEventStream => ServerFault::NoEventStream,
        ProtocolError::NoEndpoint => ServerFault::NoEndpoint,
        other => ServerFault::Protocol {
            message: other.to_string().into(),
        },
    }
}

fn explain_start(error: &StartError) -> ErrorDetail {
    let not_spawned = |command: &String, cause: Option<&String>| ServerFault::NotSpawned {
        command: command.into(),
        cause: cause.into(),
    };
    let fault = match error {
        StartError::Url(refused) => url_fault(refused),
        StartError::Header(why) => return header::fault(why).into(),
        StartError::ProgramNotFound(command) => ServerFault::ProgramNotFound {
            command: command.into(),
        },
        StartError::NoFolder(folder) => ServerFault::NoFolder {
            folder: folder.into(),
        },
        StartError::NotExecutable(command) => ServerFault::NotExecutable {
            command: command.into(),
        },
        StartError::HttpClient(why) => ServerFault::HttpClient { why: why.into() },
        StartError::Spawn { command, cause } => not_spawned(command, Some(cause)),
        StartError::Pipes(command)
        | StartError::WithoutPipes(command)
        | StartError::EndedAtOnce(command) => not_spawned(command, None),
    };
    fault.into()
}

fn output_params(output: &ServerOutput) -> (ErrorParam, ErrorParam) {
    advice_and_output(&Cause::of(&output.0))
}
