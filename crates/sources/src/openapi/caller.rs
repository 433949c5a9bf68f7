//! Sends requests: one client for all servers that may be in the same places,
//! so that connections are used again.
//!
//! Redirects are followed here and not by the client: who asked says whether
//! another site may be gone to, and every address is checked before it is.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, TRANSFER_ENCODING,
};
use reqwest::{Client, Method, Response, StatusCode};
use tenon_domain::{ErrorKind, ToolError};
use url::Url;

use super::credentials::Sender;
use super::request::Request;
use super::response::Answer;
use tenon_net::body::{self, BodyError};
use tenon_net::{Network, RequestError, UrlError, check_url, without_query};

/// More than a model can do anything with; what is kept aside for people may be large.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

const MAX_REDIRECTS: usize = 5;

/// Longer than any network needs; what is not there is not waited for.
const CONNECT: Duration = Duration::from_secs(10);

/// How many connections to one host wait for the next request: as many as there
/// are calls at once on a busy day, for a new one costs more than a call does.
const MAX_IDLE: usize = 256;

/// Where requests go out. Cheap to clone, and meant to be shared: all servers
/// that may be in the same places should have the same one.
#[derive(Debug, Clone)]
pub struct Caller {
    client: Client,
    network: Network,
}

/// What to do about a redirect to another site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elsewhere {
    /// Nobody but who wrote an address decides where credentials go.
    Stay,
    /// Go there with nothing that could be a secret.
    Bare,
}

/// Why there is no answer, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Halt {
    /// Policy or safety says no.
    #[error("{0}")]
    Refused(String),
    /// It was not reached: nothing has been sent.
    #[error("{0}")]
    Unreached(String),
    #[error("{0}")]
    TimedOut(String),
    /// It was cut off in the middle.
    #[error("{0}")]
    Broken(String),
    /// What came is of no use.
    #[error("{0}")]
    Unusable(String),
}

impl Caller {
    /// Making one reads certificates, and may fail. The error is a sentence.
    pub fn new(network: Network) -> Result<Self, String> {
        let client = tenon_net::client(network)
            .connect_timeout(CONNECT)
            .tcp_keepalive(Duration::from_secs(30))
            .pool_max_idle_per_host(MAX_IDLE)
            .build();
        let client = client.map_err(|error| format!("The HTTP client cannot be made: {error}."))?;
        Ok(Self { client, network })
    }

    /// Comes back with the head of an answer that is no redirect.
    pub(super) async fn open(
        &self,
        mut request: reqwest::Request,
        elsewhere: Elsewhere,
    ) -> Result<Response, Halt> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.execute(&request).await?;
            let Some(there) = redirect(&response) else {
                return Ok(response);
            };
            request = follow(request, response.status(), there, elsewhere)?;
        }
        let refusal = UrlError::TooManyRedirects(MAX_REDIRECTS);
        Err(Halt::Unusable(refusal.to_string()))
    }

    async fn execute(&self, request: &reqwest::Request) -> Result<Response, Halt> {
        let url = request.url();
        check_url(url, self.network).map_err(refused)?;
        let again = || {
            let copy = request.try_clone();
            // Only streams cannot be had twice, and nobody sends one.
            copy.ok_or_else(|| Halt::Unusable("The request cannot be sent twice.".into()))
        };
        let error = match self.client.execute(again()?).await {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        // A connection that waited may have been closed just now. What only reads is asked again.
        let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
        if !is_safe || error.is_connect() || error.is_timeout() {
            return Err(Halt::of(&error, url));
        }
        let second = self.client.execute(again()?).await;
        second.map_err(|error| Halt::of(&error, url))
    }
}

#[async_trait]
impl Sender for Caller {
    /// Dropped, it stops.
    async fn send(&self, request: Request, within: Option<Duration>) -> Result<Answer, ToolError> {
        let request = ready(request);
        let method = request.method().clone();
        let host = request.url().host_str().unwrap_or_default().to_owned();
        let sending = async {
            let mut response = self.open(request, Elsewhere::Stay).await?;
            let status = response.status();
            let headers = std::mem::take(response.headers_mut());
            let body = whole(response, MAX_ANSWER).await?;
            Ok(Answer {
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
                    let within = within.as_secs_f32();
                    Err(Halt::TimedOut(format!(
                        "{host} did not answer within {within} s."
                    )))
                }),
        };
        answer.map_err(|halt| halt.into_error(&method))
    }
}

/// Reads what comes, unless it is more than `most`.
pub(super) async fn whole(mut response: Response, most: usize) -> Result<Vec<u8>, Halt> {
    let read = body::read(&mut response, most).await;
    read.map_err(|error| match error {
        BodyError::TooLong { max_bytes } => Halt::Unusable(format!(
            "The answer is larger than {} MB, which is more than is read.",
            max_bytes / (1024 * 1024)
        )),
        BodyError::Broken(error) => Halt::of(&error, response.url()),
    })
}

/// A request as the client has it.
fn ready(request: Request) -> reqwest::Request {
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
    elsewhere: Elsewhere,
) -> Result<reqwest::Request, Halt> {
    if there.origin() != request.url().origin() {
        match elsewhere {
            Elsewhere::Stay => {
                return Err(Halt::Unusable(format!(
                    "{} redirects to {}, which is another site: that is not followed. If that is \
                     the server, its address has to be entered instead.",
                    without_query(request.url()),
                    without_query(&there)
                )));
            }
            Elsewhere::Bare => {
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
    // As all browsers do: what was posted is not posted again, unless it is asked for so.
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

fn refused(refusal: UrlError) -> Halt {
    match refusal {
        // The switch that an administrator has is for pages; it does not help here.
        UrlError::Private(host) => Halt::Refused(format!(
            "{host} is on a private network or on this machine. Only an administrator can add a \
             server there."
        )),
        UrlError::UnknownHost(_) => Halt::Unreached(refusal.to_string()),
        UrlError::NotAUrl(..)
        | UrlError::Scheme(_)
        | UrlError::Credentials
        | UrlError::TooManyRedirects(_) => Halt::Unusable(refusal.to_string()),
    }
}

impl Halt {
    pub(super) fn of(error: &reqwest::Error, url: &Url) -> Self {
        match RequestError::new(error, url) {
            RequestError::Refused(refusal) => refused(refusal),
            why if error.is_connect() => Self::Unreached(why.to_string()),
            why @ RequestError::TimedOut { .. } => Self::TimedOut(why.to_string()),
            why => Self::Broken(why.to_string()),
        }
    }

    /// What a model is told. Where something was sent, it may have taken effect.
    fn into_error(self, method: &Method) -> ToolError {
        let reads_only = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
        let unsure = |sentence: String| match reads_only {
            true => sentence,
            false => format!(
                "{sentence} Whether the call took effect is not known: check before repeating it."
            ),
        };
        match self {
            Self::Refused(sentence) => ToolError::denied(sentence),
            Self::Unreached(sentence) => ToolError::new(ErrorKind::Unavailable, sentence),
            Self::TimedOut(sentence) => ToolError::new(ErrorKind::TimedOut, unsure(sentence)),
            Self::Broken(sentence) => ToolError::new(ErrorKind::Unavailable, unsure(sentence)),
            Self::Unusable(sentence) => ToolError::failed(sentence),
        }
    }
}

#[cfg(test)]
mod tests;
