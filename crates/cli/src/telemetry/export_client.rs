//! The HTTP client of the exporters: ours, on our runtime, within a deadline.
//!
//! Exporters run on threads of their own, which block while a request runs. That the receiver is
//! away is logged once, and once more when it is back; for traces and metrics apart, since many a
//! receiver takes only one of both.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::{Certificate, Client};
use tenon_net::{Network, RequestError, body, is_loopback};
use tokio::runtime::Handle;
use url::Url;

/// Of a response only the status counts.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct ExportClient {
    /// What it sends, for the log.
    signal: &'static str,
    /// A proxy that the environment names is for the world, not for this machine.
    proxied: Client,
    direct: Client,
    runtime: Handle,
    timeout: Duration,
    is_failing: AtomicBool,
}

impl ExportClient {
    pub(super) fn new(signal: &'static str, timeout: Duration) -> Result<Self> {
        let certificates = certificates()?;
        let build =
            |builder: reqwest::ClientBuilder| builder.tls_certs_merge(certificates.clone()).build();
        Ok(Self {
            signal,
            proxied: build(tenon_net::client(Network::Anywhere))?,
            direct: build(tenon_net::client(Network::Anywhere).no_proxy())?,
            runtime: Handle::current(),
            timeout,
            is_failing: AtomicBool::new(false),
        })
    }

    fn client(&self, url: &Url) -> &Client {
        if is_loopback(url) {
            &self.direct
        } else {
            &self.proxied
        }
    }

    fn note(&self, why: Option<&str>) {
        let signal = self.signal;
        match why {
            Some(why) if !self.is_failing.swap(true, Ordering::Relaxed) => {
                tracing::warn!(
                    why,
                    "{signal} cannot be sent, and are dropped until they can"
                );
            }
            None if self.is_failing.swap(false, Ordering::Relaxed) => {
                tracing::info!("{signal} are sent again");
            }
            Some(_) | None => {}
        }
    }
}

#[async_trait]
impl HttpClient for ExportClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let url = Url::parse(&request.uri().to_string())?;
        let (client, timeout) = (self.client(&url).clone(), self.timeout);
        // The thread that exports has neither timers nor sockets; the runtime has.
        let sending =
            async move { tokio::time::timeout(timeout, send(client, url, request)).await };
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

async fn send(
    client: Client,
    url: Url,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, HttpError> {
    let (parts, bytes) = request.into_parts();
    let request = client.post(url.clone()).headers(parts.headers).body(bytes);
    let sent = request.send().await;
    let mut response = sent.map_err(|error| RequestError::new(&error, &url))?;
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
