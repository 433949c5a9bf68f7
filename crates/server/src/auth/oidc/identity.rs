//! Who somebody is, as far as their issuer vouches for it.

use openidconnect::core::{CoreIdTokenClaims, CoreTokenResponse, CoreUserInfoClaims};
use openidconnect::{AccessTokenHash, IssuerUrl, OAuth2TokenResponse, TokenResponse};

use super::http::Http;
use super::{Client, Trouble, untrusted};
use crate::api::users::{MAX_NAME_CHARS, checked_email};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The issuer and its own name for them, which never changes.
    pub subject: String,
    /// An address that the issuer knows to be theirs, checked and made small.
    pub email: Option<String>,
    pub name: String,
}

pub(super) async fn identify(
    client: &Client,
    http: &Http,
    issuer: &IssuerUrl,
    claims: &CoreIdTokenClaims,
    answer: &CoreTokenResponse,
) -> Result<Identity, Trouble> {
    check_access_token(client, claims, answer)?;
    let mut email = vouched(claims.email(), claims.email_verified());
    let mut name = claims
        .name()
        .and_then(|name| name.get(None))
        .map(|name| name.to_string());
    if claims.email().is_none() && client.user_info_url().is_some() {
        // Some issuers tell it only to those who ask once more.
        let told = user_info(client, http, claims, answer).await?;
        email = vouched(told.email(), told.email_verified());
        let told = told.name().and_then(|name| name.get(None));
        name = name.or_else(|| told.map(|name| name.to_string()));
    }
    let from_email = || email.as_deref()?.split('@').next().map(clean_name);
    let name = name.map(|name| clean_name(&name));
    let name = name.filter(|name| !name.is_empty()).or_else(from_email);
    Ok(Identity {
        // An address has no space in it, so the two stay apart.
        subject: format!("{} {}", issuer.as_str(), claims.subject().as_str()),
        name: name.unwrap_or_default(),
        email,
    })
}

fn vouched(
    email: Option<&openidconnect::EndUserEmail>,
    is_verified: Option<bool>,
) -> Option<String> {
    let email = email.filter(|_| is_verified == Some(true))?;
    checked_email(email).ok()
}

/// A name as everybody's is, made of what the issuer calls them.
fn clean_name(name: &str) -> String {
    let name: String = name.chars().filter(|char| !char.is_control()).collect();
    let name: String = name.trim().chars().take(MAX_NAME_CHARS).collect();
    name.trim_end().to_owned()
}

async fn user_info(
    client: &Client,
    http: &Http,
    claims: &CoreIdTokenClaims,
    answer: &CoreTokenResponse,
) -> Result<CoreUserInfoClaims, Trouble> {
    let subject = Some(claims.subject().clone());
    let request = client
        .user_info(answer.access_token().clone(), subject)
        .map_err(|error| untrusted(&error))?;
    let told = request.request_async(http).await;
    told.map_err(|error| untrusted(&error))
}

/// The access token must be the one that the signed id token speaks of.
fn check_access_token(
    client: &Client,
    claims: &CoreIdTokenClaims,
    answer: &CoreTokenResponse,
) -> Result<(), Trouble> {
    let (Some(expected), Some(token)) = (claims.access_token_hash(), answer.id_token()) else {
        return Ok(());
    };
    let verifier = client.id_token_verifier();
    let algorithm = token.signing_alg().map_err(|error| untrusted(&error))?;
    let key = token
        .signing_key(&verifier)
        .map_err(|error| untrusted(&error))?;
    let actual = AccessTokenHash::from_token(answer.access_token(), algorithm, key)
        .map_err(|error| untrusted(&error))?;
    match actual == *expected {
        true => Ok(()),
        false => Err(Trouble::Untrusted(
            "its two tokens do not belong together".into(),
        )),
    }
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
