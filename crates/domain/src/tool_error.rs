//! Why a call gave no output.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::coded_errors;
use crate::error::{ErrorDetail, ErrorParam};

/// Why a call gave no output, in words a model can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    pub kind: ErrorKind,
    /// English, for the model as for people.
    pub message: String,
    /// Where Tenon itself made the error. What a tool or its server said is a message alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub code: Option<String>,
    #[serde(default)]
    #[ts(type = "Record<string, ErrorParam>")]
    pub params: BTreeMap<String, ErrorParam>,
    /// What the model gets in the place of the message, where such tools answer in a form of their
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub reply: Option<Box<Value>>,
}

coded_errors! {
    /// Why a call has no result, where that is decided about it and not by it.
    #[derive(Debug)]
    pub enum CallEndError {
        Cancelled = "call_cancelled" => "The user stopped this call before it finished.",
        Refused = "call_refused" => "The user refused this call. Do not make it again: do without it, or ask what they would like instead.",
        Lost = "call_lost" => "Tenon was restarted during this call. It may or may not have taken effect: check before repeating it.",
        Unanswered = "call_unanswered" => "Nobody answered whether this call may be made, so it was not. Do without it.",
        TurnEnded = "call_turn_ended" => "This call was not made: the turn ended before anybody had allowed it.",
        NoClientResult = "call_without_client_result" => "The client that should make this call returned no result for it. It may or may not have taken effect: do without it.",
        TooMany { max: usize } = "call_too_many" => "More than {max} calls at once are not possible. Request this one again.",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// No such tool here; the message names the nearest one.
    UnknownTool,
    /// The input does not fit the schema; the message names the field.
    InvalidInput,
    /// Policy or safety says no. Asking again will not help.
    Denied,
    /// The deadline passed.
    TimedOut,
    /// A person stopped it.
    Cancelled,
    /// The source cannot be reached now.
    Unavailable,
    /// The tool ran and said no.
    Failed,
    /// Tenon went away during the call; whether it took effect is not known.
    Lost,
}

impl ErrorKind {
    /// As in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::InvalidInput => "invalid_input",
            Self::Denied => "denied",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
            Self::Lost => "lost",
        }
    }
}

impl ToolError {
    /// What traces tell errors apart by: the code, or else the kind. What a tool said is in
    /// neither.
    pub fn error_type(&self) -> &str {
        self.code.as_deref().unwrap_or(self.kind.as_str())
    }

    /// What a tool or its server said.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            code: None,
            params: BTreeMap::new(),
            reply: None,
        }
    }

    /// What Tenon itself says.
    pub fn coded(kind: ErrorKind, error: impl Into<ErrorDetail>) -> Self {
        let ErrorDetail {
            code,
            message,
            params,
            field: _,
        } = error.into();
        Self {
            kind,
            message,
            code: Some(code),
            params,
            reply: None,
        }
    }

    /// The same with an answer for the model.
    pub fn with_reply(self, reply: Value) -> Self {
        let reply = Some(Box::new(reply));
        Self { reply, ..self }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Denied, message)
    }

    /// The result of a call that a person stopped.
    pub fn cancelled() -> Self {
        CallEndError::Cancelled.into()
    }

    /// The result of a call that somebody was asked about and refused.
    pub fn refused() -> Self {
        CallEndError::Refused.into()
    }

    /// The result of a call that a crash or restart cut off.
    pub fn lost() -> Self {
        CallEndError::Lost.into()
    }
}

impl From<ToolError> for ErrorDetail {
    fn from(error: ToolError) -> Self {
        let ToolError { message, code, .. } = error;
        match code {
            None => Self::other(message),
            Some(code) => Self {
                code,
                message,
                params: error.params,
                field: None,
            },
        }
    }
}

impl From<CallEndError> for ToolError {
    fn from(error: CallEndError) -> Self {
        let kind = match &error {
            CallEndError::Cancelled | CallEndError::TurnEnded => ErrorKind::Cancelled,
            CallEndError::Refused | CallEndError::Unanswered | CallEndError::TooMany { .. } => {
                ErrorKind::Denied
            }
            CallEndError::Lost | CallEndError::NoClientResult => ErrorKind::Lost,
        };
        Self::coded(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_one_name() {
        for kind in [
            ErrorKind::UnknownTool,
            ErrorKind::InvalidInput,
            ErrorKind::Denied,
            ErrorKind::TimedOut,
            ErrorKind::Cancelled,
            ErrorKind::Unavailable,
            ErrorKind::Failed,
            ErrorKind::Lost,
        ] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
