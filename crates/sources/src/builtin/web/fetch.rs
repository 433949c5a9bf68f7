//! One request, and what came back, as far as it was wanted.

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Client, StatusCode};
use tenon_domain::{ErrorKind, ToolError};
use url::Url;

use tenon_net::body;
use tenon_net::{RequestError, UrlError};

use crate::fault::{ServerFault, request_fault, url_fault};

/// Holds long pages and most documents; bounds memory per call.
pub(super) const MAX_BODY_BYTES: usize = 5 * 1024 * 1024;

/// What a server answered with.
#[derive(Debug)]
pub(super) struct FetchedPage {
    /// After all redirects.
    pub(super) url: Url,
    pub(super) redirected: bool,
    pub(super) status: StatusCode,
    /// The `Content-Type` header as sent; empty if there is none.
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    /// The body went on after `MAX_BODY_BYTES`.
    pub(super) cut: bool,
}

pub(super) async fn fetch(client: &Client, url: Url) -> Result<FetchedPage, ToolError> {
    let mut response = client
        .get(url.clone())
        .send()
        .await
        .map_err(|error| explain(&error, &url))?;
    let content_type = response
        .headers()
        .get(CONTENT_TYPE)
        .map(HeaderValue::as_bytes)
        .unwrap_or_default();
    let mut fetched = FetchedPage {
        redirected: *response.url() != url,
        url: response.url().clone(),
        status: response.status(),
        content_type: String::from_utf8_lossy(content_type).into_owned(),
        body: Vec::new(),
        cut: false,
    };
    let read = body::read_prefix(&mut response, MAX_BODY_BYTES, &mut fetched.body).await;
    fetched.cut = read.map_err(|error| explain(&error, &url))? == body::BodyEnd::Truncated;
    Ok(fetched)
}

fn explain(error: &reqwest::Error, url: &Url) -> ToolError {
    match RequestError::new(error, url) {
        RequestError::Refused(refusal) => refused(refusal),
        why @ RequestError::TimedOut { .. } => {
            ToolError::coded(ErrorKind::TimedOut, request_fault(&why))
        }
        why => ToolError::coded(ErrorKind::Failed, request_fault(&why)),
    }
}

/// Why an address is refused, and who can change that.
pub(super) fn refused(error: UrlError) -> ToolError {
    let kind = match error {
        UrlError::NotAUrl(_) | UrlError::Scheme(_) | UrlError::Credentials => {
            ErrorKind::InvalidInput
        }
        UrlError::Private(host) => {
            let host = host.into();
            return ToolError::coded(ErrorKind::Denied, ServerFault::PrivateFetch { host });
        }
        UrlError::UnknownHost(_) | UrlError::TooManyRedirects(_) => ErrorKind::Failed,
    };
    ToolError::coded(kind, url_fault(&error))
}
