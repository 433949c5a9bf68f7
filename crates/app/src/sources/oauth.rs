//! Logging in at servers with OAuth: pending log-ins, stored grants, access tokens.
//!
//! The state of a log-in counts once, for a while, and only for the person who began it for that
//! very server. There is one token manager for each person and server in this process, so that a
//! token is refreshed once for all their calls.

mod elsewhere;
mod grants;
mod pending;
mod public_address;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use tenon_bus::Bus;
use tenon_domain::{SourceId, UserId};
use tenon_sources::Network;
use tenon_sources::mcp::TokenProvider;
use tenon_sources::mcp::oauth::{
    self, LoginCallback, LoginError, LoginRequest, OAuthClient, OAuthHttp, TokenManager,
    UntrustedLogin,
};
use tenon_store::{Store, Vault};
use url::Url;

use super::lock;
use grants::GrantStore;
use pending::{PendingLogins, SourceLogin};

pub use public_address::PublicAddress;

/// What Tenon calls itself where it registers as a client.
pub const CLIENT_NAME: &str = "Tenon";

/// Cheap to clone.
#[derive(Clone)]
pub struct OAuthService(Arc<Inner>);

/// A server where somebody logs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginTarget {
    pub source: SourceId,
    /// The configured address. Tokens granted for it are sent nowhere else.
    pub address: String,
    /// The origin of the address with this user's variables filled in. None: some are not set.
    pub origin: Option<String>,
    pub network: Network,
}

/// How to log in there.
#[derive(Debug, Clone)]
pub struct LoginEndpoint {
    /// Its address with all variables filled in.
    pub url: String,
    /// What it said about where to log in, when it was last asked.
    pub challenge: Option<String>,
    /// The registered OAuth client, if somebody registered Tenon by hand.
    pub client: Option<OAuthClient>,
}

struct Inner {
    store: Store,
    vault: Arc<Vault>,
    pending: Mutex<PendingLogins>,
    bus: Bus,
    token_managers: Mutex<HashMap<(SourceId, UserId), UserTokens>>,
    anywhere: OnceLock<OAuthHttp>,
    public_only: OnceLock<OAuthHttp>,
}

/// A token manager, and what it is for.
#[derive(Clone)]
struct UserTokens {
    target: LoginTarget,
    manager: TokenManager,
}

impl OAuthService {
    pub fn new(store: Store, vault: Arc<Vault>, bus: Bus) -> Self {
        let service = Self(Arc::new(Inner {
            store,
            vault,
            pending: Mutex::default(),
            bus,
            token_managers: Mutex::default(),
            anywhere: OnceLock::new(),
            public_only: OnceLock::new(),
        }));
        service.hand_out_logins();
        service
    }

    /// Begins a log-in: the address that somebody's browser has to open.
    pub async fn begin(
        &self,
        user: &UserId,
        target: LoginTarget,
        endpoint: LoginEndpoint,
        public: PublicAddress,
    ) -> Result<String, LoginError> {
        let server = Url::parse(&endpoint.url)
            .map_err(|_| LoginError::Untrusted(UntrustedLogin::ServerAddress))?;
        // The log-in is for the origin that the address resolves to now.
        let target = LoginTarget {
            origin: Some(origin_of(&server)),
            ..target
        };
        let grant = self.token_manager(user, &target)?.grant().await?;
        let description = public.description();
        let request = LoginRequest {
            server: &server,
            challenge: endpoint.challenge.as_deref(),
            redirect: &public.callback(),
            client_name: CLIENT_NAME,
            client: endpoint.client.as_ref(),
            client_metadata_url: description.as_deref(),
            grant: grant.as_ref(),
        };
        let redirect = oauth::start_login(&self.http(target.network)?, request).await?;
        let login = SourceLogin {
            user: user.clone(),
            target,
            pending: redirect.pending,
        };
        lock(&self.0.pending).insert(redirect.state, login);
        Ok(redirect.url)
    }

