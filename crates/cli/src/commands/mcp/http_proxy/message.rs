//! A message of a client, as far as it has to be understood to be passed on.

use reqwest::StatusCode;
use reqwest::header::HeaderValue;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tenon_server::wire::ErrorBody;

#[derive(Debug)]
pub(super) struct ForwardedMessage {
    pub(super) body: String,
    /// Of a request, as JSON.
    pub(super) id: Option<String>,
    /// Empty for a response.
    pub(super) method: String,
    /// What the method is applied to: a tool, a prompt, a resource.
    pub(super) name: Option<String>,
    /// The version that a request of the stateless era carries.
    pub(super) stateless_version: Option<String>,
    pub(super) kind: ForwardedKind,
}

#[derive(Debug, PartialEq)]
pub(super) enum ForwardedKind {
    Cancellation {
        /// The id of the request, as JSON.
        request: String,
    },
    Other,
}

#[derive(Deserialize)]
struct ForwardedHead<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: String,
    #[serde(borrow, default)]
    params: Option<ForwardedParams<'a>>,
}

#[derive(Deserialize)]
struct ForwardedParams<'a> {
    #[serde(default)]
    name: Option<Value>,
    #[serde(default)]
    uri: Option<Value>,
    #[serde(rename = "requestId", borrow, default)]
    request_id: Option<&'a RawValue>,
    #[serde(rename = "_meta", default)]
    meta: Option<Value>,
}

impl ForwardedMessage {
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let body = str::from_utf8(line.trim_ascii()).map_err(|error| error.to_string())?;
        if body.starts_with('[') {
            return Ok(Self::batch(body));
        }
        let raw: ForwardedHead<'_> =
            serde_json::from_str(body).map_err(|error| error.to_string())?;
        let params = raw.params.as_ref();
        let text = |value: &Option<Value>| value.as_ref()?.as_str().map(str::to_owned);
        let version = params
            .and_then(|params| params.meta.as_ref())
            .and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
        let cancelled = params.and_then(|params| params.request_id);
        let kind = match cancelled.filter(|_| raw.method == "notifications/cancelled") {
            Some(request) => ForwardedKind::Cancellation {
                request: request.get().to_owned(),
            },
            None => ForwardedKind::Other,
        };
        let is_request = !raw.method.is_empty();
        Ok(Self {
            id: raw.id.filter(|_| is_request).map(|id| id.get().to_owned()),
            name: params.and_then(|params| text(&params.name).or_else(|| text(&params.uri))),
            stateless_version: version.and_then(Value::as_str).map(str::to_owned),
            method: raw.method,
            kind,
            body: body.to_owned(),
        })
    }

    /// Of 2025-03-26; answered as a batch.
    fn batch(body: &str) -> Self {
        Self {
            body: body.to_owned(),
            id: None,
            method: String::new(),
            name: None,
            stateless_version: None,
            kind: ForwardedKind::Other,
        }
    }

    /// What a cancellation would name it by.
    pub(super) fn request_key(&self) -> Option<String> {
        self.id.clone()
    }
}

/// JSON without line breaks.
pub(super) fn one_line(json: &[u8]) -> Option<String> {
    let text = str::from_utf8(json).ok()?.trim();
    if !text.contains(['\n', '\r']) {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let value: Value = serde_json::from_str(text).ok()?;
    Some(value.to_string())
}

pub(super) fn is_response_to(line: &str, id: Option<&str>) -> bool {
    let (Some(id), Ok(message)) = (id, serde_json::from_str::<ForwardedHead<'_>>(line)) else {
        return false;
    };
    message.method.is_empty() && message.id.is_some_and(|answered| answered.get() == id)
}

/// The version in the response to `initialize`.
pub(super) fn protocol_version(response: &str) -> Option<HeaderValue> {
    let response: Value = serde_json::from_str(response).ok()?;
    let version = response.pointer("/result/protocolVersion")?.as_str()?;
    HeaderValue::try_from(version).ok()
}

/// `id` is JSON.
pub(super) fn error_response(id: &str, code: i64, why: &str) -> String {
    let error = json!({"code": code, "message": why});
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// Why the server refused, in its own words where it has any.
pub(super) fn said(status: StatusCode, body: &[u8]) -> String {
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(refused) => refused.error.message,
        Err(_) => format!("Tenon answered with {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_understood_as_far_as_its_headers_need() {
        let read = |line: &str| ForwardedMessage::read(line.as_bytes()).unwrap();
        let call = read(
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        );
        assert_eq!(call.id.as_deref(), Some("\"a\""));
        assert_eq!(call.name.as_deref(), Some("t"));
        assert_eq!(call.stateless_version.as_deref(), Some("2026-07-28"));
        let cancel = read(r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#);
        let request = "7".to_owned();
        assert_eq!(cancel.kind, ForwardedKind::Cancellation { request });
        let response = read(r#"{"id":1,"result":{"name":"x"}}"#);
        assert_eq!((response.id, response.method.as_str()), (None, ""));
        assert!(ForwardedMessage::read(b"no json").is_err());
    }

    #[test]
    fn what_is_written_is_one_line() {
        let check = |json: &str, expected: Option<&str>| {
            assert_eq!(one_line(json.as_bytes()).as_deref(), expected, "{json:?}");
        };
        check("{\"a\":1}\n", Some("{\"a\":1}"));
        check("{\n\"a\": 1\n}", Some("{\"a\":1}"));
        check("", None);
        check("not\njson", None);
    }

    #[test]
    fn only_a_response_answers() {
        let check = |line: &str, expected: bool| {
            assert_eq!(is_response_to(line, Some("1")), expected, "{line}");
        };
        check(r#"{"id":1,"result":{}}"#, true);
        check(r#"{"id":2,"result":{}}"#, false);
        check(r#"{"id":1,"method":"ping"}"#, false);
        check(r#"{"method":"notifications/progress"}"#, false);
    }
}
