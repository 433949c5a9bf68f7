//! The web site a server is at: requests to it, with everything that gets us in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Method, Response, StatusCode};
use url::Url;

use super::fault::Fault;
use super::header;
use super::settings::Tokens;
use super::text;
use tenon_net::{Network, RequestError, UrlError, check_url, without_query};

mod answer;

use answer::asks_more;
pub(super) use answer::{content_type, failure, next_events, whole};

/// Longer than any network needs; what is not there is not waited for.
const CONNECT: Duration = Duration::from_secs(10);

const MAX_REDIRECTS: usize = 5;

/// Where a stream was when it ended, to go on from there.
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

pub(super) struct Site {
    client: Client,
    pub(super) url: Url,
    headers: HeaderMap,
    tokens: Option<Arc<dyn Tokens>>,
}

/// What is asked for.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
}

impl Site {
    /// The error is a sentence about what to write instead.
    pub(super) fn new(
        url: &str,
        headers: &BTreeMap<String, String>,
        tokens: Option<Arc<dyn Tokens>>,
        network: Network,
    ) -> Result<Self, String> {
        let url = tenon_net::parse_url(url, network).map_err(|refusal| told(&refusal))?;
        let headers = read_headers(headers)?;
        let client = tenon_net::client(network)
            .connect_timeout(CONNECT)
            .tcp_keepalive(Duration::from_secs(30))
            .redirect(Policy::custom(move |attempt| follow(attempt, network)))
            .build();
        let client = client.map_err(|error| format!("The HTTP client cannot be made: {error}."))?;
        Ok(Self {
            client,
            url,
            headers,
            tokens,
        })
    }

    /// An address the server told us, which must be its own.
    pub(super) fn join(&self, path: &str) -> Result<Url, String> {
        let url = self.url.join(path).map_err(|error| {
            let path = text::line(path, 80);
            format!("The server gave the address `{path}`, which is none: {error}.")
        })?;
        match url.origin() == self.url.origin() {
            true => Ok(url),
            false => Err(format!(
                "The server wants to be spoken to at {}, which is not where it is. That is refused.",
                url.origin().ascii_serialization()
            )),
        }
    }

    /// Comes back with the head of an answer that is a success, or with what is wrong.
    pub(super) async fn send(&self, request: Request) -> Result<Response, Fault> {
        let response = self.send_as_is(request).await?;
        match response.status() {
            status if status.is_success() => Ok(response),
            _ => Err(failure(response).await.0),
        }
    }

    /// The same, but any status will do other than one that asks who we are.
    pub(super) async fn send_as_is(&self, request: Request) -> Result<Response, Fault> {
        let token = match &self.tokens {
            Some(tokens) => tokens.token().await,
            None => None,
        };
        let response = self.send_with(&request, token.as_deref()).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return asks_more(response);
        }
        let other = match (&self.tokens, &token) {
            (Some(tokens), Some(refused)) => tokens.instead_of(refused).await,
            _ => None,
        };
        let Some(other) = other else {
            return asks_more(response);
        };
        drop(response);
        asks_more(self.send_with(&request, Some(&other)).await?)
    }

    async fn send_with(&self, request: &Request, token: Option<&str>) -> Result<Response, Fault> {
        let mut headers = self.headers.clone();
        headers.extend(request.headers.clone());
        if let Some(token) = token {
            let bearer = HeaderValue::try_from(format!("Bearer {token}"));
            let mut bearer = bearer.map_err(|_| {
                Fault::Strange("The token that was given out for this server is no text.".into())
            })?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        let url = request.url.clone();
        let mut sending = self.client.request(request.method.clone(), url);
        sending = sending.headers(headers);
        if let Some(body) = &request.body {
            sending = sending.body(body.clone());
        }
        let sent = sending.send().await;
        sent.map_err(|error| self.broken(&error))
    }

    pub(super) fn broken(&self, error: &reqwest::Error) -> Fault {
        let sentence = match RequestError::new(error, &self.url) {
            RequestError::Refused(refusal) => told(&refusal),
            error => error.to_string(),
        };
        // Whoever redirects has got it.
        if error.is_connect() && !error.is_redirect() {
            Fault::Unreached(sentence)
        } else {
            Fault::Broken(sentence)
        }
    }
}

impl Request {
    /// A message.
    pub(super) fn post(url: Url, body: String) -> Self {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        let json = HeaderValue::from_static("application/json");
        Self {
            method: Method::POST,
            url,
            headers: HeaderMap::from_iter([(ACCEPT, both), (CONTENT_TYPE, json)]),
            body: Some(body),
        }
    }

    /// A stream of events.
    pub(super) fn stream(url: Url) -> Self {
        let events = HeaderValue::from_static("text/event-stream");
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::from_iter([(ACCEPT, events)]),
            body: None,
        }
    }
}

/// Why an address is not gone to, and what helps.
fn told(refusal: &UrlError) -> String {
    match refusal {
        UrlError::Private(_) => format!("{refusal} Only an administrator can add a server there."),
        UrlError::NotAUrl(..)
        | UrlError::Scheme(_)
        | UrlError::Credentials
        | UrlError::UnknownHost(_)
        | UrlError::TooManyRedirects(_) => refusal.to_string(),
    }
}

fn read_headers(headers: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut read = HeaderMap::new();
    for (name, value) in headers {
        let (name, value) = header::read(name.trim(), value.trim())?;
        read.insert(name, value);
    }
    Ok(read)
}

/// Nobody but who wrote an address decides which site we talk to: neither a
/// credential nor a server that may be on a private network is for others to pick.
fn follow(attempt: Attempt<'_>, network: Network) -> reqwest::redirect::Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error(UrlError::TooManyRedirects(MAX_REDIRECTS));
    }
    let here = attempt.previous().last().map(Url::origin);
    let same = here.as_ref() == Some(&attempt.url().origin());
    match check_url(attempt.url(), network) {
        Ok(()) if same => attempt.follow(),
        Ok(()) => {
            let there = Elsewhere(without_query(attempt.url()));
            attempt.error(there)
        }
        Err(refusal) => attempt.error(refusal),
    }
}

/// Why a redirect was not followed.
#[derive(Debug, thiserror::Error)]
#[error("it redirects to {0}, which is another site. If that is the server, enter that address")]
struct Elsewhere(String);

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may hold a secret as well.
        f.debug_struct("Site").finish_non_exhaustive()
    }
}
