//! The response of a token endpoint (RFC 6749, section 5).

use std::fmt;
use std::time::Duration;

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use tenon_text as text;

/// A token goes into a header, and servers take no longer ones.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// It is refreshed so long before it expires, for it is still on its way then.
const EXPIRY_MARGIN: Duration = Duration::from_secs(30);

/// A year: what lasts longer is refreshed no later.
const MAX_LIFETIME: Duration = Duration::from_secs(365 * 24 * 3600);

/// How much of what the server says is quoted.
const MAX_QUOTE_CHARS: usize = 200;

#[derive(Clone, PartialEq, Eq)]
pub struct TokenResponse {
    pub access_token: String,
    pub refresh_token: Option<String>,
    /// None: it does not say.
    pub lifetime: Option<Duration>,
    /// With spaces between them.
    pub scope: Option<String>,
    /// OpenID Connect: not verified yet.
    pub id_token: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// An error of RFC 6749, section 5.2, each text as one short line.
    #[error("{}", rejection(.code, .description.as_deref()))]
    Rejected {
        code: String,
        description: Option<String>,
    },
    #[error("it answered {0}")]
    Status(u16),
    #[error("its answer contains no token")]
    NoToken,
    /// Only bearer tokens can be used.
    #[error("it issues tokens of a type that cannot be used")]
    TokenType,
    /// Empty, too long, or not fit for a header.
    #[error("its token is not valid")]
    InvalidToken,
}

#[derive(Deserialize)]
struct TokenBody {
    access_token: String,
    token_type: Option<String>,
    /// A number, or with some a text.
    expires_in: Option<Value>,
    /// What only some need must not spoil the token that all need.
    refresh_token: Option<Value>,
    scope: Option<Value>,
    id_token: Option<Value>,
}

#[derive(Deserialize)]
struct TokenErrorBody {
    error: String,
    error_description: Option<String>,
}

impl TokenResponse {
    pub fn parse(status: StatusCode, body: &[u8]) -> Result<Self, TokenError> {
        // Some answer 200 with an error in the body.
        if let Some(error) = TokenError::of_body(body) {
            return Err(error);
        }
        if !status.is_success() {
            return Err(TokenError::Status(status.as_u16()));
        }
        let body: TokenBody = serde_json::from_slice(body).map_err(|_| TokenError::NoToken)?;
        let is_bearer = |kind: &String| kind.eq_ignore_ascii_case("bearer");
        if !body.token_type.as_ref().is_none_or(is_bearer) {
            return Err(TokenError::TokenType);
        }
        if !is_token(&body.access_token) {
            return Err(TokenError::InvalidToken);
        }
        let text = |value: Option<Value>| match value {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        Ok(Self {
            access_token: body.access_token,
            refresh_token: text(body.refresh_token).filter(|token| is_token(token)),
            lifetime: body.expires_in.as_ref().and_then(lifetime),
            scope: text(body.scope),
            id_token: text(body.id_token),
        })
    }

    /// How long to use it before it is refreshed. None: until it is refused.
    pub fn refresh_after(&self) -> Option<Duration> {
        let lifetime = self.lifetime?;
        Some(lifetime - EXPIRY_MARGIN.min(lifetime / 4))
    }
}

impl TokenError {
    /// What a response that is no success says.
    pub fn of_response(status: StatusCode, body: &[u8]) -> Self {
        Self::of_body(body).unwrap_or(Self::Status(status.as_u16()))
    }

    fn of_body(body: &[u8]) -> Option<Self> {
        let body: TokenErrorBody = serde_json::from_slice(body).ok()?;
        let line = |text: &str| text::line(text, MAX_QUOTE_CHARS);
        Some(Self::Rejected {
            code: line(&body.error),
            description: body.error_description.as_deref().map(line),
        })
    }

