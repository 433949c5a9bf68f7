//! Asking an issuer. It is never followed elsewhere, waited for long, or read without an end.

use std::time::Duration;

use futures::future::BoxFuture;
use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse, http};
use reqwest::Client;
use reqwest::redirect::Policy;
use tenon_net::body::{self, BodyError};

const PATIENCE: Duration = Duration::from_secs(10);

/// A set of keys is a few thousand bytes.
const MAX_BYTES: usize = 1 << 20;

pub(super) struct Http(Client);

#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error("it does not answer")]
    Request(#[from] reqwest::Error),
    #[error("its answer is too long")]
    TooLong,
    #[error("its answer is no HTTP")]
    Http(#[from] http::Error),
}

impl Http {
    pub fn new() -> reqwest::Result<Self> {
        let client = Client::builder()
            .redirect(Policy::none())
            .timeout(PATIENCE)
            .build()?;
        Ok(Self(client))
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Failed> {
        let mut answer = self.0.execute(request.try_into()?).await?;
        let mut response = http::Response::builder().status(answer.status());
        for (name, value) in answer.headers() {
            response = response.header(name, value);
        }
        let read = body::read(&mut answer, MAX_BYTES).await;
        let body = read.map_err(|error| match error {
            BodyError::TooLong { .. } => Failed::TooLong,
            BodyError::Broken(error) => error.into(),
        })?;
        Ok(response.body(body)?)
    }
}

impl<'c> AsyncHttpClient<'c> for Http {
    type Error = Failed;
    type Future = BoxFuture<'c, Result<HttpResponse, Failed>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}
