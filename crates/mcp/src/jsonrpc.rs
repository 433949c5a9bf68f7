//! JSON-RPC messages.
//!
//! A message is parsed only as far as it must be to be dispatched. Params and results
//! stay raw and are parsed by whoever waits for them, so that one bad tool does not
//! cost a whole list and a long result does not hold up the others.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use tenon_text as text;

/// No message may be longer: a result of 16 MB fits, however it is escaped.
pub(crate) const MAX_MESSAGE_BYTES: usize = 32 * 1024 * 1024;

const MAX_ERROR_CHARS: usize = 4000;

/// One message from a server.
#[derive(Debug, Deserialize)]
pub(crate) struct IncomingMessage<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

/// A JSON-RPC error: what a server answers instead of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    #[serde(default)]
    pub code: i64,
    /// Cleaned and shortened, fit to be shown.
    #[serde(default, deserialize_with = "shortened")]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Codes that a client acts on.
impl RpcError {
    /// What a client answers to a sampling request that it declines.
    pub const USER_REJECTED: i64 = -1;
    pub const PARSE_ERROR: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const INTERNAL_ERROR: i64 = -32603;
    /// Up to 2025-11-25; later it is [`Self::INVALID_PARAMS`].
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    /// A header does not say what the body says.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client would have to offer more to be served.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// `data.supported` names the versions it speaks.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// A URL elicitation comes first; `data.elicitations` says which.
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;

    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub fn with_data(self, data: Value) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }

    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    pub fn unknown_tool(name: &str) -> Self {
        Self::invalid_params(format!("Unknown tool: {}", text::line(name, 200)))
    }

    pub fn unknown_prompt(name: &str) -> Self {
        Self::invalid_params(format!("Unknown prompt: {}", text::line(name, 200)))
    }

    /// The engine writes the code of the client's protocol version.
    pub fn resource_not_found(uri: &str) -> Self {
        let uri = text::line(uri, 500);
        Self::new(
            Self::RESOURCE_NOT_FOUND,
            format!("Resource not found: {uri}"),
        )
        .with_data(serde_json::json!({ "uri": uri }))
    }

    pub(crate) fn read(raw: &RawValue) -> Self {
        serde_json::from_str(raw.get()).unwrap_or_else(|_| Self {
            code: 0,
            message: text::line(raw.get(), 300),
            data: None,
        })
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.trim() {
            "" => write!(f, "error {}", self.code),
            message => f.write_str(message),
        }
    }
}

fn shortened<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let message = Cow::<str>::deserialize(deserializer)?;
    Ok(text::block(&message, MAX_ERROR_CHARS))
}

/// An id as this client gives them. Some servers send numbers back as texts.
pub(crate) fn own_id(raw: &RawValue) -> Option<u64> {
    raw.get().trim_matches('"').parse().ok()
}

/// The id in the beginning or the end of a message that is not there as a whole.
pub(crate) fn id_in(piece: &[u8]) -> Option<u64> {
    let piece = String::from_utf8_lossy(piece);
    let compact: String = piece.chars().filter(|c| !c.is_whitespace()).collect();
    // Only members of the message itself count, and none of something inside its result.
    let digits = match compact.strip_prefix(r#"{"jsonrpc":"2.0","id":"#) {
        Some(rest) => rest.split(',').next()?,
        None => compact.rsplit_once(r#""id":"#)?.1.strip_suffix('}')?,
    };
    digits.parse().ok()
}

/// The parameters of a request while they are written.
#[derive(Debug)]
pub(crate) struct ParamsBuilder(String);

impl ParamsBuilder {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    pub(crate) fn with(mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&json(name));
        self.0.push(':');
        self.0.push_str(&json(value));
        self
    }

    /// `meta` are the members of `_meta`, or nothing.
    pub(crate) fn finish(mut self, meta: &str) -> String {
        if !meta.is_empty() {
            if self.0.len() > 1 {
                self.0.push(',');
            }
            self.0.push_str("\"_meta\":{");
            self.0.push_str(meta);
            self.0.push('}');
        }
        self.0.push('}');
        self.0
    }
}

pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    let method = json(method);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

pub(crate) fn notification(method: &str, params: &str) -> String {
    let method = json(method);
    format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
}

/// The response to a request of the server.
pub(crate) fn response(id: &RawValue, result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

pub(crate) fn error(id: &RawValue, code: i64, message: &str) -> String {
    let message = json(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#)
}

/// The reply to `sampling/createMessage` if no model is available for it.
pub(crate) fn sampling_refusal(id: &RawValue) -> String {
    let why = "Whoever made this call has no model to sample from. Do without it.";
    error(id, RpcError::USER_REJECTED, why)
}

pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("texts and values that were JSON can be written as JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_written_as_json() {
        let params = ParamsBuilder::new()
            .with("name", "a \"b\"\n")
            .with("arguments", &json!({ "x": [1] }))
            .finish(r#""progressToken":7"#);
        let written: Value = serde_json::from_str(&request(7, "tools/call", &params)).unwrap();
        let expected = json!({
            "jsonrpc": "2.0",
            "id": 7,
            "method": "tools/call",
            "params": {
                "name": "a \"b\"\n",
                "arguments": { "x": [1] },
                "_meta": { "progressToken": 7 },
            },
        });
        assert_eq!(written, expected);
        assert_eq!(ParamsBuilder::new().finish(""), "{}");
        assert_eq!(
            ParamsBuilder::new().finish("\"a\":1"),
            r#"{"_meta":{"a":1}}"#
        );
    }

    #[test]
    fn the_id_of_a_message_is_found_in_its_ends() {
        let found = |piece: &str| id_in(piece.as_bytes());
        assert_eq!(
            found(r#"{"jsonrpc": "2.0", "id": 7, "result": {"id": 9, "#),
            Some(7)
        );
        assert_eq!(found(r#"xxx"}]},"jsonrpc":"2.0","id":7}"#), Some(7));
        assert_eq!(found(r#"{"result":{"content":[{"id":7,"te"#), None);
    }

    #[test]
    fn an_error_is_short_and_clean() {
        let read = |error: Value| {
            let raw = RawValue::from_string(error.to_string()).unwrap();
            RpcError::read(&raw).message
        };
        let said = json!({ "message": "no\u{1b}[1m\n\u{202e}good" });
        assert_eq!(read(said), "no[1m\ngood");
        let endless = "x".repeat(1_000_000);
        assert_eq!(read(json!({ "message": endless })).chars().count(), 4001);
        assert_eq!(read(json!(endless)).chars().count(), 301);
    }

    #[track_caller]
    fn check(raw: &str, expected: Option<u64>) {
        let raw: &RawValue = serde_json::from_str(raw).unwrap();
        assert_eq!(own_id(raw), expected, "{raw}");
    }

    #[test]
    fn only_ids_of_this_client_are_own() {
        check("5", Some(5));
        check("\"5\"", Some(5));
        check("\"five\"", None);
        check("-5", None);
        check("5.5", None);
        check("[5]", None);
    }
}
