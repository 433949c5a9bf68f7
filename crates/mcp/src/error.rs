//! What can go wrong between a client and a server.
//!
//! [`Error`] is split by what a caller would do about it; the enums inside say what
//! happened. Their texts name no product: a caller who wants to advise people writes
//! its own sentences by variant.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tenon_net::{RequestError, UrlError};
use tenon_text as text;

use crate::jsonrpc::{MAX_MESSAGE_BYTES, RpcError};

/// How much of a server's own words fits into a sentence.
const MAX_QUOTE_CHARS: usize = 300;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The server's own answer: a JSON-RPC error.
    #[error("The server refused: {}", text::line(&.0.to_string(), MAX_QUOTE_CHARS))]
    Rpc(RpcError),
    /// 401, or 403 for lack of scope. The challenge is its `WWW-Authenticate` header.
    #[error("The server requires a log-in.")]
    LoginRequired { challenge: Option<String> },
    /// A status that is no success, and the beginning of its body as one line.
    #[error("{}", status_sentence(*.status))]
    HttpStatus { status: u16, excerpt: String },
    /// Nothing was sent: the connection could not be made, or had ended.
    #[error("{0}")]
    NotSent(ConnectionError),
    /// The connection ended first. Whether what was sent took effect is not known.
    #[error("{0}")]
    ConnectionLost(ConnectionError),
    /// The peer violated the protocol.
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
    /// A request got no response in time.
    #[error("The server did not answer in time.")]
    Timeout,
    #[error("It did not list its tools in time.")]
    ListTimeout,
    /// The connection was not ready in time.
    #[error("It did not answer within {} s.", .after.as_secs_f32())]
    ConnectTimeout {
        after: Duration,
        output: ServerOutput,
    },
    /// The settings cannot be used: an address, a header, a program.
    #[error("{0}")]
    Start(#[from] StartError),
}

/// Why there is no connection, or none any more.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConnectionError {
    #[error("`{command}` {}.", describe_exit(*.status))]
    Exited {
        command: String,
        status: ExitStatus,
        output: ServerOutput,
    },
    #[error("`{command}` closed its output.")]
    OutputClosed {
        command: String,
        output: ServerOutput,
    },
    #[error("The program no longer reads its input.")]
    InputClosed,
    /// By us.
    #[error("The connection was closed.")]
    Closed,
    #[error("The server closed the connection.")]
    ClosedByServer,
    #[error("The server ended its answer before it was complete.")]
    Truncated,
    #[error("The server has forgotten the session.")]
    SessionForgotten,
    #[error("{0}")]
    Request(#[from] RequestError),
    /// The data cannot be parsed any further.
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    #[error("The server sent a message of more than {} MB. Ask for less.", MAX_MESSAGE_BYTES / (1024 * 1024))]
    MessageTooLong,
    #[error("It answers, but not as an MCP server does: {0}.")]
    InvalidIntroduction(String),
    #[error("It answers, but not as an MCP server does: it names no version.")]
    NoVersion,
    /// None of the versions it offers is known here.
    #[error("It only speaks versions of MCP that this client does not support: {}.", .0.join(", "))]
    UnsupportedVersions(Vec<String>),
    #[error("The server answered something else than what it was asked.")]
    WrongResponse,
    #[error("There is a web page at this address, not an MCP server.")]
    WebPage,
    #[error("The server answered with `{0}`, which is not MCP.")]
    ContentType(String),
    #[error("There is no MCP server at this address: it does not answer with an event stream.")]
    NotAnEventStream,
    #[error("There is no MCP server at this address: its event stream names no endpoint.")]
    NoEndpoint,
    #[error("The server gave the address `{address}`, which is none: {cause}.")]
    InvalidEndpoint { address: String, cause: String },
    #[error(
        "The server wants to be spoken to at {origin}, which is not where it is. That is refused."
    )]
    ForeignEndpoint { origin: String },
    #[error("The token that was given out for this server is no text.")]
    InvalidToken,
    #[error("Its list of tools cannot be read{}.", colon(.0))]
    InvalidToolList(String),
    #[error("The server's result cannot be read: {0}.")]
    InvalidResult(String),
    #[error("What the server says of the task cannot be read: {0}.")]
    InvalidTask(String),
    #[error("The server began a task without a name.")]
    TaskWithoutId,
    #[error("The task was completed without a result.")]
    TaskWithoutResult,
    #[error("The server cancelled the task.")]
    TaskCancelled,
    #[error("The task failed without saying why.")]
    TaskFailed,
    #[error("The server asked for more {0} times without coming to an end.")]
    TooManyRounds(usize),
    #[error("The tool asks more than {0} things at once, which nobody would answer.")]
    TooManyInputRequests(usize),
    /// The server asks for client input of a kind that we do not support.
    #[error("The tool needs {0}, which this client does not support.")]
    UnsupportedInputRequest(String),
}

/// Settings that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    #[error("{0}")]
    Url(#[from] UrlError),
    #[error("{0}")]
    Header(#[from] McpHeaderError),
    #[error("The HTTP client could not be created: {0}.")]
    HttpClient(String),
    #[error("The working folder {0} does not exist.")]
    NoFolder(String),
    #[error("`{0}` was not found in PATH.")]
    ProgramNotFound(String),
    #[error("`{0}` cannot be run: it is not an executable file.")]
    NotExecutable(String),
    #[error("`{command}` could not be started: {cause}.")]
    Spawn { command: String, cause: String },
    #[error("The pipes to `{0}` could not be made.")]
    Pipes(String),
    #[error("`{0}` was started without pipes.")]
    WithoutPipes(String),
    #[error("`{0}` ended at once.")]
    EndedAtOnce(String),
}

/// A header that cannot be sent along, by the name it was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpHeaderError {
    #[error("`{0}` cannot be the name of a header. Write letters, digits and dashes.")]
    InvalidName(String),
    #[error("The header {0} is set by the client itself. Leave it out.")]
    Reserved(String),
    #[error("The value of the header {0} contains characters that are not allowed in headers.")]
    InvalidValue(String),
}

/// Output of a server beside the protocol in its last run, oldest first: standard error,
/// non-message lines of standard output, and log messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerOutput(pub Arc<[String]>);

impl Error {
    /// Neither sent nor answered: the connection is gone or was never there.
    pub(crate) fn is_connection(&self) -> bool {
        matches!(self, Self::NotSent(_) | Self::ConnectionLost(_))
    }

    /// An earlier request of the same call has arrived, so its effect is unknown.
    pub(crate) fn after_first_request(self) -> Self {
        match self {
            Self::NotSent(why) => Self::ConnectionLost(why),
            other => other,
        }
    }
}

/// Why JSON cannot be read, in a few words: it may quote what it read, however long that is.
pub(crate) fn json_reason(error: &serde_json::Error) -> String {
    text::line(&error.to_string(), MAX_QUOTE_CHARS)
}

fn colon(reason: &str) -> String {
    if reason.is_empty() {
        String::new()
    } else {
        format!(": {reason}")
    }
}

fn status_sentence(status: u16) -> String {
    match status {
        403 => "The server denied access (HTTP 403). Check the credentials in its headers.".to_owned(),
        404 => "There is no MCP server at this address (HTTP 404). Check the path: many are at /mcp or /sse.".to_owned(),
        429 => "The server is limiting requests (HTTP 429). Try again later.".to_owned(),
        500..=599 => format!("The server failed (HTTP {status}). Its own log says why."),
        _ => format!("The server answered with HTTP {status}, which is not MCP."),
    }
}

/// "exited with code 3", "was killed by signal 9"
fn describe_exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}
