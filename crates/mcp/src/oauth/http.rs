//! The HTTP client for log-ins: every request has a timeout, every body a bound, and no
//! redirect leads to another origin.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, StatusCode};
use tenon_net::body::{self, BodyError};
use tenon_net::{Network, UrlError};
use url::{Host, Url};

use super::error::{HostFailure, LoginError, UnreachableLogin, UntrustedLogin};

const TIMEOUT: Duration = Duration::from_secs(10);

/// Metadata and tokens are a few thousand bytes.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// Of metadata documents, within their origin.
const MAX_REDIRECTS: usize = 5;

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct OAuthHttp {
    client: reqwest::Client,
    network: Network,
}

#[derive(Debug)]
pub(super) struct HttpResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    #[error("{0}")]
    Refused(#[from] UrlError),
    #[error("it does not answer")]
    Request(#[from] reqwest::Error),
    #[error("its answer is too long")]
    TooLong,
    #[error("it redirects to another site")]
    CrossOriginRedirect,
    #[error("it redirects too often")]
    TooManyRedirects,
    #[error("it answered {0}")]
    Status(u16),
}

impl From<BodyError> for HttpError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLong { .. } => Self::TooLong,
            BodyError::Broken(error) => Self::Request(error),
        }
    }
}

impl HttpError {
    /// As the error of a log-in, about the host of this URL.
    pub(super) fn at(self, url: &Url) -> LoginError {
        self.or_else(|why| {
            let host = url.host_str().unwrap_or_default().to_owned();
            LoginError::Unreachable(UnreachableLogin::Host { host, why })
        })
    }

    /// The same with other words about a host that failed.
    pub(super) fn or_else(self, failed: impl Fn(HostFailure) -> LoginError) -> LoginError {
        failed(match self {
            Self::Refused(refused) => {
                return LoginError::Untrusted(UntrustedLogin::Address(refused));
            }
            Self::Request(_) => HostFailure::Silent,
            Self::TooLong => HostFailure::TooLong,
            Self::CrossOriginRedirect => HostFailure::CrossOriginRedirect,
            Self::TooManyRedirects => HostFailure::TooManyRedirects,
            Self::Status(status) => HostFailure::Status(status),
        })
    }
}

