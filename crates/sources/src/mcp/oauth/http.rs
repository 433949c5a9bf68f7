//! Asking strangers. They are never waited for long, read without an end or
//! followed elsewhere.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{RequestBuilder, StatusCode, header};
use rmcp::transport::auth::{
    AuthorizationManager, OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest,
};
use url::Url;

use super::trouble::{Trouble, said};
use tenon_net::body::{self, BodyError};
use tenon_net::{Network, UrlError};

const PATIENCE: Duration = Duration::from_secs(10);

/// What is asked for here is a few thousand bytes.
const MAX_BYTES: usize = 256 * 1024;

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Http {
    client: reqwest::Client,
    network: Network,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: header::HeaderMap,
    pub(super) body: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("{0}")]
    Refused(#[from] UrlError),
    #[error("it does not answer")]
    Request(#[from] reqwest::Error),
    #[error("its answer is too long")]
    TooLong,
    #[error("its answer is no HTTP")]
    Http(#[from] ::http::Error),
}

impl From<BodyError> for Failed {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLong { .. } => Self::TooLong,
            BodyError::Broken(error) => Self::Request(error),
        }
    }
}

impl Http {
    pub fn new(network: Network) -> Result<Self, Trouble> {
        let builder = tenon_net::client(network)
            .timeout(PATIENCE)
            .connect_timeout(PATIENCE);
        let client = builder.build().map_err(|error| {
            Trouble::Unreachable(format!("No connection can be made: {error}."))
        })?;
        Ok(Self { client, network })
    }

    /// Whether an address may be gone to.
    pub(super) fn check(&self, url: &Url) -> Result<(), UrlError> {
        tenon_net::check_url(url, self.network)
    }

    /// `rmcp`'s part of a log-in, with everything it asks going through here.
    pub(super) async fn manager(&self, server: &Url) -> Result<AuthorizationManager, Trouble> {
        let made = match self.network {
            Network::PublicOnly => {
                let through = Arc::new(self.clone());
                AuthorizationManager::new_with_oauth_http_client(server.clone(), through).await
            }
            // With a client of ours it would refuse every private address, which
            // an admin may well mean.
            Network::Anywhere => {
                let made = AuthorizationManager::new_allowing_private_addresses(server.clone());
                made.await.and_then(|mut manager| {
                    manager.with_client(self.client.clone())?;
                    Ok(manager)
                })
            }
        };
        made.map_err(|error| Trouble::Untrusted(said(&error.to_string())))
    }

    /// Posts a form; `shows` are a name and a password.
    pub(super) async fn post_form(
        &self,
        url: &Url,
        form: &[(&str, &str)],
        shows: Option<(&str, &str)>,
    ) -> Result<Answer, Trouble> {
        let mut request = self
            .client
            .post(url.clone())
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(written(form));
        if let Some((name, password)) = shows {
            request = request.basic_auth(encoded(name), Some(encoded(password)));
        }
        self.send(url, request).await
    }

    pub(super) async fn post_json(
        &self,
        url: &Url,
        body: &serde_json::Value,
    ) -> Result<Answer, Trouble> {
        self.send(url, self.client.post(url.clone()).json(body))
            .await
    }

    async fn send(&self, url: &Url, request: RequestBuilder) -> Result<Answer, Trouble> {
        // Some answer in other forms to those who do not say.
        let accept = "application/json, text/event-stream;q=0.5";
        let request = request.header(header::ACCEPT, accept).build();
        let answered = match request {
            Ok(request) => self.execute_one(request).await,
            Err(error) => Err(error.into()),
        };
        answered.map_err(|failed| match failed {
            Failed::Refused(refusal) => Trouble::Untrusted(refusal.to_string()),
            failed => {
                let host = url.host_str().unwrap_or_default();
                Trouble::Unreachable(format!("{host} could not be asked: {failed}."))
            }
        })
    }

    async fn execute_one(&self, request: reqwest::Request) -> Result<Answer, Failed> {
        self.check(request.url())?;
        let mut response = self.client.execute(request).await?;
        let mut answer = Answer {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            body: Vec::new(),
        };
        let kind = answer.headers.get(header::CONTENT_TYPE);
        let kind = kind.map(|kind| kind.as_bytes()).unwrap_or_default();
        if kind.starts_with(b"text/event-stream") {
            // It goes on for ever, and nothing in it is for us.
            return Ok(answer);
        }
        answer.body = body::read(&mut response, MAX_BYTES).await?;
        Ok(answer)
    }
}

impl OAuthHttpClient for Http {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let request = request.request.try_into().map_err(Failed::Request)?;
            let answer = self.execute_one(request).await?;
            let mut response = ::http::Response::new(answer.body);
            *response.status_mut() = answer.status;
            *response.headers_mut() = answer.headers;
            Ok(response)
        })
    }
}

fn written(form: &[(&str, &str)]) -> String {
    let mut body = url::form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(form).finish()
}

/// Names and passwords are written as in a form before they go into a header.
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
