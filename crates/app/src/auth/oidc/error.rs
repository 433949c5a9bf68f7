//! Why a log-in with an issuer failed.

use tenon_net::oauth::NoRandomness;

/// Enough to know what went wrong by.
const MAX_LOG_CHARS: usize = 500;

/// Why somebody did not get in. The page has a sentence for each of the codes.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    #[error("no issuer is configured")]
    Off,
    #[error("it was tried too often from this address")]
    TooMany,
    #[error("the issuer cannot be asked: {0}")]
    Unreachable(String),
    #[error("the issuer refused: {0}")]
    Denied(String),
    #[error("this log-in was not begun in this browser, is too old, or was used already")]
    Expired,
    #[error("what the issuer said cannot be trusted: {0}")]
    Untrusted(String),
    #[error("the issuer vouches for no e-mail address")]
    Email,
    #[error("addresses like {0} are not let in")]
    Domain(String),
    #[error("there is no account for {0}, and none is made by logging in")]
    NoAccount(String),
    #[error("the account is disabled")]
    Disabled,
    #[error("Tenon could not finish it: {0}")]
    Store(#[from] tenon_store::Error),
    #[error(transparent)]
    Random(#[from] NoRandomness),
    /// Its cause is in the log.
    #[error("Tenon could not begin the session")]
    Session,
}

impl OidcError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Off => "oidc_off",
            Self::TooMany => "oidc_too_many",
            Self::Unreachable(_) => "oidc_unreachable",
            Self::Denied(_) => "oidc_denied",
            Self::Expired => "oidc_expired",
            Self::Untrusted(_) => "oidc_untrusted",
            Self::Email => "oidc_email",
            Self::Domain(_) => "oidc_domain",
            Self::NoAccount(_) => "oidc_no_account",
            Self::Disabled => "oidc_disabled",
            Self::Store(_) | Self::Random(_) | Self::Session => "oidc_storage",
        }
    }

    /// What it is, in one line for the log: issuers and addresses say what they like.
    pub fn line(&self) -> String {
        let message = self.to_string();
        let clean = message.chars().map(|char| {
            if char.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                char
            }
        });
        clean.take(MAX_LOG_CHARS).collect()
    }

    /// Whether anybody can cause it at will, without an issuer or an account.
    pub fn is_noise(&self) -> bool {
        matches!(self, Self::Off | Self::TooMany | Self::Expired)
    }
}
