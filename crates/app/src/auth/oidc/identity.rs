//! The identity of somebody, from the verified claims of their issuer.

use serde::Deserialize;

use super::OidcError;
use super::http::{IssuerClient, IssuerError};
use super::id_token::{IdTokenClaims, Profile};
use super::provider::OidcProvider;
use crate::profile::{MAX_NAME_CHARS, checked_email};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The issuer and its own name for them, which never changes.
    pub subject: String,
    /// An address that the issuer knows to be theirs, checked and made small.
    pub email: Option<String>,
    pub name: String,
}

impl Identity {
    /// Two issuers may have the same name for two people.
    pub(super) fn with_issuer(self, issuer: &str) -> Self {
        Self {
            // An address has no space in it, so the two stay apart.
            subject: format!("{issuer} {}", self.subject),
            ..self
        }
    }
}

/// The answer of the userinfo endpoint.
#[derive(Deserialize)]
struct UserInfo {
    sub: String,
    #[serde(flatten)]
    profile: Profile,
}

pub(super) async fn identify(
    client: &IssuerClient,
    provider: &OidcProvider,
    claims: IdTokenClaims,
    access_token: &str,
) -> Result<Identity, OidcError> {
    let mut profile = claims.profile;
    // Some issuers tell it only to those who ask once more.
    if profile.email.is_none()
        && let Some(url) = &provider.endpoints.userinfo_endpoint
    {
        let info: Result<UserInfo, IssuerError> = client.get(url, Some(access_token)).await;
        let info = info.map_err(|error| OidcError::Untrusted(super::causes(&error)))?;
        // The userinfo response is not signed, so its subject must match the ID token.
        if info.sub != claims.sub {
            return Err(OidcError::Untrusted("it speaks of somebody else".into()));
        }
        profile.email = info.profile.email;
        profile.email_verified = info.profile.email_verified;
        profile.name = profile.name.or(info.profile.name);
    }
    let email = profile
        .email
        .filter(|_| profile.email_verified == Some(true));
    let email = email.and_then(|email| checked_email(&email).ok());
    let from_email = || email.as_deref()?.split('@').next().map(clean_name);
    let name = profile.name.map(|name| clean_name(&name));
    let name = name.filter(|name| !name.is_empty()).or_else(from_email);
    Ok(Identity {
        subject: claims.sub,
        name: name.unwrap_or_default(),
        email,
    })
}

/// A name as everybody's is, made of what the issuer calls them.
fn clean_name(name: &str) -> String {
    let name: String = name.chars().filter(|char| !char.is_control()).collect();
    let name: String = name.trim().chars().take(MAX_NAME_CHARS).collect();
    name.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cleaned_and_cut_instead_of_refused() {
        let check = |name: &str, expected: &str| assert_eq!(clean_name(name), expected);
        check("  Ada Lovelace ", "Ada Lovelace");
        check("Ada\n\u{1b}[31m\0", "Ada[31m");
        check("\n \t", "");
        check(&"x".repeat(300), &"x".repeat(MAX_NAME_CHARS));
        check(&format!("{} y", "x".repeat(99)), &"x".repeat(99));
    }
}
