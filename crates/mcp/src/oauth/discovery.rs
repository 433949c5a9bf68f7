//! Finds the authorization server of an MCP server: protected resource metadata (RFC
//! 9728), then authorization server metadata (RFC 8414, or OpenID Connect discovery).
//!
//! Whatever a document says is untrusted: the resource must be the server, the issuer the
//! one that was asked, and an address is checked before it is requested.

use std::collections::HashSet;

use reqwest::StatusCode;
use reqwest::header::WWW_AUTHENTICATE;
use serde::Deserialize;
use url::Url;

use super::challenge::Challenge;
use super::error::{LoginError, UnreachableLogin, UntrustedLogin, quote};
use super::http::{HttpResponse, OAuthHttp, is_same_origin};

mod well_known;

use well_known::{
    check_issuer, issuer_of, resource_metadata_urls, server_metadata_urls, with_path,
};

/// More authorization servers than these are not tried.
const MAX_AUTHORIZATION_SERVERS: usize = 5;

/// Authorization server metadata (RFC 8414).
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ServerMetadata {
    pub(super) issuer: Option<String>,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    #[serde(default)]
    pub(super) registration_endpoint: Option<String>,
    #[serde(default)]
    pub(super) revocation_endpoint: Option<String>,
    #[serde(default)]
    pub(super) scopes_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) response_types_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) client_id_metadata_document_supported: Option<bool>,
    /// RFC 9207.
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: Option<bool>,
}

/// Protected resource metadata (RFC 9728).
#[derive(Debug, Default, Deserialize)]
struct ResourceMetadata {
    #[serde(default)]
    resource: Option<String>,
    /// Of an early draft.
    #[serde(default)]
    authorization_server: Option<String>,
    #[serde(default)]
    authorization_servers: Option<Vec<String>>,
    #[serde(default)]
    scopes_supported: Option<Vec<String>>,
}

/// The result of discovery: where to log in.
#[derive(Debug)]
pub(super) struct Discovery {
    pub(super) metadata: ServerMetadata,
    /// The `resource` parameter for tokens, as named in the server's metadata.
    pub(super) resource: String,
    /// Scopes the server asks for: from its challenge, or else from its metadata.
    pub(super) scopes: Vec<String>,
    /// No document was found: the endpoints are where MCP of 2025-03-26 puts them.
    pub(super) is_guess: bool,
}

/// Whether a URL came from the server or was derived from its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UrlOrigin {
    Advertised,
    WellKnown,
}

pub(super) struct Discoverer<'a> {
    pub(super) http: &'a OAuthHttp,
    pub(super) server: &'a Url,
}

