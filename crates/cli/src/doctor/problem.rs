//! What keeps a page from using a server.

use serde::Serialize;
use url::Url;

use super::address::origin;
use super::cors::CorsRefusal;
use super::http_client::{MAX_BODY_BYTES, ProbeError, REQUEST_TIMEOUT};
use super::own_headers::OwnHeaders;

/// By the names that the page has for them: `Trouble` in `web/src/lib/local/diagnose.ts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ProblemKind {
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

/// Sentences of ours with words of a server in them.
const MAX_MESSAGE: usize = 600;

/// A kind, and a sentence for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DoctorProblem {
    pub(super) kind: ProblemKind,
    pub(super) message: String,
}

impl DoctorProblem {
    pub(super) fn new(kind: ProblemKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message }
    }

    /// Without what a server may have put into it.
    pub(super) fn shown(&self, own: &OwnHeaders) -> Self {
        Self::new(self.kind, own.shown(&self.message, MAX_MESSAGE))
    }

    /// Whether somebody answers who has no such thing at that path.
    pub(super) fn is_elsewhere(&self) -> bool {
        matches!(
            self.kind,
            ProblemKind::WrongPath | ProblemKind::NotToolServer | ProblemKind::NeedsKey
        )
    }

    /// What a browser does with an answer that has this trouble, in a table.
    pub(super) fn in_short(&self) -> &'static str {
        match self.kind {
            ProblemKind::NeedsKey => "tells the page that it may not come in",
            ProblemKind::Cors => "tells the page that the server refuses it",
            ProblemKind::WrongPath => "finds nothing there",
            ProblemKind::NotToolServer => "finds something else there",
            ProblemKind::UseHttps => "is led elsewhere",
            ProblemKind::BadSpec | ProblemKind::BadHandshake => {
                "lets it through, but Tenon cannot use it"
            }
            ProblemKind::ExposeHeader => "has kept the session from the page",
            ProblemKind::Ok
            | ProblemKind::BlockedPort
            | ProblemKind::MixedContent
            | ProblemKind::Policy
            | ProblemKind::PermissionAsk
            | ProblemKind::PermissionNeedsHttps
            | ProblemKind::NotRunning
            | ProblemKind::NotHttp
            | ProblemKind::UseHttp
            | ProblemKind::TlsNotTrusted
            | ProblemKind::PreflightHeader
            | ProblemKind::PreflightRefused
            | ProblemKind::TooSlow
            | ProblemKind::Cut => "tells the page that it failed, and not why",
        }
    }

    pub(super) fn of_failure(failure: &ProbeError, url: &Url) -> Self {
        let (site, seconds) = (origin(url), REQUEST_TIMEOUT.as_secs());
        let host = url.host_str().unwrap_or_default();
        match failure {
            ProbeError::NotListening => Self::new(
                ProblemKind::NotRunning,
                format!("Nothing listens at {site}: the server does not run, or at another port."),
            ),
            ProbeError::NoSuchHost => Self::new(
                ProblemKind::NotRunning,
                format!("There is no host named {host}."),
            ),
            ProbeError::Late => Self::new(
                ProblemKind::TooSlow,
                format!("{site} did not answer within {seconds} s. It may hang: look at its log."),
            ),
            ProbeError::NotTrusted(why) => Self::new(
                ProblemKind::TlsNotTrusted,
                format!("The certificate of {site} is not trusted: {why}."),
            ),
            ProbeError::NoTls(why) => Self::new(
                ProblemKind::TlsNotTrusted,
                format!("No secure connection to {site} could be made: {why}."),
            ),
            ProbeError::PlainHttp => Self::new(
                ProblemKind::UseHttp,
                format!("What listens at {site} speaks plain http."),
            ),
            ProbeError::NotHttp(why) => Self::new(
                ProblemKind::NotHttp,
                format!("Something listens at {site}, but does not speak HTTP: {why}."),
            ),
            ProbeError::Cut => Self::new(
                ProblemKind::Cut,
                format!("{site} began to answer and broke off in the middle."),
            ),
            ProbeError::TooLong => Self::new(
                ProblemKind::BadSpec,
                format!(
                    "Its answer is larger than {} MiB, and more is not read.",
                    MAX_BODY_BYTES / 1024 / 1024
                ),
            ),
        }
    }

    /// `preflight`: the browser did not even send the request.
    pub(super) fn of_refusal(refused: &CorsRefusal, preflight: bool, page: &str) -> Self {
        let begin = format!("The server answers, but a browser does not let a page at {page}");
        match refused {
            CorsRefusal::Headers(names) => {
                let names = names.join(", ");
                Self::new(
                    ProblemKind::PreflightHeader,
                    format!("{begin} send it {names}: Access-Control-Allow-Headers lacks that."),
                )
            }
            CorsRefusal::Method(method) => Self::new(
                ProblemKind::PreflightRefused,
                format!("{begin} send {method}: Access-Control-Allow-Methods lacks it."),
            ),
            CorsRefusal::Status(status) | CorsRefusal::Redirect(status) => Self::new(
                ProblemKind::PreflightRefused,
                format!("{begin} ask it: the question before the request (OPTIONS) gets {status}."),
            ),
            CorsRefusal::NoOrigin if preflight => Self::new(
                ProblemKind::PreflightRefused,
                format!(
                    "{begin} ask it: its answer to OPTIONS has no Access-Control-Allow-Origin."
                ),
            ),
            CorsRefusal::NoOrigin => Self::new(
                ProblemKind::Cors,
                format!("{begin} read it: it sends no Access-Control-Allow-Origin."),
            ),
            CorsRefusal::OtherOrigin(other) => Self::new(
                ProblemKind::Cors,
                format!(
                    "{begin} read it: it allows {other}, and an origin must be the same to the letter."
                ),
            ),
            CorsRefusal::ManyOrigins(all) => Self::new(
                ProblemKind::Cors,
                format!(
                    "{begin} read it: Access-Control-Allow-Origin has more than one value ({all}). Two programs may both add it."
                ),
            ),
        }
    }
}