    /// Finishes a log-in with what the browser came back with: the server they are logged in at
    /// from now on.
    pub async fn end(
        &self,
        user: &UserId,
        returned: LoginCallback,
    ) -> Result<SourceId, LoginFailure> {
        let login = lock(&self.0.pending).take(&returned.state, user);
        let login = match login {
            Some(login) => Some(login),
            None => self.login_begun_elsewhere(&returned.state, user).await,
        };
        let login = login.ok_or(LoginFailure {
            source: None,
            error: LoginError::Expired,
        })?;
        let source = login.target.source.clone();
        match self.exchange_code(user, login, returned).await {
            Ok(()) => Ok(source),
            Err(error) => Err(LoginFailure {
                source: Some(source),
                error,
            }),
        }
    }

    async fn exchange_code(
        &self,
        user: &UserId,
        login: SourceLogin,
        returned: LoginCallback,
    ) -> Result<(), LoginError> {
        let http = self.http(login.target.network)?;
        let grant = oauth::finish_login(&http, login.pending, returned).await?;
        self.token_manager(user, &login.target)?
            .set_grant(grant)
            .await
    }

    /// Revokes a grant there, and forgets it here.
    pub async fn log_out(&self, user: &UserId, target: &LoginTarget) -> Result<(), LoginError> {
        lock(&self.0.pending).forget(&target.source, user);
        self.token_manager(user, target)?.log_out().await
    }

    /// The token manager of somebody for a server: always the same one while it is used,
    /// unless the server is another one by now.
    fn token_manager(
        &self,
        user: &UserId,
        target: &LoginTarget,
    ) -> Result<TokenManager, LoginError> {
        let http = self.http(target.network)?;
        let mut token_managers = lock(&self.0.token_managers);
        token_managers.retain(|_, tokens| tokens.manager.is_used());
        let key = (target.source.clone(), user.clone());
        if let Some(tokens) = token_managers.get(&key)
            && tokens.target == *target
        {
            return Ok(tokens.manager.clone());
        }
        let grants = GrantStore {
            store: self.0.store.clone(),
            vault: self.0.vault.clone(),
            user: user.clone(),
            target: target.clone(),
        };
        let tokens = UserTokens {
            target: target.clone(),
            manager: TokenManager::new(Arc::new(grants), http, CLIENT_NAME),
        };
        token_managers.insert(key, tokens.clone());
        Ok(tokens.manager)
    }

    fn http(&self, network: Network) -> Result<OAuthHttp, LoginError> {
        let made = match network {
            Network::Anywhere => &self.0.anywhere,
            Network::PublicOnly => &self.0.public_only,
        };
        if let Some(http) = made.get() {
            return Ok(http.clone());
        }
        let http = OAuthHttp::new(network)?;
        Ok(made.get_or_init(|| http).clone())
    }
}

/// A log-in that failed.
#[derive(Debug)]
pub struct LoginFailure {
    /// Where, as far as anybody knows.
    pub source: Option<SourceId>,
    pub error: LoginError,
}

impl OAuthService {
    /// The access tokens of somebody, refreshed when needed.
    pub(super) fn tokens(&self, user: &UserId, target: &LoginTarget) -> Arc<dyn TokenProvider> {
        match self.token_manager(user, target) {
            Ok(manager) => Arc::new(manager),
            Err(error) => {
                let source = &target.source;
                tracing::error!(%source, %error, "nobody can be let in there");
                Arc::new(NoTokens)
            }
        }
    }
}

/// Lets nobody in.
struct NoTokens;

#[async_trait]
impl TokenProvider for NoTokens {
    async fn access_token(&self) -> Option<String> {
        None
    }

    async fn replace_token(&self, _refused: &str) -> Option<String> {
        None
    }
}

impl std::fmt::Debug for OAuthService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OAuthService").finish_non_exhaustive()
    }
}

/// The origin of an address, as a text.
pub(super) fn origin_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}
