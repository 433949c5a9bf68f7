//! Errors of a log-in, as sentences for the person who logs in.

use tenon_net::UrlError;
use tenon_net::oauth::{NoRandomness, TokenError};
use tenon_text as text;

/// How much of what a server says is quoted.
const MAX_QUOTE_CHARS: usize = 200;

/// Split by what the person or a caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    #[error("The server has not asked for a log-in, or does not say where. Check its address.")]
    NoLogin,
    /// A temporary failure; retrying may help.
    #[error("{0} Try again in a moment.")]
    Unreachable(UnreachableLogin),
    /// Somebody has to register the client there by hand.
    #[error(
        "Automatic registration with this server is not possible: {why} Have {client} registered there, and add the client id to the server's settings."
    )]
    NotRegistered {
        client: String,
        why: RegistrationRefusal,
    },
    /// A check failed: an address, an issuer, a method.
    #[error("{0} Nothing was sent there.")]
    Untrusted(UntrustedLogin),
    #[error("The log-in was refused there: {0}")]
    Refused(RefusedLogin),
    /// The grant is no longer valid.
    #[error("The log-in there has ended ({0}). Log in again.")]
    Ended(EndedLogin),
    #[error("This log-in was not begun here, is too old, or was used already. Begin it again.")]
    Expired,
    #[error("The result of the log-in cannot be stored: {0}")]
    Storage(String),
}

/// How a log-in was refused; goes on after a colon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusedLogin {
    #[error("{0}")]
    Said(String),
    #[error("it answered {0}.")]
    Status(u16),
    #[error("its answer contains no token.")]
    NoToken,
    #[error("its token is not valid.")]
    InvalidToken,
    #[error("it issues tokens of a type that {client} cannot use.")]
    TokenType { client: String },
}

/// Why a grant is not valid any more; stands in brackets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndedLogin {
    #[error("{0}")]
    Said(String),
    #[error("it issued no refresh token")]
    NotRenewable,
    #[error("somebody logged out")]
    LoggedOut,
}

/// What does not answer as it should. Displayed, a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreachableLogin {
    #[error("The log-in service said {0}.")]
    Said(String),
    #[error("The log-in service answered {0}.")]
    Status(u16),
    #[error("The log-in service takes too long to answer.")]
    Timeout,
    #[error("{client} could not register there: {why}.")]
    Registration { client: String, why: HostFailure },
    #[error(
        "Where to log in is not known: the server names {0}, where no log-in metadata was found."
    )]
    NoMetadata(String),
    #[error("{host} could not be asked: {why}.")]
    Host { host: String, why: HostFailure },
    #[error("No connection can be made: {0}.")]
    HttpClient(String),
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
}

/// How a host failed a request; goes on after a colon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostFailure {
    #[error("it does not answer")]
    Silent,
    #[error("its answer is too long")]
    TooLong,
    #[error("it redirects to another site")]
    CrossOriginRedirect,
    #[error("it redirects too often")]
    TooManyRedirects,
    #[error("it answered {0}")]
    Status(u16),
    #[error("it answered {status}: {said}")]
    Said { status: u16, said: String },
}

/// Why a client has to be registered by hand; goes on after a colon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationRefusal {
    #[error("it does not allow registration.")]
    NotOffered,
    #[error("{0}.")]
    Answered(HostFailure),
    #[error("its answer contains no client id.")]
    NoClient,
}

/// Which check failed. Displayed, a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UntrustedLogin {
    #[error(transparent)]
    Address(UrlError),
    #[error("The server's address is not valid.")]
    ServerAddress,
    #[error("The server names an address that {flaw}: {address}.")]
    NamedAddress { flaw: AddressFlaw, address: String },
    #[error("The server names an address that is refused. {0}")]
    NamedAddressRefused(UrlError),
    #[error("The log-in service does not name itself.")]
    NoIssuer,
    #[error("The log-in service calls itself {named} instead of {expected}.")]
    OtherIssuer { named: String, expected: String },
    #[error("The metadata at {0}, which the server names, describes another server.")]
    OtherResource(String),
    #[error("The client secret cannot be sent in a header.")]
    ClientSecret,
    #[error("The log-in service does not support authorization codes.")]
    NoCodes,
    #[error("The log-in service does not support PKCE with S256.")]
    NoPkce,
    #[error("The response does not come from the service where the log-in began.")]
    OtherSender,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressFlaw {
    #[error("is too long")]
    TooLong,
    #[error("is not valid")]
    Invalid,
    #[error("is not https, although its own is")]
    NotHttps,
    #[error("belongs to this machine or its cloud")]
    Local,
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
                Self::Unreachable(UnreachableLogin::Said(error.to_string()))
            }
            TokenError::Rejected { .. } if error.is_invalid_grant() => {
                Self::Ended(EndedLogin::Said(error.to_string()))
            }
            TokenError::Rejected { .. } => Self::Refused(RefusedLogin::Said(error.to_string())),
            TokenError::Status(status) if error.is_transient() => {
                Self::Unreachable(UnreachableLogin::Status(*status))
            }
            TokenError::Status(status) => Self::Refused(RefusedLogin::Status(*status)),
            TokenError::NoToken => Self::Refused(RefusedLogin::NoToken),
            TokenError::InvalidToken => Self::Refused(RefusedLogin::InvalidToken),
            TokenError::TokenType => Self::Refused(RefusedLogin::TokenType {
                client: client_name.to_owned(),
            }),
        }
    }
}

/// The server's error text, as one short line.
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
            LoginError::Ended(EndedLogin::Said("invalid_grant: revoked yesterday".into())),
        );
        check(
            rejected("invalid_client", None),
            LoginError::Ended(EndedLogin::Said("invalid_client".into())),
        );
        check(
            rejected("bad_verification_code", None),
            LoginError::Refused(RefusedLogin::Said("bad_verification_code".into())),
        );
        check(
            TokenError::Status(503),
            LoginError::Unreachable(UnreachableLogin::Status(503)),
        );
        check(
            TokenError::Status(302),
            LoginError::Refused(RefusedLogin::Status(302)),
        );
        check(
            TokenError::NoToken,
            LoginError::Refused(RefusedLogin::NoToken),
        );
        check(
            TokenError::InvalidToken,
            LoginError::Refused(RefusedLogin::InvalidToken),
        );
        check(
            TokenError::TokenType,
            LoginError::Refused(RefusedLogin::TokenType {
                client: "Tenon".into(),
            }),
        );
    }
}
