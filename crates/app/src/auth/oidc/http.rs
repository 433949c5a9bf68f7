//! HTTP requests to an issuer: no redirects, a short time-out, bounded bodies.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder};
use serde::de::DeserializeOwned;
use tenon_net::body::{self, BodyError};
use url::Url;

const TIMEOUT: Duration = Duration::from_secs(10);

/// A set of keys is a few thousand bytes.
const MAX_BODY_BYTES: usize = 1 << 20;

pub(super) struct IssuerClient(Client);

#[derive(Debug, thiserror::Error)]
pub(super) enum IssuerError {
    #[error("it does not answer")]
    Request(#[from] reqwest::Error),
    #[error("its answer is too long")]
    TooLong,
    /// The error code of OAuth is part of the text, where there is one.
    #[error("it answers with HTTP {status}{code}")]
    Status { status: u16, code: String },
    #[error("its answer is not what was asked for: {0}")]
    Json(#[from] serde_json::Error),
}

impl IssuerClient {
    pub(super) fn new() -> reqwest::Result<Self> {
        let client = Client::builder()
            .redirect(Policy::none())
            .timeout(TIMEOUT)
            .build()?;
        Ok(Self(client))
    }

    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        url: &Url,
        access_token: Option<&str>,
    ) -> Result<T, IssuerError> {
        let mut request = self.0.get(url.clone());
        if let Some(token) = access_token {
            request = request.bearer_auth(token);
        }
        send(request).await
    }

    /// A client with a secret authenticates with it (`client_secret_basic`).
    pub(super) async fn post_form<T: DeserializeOwned>(
        &self,
        url: &Url,
        form: &[(&str, &str)],
        credentials: Option<(&str, &str)>,
    ) -> Result<T, IssuerError> {
        let mut request = self
            .0
            .post(url.clone())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form_body(form));
        if let Some((id, secret)) = credentials {
            request = request.basic_auth(form_encoded(id), Some(form_encoded(secret)));
        }
        send(request).await
    }
}

async fn send<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, IssuerError> {
    let mut response = request.header(ACCEPT, "application/json").send().await?;
    let status = response.status();
    let body = body::read(&mut response, MAX_BODY_BYTES).await;
    let body = body.map_err(|error| match error {
        BodyError::TooLong { .. } => IssuerError::TooLong,
        BodyError::Broken(error) => error.into(),
    })?;
    if status.is_success() {
        return Ok(serde_json::from_slice(&body)?);
    }
    let error: Option<serde_json::Value> = serde_json::from_slice(&body).ok();
    let code = error.and_then(|error| Some(format!(" ({})", error.get("error")?.as_str()?)));
    Err(IssuerError::Status {
        status: status.as_u16(),
        code: code.unwrap_or_default(),
    })
}

fn form_body(form: &[(&str, &str)]) -> String {
    let mut body = url::form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(form).finish()
}

/// RFC 6749 2.3.1: both are form-encoded before they go into the header.
fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
