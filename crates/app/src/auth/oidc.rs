//! Logging in with an account somewhere else (OpenID Connect).
//!
//! A browser goes to the issuer with a state, a nonce and a PKCE challenge and
//! comes back with a code. What has to be remembered meanwhile travels in a
//! sealed cookie, so nobody can fill our memory by beginning, and only the
//! browser that began can end. Each state is good once.
//!
//! The issuer is asked about itself when somebody first wants to log in: one
//! that is down stops nobody but those who come through it.

mod error;
mod http;
mod id_token;
mod identity;
mod provider;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tenon_net::oauth::{OAuthClient, Pkce, TokenRequest, TokenResponse, random_token};
use tenon_store::Vault;
use url::Url;

use crate::config::OidcConfig;
use crate::lock::lock;
pub use error::OidcError;
use http::{IssuerClient, IssuerError};
use id_token::{ExpectedClaims, IdTokenClaims, IdTokenError};
pub use identity::Identity;
use provider::{DiscoveryError, OidcProvider};

/// Long enough to find a second factor, short enough that a forgotten tab is no way in.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(600);

/// An issuer changes its keys now and then.
const METADATA_MAX_AGE: Duration = Duration::from_secs(3600);

/// Where a browser comes back to.
const CALLBACK: &str = "/api/auth/oidc/callback";

/// What the cookie is sealed about.
const SEAL_CONTEXT: &str = "oidc";

pub struct Oidc {
    config: OidcConfig,
    issuer: Url,
    vault: Vault,
    client: IssuerClient,
    /// The issuer's discovery document and keys, with the time they were read.
    provider: Mutex<Option<(OidcProvider, Instant)>>,
    /// States that came back already, until they are too old anyway.
    used: Mutex<HashMap<String, Instant>>,
}

/// State of a log-in while the browser is at the issuer; sealed into a cookie.
#[derive(Serialize, Deserialize)]
struct OidcLogin {
    state: String,
    nonce: String,
    verifier: String,
    redirect: String,
    /// Where in the page they come back to.
    #[serde(default)]
    back: Option<String>,
    /// Milliseconds since 1970.
    at: i64,
}

/// The authorization URL for the browser, and the cookie it must send back.
pub struct LoginRedirect {
    pub url: String,
    pub cookie: String,
}

impl Oidc {
    pub fn new(config: &OidcConfig, vault: Vault) -> Result<Self> {
        let issuer =
            Url::parse(&config.issuer).context("`issuer` under [oidc] is not an address")?;
        if let Some(url) = &config.public_url {
            Url::parse(&format!("{}{CALLBACK}", url.trim_end_matches('/')))
                .context("`public_url` under [oidc] is not an address")?;
        }
        Ok(Self {
            config: config.clone(),
            issuer,
            vault,
            client: IssuerClient::new().context("no connection to the issuer can be made")?,
            provider: Mutex::default(),
            used: Mutex::default(),
        })
    }

    /// What people know the issuer by.
    pub fn name(&self) -> String {
        let name = self.config.name.clone().filter(|name| !name.is_empty());
        let host = || self.issuer.host_str().map(str::to_owned);
        name.or_else(host).unwrap_or_else(|| "OpenID".into())
    }

    /// Where people open Tenon, if somebody said so.
    pub fn public_url(&self) -> Option<&str> {
        self.config.public_url.as_deref()
    }

    /// Whether people speak https with us, where we know.
    pub fn is_https(&self) -> Option<bool> {
        let url = self.config.public_url.as_ref()?;
        Some(url.starts_with("https://"))
    }

