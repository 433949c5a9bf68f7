//! A request as JSON, for a page that sends it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use tenon_openapi::request::OpenapiRequest;
use ts_rs::TS;

/// The arguments of `fetch(url, { method, headers, body })`. A page cannot set `cookie`: the
/// browser silently drops that header.
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

impl From<OpenapiRequest> for WireRequest {
    fn from(request: OpenapiRequest) -> Self {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tenon_openapi::{parse, request};

    use super::*;

    fn wire(operation: Value, input: Value) -> Value {
        let paths = json!({ "/a": operation });
        let document =
            json!({ "openapi": "3.1.0", "servers": [{ "url": "http://h" }], "paths": paths });
        let parsed = parse::parse(&document).unwrap();
        let base = url::Url::parse("http://h/openapi.json").unwrap();
        let request = request::build(&parsed.operations[0], &base, &input).unwrap();
        let written = serde_json::to_value(WireRequest::from(request)).unwrap();
        let read: WireRequest = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), written);
        written
    }

    #[test]
    fn a_page_gets_what_fetch_takes() {
        let header = json!({ "name": "X-A", "in": "header", "schema": { "type": "string" } });
        let written = wire(
            json!({ "get": { "parameters": [header] } }),
            json!({ "X-A": "é" }),
        );
        let expected = json!({
            "method": "GET",
            "url": "http://h/a",
            "headers": [
                ["accept", "application/json, text/*;q=0.9, image/*;q=0.8, */*;q=0.5"],
                ["x-a", "Ã©"],
            ],
        });
        assert_eq!(written, expected);

        let body = |media_type: &str| {
            let content = json!({ media_type: { "schema": {} } });
            json!({ "post": { "requestBody": { "required": true, "content": content } } })
        };
        let written = wire(body("application/json"), json!({ "body": { "é": 1 } }));
        let expected = json!({ "type": "text", "text": "{\"é\":1}" });
        assert_eq!(written["body"], expected);
        let written = wire(body("a/b"), json!({ "body": "/w==" }));
        let expected = json!({ "type": "base64", "data": "/w==" });
        assert_eq!(written["body"], expected);
    }
}
