//! The beginning of a log-in: discovery, registration, and the address to open.

use std::fmt;
use std::time::Duration;

use reqwest::{StatusCode, header};
use serde_json::json;
use tenon_net::oauth::{ClientAuth, OAuthClient};
use tenon_net::oauth::{NoRandomness, Pkce, random_token};
use url::Url;

use super::callback::PendingLogin;
use super::challenge::Challenge;
use super::discovery::{Discoverer, ServerMetadata};
use super::endpoints::OAuthEndpoints;
use super::error::{LoginError, RegistrationRefusal, UnreachableLogin, UntrustedLogin};
use super::grant::Grant;
use super::http::OAuthHttp;
use super::registration::{self, ClientMetadata};
use super::scopes;

/// For a dozen requests to two servers; a person waits for it.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct LoginRequest<'a> {
    /// The MCP server's address.
    pub server: &'a Url,
    /// The `WWW-Authenticate` header of its last 401, if it was asked before.
    pub challenge: Option<&'a str>,
    /// Where the browser comes back to.
    pub redirect: &'a str,
    /// What this client calls itself when it registers.
    pub client_name: &'a str,
    /// The client as somebody has registered it there.
    pub client: Option<&'a OAuthClient>,
    /// Where a document describes this client, for servers that take one (client id metadata).
    pub client_metadata_url: Option<&'a str>,
    /// What the person has already.
    pub grant: Option<&'a Grant>,
}

/// Where to send a browser, and what is needed when it comes back.
pub struct AuthorizationRedirect {
    pub url: String,
    /// The `state` parameter of the callback, valid once.
    pub state: String,
    pub pending: PendingLogin,
}

/// Finds out where people log in at a server and makes the address to open.
pub async fn start_login(
    http: &OAuthHttp,
    request: LoginRequest<'_>,
) -> Result<AuthorizationRedirect, LoginError> {
    let started = tokio::time::timeout(LOGIN_TIMEOUT, start(http, request)).await;
    started.unwrap_or(Err(LoginError::Unreachable(UnreachableLogin::Timeout)))
}

async fn start(
    http: &OAuthHttp,
    request: LoginRequest<'_>,
) -> Result<AuthorizationRedirect, LoginError> {
    let server = request.server;
    http.check(server)
        .map_err(|refused| LoginError::Untrusted(UntrustedLogin::Address(refused)))?;
    let challenge = match request.challenge {
        Some(challenge) => Some(challenge.to_owned()),
        None => ask_for_challenge(http, server).await?,
    };
    let challenge = challenge.as_deref().map(Challenge::parse);
    let discovery = Discoverer { http, server }.run(challenge.as_ref()).await?;
    if discovery.is_guess && challenge.is_none() {
        return Err(LoginError::NoLogin);
    }
    let metadata = &discovery.metadata;
    let endpoints = OAuthEndpoints::check(http, server, metadata)?;
    check_flow(metadata)?;

    let scopes = wanted_scopes(&discovery.scopes, metadata, challenge.as_ref(), &request);
    let mut client = identify(http, metadata, &endpoints, &request, &scopes).await?;
    client.auth = client_auth(metadata);

    let random = |error: NoRandomness| LoginError::Unreachable(error.into());
    let pkce = Pkce::new().map_err(random)?;
    let state = random_token().map_err(random)?;
    let mut url = endpoints.authorization;
    url.query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", &client.id)
        .append_pair("state", &state)
        .append_pair("code_challenge", &pkce.challenge)
        .append_pair("code_challenge_method", "S256")
        .append_pair("redirect_uri", request.redirect);
    if !scopes.is_empty() {
        url.query_pairs_mut()
            .append_pair("scope", &scopes.join(" "));
    }
    url.query_pairs_mut()
        .append_pair("resource", &discovery.resource);
    Ok(AuthorizationRedirect {
        url: url.into(),
        state,
        pending: PendingLogin {
            verifier: pkce.verifier,
            redirect: request.redirect.to_owned(),
            resource: discovery.resource,
            issuer: metadata.issuer.clone(),
            must_name_issuer: metadata.authorization_response_iss_parameter_supported == Some(true),
            client_name: request.client_name.to_owned(),
            client,
            token_endpoint: endpoints.token,
            revocation_endpoint: endpoints.revocation,
            scopes,
        },
    })
}