    /// `here` is the address at which the browser sees us, as far as the request tells. Who
    /// is to come `back` to some place in the page proves themself once more there.
    pub fn begin(
        self: Arc<Self>,
        here: String,
        back: Option<String>,
    ) -> BoxFuture<'static, Result<LoginRedirect, OidcError>> {
        Box::pin(async move { self.authorization_redirect(here, back).await })
    }

    /// Who came back with this code, and to where.
    pub fn end(
        self: Arc<Self>,
        cookie: Option<String>,
        state: String,
        code: String,
    ) -> BoxFuture<'static, Result<(Identity, Option<String>), OidcError>> {
        Box::pin(async move { self.finish(cookie, &state, code).await })
    }

    async fn authorization_redirect(
        &self,
        here: String,
        back: Option<String>,
    ) -> Result<LoginRedirect, OidcError> {
        let here = self.config.public_url.as_ref().unwrap_or(&here);
        let redirect = format!("{}{CALLBACK}", here.trim_end_matches('/'));
        let provider = self.discover(METADATA_MAX_AGE).await?;
        let pkce = Pkce::new()?;
        let (state, nonce) = (random_token()?, random_token()?);
        let mut url = provider.endpoints.authorization_endpoint;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.config.client_id)
            .append_pair("redirect_uri", &redirect)
            .append_pair("scope", "openid email profile")
            .append_pair("state", &state)
            .append_pair("nonce", &nonce)
            .append_pair("code_challenge", &pkce.challenge)
            .append_pair("code_challenge_method", "S256");
        if back.is_some() {
            // An issuer that remembers them would prove nothing.
            url.query_pairs_mut().append_pair("prompt", "login");
        }
        let login = OidcLogin {
            state,
            nonce,
            verifier: pkce.verifier,
            redirect,
            back,
            at: tenon_store::now(),
        };
        let login = serde_json::to_string(&login)
            .map_err(|error| OidcError::Untrusted(error.to_string()))?;
        Ok(LoginRedirect {
            url: url.into(),
            cookie: self.vault.seal(SEAL_CONTEXT, &login),
        })
    }

    async fn finish(
        &self,
        cookie: Option<String>,
        state: &str,
        code: String,
    ) -> Result<(Identity, Option<String>), OidcError> {
        let login = self.open_login(cookie.as_deref(), state)?;
        let provider = self.discover(METADATA_MAX_AGE).await?;
        let tokens = self.exchange(&provider, &login, &code).await?;
        let claims = self.verify(&provider, &login, &tokens).await?;
        let identity = identity::identify(&self.client, &provider, claims, &tokens.access_token);
        let identity = identity.await?;
        Ok((identity.with_issuer(&self.config.issuer), login.back))
    }

    /// The code for tokens.
    async fn exchange(
        &self,
        provider: &OidcProvider,
        login: &OidcLogin,
        code: &str,
    ) -> Result<TokenResponse, OidcError> {
        let secret = self.config.client_secret.clone();
        let client = OAuthClient::new(self.config.client_id.as_str(), secret);
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &login.redirect),
            ("code_verifier", &login.verifier),
        ];
        let request = TokenRequest {
            client: &client,
            form: &form,
        };
        let endpoint = &provider.endpoints.token_endpoint;
        let tokens = self.client.request_tokens(endpoint, &request).await;
        tokens.map_err(|error| match error {
            IssuerError::Request(_) => OidcError::Unreachable(causes(&error)),
            _ => OidcError::Untrusted(causes(&error)),
        })
    }

    /// Whether people with this address are let in.
    pub fn is_domain_allowed(&self, email: &str) -> bool {
        let allowed = &self.config.allowed_domains;
        let domain = email.rsplit('@').next().unwrap_or_default();
        allowed.is_empty() || allowed.iter().any(|one| one.eq_ignore_ascii_case(domain))
    }

    /// Whether logging in makes an account for those who have none.
    pub fn signs_up(&self) -> bool {
        self.config.sign_up
    }

    /// The log-in that this browser began, if this is its end. It has no second one.
    fn open_login(&self, cookie: Option<&str>, state: &str) -> Result<OidcLogin, OidcError> {
        let sealed = cookie.ok_or(OidcError::Expired)?;
        let login = self.vault.open_sealed(SEAL_CONTEXT, sealed);
        let login = login.ok().and_then(|text| serde_json::from_str(&text).ok());
        let login: OidcLogin = login.ok_or(OidcError::Expired)?;
        let age = tenon_store::now() - login.at;
        let is_in_time = (0..=LOGIN_TIMEOUT.as_millis() as i64).contains(&age);
        if login.state != state || !is_in_time {
            return Err(OidcError::Expired);
        }
        let mut used = lock(&self.used);
        used.retain(|_, at| at.elapsed() <= LOGIN_TIMEOUT);
        match used.insert(login.state.clone(), Instant::now()) {
            None => Ok(login),
            Some(_) => Err(OidcError::Expired),
        }
    }

    /// An issuer may have changed its keys since we asked for them, so a
    /// signature that does not fit is looked at once more with the newest.
    async fn verify(
        &self,
        provider: &OidcProvider,
        login: &OidcLogin,
        tokens: &TokenResponse,
    ) -> Result<IdTokenClaims, OidcError> {
        let token = tokens.id_token.as_deref();
        let token = token.ok_or_else(|| OidcError::Untrusted("it gave no id token".into()))?;
        let expected = ExpectedClaims {
            issuer: &self.config.issuer,
            client_id: &self.config.client_id,
            client_secret: self.config.client_secret.as_deref(),
            nonce: &login.nonce,
            access_token: &tokens.access_token,
            now: tenon_store::now() / 1000,
        };
        let verified = match id_token::verify(token, &provider.keys, &expected) {
            Err(IdTokenError::Signature) => {
                let provider = self.discover(Duration::ZERO).await?;
                id_token::verify(token, &provider.keys, &expected)
            }
            verified => verified,
        };
        verified.map_err(|error| OidcError::Untrusted(error.to_string()))
    }

    /// What the issuer says about itself, not older than this.
    async fn discover(&self, fresh: Duration) -> Result<OidcProvider, OidcError> {
        let known = lock(&self.provider).clone();
        if let Some((provider, at)) = &known
            && at.elapsed() < fresh
        {
            return Ok(provider.clone());
        }
        match (
            OidcProvider::discover(&self.client, &self.config.issuer).await,
            known,
        ) {
            (Ok(provider), _) => {
                *lock(&self.provider) = Some((provider.clone(), Instant::now()));
                Ok(provider)
            }
            // If the issuer cannot be reached, an older discovery document is used.
            (Err(DiscoveryError::Request(_)), Some((provider, _))) if !fresh.is_zero() => {
                Ok(provider)
            }
            (Err(error), _) => Err(OidcError::Unreachable(causes(&error))),
        }
    }
}

impl std::fmt::Debug for Oidc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Oidc")
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for LoginRedirect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginRedirect").finish_non_exhaustive()
    }
}

/// Cheap to clone; None where nobody configured an issuer.
pub type Issuer = Option<Arc<Oidc>>;

/// An error and what is behind it, in one line.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let all = std::iter::successors(Some(error), |error| error.source());
    let mut messages: Vec<String> = all.map(ToString::to_string).collect();
    messages.dedup();
    messages.join(": ")
}
