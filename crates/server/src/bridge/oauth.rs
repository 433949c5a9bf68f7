//! Log-ins of the bridge at servers that ask for one: whoever runs it opens an address, and their
//! browser comes back to a port of this machine.

mod callback_listener;
mod grant_file;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tenon_mcp::oauth::{
    GrantStorage, LoginError, LoginRequest, OAuthHttp, TokenManager, finish_login, start_login,
};
use tenon_sources::Network;
use tenon_sources::mcp::TokenProvider;
use tokio::time::timeout;
use url::Url;

use callback_listener::CallbackListener;
use grant_file::{GrantFile, MemoryGrant};

const CLIENT_NAME: &str = "Tenon bridge";

/// After this the log-in is restarted with a new address.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// `oauth` of a server, as mcpo names it. Where to log in the server says itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct BridgeOAuthConfig {
    storage_type: GrantLocation,
    callback_port: u16,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum GrantLocation {
    #[default]
    File,
    Memory,
}

impl Default for BridgeOAuthConfig {
    fn default() -> Self {
        Self {
            storage_type: GrantLocation::default(),
            callback_port: 3030,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum BridgeLoginError {
    #[error("port {port} of this machine is needed for the log-in: {cause}")]
    Port { port: u16, cause: io::Error },
    #[error(transparent)]
    Login(#[from] LoginError),
    #[error("nobody came back from it")]
    Timeout,
}

/// The log-in at one server.
pub(super) struct BridgeLogin {
    server: Url,
    callback_port: u16,
    http: OAuthHttp,
    tokens: TokenManager,
}

impl BridgeLogin {
    pub(super) fn new(server: Url, config: &BridgeOAuthConfig) -> Result<Self, LoginError> {
        let file = match config.storage_type {
            GrantLocation::File => GrantFile::of_server(&server),
            GrantLocation::Memory => None,
        };
        let grants: Arc<dyn GrantStorage> = match file {
            Some(file) => Arc::new(file),
            None => Arc::new(MemoryGrant::default()),
        };
        let http = OAuthHttp::new(Network::Anywhere)?;
        Ok(Self {
            tokens: TokenManager::new(grants, http.clone(), CLIENT_NAME),
            callback_port: config.callback_port,
            server,
            http,
        })
    }

    pub(super) fn tokens(&self) -> Arc<dyn TokenProvider> {
        Arc::new(self.tokens.clone())
    }

    /// Logs where to log in, and waits for whoever does.
    pub(super) async fn run(
        &self,
        name: &str,
        challenge: Option<&str>,
    ) -> Result<(), BridgeLoginError> {
        let port = self.callback_port;
        let listener = CallbackListener::bind(port).await;
        let mut listener = listener.map_err(|cause| BridgeLoginError::Port { port, cause })?;
        let grant = self.tokens.grant().await?;
        let request = LoginRequest {
            server: &self.server,
            challenge,
            redirect: listener.redirect(),
            client_name: CLIENT_NAME,
            client: None,
            client_metadata_url: None,
            grant: grant.as_ref(),
        };
        let started = start_login(&self.http, request).await?;
        tracing::warn!(
            server = name,
            "asks for a log-in. Open this address in a browser on this machine: {}",
            started.url
        );
        let returned = timeout(LOGIN_TIMEOUT, listener.receive(&started.state)).await;
        let returned = returned.ok().flatten().ok_or(BridgeLoginError::Timeout)?;
        let finished = match finish_login(&self.http, started.pending, returned.callback).await {
            Ok(grant) => self.tokens.set_grant(grant).await,
            Err(error) => Err(error),
        };
        let said = match &finished {
            Ok(()) => format!("Tenon is logged in at {name}. You can close this page."),
            Err(error) => format!("The log-in at {name} failed. {error}"),
        };
        // An error only means that the browser was closed.
        let _ = returned.reply.send(said);
        listener.close().await;
        Ok(finished?)
    }
}
