//! The cookie of a log-in. Scripts cannot read it, and no other site can make
//! a browser send it along with a request that changes something.

use axum::http::{HeaderMap, HeaderValue, header};
use tenon_store::SecretToken;

use super::caller::HttpCaller;

const PLAIN_NAME: &str = "tenon";

/// A browser takes it over https alone, and from this very host alone.
const SECURE_NAME: &str = "__Host-tenon";

/// The longest age that browsers accept. The store decides when a session ends.
const MAX_AGE_SECONDS: u32 = 400 * 24 * 60 * 60;

/// The tokens in a request. Others on this host can set the plain cookie: it
/// counts only where there is no other.
pub(super) fn tokens(headers: &HeaderMap) -> Vec<&str> {
    let named = |wanted: &str| -> Vec<&str> {
        let all = headers.get_all(header::COOKIE).iter();
        let pairs = all
            .filter_map(|value| value.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let values = pairs.filter(|(name, value)| *name == wanted && !value.is_empty());
        values.map(|(_, value)| value).take(4).collect()
    };
    let secure = named(SECURE_NAME);
    if secure.is_empty() {
        named(PLAIN_NAME)
    } else {
        secure
    }
}

pub fn set(caller: &HttpCaller, token: &SecretToken) -> HeaderValue {
    let (name, secure) = if caller.is_https {
        (SECURE_NAME, "; Secure")
    } else {
        (PLAIN_NAME, "")
    };
    let SecretToken(token) = token;
    let cookie = format!(
        "{name}={token}; HttpOnly; SameSite=Lax; Path=/; Max-Age={MAX_AGE_SECONDS}{secure}"
    );
    let mut cookie = HeaderValue::from_str(&cookie).expect("a token is base64url");
    cookie.set_sensitive(true);
    cookie
}

/// Takes back what [`set`] gave, whichever of the two it was.
pub fn clear() -> [HeaderValue; 2] {
    [
        HeaderValue::from_static("tenon=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0"),
        HeaderValue::from_static(
            "__Host-tenon=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0; Secure",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_cookie_counts_only_where_there_is_no_other() {
        let check = |lines: &[&'static str], expected: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::COOKIE, HeaderValue::from_static(line));
            }
            assert_eq!(tokens(&headers), expected, "{lines:?}");
        };
        check(&[], &[]);
        check(&["tenon=a; other=b"], &["a"]);
        check(&["tenon=a; tenon=b", "tenon=c"], &["a", "b", "c"]);
        check(&["tenon=a; __Host-tenon=b"], &["b"]);
        check(&["tenon=a", "__Host-tenon=b; __Host-tenon=c"], &["b", "c"]);
        check(&["tenon=a; __Host-tenon="], &["a"]);
    }
}
