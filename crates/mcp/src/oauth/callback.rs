//! The end of a log-in: the code that a browser brings back is exchanged for a grant.

use std::fmt;

use serde::{Deserialize, Serialize};
use tenon_net::oauth::OAuthClient;
use url::Url;

use super::error::{LoginError, RefusedLogin, UntrustedLogin, quote};
use super::grant::Grant;
use super::http::OAuthHttp;
use super::scopes;
use super::token_client::TokenClient;

/// State of a log-in until the browser returns. Secret, and valid for one return.
#[derive(Serialize, Deserialize)]
pub struct PendingLogin {
    pub(super) verifier: String,
    pub(super) redirect: String,
    pub(super) resource: String,
    /// The authorization server, as far as its metadata names it.
    pub(super) issuer: Option<String>,
    /// Whether the server promised to send `iss` with the callback.
    pub(super) must_name_issuer: bool,
    #[serde(default)]
    pub(super) client_name: String,
    pub(super) client: OAuthClient,
    pub(super) token_endpoint: Url,
    pub(super) revocation_endpoint: Option<Url>,
    pub(super) scopes: Vec<String>,
}

/// The query of the redirect back.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct LoginCallback {
    pub state: String,
    pub code: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
    pub error_description: Option<String>,
}

/// Exchanges the code at the token endpoint.
pub async fn finish_login(
    http: &OAuthHttp,
    pending: PendingLogin,
    callback: LoginCallback,
) -> Result<Grant, LoginError> {
    // Before anything it says is believed, even that it refuses.
    pending.check_issuer(callback.iss.as_deref())?;
    if let Some(error) = &callback.error {
        let why = callback.error_description.as_deref().unwrap_or_default();
        return Err(LoginError::Refused(RefusedLogin::Said(quote(&format!(
            "{error} {why}"
        )))));
    }
    let code = callback.code.filter(|code| !code.is_empty());
    let code = code.ok_or(LoginError::Expired)?;
    let tokens = TokenClient {
        http,
        endpoint: &pending.token_endpoint,
        client: &pending.client,
        client_name: &pending.client_name,
    };
    let (tokens, scope) = tokens
        .request(&[
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", &pending.redirect),
            ("code_verifier", &pending.verifier),
            ("resource", &pending.resource),
        ])
        .await?;
    Ok(Grant {
        scopes: scopes::granted(scope.as_deref(), &pending.scopes),
        tokens: Some(tokens),
        client: pending.client,
        token_endpoint: pending.token_endpoint,
        revocation_endpoint: pending.revocation_endpoint,
        resource: pending.resource,
    })
}

impl PendingLogin {
    /// Whether the callback is of the authorization server that the browser was sent to (RFC
    /// 9207): a code must not be taken to another one.
    fn check_issuer(&self, named: Option<&str>) -> Result<(), LoginError> {
        let is_right = match (named, &self.issuer) {
            (Some(named), Some(expected)) => named == expected,
            (Some(_), None) => false,
            (None, _) => !self.must_name_issuer,
        };
        if is_right {
            Ok(())
        } else {
            Err(LoginError::Untrusted(UntrustedLogin::OtherSender))
        }
    }
}

impl fmt::Debug for PendingLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingLogin").finish_non_exhaustive()
    }
}

impl fmt::Debug for LoginCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginCallback").finish_non_exhaustive()
    }
}
