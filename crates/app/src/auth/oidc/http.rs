//! HTTP requests to an issuer: no redirects, a short time-out, bounded bodies.

use std::time::Duration;

use reqwest::header::ACCEPT;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde::de::DeserializeOwned;
use tenon_net::body::{self, BodyError};
use tenon_net::oauth::{TokenError, TokenRequest, TokenResponse};
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
    #[error("it answers with HTTP {0}")]
    Status(u16),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error("the client's secret does not fit into a header")]
    Secret,
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
        let (status, body) = send(request.header(ACCEPT, "application/json")).await?;
        if !status.is_success() {
            return Err(IssuerError::Status(status.as_u16()));
        }
        Ok(serde_json::from_slice(&body)?)
    }

    pub(super) async fn request_tokens(
        &self,
        url: &Url,
        request: &TokenRequest<'_>,
    ) -> Result<TokenResponse, IssuerError> {
        let request = request.encode().ok_or(IssuerError::Secret)?;
        let request = self
            .0
            .post(url.clone())
            .headers(request.headers)
            .body(request.body);
        let (status, body) = send(request).await?;
        Ok(TokenResponse::parse(status, &body)?)
    }
}

async fn send(request: RequestBuilder) -> Result<(StatusCode, Vec<u8>), IssuerError> {
    let mut response = request.send().await?;
    let status = response.status();
    let body = body::read(&mut response, MAX_BODY_BYTES).await;
    let body = body.map_err(|error| match error {
        BodyError::TooLong { .. } => IssuerError::TooLong,
        BodyError::Broken(error) => error.into(),
    })?;
    Ok((status, body))
}
