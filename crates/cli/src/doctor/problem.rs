//! A reason why a page cannot use a server: a kind, and a sentence for a person.

use serde::{Deserialize, Serialize};

/// By the names that the page has for them: `Diagnosis` in `web/src/lib/local/diagnose.ts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ProblemKind {
    /// There is none.
    Ok,
    BlockedPort,
    MixedContent,
    /// Tenon's own policy forbids it.
    Policy,
    PermissionAsk,
    PermissionNeedsHttps,
    NotRunning,
    NotHttp,
    UseHttp,
    UseHttps,
    TlsNotTrusted,
    Cors,
    PreflightHeader,
    PreflightRefused,
    /// The page does not get to see the id of its session. It cannot tell that by itself.
    ExposeHeader,
    TooSlow,
    Cut,
    NeedsKey,
    WrongPath,
    NotToolServer,
    BadSpec,
    BadHandshake,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct DoctorProblem {
    pub(super) kind: ProblemKind,
    pub(super) message: String,
}

impl ProblemKind {
    pub(super) fn with(self, message: impl Into<String>) -> DoctorProblem {
        let message = message.into();
        DoctorProblem {
            kind: self,
            message,
        }
    }

    /// Whether somebody answers who has no such thing at that path: another may have it.
    pub(super) fn is_elsewhere(self) -> bool {
        matches!(self, Self::WrongPath | Self::NotToolServer | Self::NeedsKey)
    }

    /// What a browser does with a response that has this problem, in the table of steps.
    pub(super) fn in_short(self) -> &'static str {
        match self {
            Self::NeedsKey => "tells the page that it may not come in",
            Self::Cors => "tells the page that the server refuses it",
            Self::WrongPath => "finds nothing there",
            Self::NotToolServer => "finds something else there",
            Self::UseHttps => "is led elsewhere",
            Self::BadSpec | Self::BadHandshake => "lets it through, but Tenon cannot use it",
            Self::ExposeHeader => "has kept the session from the page",
            _ => "tells the page that it failed, and not why",
        }
    }
}
