//! Going away to log in: finding out where, being introduced, and the address to open.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{StatusCode, header};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
    OAuthClientConfig, StateStore, StoredAuthorizationState, WWWAuthenticateParams,
};
use serde_json::json;
use url::Url;

use super::end::Away;
use super::endpoints::Endpoints;
use super::grant::{Client, Grant, SecretGoes};
use super::http::Http;
use super::scopes;
use super::trouble::{Trouble, said};

/// A dozen questions to two servers; a person waits for it.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a log-in is begun with.
#[derive(Debug)]
pub struct Asking<'a> {
    /// The MCP server's address.
    pub server: &'a Url,
    /// What it said about where to log in, if it was asked before.
    pub challenge: Option<&'a str>,
    /// Where the browser comes back to.
    pub redirect: &'a str,
    /// Who Tenon is there, where somebody has registered it.
    pub client: Option<&'a Client>,
    /// Where a document describes Tenon to strangers. For those who ask for one.
    pub described_at: Option<&'a str>,
    /// What the person has already.
    pub held: Option<&'a Grant>,
}

/// Where to send a browser, and what has to be known when it comes back.
pub struct Departure {
    pub url: String,
    /// What it will bring back, good once.
    pub state: String,
    pub away: Away,
}

/// Finds out where people log in at a server and makes the address to open.
pub async fn begin(http: &Http, asking: Asking<'_>) -> Result<Departure, Trouble> {
    let begun = tokio::time::timeout(PATIENCE, set_out(http, asking)).await;
    begun.unwrap_or_else(|_| {
        Err(Trouble::Unreachable(
            "The log-in service takes too long to answer.".into(),
        ))
    })
}

async fn set_out(http: &Http, asking: Asking<'_>) -> Result<Departure, Trouble> {
    let server = asking.server;
    http.check(server)
        .map_err(|refusal| Trouble::Untrusted(refusal.to_string()))?;
    let challenge = match asking.challenge {
        Some(challenge) => Some(challenge.to_owned()),
        None => challenge_of(http, server).await?,
    };
    let mut manager = http.manager(server).await?;
    let found = manager
        .resolve_metadata_from_challenge(challenge.as_deref())
        .await;
    let found = found.map_err(not_found)?;
    if found.source == AuthorizationMetadataSource::LegacyEndpointFallback && challenge.is_none() {
        return Err(Trouble::NoLogin);
    }
    let metadata = found.metadata;
    let endpoints = Endpoints::check(http, server, &metadata)?;
    manager.set_metadata(metadata.clone());

    let scopes = wanted(&manager, challenge.as_deref(), &asking).await;
    let words: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let mut client = introduce(&mut manager, &metadata, &asking, &words).await?;
    client.secret_goes = secret_goes(&metadata);

    let note = Note::default();
    manager.set_state_store(note.clone());
    let url = manager.get_authorization_url(&words).await;
    let url = url.map_err(|error| Trouble::Untrusted(complaint(&error)))?;
    let noted = note.take().ok_or(Trouble::NoLogin)?;
    Ok(Departure {
        state: noted.csrf_token,
        away: Away {
            verifier: noted.pkce_verifier,
            redirect: asking.redirect.to_owned(),
            // What the address says: `rmcp` keeps what the server's own document said to itself.
            resource: last_of(&url, "resource").unwrap_or_else(|| server.to_string()),
            issuer: noted.expected_issuer,
            must_name_issuer: noted.require_issuer,
            client,
            token_endpoint: endpoints.token,
            revocation_endpoint: endpoints.revocation,
            scopes,
        },
        url,
    })
}

/// What a server answers to somebody it does not know.
async fn challenge_of(http: &Http, server: &Url) -> Result<Option<String>, Trouble> {
    let question = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let answer = http.post_json(server, &question).await?;
    if answer.status != StatusCode::UNAUTHORIZED {
        return Ok(None);
    }
    let all = answer.headers.get_all(header::WWW_AUTHENTICATE).iter();
    let all: Vec<&str> = all.filter_map(|value| value.to_str().ok()).collect();
    let tells = all.iter().find(|value| value.contains("resource_metadata"));
    let any = tells.or(all.first()).copied();
    // To be asked without a word is to be asked.
    Ok(Some(any.unwrap_or("Bearer").to_owned()))
}

