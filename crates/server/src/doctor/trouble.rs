//! What keeps a page from using a server.

use serde::Serialize;
use url::Url;

use super::address::origin;
use super::cors::Refused;
use super::own::Own;
use super::wire::{Failure, MAX_BODY, WITHIN};

/// By the names that the page has for them: `Trouble` in `web/src/lib/local/diagnose.ts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Kind {
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
pub(super) struct Trouble {
    pub(super) kind: Kind,
    pub(super) message: String,
}

impl Trouble {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message }
    }

    /// Without what a server may have put into it.
    pub(super) fn shown(&self, own: &Own) -> Self {
        Self::new(self.kind, own.shown(&self.message, MAX_MESSAGE))
    }

    /// Whether somebody answers who has no such thing at that path.
    pub(super) fn is_elsewhere(&self) -> bool {
        matches!(
            self.kind,
            Kind::WrongPath | Kind::NotToolServer | Kind::NeedsKey
        )
    }

    /// What a browser does with an answer that has this trouble, in a table.
    pub(super) fn in_short(&self) -> &'static str {
        match self.kind {
            Kind::NeedsKey => "tells the page that it may not come in",
            Kind::Cors => "tells the page that the server refuses it",
            Kind::WrongPath => "finds nothing there",
            Kind::NotToolServer => "finds something else there",
            Kind::UseHttps => "is led elsewhere",
            Kind::BadSpec | Kind::BadHandshake => "lets it through, but Tenon cannot use it",
            Kind::ExposeHeader => "has kept the session from the page",
            Kind::Ok
            | Kind::BlockedPort
            | Kind::MixedContent
            | Kind::Policy
            | Kind::PermissionAsk
            | Kind::PermissionNeedsHttps
            | Kind::NotRunning
            | Kind::NotHttp
            | Kind::UseHttp
            | Kind::TlsNotTrusted
            | Kind::PreflightHeader
            | Kind::PreflightRefused
            | Kind::TooSlow
            | Kind::Cut => "tells the page that it failed, and not why",
        }
    }

    pub(super) fn of_failure(failure: &Failure, url: &Url) -> Self {
        let (site, seconds) = (origin(url), WITHIN.as_secs());
        let host = url.host_str().unwrap_or_default();
        match failure {
            Failure::NotListening => Self::new(
                Kind::NotRunning,
                format!("Nothing listens at {site}: the server does not run, or at another port."),
            ),
            Failure::NoSuchHost => {
                Self::new(Kind::NotRunning, format!("There is no host named {host}."))
            }
            Failure::Late => Self::new(
                Kind::TooSlow,
                format!("{site} did not answer within {seconds} s. It may hang: look at its log."),
            ),
            Failure::NotTrusted(why) => Self::new(
                Kind::TlsNotTrusted,
                format!("The certificate of {site} is not trusted: {why}."),
            ),
            Failure::NoTls(why) => Self::new(
                Kind::TlsNotTrusted,
                format!("No secure connection to {site} could be made: {why}."),
            ),
            Failure::PlainHttp => Self::new(
                Kind::UseHttp,
                format!("What listens at {site} speaks plain http."),
            ),
            Failure::NotHttp(why) => Self::new(
                Kind::NotHttp,
                format!("Something listens at {site}, but does not speak HTTP: {why}."),
            ),
            Failure::Cut => Self::new(
                Kind::Cut,
                format!("{site} began to answer and broke off in the middle."),
            ),
            Failure::TooLong => Self::new(
                Kind::BadSpec,
                format!(
                    "Its answer is larger than {} MiB, and more is not read.",
                    MAX_BODY / 1024 / 1024
                ),
            ),
        }
    }

    /// `preflight`: the browser did not even send the request.
    pub(super) fn of_refusal(refused: &Refused, preflight: bool, page: &str) -> Self {
        let begin = format!("The server answers, but a browser does not let a page at {page}");
        match refused {
            Refused::Headers(names) => {
                let names = names.join(", ");
                Self::new(
                    Kind::PreflightHeader,
                    format!("{begin} send it {names}: Access-Control-Allow-Headers lacks that."),
                )
            }
            Refused::Method(method) => Self::new(
                Kind::PreflightRefused,
                format!("{begin} send {method}: Access-Control-Allow-Methods lacks it."),
            ),
            Refused::Status(status) | Refused::Redirect(status) => Self::new(
                Kind::PreflightRefused,
                format!("{begin} ask it: the question before the request (OPTIONS) gets {status}."),
            ),
            Refused::NoOrigin if preflight => Self::new(
                Kind::PreflightRefused,
                format!(
                    "{begin} ask it: its answer to OPTIONS has no Access-Control-Allow-Origin."
                ),
            ),
            Refused::NoOrigin => Self::new(
                Kind::Cors,
                format!("{begin} read it: it sends no Access-Control-Allow-Origin."),
            ),
            Refused::OtherOrigin(other) => Self::new(
                Kind::Cors,
                format!(
                    "{begin} read it: it allows {other}, and an origin must be the same to the letter."
                ),
            ),
            Refused::ManyOrigins(all) => Self::new(
                Kind::Cors,
                format!(
                    "{begin} read it: Access-Control-Allow-Origin has more than one value ({all}). Two programs may both add it."
                ),
            ),
        }
    }
}
