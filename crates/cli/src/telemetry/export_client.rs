//! The HTTP client of the exporters: ours, on our runtime, within a deadline.
//!
//! Exporters run on threads of their own, which block while a request runs. That the receiver is away is
//! logged once, and once more when it is back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::{Certificate, Client};
use tenon_net::{Network, body, is_loopback};
use tokio::runtime::Handle;
use url::Url;

/// Of a response only the status counts.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct ExportClient {
    /// A proxy that the environment names is for the world, not for this machine.
    proxied: Client,
    direct: Client,
    runtime: Handle,
    timeout: Duration,
    is_failing: AtomicBool,
}

impl ExportClient {
    pub(super) fn new(timeout: Duration) -> Result<Self> {
        let certificates = certificates()?;
        let build =
            |builder: reqwest::ClientBuilder| builder.tls_certs_merge(certificates.clone()).build();
        Ok(Self {
            proxied: build(tenon_net::client(Network::Anywhere))?,
            direct: build(tenon_net::client(Network::Anywhere).no_proxy())?,
            runtime: Handle::current(),
            timeout,
            is_failing: AtomicBool::new(false),
        })
    }

    fn client(&self, url: &str) -> &Client {
        let is_local = Url::parse(url).is_ok_and(|url| is_loopback(&url));
        if is_local {
            &self.direct
        } else {
            &self.proxied
        }
    }

    fn note(&self, why: Option<&str>) {
        match why {
            Some(why) if !self.is_failing.swap(true, Ordering::Relaxed) => {
                tracing::warn!(why, "telemetry cannot be sent, and is dropped until it can");
            }
            None if self.is_failing.swap(false, Ordering::Relaxed) => {
                tracing::info!("telemetry is sent again");
            }
            Some(_) | None => {}
        }
    }
}

#[async_trait]
impl HttpClient for ExportClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client(&request.uri().to_string()).clone();
        let sending = tokio::time::timeout(self.timeout, send(client, request));
        // The thread that exports has no reactor; the runtime has.
        let sent = match self.runtime.spawn(sending).await {
            Ok(Ok(sent)) => sent,
            Ok(Err(_)) => Err("the receiver did not answer in time".into()),
            Err(_) => Err("Tenon is shutting down".into()),
        };
        match &sent {
            Ok(response) if response.status().is_success() => self.note(None),
            Ok(response) => self.note(Some(&format!("the receiver answers {}", response.status()))),
            Err(error) => self.note(Some(&error.to_string())),
        }
        sent
    }
}

async fn send(client: Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let (parts, bytes) = request.into_parts();
    let mut response = client
        .post(parts.uri.to_string())
        .headers(parts.headers)
        .body(bytes)
        .send()
        .await
        .map_err(reqwest::Error::without_url)?;
    let mut answer = Response::builder().status(response.status());
    if let Some(headers) = answer.headers_mut() {
        *headers = std::mem::take(response.headers_mut());
    }
    let body = body::read(&mut response, MAX_RESPONSE_BYTES).await;
    Ok(answer.body(body.unwrap_or_default().into())?)
}

/// Those that the operator trusts beside the system's.
fn certificates() -> Result<Vec<Certificate>> {
    let Some(file) = std::env::var_os("OTEL_EXPORTER_OTLP_CERTIFICATE") else {
        return Ok(Vec::new());
    };
    let unusable = || format!("the certificates in {} cannot be used", file.display());
    let pem = std::fs::read(&file).with_context(unusable)?;
    Certificate::from_pem_bundle(&pem).with_context(unusable)
}
