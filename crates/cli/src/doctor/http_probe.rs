//! The doctor's HTTP client, and why a request fails. Unlike a page, a shell is told the reason.

use std::future::Future;
use std::time::Duration;

use reqwest::{Client, Request, Response};
use rustls::CertificateError;
use tenon_net::body::{self, BodyError};
use tenon_net::{Network, RequestError};
use tokio::time::{Instant, timeout};
use url::Url;

use super::problem::{DoctorProblem, ProblemKind};
use super::rules::{HostScope, origin};

/// How long anything may take: as long as the page waits.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Everything together. A server with so many slow parts is slow.
const RUN_TIMEOUT: Duration = Duration::from_secs(45);

/// Longer descriptions Tenon does not take from a page.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

/// Why there is no response, or not all of it.
#[derive(Debug)]
pub(super) enum ProbeError {
    Request(RequestError),
    Late,
    /// It began to answer and stopped.
    Cut,
    TooLong,
}

#[derive(Debug)]
pub(super) struct HttpProbe {
    client: Client,
    end: Instant,
}

impl HttpProbe {
    pub(super) fn new(target: &Url) -> reqwest::Result<Self> {
        let mut client = tenon_net::client(Network::Anywhere);
        // As in browsers, what is near is not asked for through a proxy.
        if HostScope::of(target) != HostScope::Elsewhere {
            client = client.no_proxy();
        }
        Ok(Self {
            client: client.build()?,
            end: Instant::now() + RUN_TIMEOUT,
        })
    }

    pub(super) async fn send(&self, request: Request) -> Result<Response, ProbeError> {
        let url = request.url().clone();
        let sending = async {
            let sent = self.client.execute(request).await;
            sent.map_err(|error| ProbeError::Request(RequestError::new(&error, &url)))
        };
        self.within(sending).await
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

    /// What is left of the time for everything.
    pub(super) fn time_left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, ProbeError>>,
    ) -> Result<T, ProbeError> {
        let done = timeout(REQUEST_TIMEOUT.min(self.time_left()), work).await;
        done.unwrap_or(Err(ProbeError::Late))
    }
}

impl ProbeError {
    pub(super) fn problem(&self, url: &Url) -> DoctorProblem {
        self.explain(url).1
    }

    /// What stands in the table where a response would, and the problem it is.
    pub(super) fn explain(&self, url: &Url) -> (&'static str, DoctorProblem) {
        use ProblemKind as Kind;
        use RequestError::{
            Certificate, Connection, ConnectionRefused, NotTls, Protocol, Refused, TimedOut, Tls,
        };
        let (site, seconds) = (origin(url), REQUEST_TIMEOUT.as_secs());
        let max = MAX_BODY_BYTES / 1024 / 1024;
        let (short, kind, message) = match self {
            Self::Request(ConnectionRefused { .. }) => (
                "connection refused",
                Kind::NotRunning,
                format!("Nothing listens at {site}: the server does not run, or at another port."),
            ),
            Self::Request(error @ Refused(_)) => {
                ("no such host", Kind::NotRunning, error.to_string())
            }
            Self::Request(TimedOut { .. }) | Self::Late => (
                "nothing for 5 s",
                Kind::TooSlow,
                format!("{site} did not answer within {seconds} s. It may hang: look at its log."),
            ),
            Self::Request(Certificate { cause, .. }) => (
                "untrusted certificate",
                Kind::TlsNotTrusted,
                format!(
                    "The certificate of {site} is not trusted: {}.",
                    certificate(cause)
                ),
            ),
            Self::Request(error @ Tls { .. }) => {
                ("no TLS connection", Kind::TlsNotTrusted, error.to_string())
            }
            Self::Request(NotTls { .. }) => (
                "plain http, no TLS",
                Kind::UseHttp,
                format!("What listens at {site} speaks plain http."),
            ),
            Self::Request(Connection { cause, .. } | Protocol { cause, .. }) => (
                "no HTTP",
                Kind::NotHttp,
                format!("Something listens at {site}, but does not speak HTTP: {cause}."),
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
}

fn certificate(cause: &CertificateError) -> String {
    use CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, Other, UnknownIssuer,
    };
    match cause {
        UnknownIssuer => "nobody this machine trusts has signed it".to_owned(),
        Expired | ExpiredContext { .. } => "it has expired".to_owned(),
        NotValidForName | NotValidForNameContext { .. } => "it is for another name".to_owned(),
        // As `openssl req -x509` makes them.
        Other(why) if why.to_string().contains("CaUsedAsEndEntity") => "it signs itself".to_owned(),
        other => other.to_string(),
    }
}
