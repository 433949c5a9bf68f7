//! Somebody who logs in wherever they are sent, without being asked anything.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use tenon_sources::Network;
use tenon_sources::SupervisedServer;
use tenon_sources::mcp::McpServer;
use tenon_sources::mcp::oauth::{
    Grant, GrantStorage, GrantStorageError, LoginCallback, LoginRequest, OAuthClient, OAuthHttp,
    TokenManager, finish_login, start_login,
};
use url::Url;

use crate::Outcome;

/// Nobody answers there: where the browser is sent back to is all that is looked at.
const REDIRECT: &str = "http://localhost:3000/callback";
/// Who the suite knows clients that describe themselves as.
const DESCRIBED_AT: &str = "https://conformance-test.local/client-metadata.json";
/// A server that is never content is not asked for ever.
const MOST_LOG_INS: usize = 3;

pub struct Visitor {
    server: Url,
    /// Where the suite has registered us beforehand.
    client: Option<OAuthClient>,
    http: OAuthHttp,
    pub tokens: TokenManager,
    times: Mutex<usize>,
}

impl Visitor {
    pub fn new(server: &str, wanted: &Value) -> Outcome<Self> {
        let http = OAuthHttp::new(Network::Anywhere)?;
        let secret = wanted["client_secret"].as_str().map(str::to_owned);
        let client = wanted["client_id"].as_str();
        Ok(Self {
            server: Url::parse(server)?,
            client: client.map(|id| OAuthClient::new(id, secret)),
            tokens: TokenManager::new(
                Arc::new(MemoryGrantStorage::default()),
                http.clone(),
                "Tenon",
            ),
            http,
            times: Mutex::default(),
        })
    }

    /// Logs in if the server asks for it. Whether it did.
    pub async fn log_in(&self, mcp: &McpServer) -> Outcome<bool> {
        let Some(challenge) = mcp.status().asks_login else {
            return Ok(false);
        };
        self.count()?;
        let held = self.tokens.grant().await?;
        let redirect = start_login(
            &self.http,
            LoginRequest {
                server: &self.server,
                challenge: challenge.as_deref(),
                redirect: REDIRECT,
                client_name: "Tenon",
                client: self.client.as_ref(),
                client_metadata_url: Some(DESCRIBED_AT),
                grant: held.as_ref(),
            },
        )
        .await?;
        let returned = sent_back(&redirect.url).await?;
        if returned.state != redirect.state {
            return Err("somebody else was sent back".into());
        }
        let grant = finish_login(&self.http, redirect.pending, returned).await?;
        self.tokens.set_grant(grant).await?;
        mcp.restart();
        Ok(true)
    }

    fn count(&self) -> Outcome {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        *times += 1;
        if *times > MOST_LOG_INS {
            return Err("it asks for one log-in after another".into());
        }
        Ok(())
    }
}

/// Opens the address as a browser would, and reads what it is sent back with.
async fn sent_back(url: &str) -> Outcome<LoginCallback> {
    let stay = reqwest::redirect::Policy::none();
    let browser = reqwest::Client::builder().redirect(stay).build()?;
    let answer = browser.get(url).send().await?;
    let location = answer.headers().get("location");
    let location = location.ok_or("nobody is sent back")?.to_str()?;
    let mut returned = LoginCallback::default();
    for (name, value) in Url::parse(location)?.query_pairs() {
        match &*name {
            "state" => returned.state = value.into_owned(),
            "code" => returned.code = Some(value.into_owned()),
            "iss" => returned.iss = Some(value.into_owned()),
            "error" => returned.error = Some(value.into_owned()),
            _ => {}
        }
    }
    Ok(returned)
}

/// Keeps a grant as long as this runs.
#[derive(Default)]
struct MemoryGrantStorage(Mutex<Option<Grant>>);

#[async_trait]
impl GrantStorage for MemoryGrantStorage {
    async fn load(&self) -> Result<Option<Grant>, GrantStorageError> {
        Ok(self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone())
    }

    async fn save(&self, grant: &Grant) -> Result<(), GrantStorageError> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(grant.clone());
        Ok(())
    }

    async fn remove(&self) -> Result<(), GrantStorageError> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}
