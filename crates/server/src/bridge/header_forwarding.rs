//! Forwards headers of a request to the server behind, by an allow-list.

use axum::http::HeaderMap;
use serde::Deserialize;

/// Credentials for the bridge itself; they are only forwarded if a pattern names them in full.
const CREDENTIAL_HEADERS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// mcpo's `client_header_forwarding`. Without an allow-list nothing is forwarded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HeaderForwarding {
    enabled: bool,
    whitelist: Vec<String>,
    blacklist: Vec<String>,
}

impl HeaderForwarding {
    pub(super) fn select(&self, headers: &HeaderMap) -> Vec<(String, String)> {
        if !self.enabled {
            return Vec::new();
        }
        let wanted = headers.iter().filter(|(name, _)| {
            let name = name.as_str();
            let is_credential = CREDENTIAL_HEADERS.contains(&name);
            let allows = |pattern: &String| match pattern.strip_suffix('*') {
                Some(prefix) => !is_credential && has_prefix(name, prefix),
                None => pattern.eq_ignore_ascii_case(name),
            };
            let denies = |pattern: &String| match pattern.strip_suffix('*') {
                Some(prefix) => has_prefix(name, prefix),
                None => pattern.eq_ignore_ascii_case(name),
            };
            self.whitelist.iter().any(allows) && !self.blacklist.iter().any(denies)
        });
        let texts = wanted.filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        texts.collect()
    }
}

fn has_prefix(name: &str, prefix: &str) -> bool {
    let start = name.get(..prefix.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};
    use serde_json::{Value, json};

    #[track_caller]
    fn check(rules: Value, expected: &[&str]) {
        let rules: HeaderForwarding = serde_json::from_value(rules).unwrap();
        let names = ["authorization", "x-user-id", "x-user-name", "x-trace"];
        let value = HeaderValue::from_static("v");
        let headers = names.map(|name| (HeaderName::from_static(name), value.clone()));
        let headers: HeaderMap = headers.into_iter().collect();
        let mut selected: Vec<String> =
            rules.select(&headers).into_iter().map(|(n, _)| n).collect();
        selected.sort();
        assert_eq!(selected, expected, "{rules:?}");
    }

    #[test]
    fn only_what_is_allowed_goes_on() {
        check(json!({}), &[]);
        check(json!({ "enabled": true }), &[]);
        check(json!({ "whitelist": ["*"] }), &[]);
        check(
            json!({ "enabled": true, "whitelist": ["*"] }),
            &["x-trace", "x-user-id", "x-user-name"],
        );
        check(
            json!({ "enabled": true, "whitelist": ["X-User-*"], "blacklist": ["X-User-Name"] }),
            &["x-user-id"],
        );
        check(
            json!({ "enabled": true, "whitelist": ["Authorization"] }),
            &["authorization"],
        );
    }
}
