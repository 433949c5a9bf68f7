//! Asking a model's server, as far as HTTP goes.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response};
use serde::Serialize;
use tenon_domain::WireFormat;
use tenon_net::{body, trace_context};
use url::{Host, Url};

use crate::remote::provider_error::{ProviderError, ProviderErrorBody};
use crate::{AttemptLog, Remote};

/// How long a server may take to be reached at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// An error is read up to here; the rest says nothing new.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;

/// How long a server may take to say what is wrong.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);

const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Posts a request; what comes back is the beginning of an answer.
pub(crate) async fn post(
    remote: &Remote,
    path: &str,
    body: &impl Serialize,
) -> Result<Response, ProviderError> {
    let attempts = AttemptLog::default();
    post_logged(remote, path, body, &attempts).await
}

/// The same, with what is sent and what comes back on record.
pub(crate) async fn post_logged(
    remote: &Remote,
    path: &str,
    body: &impl Serialize,
    attempts: &AttemptLog,
) -> Result<Response, ProviderError> {
    let url = format!("{}{path}", remote.base_url.trim_end_matches('/'));
    let body = serde_json::to_vec(body).map_err(|_| ProviderError::unsendable(remote))?;
    let body = Bytes::from(body);
    attempts.begin(remote, &url, &body);
    // The address was chosen by the person who added the model; redirects are not followed.
    let mut headers = HeaderMap::new();
    trace_context::add_headers(&mut headers);
    let request = client(&url)
        .post(&url)
        .headers(headers)
        .header(CONTENT_TYPE, "application/json")
        .body(body);
    let sent = authorise(request, remote).send().await;
    let response = sent.map_err(|error| ProviderError::connection(remote, &error))?;
    attempts.responded(response.status().as_u16());
    if response.status().is_success() {
        return Ok(response);
    }
    let (error, text) = read_error(response).await;
    attempts.received(text.as_bytes());
    Err(error.into_error(remote))
}

pub(crate) async fn get(remote: &Remote, url: &str) -> Result<Response, ProviderError> {
    let request = authorise(client(url).get(url), remote);
    let sent = request.send().await;
    sent.map_err(|error| ProviderError::connection(remote, &error))
}

/// Reads a body that should not be long. None: it is, or it broke off.
pub(crate) async fn read(mut response: Response, limit: usize) -> Option<String> {
    let body = body::read(&mut response, limit).await.ok()?;
    Some(String::from_utf8_lossy(&body).into_owned())
}

/// The body of an error response, as far as it arrives in time.
pub(crate) async fn error_body(response: Response) -> ProviderErrorBody {
    read_error(response).await.0
}

/// The same, and the words themselves.
async fn read_error(mut response: Response) -> (ProviderErrorBody, String) {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers());
    let mut body = Vec::new();
    let read = body::read_prefix(&mut response, MAX_ERROR_BODY_BYTES, &mut body);
    // On a timeout, the part read so far is used.
    let _ = tokio::time::timeout(ERROR_BODY_TIMEOUT, read).await;
    let text = String::from_utf8_lossy(&body).into_owned();
    let error = ProviderErrorBody {
        retry_after,
        ..ProviderErrorBody::read(status, &text)
    };
    (error, text)
}

fn authorise(request: RequestBuilder, remote: &Remote) -> RequestBuilder {
    let request = match remote.format {
        WireFormat::Openai | WireFormat::Responses => request,
        WireFormat::Anthropic => request.header("anthropic-version", ANTHROPIC_VERSION),
    };
    let Some(key) = remote.key.as_deref().filter(|key| !key.is_empty()) else {
        return request;
    };
    match remote.format {
        WireFormat::Openai | WireFormat::Responses => request.bearer_auth(key),
        WireFormat::Anthropic if remote.host().ends_with("anthropic.com") => {
            request.header("x-api-key", key)
        }
        // Servers that imitate Anthropic's API expect one or the other, so both headers are sent.
        WireFormat::Anthropic => request.header("x-api-key", key).bearer_auth(key),
    }
}

/// Seconds, milliseconds or a date: servers use all three.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let number = |name: &str| {
        let number: f64 = text(name)?.trim().parse().ok()?;
        (0.0..1e9).contains(&number).then_some(number)
    };
    if let Some(millis) = number("retry-after-ms") {
        return Some(Duration::from_secs_f64(millis / 1000.0));
    }
    if let Some(seconds) = number(RETRY_AFTER.as_str()) {
        return Some(Duration::from_secs_f64(seconds));
    }
    let date = httpdate::parse_http_date(text(RETRY_AFTER.as_str())?).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

/// A proxy that the environment names is for the world, not for this machine.
fn client(url: &str) -> &'static Client {
    static PROXIED: LazyLock<Client> = LazyLock::new(|| build(Client::builder()));
    static DIRECT: LazyLock<Client> = LazyLock::new(|| build(Client::builder().no_proxy()));
    if is_local(url) { &DIRECT } else { &PROXIED }
}

fn build(builder: reqwest::ClientBuilder) -> Client {
    builder
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        // A redirect would take the key, or the chat, somewhere else.
        .redirect(Policy::none())
        .user_agent(concat!("tenon/", env!("CARGO_PKG_VERSION")))
        .build()
        .expect("nothing in these settings can fail once TLS is installed")
}

/// Whether a server is on this machine or in its network.
pub(crate) fn is_local(url: &str) -> bool {
    let url = Url::parse(url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_private(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_wait_is_read_in_all_its_forms() {
        let check = |name: &'static str, value: &str, expected: Option<u64>| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let found = retry_after(&headers).map(|time| time.as_millis() as u64);
            assert_eq!(found, expected, "{name}: {value}");
        };
        check("retry-after", "7", Some(7_000));
        check("retry-after", "0.5", Some(500));
        check("retry-after-ms", "250", Some(250));
        check("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
        check("retry-after", "soon", None);
        check("retry-after", "-1", None);
        check("retry-after", "inf", None);
    }

    #[test]
    fn this_machine_is_asked_without_a_proxy() {
        for local in [
            "http://localhost:1/v1",
            "http://127.0.0.1",
            "http://[::1]:8/",
            "http://10.0.0.2",
        ] {
            assert!(is_local(local), "{local}");
        }
        for remote in ["https://api.openai.com/v1", "http://8.8.8.8", "nonsense"] {
            assert!(!is_local(remote), "{remote}");
        }
    }
}