async fn wanted(
    manager: &AuthorizationManager,
    challenge: Option<&str>,
    asking: &Asking<'_>,
) -> Vec<String> {
    let asked = manager.select_initial_scopes(&[]).await;
    let lacks = challenge
        .map(|challenge| WWWAuthenticateParams::parse(challenge, asking.server))
        .is_some_and(|challenge| challenge.is_insufficient_scope());
    let held = asking.held.filter(|_| lacks);
    scopes::wanted(&asked, held.map_or(&[], |held| &held.scopes))
}

/// Makes Tenon known there: as somebody registered it, by its own description,
/// or by registering now.
async fn introduce(
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    asking: &Asking<'_>,
    scopes: &[&str],
) -> Result<Client, Trouble> {
    // A browser on somebody's own machine comes back without https.
    let kind = match asking.redirect.starts_with("https://") {
        true => "web",
        false => "native",
    };
    let settings = |client: &Client| {
        let settings = OAuthClientConfig::new(&client.id, asking.redirect);
        let settings = settings.with_application_type(kind);
        match &client.secret {
            Some(secret) => settings.with_client_secret(secret),
            None => settings,
        }
    };
    let takes_descriptions = metadata
        .additional_fields
        .get("client_id_metadata_document_supported")
        .is_some_and(|says| says.as_bool() == Some(true));
    let described = asking.described_at.filter(|_| takes_descriptions);
    let described = described.map(|address| Client::new(address, None));
    if let Some(client) = asking.client.cloned().or(described) {
        let known = manager.configure_client(settings(&client));
        known.map_err(|error| Trouble::Untrusted(complaint(&error)))?;
        return Ok(client);
    }
    if metadata.registration_endpoint.is_none() {
        return Err(Trouble::NotRegistered("nobody can register there.".into()));
    }
    // It registers as the kind that was last configured, and only so.
    let as_that_kind = manager.configure_client(settings(&Client::new("", None)));
    as_that_kind.map_err(|error| Trouble::Untrusted(complaint(&error)))?;
    let registered = manager
        .register_client("Tenon", asking.redirect, scopes)
        .await;
    let registered = registered.map_err(|error| not_registered(&error))?;
    Ok(Client::new(registered.client_id, registered.client_secret))
}

fn secret_goes(metadata: &AuthorizationMetadata) -> SecretGoes {
    let ways = metadata
        .additional_fields
        .get("token_endpoint_auth_methods_supported");
    let takes = |way: &str| {
        let ways = ways.and_then(|ways| ways.as_array());
        ways.is_some_and(|ways| ways.iter().any(|found| found == way))
    };
    match takes("client_secret_post") && !takes("client_secret_basic") {
        true => SecretGoes::InBody,
        false => SecretGoes::InHeader,
    }
}

fn not_found(error: AuthError) -> Trouble {
    match error {
        AuthError::MetadataError(_) | AuthError::HttpError(_) => Trouble::Unreachable(format!(
            "Where to log in could not be found out: {}.",
            complaint(&error)
        )),
        error => Trouble::Untrusted(format!("{}.", complaint(&error))),
    }
}

fn not_registered(error: &AuthError) -> Trouble {
    let why = complaint(error);
    match error {
        AuthError::RegistrationFailed(said) if may_pass(said) => {
            Trouble::Unreachable(format!("Tenon could not register there: {why}."))
        }
        AuthError::RegistrationFailed(_) => Trouble::NotRegistered(format!("{why}.")),
        _ => Trouble::Untrusted(format!("{why}.")),
    }
}

/// As `rmcp` words it: nobody answered, or somebody who is not well.
fn may_pass(said: &str) -> bool {
    said.starts_with("HTTP request error") || said.starts_with("HTTP 5")
}

fn complaint(error: &AuthError) -> String {
    said(&error.to_string())
}

fn last_of(url: &str, name: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let values = url.query_pairs().filter(|(key, _)| key == name);
    values.last().map(|(_, value)| value.into_owned())
}

/// Keeps what the manager would look up when somebody comes back.
#[derive(Clone, Default)]
struct Note(Arc<Mutex<Option<StoredAuthorizationState>>>);

impl Note {
    fn take(&self) -> Option<StoredAuthorizationState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[async_trait]
impl StateStore for Note {
    async fn save(&self, _state: &str, kept: StoredAuthorizationState) -> Result<(), AuthError> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        Ok(())
    }

    async fn load(&self, _state: &str) -> Result<Option<StoredAuthorizationState>, AuthError> {
        Ok(None)
    }

    async fn delete(&self, _state: &str) -> Result<(), AuthError> {
        Ok(())
    }
}

impl std::fmt::Debug for Departure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Departure").finish_non_exhaustive()
    }
}
