//! JSON-RPC: what goes over a connection, whatever carries it.
//!
//! A message is read only as far as it must be to be passed on. What is in it
//! is read by whoever asked, so that one bad tool does not cost a whole list
//! and a long result does not hold up the others.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::text;

/// No message may be longer: a result of 16 MB fits, however it is escaped.
pub(super) const MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// What anybody reads of why a server refuses.
const MAX_REASON: usize = 4000;

/// One message from a server.
#[derive(Debug, Deserialize)]
pub(super) struct Incoming<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// What a server answers instead of a result.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Refusal {
    #[serde(default)]
    pub(super) code: i64,
    #[serde(default, deserialize_with = "reason")]
    pub(super) message: String,
    #[serde(default)]
    pub(super) data: Option<Value>,
}

/// Codes that mean something to us.
impl Refusal {
    pub(super) const METHOD_NOT_FOUND: i64 = -32601;
    pub(super) const INVALID_PARAMS: i64 = -32602;
    /// A header does not say what the body says.
    pub(super) const HEADER_MISMATCH: i64 = -32020;
    /// We would have to offer more to be served.
    pub(super) const MISSING_CAPABILITY: i64 = -32021;
    /// `data.supported` names the versions it speaks.
    pub(super) const UNSUPPORTED_VERSION: i64 = -32022;
    /// Somebody has to visit an address first; `data.elicitations` says which.
    pub(super) const VISIT_FIRST: i64 = -32042;

    pub(super) fn read(raw: &RawValue) -> Self {
        serde_json::from_str(raw.get()).unwrap_or_else(|_| Self {
            code: 0,
            message: text::line(raw.get(), 300),
            data: None,
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.trim() {
            "" => write!(f, "error {}", self.code),
            message => f.write_str(message),
        }
    }
}

fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let said = Cow::<str>::deserialize(deserializer)?;
    Ok(text::block(&said, MAX_REASON))
}

/// An id as we give them. Some servers send numbers back as texts.
pub(super) fn our_id(raw: &RawValue) -> Option<u64> {
    raw.get().trim_matches('"').parse().ok()
}

/// The id in the beginning or the end of a message that is not there as a whole.
pub(super) fn id_in(piece: &[u8]) -> Option<u64> {
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
pub(super) struct Params(String);

impl Params {
    pub(super) fn new() -> Self {
        Self(String::from("{"))
    }

    pub(super) fn with(mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&json(name));
        self.0.push(':');
        self.0.push_str(&json(value));
        self
    }

    /// `meta` is the inside of an object, or nothing.
    pub(super) fn finish(mut self, meta: &str) -> String {
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

pub(super) fn request(id: u64, method: &str, params: &str) -> String {
    let method = json(method);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

pub(super) fn notification(method: &str, params: &str) -> String {
    let method = json(method);
    format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
}

/// The answer to a request of theirs, under the id they gave it.
pub(super) fn answer(id: &RawValue, result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

pub(super) fn refusal(id: &RawValue, code: i64, message: &str) -> String {
    let message = json(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#)
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("texts and values that were JSON can be written as JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_by_hand_is_json() {
        let params = Params::new()
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
        assert_eq!(Params::new().finish(""), "{}");
        assert_eq!(Params::new().finish("\"a\":1"), r#"{"_meta":{"a":1}}"#);
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
    fn why_a_server_refuses_is_short_and_clean() {
        let read = |error: Value| {
            let raw = RawValue::from_string(error.to_string()).unwrap();
            Refusal::read(&raw).message
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
        assert_eq!(our_id(raw), expected, "{raw}");
    }

    #[test]
    fn only_ids_we_could_have_given_are_ours() {
        check("5", Some(5));
        check("\"5\"", Some(5));
        check("\"five\"", None);
        check("-5", None);
        check("5.5", None);
        check("[5]", None);
    }
}
