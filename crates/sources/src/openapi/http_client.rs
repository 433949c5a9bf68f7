//! Sends requests: one client with one connection pool for all servers of the same network
//! policy.
//!
//! Redirects are followed here and not by `reqwest`: whether one may lead to another origin
//! depends on the request, and every address is checked first.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, TRANSFER_ENCODING,
};
use reqwest::{Client, Method, Response, StatusCode};
use tenon_domain::{ErrorDetail, ErrorKind, ToolError};
use tenon_net::body::{self, BodyError};
use tenon_net::{Network, RequestError, UrlError, check_url, without_query};
use tenon_openapi::request::OpenapiRequest;
use tenon_openapi::response::OpenapiResponse;
use url::Url;

use super::credentials::RequestSender;
use crate::call_error::ServerCallError;
use crate::fault::{ServerFault, request_fault, url_fault};

/// Large enough for files stored for the user; the model gets only an excerpt.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

const MAX_REDIRECTS: usize = 5;

/// Connecting takes a few round trips; a host that does not answer fails early.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How many connections to one host wait for the next request: as many as there
/// are calls at once on a busy day, for a new one costs more than a call does.
const MAX_IDLE_CONNECTIONS: usize = 256;

/// Cheap to clone, and meant to be shared: all servers with the same network policy should
/// have the same one.
#[derive(Debug, Clone)]
pub struct OpenapiHttpClient {
    client: Client,
    network: Network,
}

/// What to do with a redirect to another origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CrossOriginRedirect {
    /// Only the person who entered an address decides where credentials are sent.
    Refuse,
    /// Follow it without any header that could be a secret.
    WithoutCredentials,
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SendError {
    /// Policy or safety says no.
    Refused(ErrorDetail),
    /// Nothing has been sent.
    Unreachable(ErrorDetail),
    TimedOut(ErrorDetail),
    /// The connection broke in the middle.
    Interrupted(ErrorDetail),
    /// The response cannot be used.
    Unusable(ErrorDetail),
}

/// The system's certificates cannot be read, say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("The HTTP client cannot be made: {0}.")]
pub struct HttpClientError(pub(super) String);

impl OpenapiHttpClient {
    /// Reads the certificates of the system, and may fail.
    pub fn new(network: Network) -> Result<Self, HttpClientError> {
        let client = tenon_net::client(network)
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_keepalive(Duration::from_secs(30))
            .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
            .build();
        let client = client.map_err(|error| HttpClientError(error.to_string()))?;
        Ok(Self { client, network })
    }

    /// Comes back with the head of an answer that is no redirect.
    pub(super) async fn open(
        &self,
        mut request: reqwest::Request,
        cross_origin: CrossOriginRedirect,
    ) -> Result<Response, SendError> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.execute(&request).await?;
            let Some(there) = redirect(&response) else {
                return Ok(response);
            };
            request = follow(request, response.status(), there, cross_origin)?;
        }
        Err(refused(UrlError::TooManyRedirects(MAX_REDIRECTS)))
    }

    async fn execute(&self, request: &reqwest::Request) -> Result<Response, SendError> {
        let url = request.url();
        check_url(url, self.network).map_err(refused)?;
        let again = || {
            let copy = request.try_clone();
            // Only streaming bodies cannot be cloned, and none is sent here.
            copy.ok_or_else(|| SendError::Unusable(ServerFault::NotRepeatable.into()))
        };
        let error = match self.client.execute(again()?).await {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        // A connection that waited may have been closed just now. What only reads is asked again.
        let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
        if !is_safe || error.is_connect() || error.is_timeout() {
            return Err(SendError::of(&error, url));
        }
        let second = self.client.execute(again()?).await;
        second.map_err(|error| SendError::of(&error, url))
    }
}

#[async_trait]
impl RequestSender for OpenapiHttpClient {
    /// Dropped, it stops.
    async fn send(
        &self,
        request: OpenapiRequest,
        within: Option<Duration>,
    ) -> Result<OpenapiResponse, ToolError> {
        let request = ready(request);
        let method = request.method().clone();
        let host = request.url().host_str().unwrap_or_default().to_owned();
        let sending = async {
            let mut response = self.open(request, CrossOriginRedirect::Refuse).await?;
            let status = response.status();
            let headers = std::mem::take(response.headers_mut());
            let body = read_body(response, MAX_RESPONSE_BYTES).await?;
            Ok(OpenapiResponse {
                status,
                headers,
                body,
            })
        };
        let answer = match within {
            None => sending.await,
            Some(within) => tokio::time::timeout(within, sending)
                .await
                .unwrap_or_else(|_| {
                    let late = ServerFault::AnswerTimeout {
                        host: host.into(),
                        seconds: within.as_secs_f32().to_string().into(),
                    };
                    Err(SendError::TimedOut(late.into()))
                }),
        };
        answer.map_err(|error| error.into_error(&method))
    }
}

