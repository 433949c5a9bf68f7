//! Requests of the doctor, and why they fail. Unlike a page, a shell is told the reason.

use std::error::Error as StdError;
use std::future::Future;
use std::io;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response};
use tenon_net::body::{self, BodyError};
use tokio::time::{Instant, timeout};
use url::Url;

use super::problem::{DoctorProblem, ProblemKind};
use super::rules::{HostScope, origin};

/// How long anything may take: as long as the page waits.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Everything together. A server with so many slow parts is slow.
const RUN_TIMEOUT: Duration = Duration::from_secs(45);

/// Longer descriptions Tenon does not take from a page.
pub(super) const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProbeError {
    NotListening,
    NoSuchHost,
    Late,
    /// The certificate, and what is wrong with it.
    NotTrusted(String),
    /// No secure connection for another reason.
    NoTls(String),
    /// It was asked over TLS and answered without TLS.
    PlainHttp,
    /// What answers speaks something else.
    NotHttp(String),
    /// It began to answer and stopped.
    Cut,
    TooLong,
}

impl ProbeError {
    /// What stands in the table where a response would, and the problem it is.
    pub(super) fn explain(&self, url: &Url) -> (&'static str, DoctorProblem) {
        use ProblemKind as Kind;
        let (site, seconds) = (origin(url), REQUEST_TIMEOUT.as_secs());
        let host = url.host_str().unwrap_or_default();
        let max = MAX_BODY_BYTES / 1024 / 1024;
        let (short, kind, message) = match self {
            Self::NotListening => (
                "connection refused",
                Kind::NotRunning,
                format!("Nothing listens at {site}: the server does not run, or at another port."),
            ),
            Self::NoSuchHost => (
                "no such host",
                Kind::NotRunning,
                format!("There is no host named {host}."),
            ),
            Self::Late => (
                "nothing for 5 s",
                Kind::TooSlow,
                format!("{site} did not answer within {seconds} s. It may hang: look at its log."),
            ),
            Self::NotTrusted(why) => (
                "untrusted certificate",
                Kind::TlsNotTrusted,
                format!("The certificate of {site} is not trusted: {why}."),
            ),
            Self::NoTls(why) => (
                "no TLS connection",
                Kind::TlsNotTrusted,
                format!("No secure connection to {site} could be made: {why}."),
            ),
            Self::PlainHttp => (
                "plain http, no TLS",
                Kind::UseHttp,
                format!("What listens at {site} speaks plain http."),
            ),
            Self::NotHttp(why) => (
                "no HTTP",
                Kind::NotHttp,
                format!("Something listens at {site}, but does not speak HTTP: {why}."),
            ),
            Self::Cut => (
                "broken off",
                Kind::Cut,
                format!("{site} began to answer and broke off in the middle."),
            ),
            Self::TooLong => (
                "too long",
                Kind::BadSpec,
                format!("Its answer is larger than {max} MiB, and more is not read."),
            ),
        };
        (short, kind.with(message))
    }

    pub(super) fn problem(&self, url: &Url) -> DoctorProblem {
        self.explain(url).1
    }
}

pub(super) struct HttpProbe {
    client: Client,
    end: Instant,
}

impl HttpProbe {
    pub(super) fn new(target: &Url) -> reqwest::Result<Self> {
        let client = Client::builder()
            .user_agent(concat!("Tenon/", env!("CARGO_PKG_VERSION")))
            .referer(false)
            .redirect(Policy::none());
        // As in browsers, what is near is not asked for through a proxy.
        let client = if HostScope::of(target) == HostScope::Elsewhere {
            client
        } else {
            client.no_proxy()
        };
        Ok(Self {
            client: client.build()?,
            end: Instant::now() + RUN_TIMEOUT,
        })
    }

    pub(super) async fn send(
        &self,
        method: &Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<&String>,
    ) -> Result<Response, ProbeError> {
        let mut request = self.client.request(method.clone(), url.clone());
        request = request.headers(headers);
        if let Some(body) = body {
            request = request.body(body.clone());
        }
        self.within(async { request.send().await.map_err(|error| failure(&error)) })
            .await
    }

    /// A whole body.
    pub(super) async fn read_body(&self, mut response: Response) -> Result<Vec<u8>, ProbeError> {
        let reading = async {
            let read = body::read(&mut response, MAX_BODY_BYTES).await;
            read.map_err(|error| match error {
                BodyError::TooLong { .. } => ProbeError::TooLong,
                BodyError::Broken(_) => ProbeError::Cut,
            })
        };
        self.within(reading).await
    }

    pub(super) async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, ProbeError>>,
    ) -> Result<T, ProbeError> {
        let left = self.end.saturating_duration_since(Instant::now());
        let done = timeout(REQUEST_TIMEOUT.min(left), work).await;
        done.unwrap_or(Err(ProbeError::Late))
    }
}

fn failure(error: &reqwest::Error) -> ProbeError {
    let causes = || std::iter::successors(Some(error as &dyn StdError), |cause| inner(*cause));
    let last = causes().last().map(ToString::to_string).unwrap_or_default();
    if error.is_timeout() {
        return ProbeError::Late;
    }
    if let Some(tls) = causes().find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
        return match tls {
            rustls::Error::InvalidCertificate(why) => ProbeError::NotTrusted(certificate(why)),
            rustls::Error::InvalidMessage(_) => ProbeError::PlainHttp,
            other => ProbeError::NoTls(other.to_string()),
        };
    }
    let kinds = || causes().filter_map(|cause| cause.downcast_ref::<io::Error>());
    let is = |kind: io::ErrorKind| kinds().any(|io| io.kind() == kind);
    if is(io::ErrorKind::ConnectionRefused) {
        return ProbeError::NotListening;
    }
    if causes().any(|cause| cause.to_string().contains("dns error")) {
        return ProbeError::NoSuchHost;
    }
    ProbeError::NotHttp(last)
}

/// An IO error hides what it was made of.
fn inner<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    let hidden = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    hidden
        .map(|inner| inner as &(dyn StdError + 'static))
        .or_else(|| error.source())
}

fn certificate(why: &rustls::CertificateError) -> String {
    use rustls::CertificateError as Wrong;
    match why {
        Wrong::UnknownIssuer => "nobody this machine trusts has signed it".into(),
        Wrong::Expired | Wrong::ExpiredContext { .. } => "it has expired".into(),
        Wrong::NotValidYet | Wrong::NotValidYetContext { .. } => "it is not valid yet".into(),
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => {
            "it is for another name".into()
        }
        // As `openssl req -x509` makes them.
        Wrong::Other(why) if why.to_string().contains("CaUsedAsEndEntity") => {
            "it signs itself".into()
        }
        other => other.to_string(),
    }
}
