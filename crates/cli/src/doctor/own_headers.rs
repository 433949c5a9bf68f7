//! Headers that a person gives. Their values are keys: they are sent to the server and masked
//! everywhere else.

use std::fmt;
use std::str::FromStr;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use tenon_domain::text::line;

use super::rules;

/// Shown in the place of what is not.
const HIDDEN: &str = "…";

/// Shorter secrets would be found in any text.
const MIN_SECRET_CHARS: usize = 4;

const MAX_HEADERS: usize = 64;

/// One header, as `--header` takes it.
#[derive(Clone)]
pub(crate) struct OwnHeader {
    name: HeaderName,
    value: HeaderValue,
}

impl fmt::Debug for OwnHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {HIDDEN}", self.name)
    }
}

/// Why a header cannot be sent. It does not repeat the value: that may be a key.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OwnHeaderError {
    #[error("write it as 'Name: value', such as 'Authorization: Bearer KEY'")]
    NoColon,
    #[error("what stands before the colon is no name of a header")]
    InvalidName,
    #[error("a page cannot send {0}: browsers set it themselves")]
    SetByBrowsers(HeaderName),
    #[error("the value of {0} has characters that no header may have")]
    InvalidValue(HeaderName),
}

impl OwnHeader {
    pub(crate) fn read(text: &str) -> Result<Self, OwnHeaderError> {
        let (name, value) = text.split_once(':').ok_or(OwnHeaderError::NoColon)?;
        let name = HeaderName::from_str(name.trim()).map_err(|_| OwnHeaderError::InvalidName)?;
        if !rules::may_set(&name) {
            return Err(OwnHeaderError::SetByBrowsers(name));
        }
        match HeaderValue::from_str(value.trim()) {
            Ok(value) => Ok(Self { name, value }),
            Err(_) => Err(OwnHeaderError::InvalidValue(name)),
        }
    }
}

/// All of them.
pub(super) struct OwnHeaders {
    pub(super) headers: HeaderMap,
    secrets: Vec<String>,
}

impl fmt::Debug for OwnHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnHeaders")
    }
}

impl OwnHeaders {
    pub(super) fn new(given: Vec<OwnHeader>) -> Self {
        let mut secrets = Vec::new();
        for OwnHeader { value, .. } in &given {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            secrets.extend(value.split_whitespace().last().map(str::to_owned));
            secrets.push(value);
        }
        secrets.retain(|secret| secret.len() >= MIN_SECRET_CHARS);
        // The longest first: one may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let headers = given.into_iter().map(|one| (one.name, one.value));
        Self {
            headers: headers.collect(),
            secrets,
        }
    }

    /// Whether one of them looks like a key.
    pub(super) fn has_key(&self) -> bool {
        let mut names = self.headers.keys().map(HeaderName::as_str);
        names.any(|name| name.contains("authorization") || name.contains("key"))
    }

    /// One line of what a server said, without what would steer a terminal, and without
    /// the keys that it may have said back.
    pub(super) fn mask(&self, text: &str, max_chars: usize) -> String {
        let hide = |text: String, secret: &String| text.replace(secret.as_str(), HIDDEN);
        // Cleaned first, or a key with something unseen in it would come through.
        let clean = line(text, usize::MAX);
        line(&self.secrets.iter().fold(clean, hide), max_chars)
    }

    /// The headers of a request or a response, as they may be shown. Several of one name are
    /// one with commas, as browsers have it.
    pub(super) fn mask_headers(&self, headers: &HeaderMap) -> Map<String, Value> {
        let masked = headers.keys().take(MAX_HEADERS).map(|name| {
            let value = if self.headers.contains_key(name) {
                HIDDEN.to_owned()
            } else {
                self.mask(&rules::values(headers, name.as_str()).join(", "), 200)
            };
            (name.to_string(), Value::String(value))
        });
        masked.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_and_its_value_never_shown() {
        let key = OwnHeader::read("X-Api-Key:  s3cret-key ").unwrap();
        assert_eq!(format!("{key:?}"), "x-api-key: …");
        let bearer = OwnHeader::read("Authorization: Bearer abcd:1234").unwrap();
        let own = OwnHeaders::new(vec![key, bearer]);
        assert_eq!(own.headers["x-api-key"], "s3cret-key");
        assert!(own.has_key());
        assert_eq!(
            own.mask("you said abcd:1234\u{1b}[31m and\ns3cret\u{200b}-key", 80),
            "you said …[31m and …"
        );
        let mut answer = HeaderMap::new();
        answer.insert("x-echo", HeaderValue::from_static("<s3cret-key>"));
        answer.insert("authorization", HeaderValue::from_static("other"));
        let shown = Value::Object(own.mask_headers(&answer)).to_string();
        assert_eq!(shown, r#"{"x-echo":"<…>","authorization":"…"}"#);
    }

    #[test]
    fn what_no_page_can_send_is_refused_without_repeating_it() {
        let check = |text: &str, expected: &str| {
            assert_eq!(OwnHeader::read(text).unwrap_err().to_string(), expected);
        };
        check(
            "s3cret",
            "write it as 'Name: value', such as 'Authorization: Bearer KEY'",
        );
        check(
            "a b: s3cret",
            "what stands before the colon is no name of a header",
        );
        check(
            "Cookie: s3cret",
            "a page cannot send cookie: browsers set it themselves",
        );
        check(
            "Sec-Fetch-Site: none",
            "a page cannot send sec-fetch-site: browsers set it themselves",
        );
        check(
            "x: a\nb",
            "the value of x has characters that no header may have",
        );
    }
}
