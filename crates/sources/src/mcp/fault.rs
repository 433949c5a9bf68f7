//! Why a question to a server got no answer.

use tenon_domain::{ErrorKind, ToolError};

use super::link::{CallFault, NoLink};
use super::message::{MAX_MESSAGE, Refusal};
use super::text;

/// What of a server's own words fits into a sentence.
const MAX_WORDS: usize = 300;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// The server's own answer.
    Refused(Refusal),
    /// It wants to know who comes.
    LogIn { challenge: Option<String> },
    /// An HTTP status that is no success, and a sentence about it.
    Status(u16, String),
    /// The connection could not be made: nothing was sent.
    Unreached(String),
    /// The connection ended first. Whether what was sent took effect is not known.
    Broken(String),
    /// What came is not what was asked for.
    Strange(String),
    /// Nothing came in time.
    Silent,
}

impl Fault {
    /// What came cannot be read. Why may quote it, however long it is.
    pub(super) fn unreadable(what: &str, error: &serde_json::Error) -> Self {
        Self::Strange(format!("{what}: {}.", reason(error)))
    }

    pub(super) fn too_long() -> Self {
        let megabytes = MAX_MESSAGE / (1024 * 1024);
        Self::Strange(format!(
            "The server sent a message of more than {megabytes} MB. Ask for less."
        ))
    }

    /// What it means for a connection that is being opened.
    pub(super) fn no_link(self) -> NoLink {
        match self {
            Self::LogIn { challenge } => NoLink::LogIn { challenge },
            Self::Unreached(why) | Self::Broken(why) => NoLink::Gone(why),
            other => NoLink::Failed(other.to_string()),
        }
    }

    /// What it means for a call.
    pub(super) fn call_fault(self) -> CallFault {
        match self {
            Self::Refused(refusal) => CallFault::Told(told(&refusal)),
            Self::LogIn { challenge } => CallFault::LogIn { challenge },
            Self::Unreached(why) => CallFault::Unreached(why),
            Self::Broken(why) => CallFault::Broken(why),
            Self::Status(..) | Self::Silent => {
                CallFault::Told(ToolError::new(ErrorKind::Unavailable, self.to_string()))
            }
            Self::Strange(why) => CallFault::Told(ToolError::failed(why)),
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(refusal) => {
                let refusal = text::line(&refusal.to_string(), MAX_WORDS);
                write!(f, "The server refused: {refusal}")
            }
            Self::LogIn { .. } => f.write_str("The server asks for a log-in."),
            Self::Status(_, sentence)
            | Self::Unreached(sentence)
            | Self::Broken(sentence)
            | Self::Strange(sentence) => f.write_str(sentence),
            Self::Silent => f.write_str("The server did not answer in time."),
        }
    }
}

/// Why something cannot be read, in a few words.
pub(super) fn reason(error: &serde_json::Error) -> String {
    text::line(&error.to_string(), MAX_WORDS)
}

/// A JSON-RPC error as a model reads it.
fn told(refusal: &Refusal) -> ToolError {
    let kind = match refusal.code {
        Refusal::INVALID_PARAMS => ErrorKind::InvalidInput,
        _ => ErrorKind::Failed,
    };
    ToolError::new(kind, format!("The server refused the call: {refusal}"))
}
