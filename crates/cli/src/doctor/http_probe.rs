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
        let sending = self.within(self.client.execute(request)).await;
        let sent = sending.ok_or_else(|| ProbeError::late(&url))?;
        sent.map_err(|error| ProbeError::new(&RequestError::new(&error, &url), &url))
    }

    /// A whole body.
    pub(super) async fn read_body(&self, mut response: Response) -> Result<Vec<u8>, ProbeError> {
        let url = response.url().clone();
        let reading = self.within(body::read(&mut response, MAX_BODY_BYTES)).await;
        let read = reading.ok_or_else(|| ProbeError::late(&url))?;
        read.map_err(|error| match error {
            BodyError::TooLong { .. } => {
                let max = MAX_BODY_BYTES / 1024 / 1024;
                let message = format!("Its answer is larger than {max} MiB, and more is not read.");
                ProbeError::of("too long", ProblemKind::BadSpec, message)
            }
            BodyError::Broken(_) => ProbeError::cut(&url),
        })
    }

    /// A timeout, within what is left of the time for everything.
    pub(super) fn at_most(&self, timeout: Duration) -> Duration {
        timeout.min(self.end.saturating_duration_since(Instant::now()))
    }

    async fn within<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        timeout(self.at_most(REQUEST_TIMEOUT), work).await.ok()
    }
}

/// Why there is no response, or not all of it.
#[derive(Debug)]
pub(super) struct ProbeError {
    /// What stands in the table where a response would.
    pub(super) short: &'static str,
    pub(super) problem: DoctorProblem,
}

impl ProbeError {
    pub(super) fn late(url: &Url) -> Self {
        let (site, seconds) = (origin(url), REQUEST_TIMEOUT.as_secs());
        let message =
            format!("{site} did not answer within {seconds} s. It may hang: look at its log.");
        Self::of("nothing for 5 s", ProblemKind::TooSlow, message)
    }

    pub(super) fn cut(url: &Url) -> Self {
        let message = format!(
            "{} began to answer and broke off in the middle.",
            origin(url)
        );
        Self::of("broken off", ProblemKind::Cut, message)
    }

    fn new(error: &RequestError, url: &Url) -> Self {
        use ProblemKind::{NotHttp, NotRunning, TlsNotTrusted, UseHttp};
        let site = origin(url);
        let (short, kind, message) = match error {
            RequestError::TimedOut { .. } => return Self::late(url),
            RequestError::ConnectionRefused { .. } => (
                "connection refused",
                NotRunning,
                format!("Nothing listens at {site}: the server does not run, or at another port."),
            ),
            RequestError::Refused(why) => ("no such host", NotRunning, why.to_string()),
            RequestError::Certificate { cause, .. } => (
                "untrusted certificate",
                TlsNotTrusted,
                format!(
                    "The certificate of {site} is not trusted: {}.",
                    untrusted(cause)
                ),
            ),
            RequestError::Tls { .. } => ("no TLS connection", TlsNotTrusted, error.to_string()),
            RequestError::NotTls { .. } => (
                "plain http, no TLS",
                UseHttp,
                format!("What listens at {site} speaks plain http."),
            ),
            RequestError::Connection { cause, .. } | RequestError::Protocol { cause, .. } => (
                "no HTTP",
                NotHttp,
                format!("Something listens at {site}, but does not speak HTTP: {cause}."),
            ),
        };
        Self::of(short, kind, message)
    }

    fn of(short: &'static str, kind: ProblemKind, message: String) -> Self {
        let problem = kind.with(message);
        Self { short, problem }
    }
}

fn untrusted(cause: &CertificateError) -> String {
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