    /// The same request may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Rejected { code, .. } => matches!(
                code.as_str(),
                "temporarily_unavailable" | "server_error" | "slow_down"
            ),
            Self::Status(status) => matches!(status, 408 | 429 | 500..=599),
            Self::NoToken | Self::TokenType | Self::InvalidToken => false,
        }
    }

    /// The grant or the client is not valid, or not any more.
    pub fn is_invalid_grant(&self) -> bool {
        matches!(self, Self::Rejected { code, .. }
            if matches!(code.as_str(), "invalid_grant" | "invalid_client" | "unauthorized_client"))
    }

    /// The client could not be authenticated: the other [`super::ClientAuth`] may do.
    pub fn is_invalid_client(&self) -> bool {
        match self {
            Self::Rejected { code, .. } => code == "invalid_client",
            Self::Status(status) => *status == 401,
            Self::NoToken | Self::TokenType | Self::InvalidToken => false,
        }
    }
}

fn rejection(code: &str, description: Option<&str>) -> String {
    match description {
        Some(description) => format!("{code}: {description}"),
        None => code.to_owned(),
    }
}

fn is_token(token: &str) -> bool {
    let fits = (1..=MAX_TOKEN_BYTES).contains(&token.len());
    fits && token.bytes().all(|byte| byte.is_ascii_graphic())
}

fn lifetime(value: &Value) -> Option<Duration> {
    let seconds: f64 = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    // Negative and too large numbers become what is possible.
    let seconds = seconds
        .is_finite()
        .then(|| seconds.clamp(0.0, MAX_LIFETIME.as_secs_f64()))?;
    // Whole seconds, as clocks of servers have them.
    Some(Duration::from_secs(seconds as u64))
}

impl fmt::Debug for TokenResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenResponse").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: (&str, Option<&str>, Option<u64>)) {
        let response = TokenResponse::parse(StatusCode::OK, body.as_bytes()).unwrap();
        let refresh_after = response.refresh_after().map(|after| after.as_secs());
        let found = (
            response.access_token.as_str(),
            response.refresh_token.as_deref(),
            refresh_after,
        );
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn tokens_are_read_as_servers_write_them() {
        check(
            r#"{"access_token":"a","token_type":"bearer","expires_in":3600,"refresh_token":"r"}"#,
            ("a", Some("r"), Some(3570)),
        );
        check(r#"{"access_token":"a"}"#, ("a", None, None));
        check(
            r#"{"access_token":"a","expires_in":"40","refresh_token":""}"#,
            ("a", None, Some(30)),
        );
        check(
            r#"{"access_token":"a","expires_in":0}"#,
            ("a", None, Some(0)),
        );
        check(
            r#"{"access_token":"a","expires_in":-5}"#,
            ("a", None, Some(0)),
        );
        check(
            r#"{"access_token":"a","expires_in":1e300}"#,
            ("a", None, Some(365 * 24 * 3600 - 30)),
        );
        check(r#"{"access_token":"a","expires_in":{}}"#, ("a", None, None));
        check(
            r#"{"access_token":"a","scope":["a","b"],"refresh_token":7}"#,
            ("a", None, None),
        );
    }

    #[track_caller]
    fn check_error(status: u16, body: &str, expected: &str) -> TokenError {
        let status = StatusCode::from_u16(status).unwrap();
        let error = TokenResponse::parse(status, body.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{body}");
        error
    }

    #[test]
    fn an_error_says_whether_asking_again_helps() {
        let ended = check_error(
            400,
            r#"{"error":"invalid_grant","error_description":"revoked\nyesterday"}"#,
            "invalid_grant: revoked yesterday",
        );
        assert!(ended.is_invalid_grant() && !ended.is_transient());
        let client = check_error(401, r#"{"error":"invalid_client"}"#, "invalid_client");
        assert!(client.is_invalid_grant() && client.is_invalid_client());
        let other = check_error(
            200,
            r#"{"error":"bad_verification_code"}"#,
            "bad_verification_code",
        );
        assert!(!other.is_invalid_grant() && !other.is_transient());
        assert!(check_error(503, "down", "it answered 503").is_transient());
        assert!(!check_error(302, "", "it answered 302").is_transient());
        for body in ["<html>", "{}", r#"{"access_token":7}"#] {
            check_error(200, body, "its answer contains no token");
        }
        for body in [r#"{"access_token":""}"#, r#"{"access_token":"a\r\nX: y"}"#] {
            check_error(200, body, "its token is not valid");
        }
        check_error(
            200,
            r#"{"access_token":"a","token_type":"DPoP"}"#,
            "it issues tokens of a type that cannot be used",
        );
    }
}
