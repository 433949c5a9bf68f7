//! What differs from one endpoint to the next.

use http::HeaderMap;
use http::header::{HOST, HeaderName, ORIGIN};

#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// The names a browser may know this server by: those of `Host` and `Origin`, without ports. A page of
    /// another name is refused (DNS rebinding). None: whoever listens checks it.
    pub allowed_hosts: Option<Vec<String>>,
}

impl ServerOptions {
    pub(super) fn allows_host(&self, headers: &HeaderMap) -> bool {
        let Some(allowed) = &self.allowed_hosts else {
            return true;
        };
        let is_allowed = |authority: &str| {
            let name = host_name(authority);
            allowed.iter().any(|host| host.eq_ignore_ascii_case(name))
        };
        let header = |name: HeaderName| headers.get(name).map(|value| value.to_str());
        let host = match header(HOST) {
            None => true,
            Some(host) => host.is_ok_and(is_allowed),
        };
        let origin = match header(ORIGIN) {
            None => true,
            Some(origin) => origin.is_ok_and(|origin| {
                let authority = origin.split_once("://").map(|(_, authority)| authority);
                authority.is_some_and(is_allowed)
            }),
        };
        host && origin
    }
}

/// Without the port. `[::1]:80` is `::1`.
fn host_name(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn pages_of_other_names_are_refused() {
        let hosts = ["localhost", "::1"].map(str::to_owned);
        let options = ServerOptions {
            allowed_hosts: Some(hosts.to_vec()),
        };
        let check = |host: &str, origin: Option<&str>, expected: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_str(host).unwrap());
            if let Some(origin) = origin {
                headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
            }
            assert_eq!(options.allows_host(&headers), expected, "{host} {origin:?}");
        };
        check("localhost", None, true);
        check("LOCALHOST:8080", Some("http://localhost:3000"), true);
        check("[::1]:8080", Some("http://[::1]"), true);
        check("evil.example", None, false);
        check("localhost", Some("http://evil.example"), false);
        check("localhost", Some("http://localhost.evil.example"), false);
        check("localhost", Some("null"), false);
    }
}
