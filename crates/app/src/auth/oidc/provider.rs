//! What an issuer says about itself: OpenID Connect Discovery, and its keys.

use serde::Deserialize;
use url::Url;

use super::http::{IssuerClient, IssuerError};
use super::id_token::KeySet;

#[derive(Debug, Clone)]
pub(super) struct OidcProvider {
    pub(super) endpoints: OidcEndpoints,
    pub(super) keys: KeySet,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct OidcEndpoints {
    issuer: String,
    pub(super) authorization_endpoint: Url,
    pub(super) token_endpoint: Url,
    #[serde(default)]
    pub(super) userinfo_endpoint: Option<Url>,
    jwks_uri: Url,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum DiscoveryError {
    #[error(transparent)]
    Request(#[from] IssuerError),
    #[error("its address does not lead to a configuration")]
    Address,
    #[error("it calls itself {0}")]
    AnotherIssuer(String),
}

impl OidcProvider {
    pub(super) async fn discover(
        client: &IssuerClient,
        issuer: &str,
    ) -> Result<Self, DiscoveryError> {
        let base = issuer.trim_end_matches('/');
        let url = Url::parse(&format!("{base}/.well-known/openid-configuration"));
        let url = url.map_err(|_| DiscoveryError::Address)?;
        let endpoints: OidcEndpoints = client.get(&url, None).await?;
        // Otherwise one issuer could vouch for the people of another.
        if endpoints.issuer != issuer {
            return Err(DiscoveryError::AnotherIssuer(endpoints.issuer));
        }
        let keys = client.get(&endpoints.jwks_uri, None).await?;
        Ok(Self { endpoints, keys })
    }
}