/// What a server answers to a request without a token.
async fn ask_for_challenge(http: &OAuthHttp, server: &Url) -> Result<Option<String>, LoginError> {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let response = http.post_json(server, &ping).await;
    let response = response.map_err(|error| error.at(server))?;
    if response.status != StatusCode::UNAUTHORIZED {
        return Ok(None);
    }
    let all = response.headers.get_all(header::WWW_AUTHENTICATE).iter();
    let all: Vec<&str> = all.filter_map(|value| value.to_str().ok()).collect();
    let names_document = |value: &&&str| value.contains("resource_metadata");
    let challenge = all.iter().find(names_document).or(all.first()).copied();
    // A 401 without a challenge also asks for a log-in.
    Ok(Some(challenge.unwrap_or("Bearer").to_owned()))
}

/// The authorization server must do the flow that is used here: codes with PKCE (S256).
fn check_flow(metadata: &ServerMetadata) -> Result<(), LoginError> {
    let lacks = |values: &Option<Vec<String>>, wanted: &str| {
        let values = values.as_ref();
        values.is_some_and(|values| !values.iter().any(|value| value == wanted))
    };
    if lacks(&metadata.response_types_supported, "code") {
        return Err(LoginError::Untrusted(UntrustedLogin::NoCodes));
    }
    // Metadata that does not mention S256 usually supports it.
    if lacks(&metadata.code_challenge_methods_supported, "S256") {
        return Err(LoginError::Untrusted(UntrustedLogin::NoPkce));
    }
    Ok(())
}

fn wanted_scopes(
    asked: &[String],
    metadata: &ServerMetadata,
    challenge: Option<&Challenge>,
    request: &LoginRequest<'_>,
) -> Vec<String> {
    let offline = "offline_access".to_owned();
    let mut asked = asked.to_vec();
    let supported = metadata.scopes_supported.as_ref();
    // Without it some servers give no refresh token.
    if !asked.is_empty()
        && !asked.contains(&offline)
        && supported.is_some_and(|supported| supported.contains(&offline))
    {
        asked.push(offline);
    }
    let needs_more = challenge.is_some_and(Challenge::is_insufficient_scope);
    let granted = request.grant.filter(|_| needs_more);
    scopes::wanted(&asked, granted.map_or(&[], |grant| &grant.scopes))
}

/// The client as somebody registered it, by the document that describes it, or registered now.
async fn identify(
    http: &OAuthHttp,
    metadata: &ServerMetadata,
    endpoints: &OAuthEndpoints,
    request: &LoginRequest<'_>,
    scopes: &[String],
) -> Result<OAuthClient, LoginError> {
    if let Some(client) = request.client {
        return Ok(client.clone());
    }
    if let Some(url) = request.client_metadata_url
        && metadata.client_id_metadata_document_supported == Some(true)
    {
        return Ok(OAuthClient::new(url, None));
    }
    let Some(endpoint) = &endpoints.registration else {
        return Err(LoginError::NotRegistered {
            client: request.client_name.to_owned(),
            why: RegistrationRefusal::NotOffered,
        });
    };
    let client = ClientMetadata {
        client_name: request.client_name,
        redirect: request.redirect,
        scopes,
    };
    registration::register(http, endpoint, client).await
}

fn client_auth(metadata: &ServerMetadata) -> ClientAuth {
    let methods = metadata.token_endpoint_auth_methods_supported.as_deref();
    let supports = |method: &str| {
        let methods = methods.unwrap_or_default();
        methods.iter().any(|supported| supported == method)
    };
    if supports("client_secret_post") && !supports("client_secret_basic") {
        ClientAuth::Post
    } else {
        ClientAuth::Basic
    }
}

impl fmt::Debug for AuthorizationRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationRedirect")
            .finish_non_exhaustive()
    }
}
