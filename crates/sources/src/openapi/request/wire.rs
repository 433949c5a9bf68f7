//! A request as JSON, for a page that sends it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use url::Url;

use super::Request;

/// What `fetch(url, { method, headers, body })` takes. A page cannot set `cookie`:
/// its browser leaves that out without a word.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WireRequest {
    pub method: String,
    pub url: String,
    /// Every byte of a value is one character, as `Headers` in a page wants it.
    pub headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub body: Option<WireBody>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum WireBody {
    Text { text: String },
    Base64 { data: String },
}

#[derive(Debug, thiserror::Error)]
#[error("not a request: {0}")]
pub struct NotARequest(&'static str);

impl From<Request> for WireRequest {
    fn from(request: Request) -> Self {
        let header = |(name, value): (&HeaderName, &HeaderValue)| {
            let value = value.as_bytes().iter().map(|byte| char::from(*byte));
            (name.as_str().to_owned(), value.collect())
        };
        let body = |bytes: Vec<u8>| match String::from_utf8(bytes) {
            Ok(text) => WireBody::Text { text },
            Err(error) => WireBody::Base64 {
                data: STANDARD.encode(error.as_bytes()),
            },
        };
        Self {
            method: request.method.to_string(),
            url: request.url.into(),
            headers: request.headers.iter().map(header).collect(),
            body: request.body.map(body),
        }
    }
}

impl TryFrom<WireRequest> for Request {
    type Error = NotARequest;

    fn try_from(wire: WireRequest) -> Result<Self, NotARequest> {
        let mut headers = HeaderMap::new();
        for (name, value) in wire.headers {
            let name = HeaderName::from_bytes(name.as_bytes());
            let name = name.map_err(|_| NotARequest("a header has no name"))?;
            let bytes: Result<Vec<u8>, _> = value.chars().map(u8::try_from).collect();
            let value = bytes
                .ok()
                .and_then(|bytes| HeaderValue::from_bytes(&bytes).ok());
            headers.append(name, value.ok_or(NotARequest("a header is no line"))?);
        }
        let body = match wire.body {
            None => None,
            Some(WireBody::Text { text }) => Some(text.into_bytes()),
            Some(WireBody::Base64 { data }) => {
                let bytes = STANDARD.decode(data);
                Some(bytes.map_err(|_| NotARequest("its body is no base64"))?)
            }
        };
        Ok(Self {
            method: Method::from_bytes(wire.method.as_bytes())
                .map_err(|_| NotARequest("its method is none"))?,
            url: Url::parse(&wire.url).map_err(|_| NotARequest("its address is none"))?,
            headers,
            body,
        })
    }
}

/// Values of headers, and addresses, may be secrets.
impl std::fmt::Debug for WireRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WireRequest")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for WireBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Text { .. } => "Text",
            Self::Base64 { .. } => "Base64",
        })
    }
}