/// Reads what comes, unless it is more than `most`.
pub(super) async fn read_body(mut response: Response, most: usize) -> Result<Vec<u8>, SendError> {
    let read = body::read(&mut response, most).await;
    read.map_err(|error| match error {
        BodyError::TooLong { max_bytes } => {
            let mb = max_bytes / (1024 * 1024);
            SendError::Unusable(ServerFault::AnswerTooLarge { mb }.into())
        }
        BodyError::Broken(error) => SendError::of(&error, response.url()),
    })
}

/// A request as the client has it.
fn ready(request: OpenapiRequest) -> reqwest::Request {
    let mut ready = reqwest::Request::new(request.method, request.url);
    *ready.headers_mut() = request.headers;
    *ready.body_mut() = request.body.map(Into::into);
    ready
}

/// Where an answer leads on to. One that says nowhere is an answer like others.
fn redirect(response: &Response) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    let location = std::str::from_utf8(location.as_bytes()).ok()?;
    let mut there = response.url().join(location).ok()?;
    there.set_fragment(None);
    Some(there)
}

/// The request to where it was led.
fn follow(
    mut request: reqwest::Request,
    status: StatusCode,
    there: Url,
    cross_origin: CrossOriginRedirect,
) -> Result<reqwest::Request, SendError> {
    if there.origin() != request.url().origin() {
        match cross_origin {
            CrossOriginRedirect::Refuse => {
                let elsewhere = ServerFault::RedirectElsewhere {
                    from: without_query(request.url()).into(),
                    to: without_query(&there).into(),
                };
                return Err(SendError::Unusable(elsewhere.into()));
            }
            CrossOriginRedirect::WithoutCredentials => {
                // Any header may be a key; only these can be none.
                let kept = ["accept", "accept-encoding", "user-agent"];
                let headers = std::mem::take(request.headers_mut());
                for name in kept {
                    if let Some(value) = headers.get(name) {
                        request.headers_mut().insert(name, value.clone());
                    }
                }
            }
        }
    }
    // Like browsers: a redirected POST becomes a GET, unless the status (307, 308) demands the same
    // method.
    let becomes_get = match status.as_u16() {
        301 | 302 => *request.method() == Method::POST,
        303 => !matches!(*request.method(), Method::GET | Method::HEAD),
        _ => false,
    };
    if becomes_get {
        *request.method_mut() = Method::GET;
        *request.body_mut() = None;
        for name in [
            CONTENT_TYPE,
            CONTENT_LENGTH,
            CONTENT_ENCODING,
            TRANSFER_ENCODING,
        ] {
            request.headers_mut().remove(name);
        }
    }
    *request.url_mut() = there;
    Ok(request)
}

fn refused(refusal: UrlError) -> SendError {
    let why = url_fault(&refusal).into();
    match refusal {
        UrlError::Private(_) => SendError::Refused(why),
        UrlError::UnknownHost(_) => SendError::Unreachable(why),
        UrlError::NotAUrl(_)
        | UrlError::Scheme(_)
        | UrlError::Credentials
        | UrlError::TooManyRedirects(_) => SendError::Unusable(why),
    }
}

impl SendError {
    pub(super) fn of(error: &reqwest::Error, url: &Url) -> Self {
        match RequestError::new(error, url) {
            RequestError::Refused(refusal) => refused(refusal),
            why if error.is_connect() => Self::Unreachable(request_fault(&why).into()),
            why @ RequestError::TimedOut { .. } => Self::TimedOut(request_fault(&why).into()),
            why => Self::Interrupted(request_fault(&why).into()),
        }
    }

    pub(super) fn into_detail(self) -> ErrorDetail {
        match self {
            Self::Refused(why)
            | Self::Unreachable(why)
            | Self::TimedOut(why)
            | Self::Interrupted(why)
            | Self::Unusable(why) => why,
        }
    }

    /// The error for the model. A request that may have been sent may also have taken effect.
    fn into_error(self, method: &Method) -> ToolError {
        let reads_only = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
        let (kind, may_have_effect) = match &self {
            Self::Refused(_) => (ErrorKind::Denied, false),
            Self::Unreachable(_) => (ErrorKind::Unavailable, false),
            Self::TimedOut(_) => (ErrorKind::TimedOut, !reads_only),
            Self::Interrupted(_) => (ErrorKind::Unavailable, !reads_only),
            Self::Unusable(_) => (ErrorKind::Failed, false),
        };
        let why = self.into_detail();
        if may_have_effect {
            return ToolError::coded(kind, ServerCallError::Unsure { why: why.into() });
        }
        ToolError::coded(kind, why)
    }
}

#[cfg(test)]
mod tests;