impl Discoverer<'_> {
    pub(super) async fn run(&self, challenge: Option<&Challenge>) -> Result<Discovery, LoginError> {
        let mut scopes = challenge.map(|challenge| challenge.scopes.clone());
        let mut found = None;
        if let Some(url) = challenge.and_then(|challenge| self.metadata_url(challenge)) {
            found = self.resource_at(&url, UrlOrigin::Advertised).await?;
        }
        if found.is_none() {
            let (probed_scopes, resource) = self.find_resource().await?;
            scopes = scopes.or(Some(probed_scopes));
            found = resource;
        }
        let mut challenge_scopes = scopes.unwrap_or_default();
        let mut resource = self.server.to_string();
        if let Some((url, document)) = found {
            resource = document.resource.clone().unwrap_or(resource);
            if challenge_scopes.is_empty() {
                challenge_scopes = document.scopes_supported.clone().unwrap_or_default();
            }
            if let Some(metadata) = self.named_server(&url, &document).await? {
                return Ok(Discovery {
                    metadata,
                    resource,
                    scopes: challenge_scopes,
                    is_guess: false,
                });
            }
        }
        let metadata = self.server_metadata(self.server, None).await?;
        Ok(Discovery {
            is_guess: metadata.is_none(),
            metadata: metadata.unwrap_or_else(|| self.guessed_metadata()),
            resource,
            scopes: challenge_scopes,
        })
    }

    /// Where a challenge says that the document is, if that may be asked.
    fn metadata_url(&self, challenge: &Challenge) -> Option<Url> {
        challenge.resource_metadata.iter().find_map(|text| {
            let text = text.trim();
            let url = Url::parse(text).or_else(|_| self.server.join(text)).ok()?;
            let is_downgrade = self.server.scheme() == "https" && url.scheme() != "https";
            let is_allowed = !text.is_empty()
                && (is_same_origin(self.server, &url)
                    || !is_downgrade && self.http.is_allowed_by(self.server, &url));
            is_allowed.then_some(url)
        })
    }

    /// Asks the server itself for a challenge, then looks at the well-known places. The scopes
    /// are those of the challenge.
    async fn find_resource(
        &self,
    ) -> Result<(Vec<String>, Option<(Url, ResourceMetadata)>), LoginError> {
        let mut requested = HashSet::new();
        let probed = self.get(self.server).await?;
        let challenge = self.challenge_of(&probed);
        let scopes = challenge
            .as_ref()
            .map(|challenge| challenge.scopes.clone())
            .unwrap_or_default();
        if let Some(url) = challenge.and_then(|challenge| self.metadata_url(&challenge)) {
            requested.insert(url.clone());
            if let Some(found) = self.resource_at(&url, UrlOrigin::Advertised).await? {
                return Ok((scopes, Some(found)));
            }
        }
        for url in resource_metadata_urls(self.server) {
            if !requested.insert(url.clone()) {
                continue;
            }
            let response = self.get(&url).await?;
            if response.status == StatusCode::OK {
                let document = self.read_resource(&url, &response.body, UrlOrigin::WellKnown)?;
                if let Some(document) = document {
                    return Ok((scopes, Some((url, document))));
                }
            }
            let pointer = self
                .challenge_of(&response)
                .and_then(|challenge| self.metadata_url(&challenge));
            if let Some(pointer) = pointer
                && requested.insert(pointer.clone())
                && let Some(found) = self.resource_at(&pointer, UrlOrigin::WellKnown).await?
            {
                return Ok((scopes, Some(found)));
            }
        }
        Ok((scopes, None))
    }

    async fn resource_at(
        &self,
        url: &Url,
        origin: UrlOrigin,
    ) -> Result<Option<(Url, ResourceMetadata)>, LoginError> {
        let response = self.get(url).await?;
        if response.status != StatusCode::OK {
            return Ok(None);
        }
        let document = self.read_resource(url, &response.body, origin)?;
        Ok(document.map(|document| (url.clone(), document)))
    }

    /// None: there is something else at this URL. Where the server named it, that is an error.
    fn read_resource(
        &self,
        url: &Url,
        body: &[u8],
        origin: UrlOrigin,
    ) -> Result<Option<ResourceMetadata>, LoginError> {
        let Ok(document) = serde_json::from_slice::<ResourceMetadata>(body) else {
            return Ok(None);
        };
        match (self.is_of_server(&document), origin) {
            (true, _) => Ok(Some(document)),
            (false, UrlOrigin::WellKnown) => Ok(None),
            (false, UrlOrigin::Advertised) => Err(LoginError::Untrusted(
                UntrustedLogin::OtherResource(quote(url.as_str())),
            )),
        }
    }

    /// Whether a document is about this server, or about what its path is below.
    fn is_of_server(&self, document: &ResourceMetadata) -> bool {
        let resource = document.resource.as_deref();
        let Some(resource) = resource.and_then(|text| Url::parse(text).ok()) else {
            return false;
        };
        if resource.fragment().is_some() || !is_same_origin(self.server, &resource) {
            return false;
        }
        let (path, parent) = (self.server.path(), resource.path());
        path == parent
            || path.starts_with(parent)
                && (parent.ends_with('/') || path.as_bytes().get(parent.len()) == Some(&b'/'))
    }

    /// The metadata of the first authorization server that a document names and that answers.
    /// None: it names none.
    async fn named_server(
        &self,
        document_url: &Url,
        document: &ResourceMetadata,
    ) -> Result<Option<ServerMetadata>, LoginError> {
        let mut names: Vec<&str> = Vec::new();
        let listed = document.authorization_servers.iter().flatten();
        for name in document.authorization_server.iter().chain(listed) {
            let name = name.trim();
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() {
            return Ok(None);
        }
        names.truncate(MAX_AUTHORIZATION_SERVERS);
        for name in &names {
            let url = Url::parse(name).or_else(|_| document_url.join(name));
            let Ok(url) = url else { continue };
            // Metadata decides where secrets are sent, so an https server must not have http
            // metadata.
            let is_downgrade = self.server.scheme() == "https" && url.scheme() != "https";
            if is_downgrade || !self.http.is_allowed_by(self.server, &url) {
                continue;
            }
            let metadata = if url.path().contains("/.well-known/") {
                self.metadata_at(&url, None).await?
            } else {
                self.server_metadata(&url, Some(url.as_str())).await?
            };
            if metadata.is_some() {
                return Ok(metadata);
            }
        }
        // Do not fall back to the server itself: it never named itself as an authorization server.
        Err(LoginError::Unreachable(UnreachableLogin::NoMetadata(
            quote(&names.join(", ")),
        )))
    }

    async fn server_metadata(
        &self,
        base: &Url,
        issuer: Option<&str>,
    ) -> Result<Option<ServerMetadata>, LoginError> {
        for url in server_metadata_urls(base) {
            let metadata = self.metadata_at(&url, issuer).await?;
            if metadata.is_some() {
                return Ok(metadata);
            }
        }
        Ok(None)
    }

    async fn metadata_at(
        &self,
        url: &Url,
        issuer: Option<&str>,
    ) -> Result<Option<ServerMetadata>, LoginError> {
        let response = self.get(url).await?;
        if response.status != StatusCode::OK {
            return Ok(None);
        }
        let Ok(metadata) = serde_json::from_slice::<ServerMetadata>(&response.body) else {
            return Ok(None);
        };
        let expected = issuer.map(ToOwned::to_owned).or_else(|| issuer_of(url));
        if let Some(expected) = expected {
            check_issuer(metadata.issuer.as_deref(), &expected)?;
        }
        Ok(Some(metadata))
    }

    /// Without any document, as MCP of 2025-03-26 has it.
    fn guessed_metadata(&self) -> ServerMetadata {
        let endpoint = |path: &str| with_path(self.server, path).to_string();
        ServerMetadata {
            authorization_endpoint: endpoint("/authorize"),
            token_endpoint: endpoint("/token"),
            registration_endpoint: Some(endpoint("/register")),
            ..ServerMetadata::default()
        }
    }

    /// The challenge of a 401: the one that names a document, or the first one with scopes.
    fn challenge_of(&self, response: &HttpResponse) -> Option<Challenge> {
        if response.status != StatusCode::UNAUTHORIZED {
            return None;
        }
        let headers = response.headers.get_all(WWW_AUTHENTICATE).iter();
        let challenges: Vec<Challenge> = headers
            .filter_map(|header| header.to_str().ok())
            .map(Challenge::parse)
            .collect();
        let names_document = |challenge: &&Challenge| self.metadata_url(challenge).is_some();
        let has_scopes = |challenge: &&Challenge| !challenge.scopes.is_empty();
        let mut all = challenges.iter();
        let found = all.find(names_document);
        found
            .or_else(|| challenges.iter().find(has_scopes))
            .cloned()
    }

    async fn get(&self, url: &Url) -> Result<HttpResponse, LoginError> {
        let response = self.http.get_metadata(url).await;
        response.map_err(|error| error.at(url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_of_the_server_or_of_what_it_is_below() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = OAuthHttp::new(tenon_net::Network::Anywhere).unwrap();
        let server = "https://a.example/x/mcp?key=1".parse().unwrap();
        let discoverer = Discoverer {
            http: &http,
            server: &server,
        };
        let check = |resource: Option<&str>, is_right: bool| {
            let document = ResourceMetadata {
                resource: resource.map(ToOwned::to_owned),
                ..ResourceMetadata::default()
            };
            assert_eq!(discoverer.is_of_server(&document), is_right, "{resource:?}");
        };
        check(Some("https://a.example/x/mcp"), true);
        check(Some("https://a.example/x"), true);
        check(Some("https://a.example/"), true);
        check(Some("https://a.example/x/mc"), false);
        check(Some("https://a.example/x/mcp/more"), false);
        check(Some("https://a.example/x/mcp#f"), false);
        check(Some("http://a.example/x/mcp"), false);
        check(Some("https://b.example/x/mcp"), false);
        check(Some("nonsense"), false);
        check(None, false);
    }
}
