//! What can go wrong with a log-in, in sentences for the person who tries it.

use tenon_net::oauth::TokenError;
use tenon_text as text;

/// How much of what a server says is quoted.
const MAX_QUOTE_CHARS: usize = 200;

/// Split by what the person or a caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    #[error("The server has not asked for a log-in, or does not say where. Check its address.")]
    NoLogin,
    /// It may work in a while.
    #[error("{0} Try again in a moment.")]
    Unreachable(String),
    /// Somebody has to register the client there by hand.
    #[error(
        "The server cannot be logged in at by itself: {why} Have {client} registered there, and add the client id it gets to the server's settings."
    )]
    NotRegistered { client: String, why: String },
    /// A check failed: an address, an issuer, a method.
    #[error("{0} Nothing was sent there.")]
    Untrusted(String),
    #[error("The log-in was refused there: {0}")]
    Refused(String),
    /// What was granted is not valid any more.
    #[error("The log-in there has ended ({0}). Log in again.")]
    Ended(String),
    #[error("This log-in was not begun here, is too old, or was used already. Begin it again.")]
    Expired,
    #[error("What the log-in gave cannot be kept: {0}")]
    Storage(String),
}

impl LoginError {
    /// Whether it may be over by itself in a while.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Storage(_) => true,
            Self::NoLogin
            | Self::NotRegistered { .. }
            | Self::Untrusted(_)
            | Self::Refused(_)
            | Self::Ended(_)
            | Self::Expired => false,
        }
    }

    /// Of the token endpoint, for the client of this name.
    pub(super) fn of_token(error: TokenError, client_name: &str) -> Self {
        match &error {
            TokenError::Rejected { .. } if error.is_transient() => {
                Self::Unreachable(format!("The log-in service said {error}."))
            }
            TokenError::Rejected { .. } if error.is_invalid_grant() => {
                Self::Ended(error.to_string())
            }
            TokenError::Rejected { .. } => Self::Refused(error.to_string()),
            TokenError::Status(status) if error.is_transient() => {
                Self::Unreachable(format!("The log-in service answered {status}."))
            }
            TokenError::TokenType => Self::Refused(format!(
                "it gives tokens of a kind that {client_name} cannot use."
            )),
            TokenError::Status(_) | TokenError::NoToken | TokenError::InvalidToken => {
                Self::Refused(format!("{error}."))
            }
        }
    }
}

/// What a server said, as one short line.
pub(super) fn quote(text: &str) -> String {
    text::line(text, MAX_QUOTE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_one_short_line() {
        let check = |text: &str, expected: &str| assert_eq!(quote(text), expected);
        check("access_denied", "access_denied");
        check("no\nline\u{1b}[31m", "no line[31m");
        check("  spaces \t and tabs ", "spaces and tabs");
        check(
            &"x".repeat(5000),
            &format!("{}…", "x".repeat(MAX_QUOTE_CHARS)),
        );
    }

    #[test]
    fn an_error_of_the_token_endpoint_says_whether_asking_again_helps() {
        let check = |error: TokenError, expected: LoginError| {
            assert_eq!(LoginError::of_token(error, "Tenon"), expected);
        };
        let rejected = |code: &str, description: Option<&str>| TokenError::Rejected {
            code: code.into(),
            description: description.map(ToOwned::to_owned),
        };
        check(
            rejected("invalid_grant", Some("revoked yesterday")),
            LoginError::Ended("invalid_grant: revoked yesterday".into()),
        );
        check(
            rejected("invalid_client", None),
            LoginError::Ended("invalid_client".into()),
        );
        check(
            rejected("bad_verification_code", None),
            LoginError::Refused("bad_verification_code".into()),
        );
        check(
            TokenError::Status(503),
            LoginError::Unreachable("The log-in service answered 503.".into()),
        );
        check(
            TokenError::Status(302),
            LoginError::Refused("it answered 302.".into()),
        );
        check(
            TokenError::NoToken,
            LoginError::Refused("its answer holds no token.".into()),
        );
        check(
            TokenError::InvalidToken,
            LoginError::Refused("its token is none.".into()),
        );
        check(
            TokenError::TokenType,
            LoginError::Refused("it gives tokens of a kind that Tenon cannot use.".into()),
        );
    }
}