impl OAuthHttp {
    pub fn new(network: Network) -> Result<Self, LoginError> {
        let client = tenon_net::client(network)
            .timeout(TIMEOUT)
            .connect_timeout(TIMEOUT)
            // Requests are few and far between: an idle connection would be closed by then, and
            // a request that meets its end fails.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|error| {
                LoginError::Unreachable(UnreachableLogin::HttpClient(error.to_string()))
            })?;
        Ok(Self { client, network })
    }

    /// Whether requests to an address are allowed.
    pub(super) fn check(&self, url: &Url) -> Result<(), UrlError> {
        tenon_net::check_url(url, self.network)
    }

    /// Whether an address may be asked that a document of `server` names: never one of
    /// this machine unless the server is on it, and never one where a cloud gives out
    /// credentials, even where private networks are allowed.
    pub(super) fn is_allowed_by(&self, server: &Url, url: &Url) -> bool {
        if self.check(url).is_err() || tenon_net::is_cloud_metadata(url) {
            return false;
        }
        if tenon_net::check_url(url, Network::PublicOnly).is_ok() || is_same_origin(server, url) {
            return true;
        }
        if tenon_net::is_loopback(url) {
            return tenon_net::is_loopback(server);
        }
        match url.host() {
            Some(Host::Ipv4(address)) => {
                let [a, b, ..] = address.octets();
                address.is_private() || (a == 100 && (64..=127).contains(&b))
            }
            Some(Host::Ipv6(address)) => address.is_unique_local(),
            Some(Host::Domain(_)) => true,
            None => false,
        }
    }

    pub(super) async fn post(
        &self,
        url: &Url,
        headers: HeaderMap,
        body: String,
    ) -> Result<HttpResponse, HttpError> {
        let request = self.client.post(url.clone()).headers(headers).body(body);
        self.execute(request.build()?).await
    }

    pub(super) async fn post_json(
        &self,
        url: &Url,
        body: &serde_json::Value,
    ) -> Result<HttpResponse, HttpError> {
        let mut headers = HeaderMap::new();
        let json = HeaderValue::from_static("application/json");
        headers.insert(CONTENT_TYPE, json);
        let accept = HeaderValue::from_static("application/json, text/event-stream;q=0.5");
        headers.insert(ACCEPT, accept);
        self.post(url, headers, body.to_string()).await
    }

    /// A metadata document. A status that may be another one in a while is an error.
    pub(super) async fn get_metadata(&self, url: &Url) -> Result<HttpResponse, HttpError> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = reqwest::Request::new(Method::GET, url.clone());
            let json = HeaderValue::from_static("application/json");
            request.headers_mut().insert(ACCEPT, json);
            let response = self.execute(request).await?;
            let status = response.status;
            if status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429) {
                return Err(HttpError::Status(status.as_u16()));
            }
            let location = response.headers.get(LOCATION);
            let Some(location) = location.filter(|_| status.is_redirection()) else {
                return Ok(response);
            };
            let target = location.to_str().ok().and_then(|to| url.join(to).ok());
            match target {
                Some(target) if is_same_origin(&url, &target) => url = target,
                _ => return Err(HttpError::CrossOriginRedirect),
            }
        }
        Err(HttpError::TooManyRedirects)
    }

    async fn execute(&self, request: reqwest::Request) -> Result<HttpResponse, HttpError> {
        self.check(request.url())?;
        let mut response = self.client.execute(request).await?;
        let status = response.status();
        let headers = std::mem::take(response.headers_mut());
        let content_type = headers.get(CONTENT_TYPE);
        let content_type = content_type.map(HeaderValue::as_bytes).unwrap_or_default();
        let body = if content_type.starts_with(b"text/event-stream") {
            // The body is an endless stream and not needed.
            Vec::new()
        } else {
            body::read(&mut response, MAX_BODY_BYTES).await?
        };
        Ok(HttpResponse {
            status,
            headers,
            body,
        })
    }
}

pub(super) fn is_same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin() && matches!(other.scheme(), "http" | "https")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_names_no_address_of_this_machine_or_its_cloud() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let check = |network: Network, server: &str, url: &str, expected: bool| {
            let http = OAuthHttp::new(network).unwrap();
            let (server, url) = (server.parse().unwrap(), url.parse().unwrap());
            let allowed = http.is_allowed_by(&server, &url);
            assert_eq!(allowed, expected, "{network:?} {server} {url}");
        };
        let (public, lan, local) = (
            "https://a.example/mcp",
            "http://10.0.0.1/",
            "http://127.0.0.1:1/",
        );
        for network in [Network::Anywhere, Network::PublicOnly] {
            check(network, public, "https://login.example/", true);
            check(network, public, "http://localhost/", false);
            check(network, public, local, false);
            check(network, public, "http://169.254.169.254/", false);
            check(network, local, "http://169.254.169.254/", false);
            check(network, public, "http://metadata.google.internal/", false);
            check(network, public, "http://[fe80::1]/", false);
            check(network, public, "http://localhost.:8080/", false);
            check(network, public, "http://a.localhost./", false);
            check(network, public, "http://100.100.100.200/", false);
            check(network, public, "http://[fd00:ec2::254]/", false);
            check(network, public, "http://rancher-metadata/", false);
            check(network, public, "file:///etc/passwd", false);
        }
        check(Network::Anywhere, local, "http://localhost:2/", true);
        check(Network::Anywhere, public, lan, true);
        check(
            Network::Anywhere,
            public,
            "http://login.corp.internal/",
            true,
        );
        check(Network::PublicOnly, public, lan, false);
    }
}
