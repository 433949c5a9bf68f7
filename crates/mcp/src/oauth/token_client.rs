//! Requests to the token and revocation endpoints of one grant.

use std::time::{SystemTime, UNIX_EPOCH};

use tenon_net::oauth::{OAuthClient, TokenError, TokenRequest, TokenResponse};
use url::Url;

use super::error::{LoginError, UntrustedLogin};
use super::grant::TokenPair;
use super::http::{HttpResponse, OAuthHttp};

pub(super) struct TokenClient<'a> {
    pub(super) http: &'a OAuthHttp,
    pub(super) endpoint: &'a Url,
    pub(super) client: &'a OAuthClient,
    /// For errors.
    pub(super) client_name: &'a str,
}

impl TokenClient<'_> {
    /// The tokens, and the scopes as the server writes them.
    pub(super) async fn request(
        &self,
        form: &[(&str, &str)],
    ) -> Result<(TokenPair, Option<String>), LoginError> {
        let response = self.post(form).await?;
        let response = TokenResponse::parse(response.status, &response.body)
            .map_err(|error| LoginError::of_token(error, self.client_name))?;
        let refresh_after = response.refresh_after();
        let seconds = refresh_after.map(|after| i64::try_from(after.as_secs()).unwrap_or(i64::MAX));
        let tokens = TokenPair {
            renew_at: seconds.map(|seconds| now().saturating_add(seconds)),
            access: response.access_token,
            refresh: response.refresh_token,
        };
        Ok((tokens, response.scope))
    }

    /// Revokes a token (RFC 7009).
    pub(super) async fn revoke(&self, token: &str, kind: &str) -> Result<(), LoginError> {
        let response = self
            .post(&[("token", token), ("token_type_hint", kind)])
            .await?;
        if response.status.is_success() {
            return Ok(());
        }
        let error = TokenError::of_response(response.status, &response.body);
        Err(LoginError::of_token(error, self.client_name))
    }

    async fn post(&self, form: &[(&str, &str)]) -> Result<HttpResponse, LoginError> {
        let client = self.client;
        let request = TokenRequest { client, form }.encode();
        let request = request.ok_or(LoginError::Untrusted(UntrustedLogin::ClientSecret))?;
        let response = self.http.post(self.endpoint, request.headers, request.body);
        response.await.map_err(|error| error.at(self.endpoint))
    }
}

/// In seconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().try_into().unwrap_or(i64::MAX))
}
