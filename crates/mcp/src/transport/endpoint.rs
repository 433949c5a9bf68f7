//! The address of a server over HTTP: requests to it, with its headers and access token.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Method, Request, Response, StatusCode};
use tenon_net::{Network, UrlError, check_url, without_query};
use tenon_text as text;
use url::Url;

use super::headers;
use crate::error::{Error, ProtocolError, StartError};
use crate::handler::{HttpClient, TokenProvider};

mod response;

use response::check_login;
pub(super) use response::{content_type, is_session_error, next_events, read_body, status_error};

/// Connecting takes a few round trips; a host that does not answer fails early.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const MAX_REDIRECTS: usize = 5;

/// Where a stream was when it ended, to resume it there.
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(crate) struct HttpEndpoint {
    client: Arc<dyn HttpClient>,
    pub(super) url: Url,
    headers: HeaderMap,
    tokens: Option<Arc<dyn TokenProvider>>,
}

#[derive(Debug)]
pub(super) struct OutgoingRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
}

impl HttpEndpoint {
    pub(crate) fn new(
        url: &str,
        headers: &BTreeMap<String, String>,
        tokens: Option<Arc<dyn TokenProvider>>,
        network: Network,
        client: Option<Arc<dyn HttpClient>>,
    ) -> Result<Self, StartError> {
        let url = tenon_net::parse_url(url, network)?;
        let mut read_headers = HeaderMap::new();
        for (name, value) in headers {
            let (name, value) = headers::read(name.trim(), value.trim())?;
            read_headers.insert(name, value);
        }
        let client = match client {
            Some(client) => client,
            None => own_client(network)?,
        };
        Ok(Self {
            client,
            url,
            headers: read_headers,
            tokens,
        })
    }

    /// An address the server gave, which must be its own.
    pub(super) fn join(&self, path: &str) -> Result<Url, ProtocolError> {
        let url = self
            .url
            .join(path)
            .map_err(|error| ProtocolError::InvalidEndpoint {
                address: text::line(path, 80),
                cause: error.to_string(),
            })?;
        if url.origin() == self.url.origin() {
            Ok(url)
        } else {
            Err(ProtocolError::ForeignEndpoint {
                origin: url.origin().ascii_serialization(),
            })
        }
    }

    /// Returns the head of a successful response.
    pub(super) async fn send(&self, request: OutgoingRequest) -> Result<Response, Error> {
        let response = self.send_any_status(request).await?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(status_error(response).await.0)
        }
    }

    /// The same, with any status other than one that asks for a log-in.
    pub(super) async fn send_any_status(
        &self,
        request: OutgoingRequest,
    ) -> Result<Response, Error> {
        let token = match &self.tokens {
            Some(tokens) => tokens.access_token().await,
            None => None,
        };
        let response = self.send_with_token(&request, token.as_deref()).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return check_login(response);
        }
        let replacement = match (&self.tokens, &token) {
            (Some(tokens), Some(refused)) => tokens.replace_token(refused).await,
            _ => None,
        };
        let Some(replacement) = replacement else {
            return check_login(response);
        };
        drop(response);
        check_login(self.send_with_token(&request, Some(&replacement)).await?)
    }

    async fn send_with_token(
        &self,
        request: &OutgoingRequest,
        token: Option<&str>,
    ) -> Result<Response, Error> {
        let mut headers = self.headers.clone();
        headers.extend(request.headers.clone());
        if let Some(token) = token {
            let bearer = HeaderValue::try_from(format!("Bearer {token}"));
            let mut bearer = bearer.map_err(|_| ProtocolError::InvalidToken)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        let mut outgoing = Request::new(request.method.clone(), request.url.clone());
        *outgoing.headers_mut() = headers;
        *outgoing.body_mut() = request.body.clone().map(Into::into);
        self.client.execute(outgoing).await
    }
}

impl OutgoingRequest {
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

    pub(super) fn event_stream(url: Url) -> Self {
        let events = HeaderValue::from_static("text/event-stream");
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::from_iter([(ACCEPT, events)]),
            body: None,
        }
    }
}

/// The client of a connection that brings none.
fn own_client(network: Network) -> Result<Arc<dyn HttpClient>, StartError> {
    let client = tenon_net::client(network)
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(Duration::from_secs(30))
        .redirect(Policy::custom(move |attempt| follow(attempt, network)))
        .build()
        .map_err(|error| StartError::HttpClient(error.to_string()))?;
    Ok(Arc::new(client))
}

/// Redirects stay within the origin: neither a credential nor an address on a private
/// network is for somebody else to choose.
fn follow(attempt: Attempt<'_>, network: Network) -> reqwest::redirect::Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error(UrlError::TooManyRedirects(MAX_REDIRECTS));
    }
    let origin = attempt.previous().last().map(Url::origin);
    let is_same = origin.as_ref() == Some(&attempt.url().origin());
    match check_url(attempt.url(), network) {
        Ok(()) if is_same => attempt.follow(),
        Ok(()) => {
            let target = CrossOriginRedirectError(without_query(attempt.url()));
            attempt.error(target)
        }
        Err(refused) => attempt.error(refused),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("it redirects to {0}, which is another site. If that is the server, enter that address")]
struct CrossOriginRedirectError(String);

impl std::fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may hold a secret as well.
        f.debug_struct("HttpEndpoint").finish_non_exhaustive()
    }
}
