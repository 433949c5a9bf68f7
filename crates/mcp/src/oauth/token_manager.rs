//! Access tokens of one person for one server, refreshed while they are logged in.
//!
//! However many ask at once, one refresh is made for all of them, by a task of its own: a
//! call that is given up must not lose the token that was just issued. What another
//! process has refreshed meanwhile is taken from the store.

mod refresh;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tenon_net::oauth::SingleFlight;

use super::error::LoginError;
use super::grant::{Grant, GrantStorage, GrantStorageError};
use super::http::OAuthHttp;
use super::token_client::{TokenClient, now};
use crate::handler::TokenProvider;

/// A service that is down is not asked more often than this.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Cheap to clone; all clones are the same manager. There must be one for each grant in a
/// process, or each would refresh for itself.
#[derive(Clone)]
pub struct TokenManager(Arc<Inner>);

/// Whether somebody is logged in at a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantStatus {
    LoggedOut,
    LoggedIn,
    /// The person was logged in and has to log in again.
    Ended,
    /// The person is logged in, but no token can be obtained now. A sentence.
    Unknown(String),
}

struct Inner {
    store: Arc<dyn GrantStorage>,
    http: OAuthHttp,
    client_name: String,
    state: Mutex<State>,
    refresh: SingleFlight<Option<String>>,
}

#[derive(Default)]
struct State {
    /// The last one that was seen. That there is none is never cached: somebody may log in
    /// in another process.
    grant: Option<Grant>,
    /// Why there was no new token, and when.
    failure: Option<(LoginError, Instant)>,
    /// A log-out is in progress: no token is given out or refreshed.
    is_logging_out: bool,
}

impl TokenManager {
    /// `client_name` is for errors.
    pub fn new(store: Arc<dyn GrantStorage>, http: OAuthHttp, client_name: &str) -> Self {
        Self(Arc::new(Inner {
            store,
            http,
            client_name: client_name.to_owned(),
            state: Mutex::default(),
            refresh: SingleFlight::default(),
        }))
    }

    /// Stores a new grant after a log-in, then uses it.
    pub async fn set_grant(&self, grant: Grant) -> Result<(), LoginError> {
        self.0.store.save(&grant).await.map_err(storage)?;
        let mut state = self.0.state();
        state.grant = Some(grant);
        state.failure = None;
        state.is_logging_out = false;
        Ok(())
    }

    /// What is stored of theirs now.
    pub async fn grant(&self) -> Result<Option<Grant>, LoginError> {
        self.0.store.load().await.map_err(storage)
    }

    /// Whether there is another clone of it.
    pub fn is_used(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub async fn grant_status(&self) -> GrantStatus {
        let failure = self.0.state().failure.clone();
        match self.grant().await {
            Err(error) => GrantStatus::Unknown(error.to_string()),
            Ok(None) => GrantStatus::LoggedOut,
            Ok(Some(grant)) if grant.tokens.is_none() => GrantStatus::Ended,
            Ok(Some(_)) => match failure {
                Some((error, _)) => GrantStatus::Unknown(error.to_string()),
                None => GrantStatus::LoggedIn,
            },
        }
    }

    /// Forgets the grant here, whatever happens there, then revokes it. The result is that of
    /// the revocation.
    pub async fn log_out(&self) -> Result<(), LoginError> {
        {
            let mut state = self.0.state();
            state.is_logging_out = true;
            state.grant = None;
        }
        // Wait for a running refresh, which would otherwise store a new grant after the log-out.
        self.0.refresh.wait().await;
        let removed = self.remove_grant().await;
        *self.0.state() = State::default();
        match removed? {
            Some(grant) => self.0.revoke(&grant).await,
            None => Ok(()),
        }
    }

    async fn remove_grant(&self) -> Result<Option<Grant>, LoginError> {
        // A grant that cannot be read can still be deleted.
        let grant = self.grant().await.unwrap_or_default();
        self.0.store.remove().await.map_err(storage)?;
        Ok(grant)
    }
}

#[async_trait]
impl TokenProvider for TokenManager {
    async fn access_token(&self) -> Option<String> {
        let grant = self.0.current_grant().await?;
        let tokens = grant.tokens?;
        if tokens.is_fresh(now()) {
            return Some(tokens.access);
        }
        let refreshed = self.0.refreshed(&tokens.access).await;
        // If the server could not be reached, the old token may still work.
        refreshed.or_else(|| self.0.state().grant.as_ref()?.access().map(str::to_owned))
    }

    async fn replace_token(&self, refused: &str) -> Option<String> {
        let grant = self.0.current_grant().await?;
        let tokens = grant.tokens?;
        if tokens.access != refused && tokens.is_fresh(now()) {
            // Another task refreshed the token in the meantime.
            return Some(tokens.access);
        }
        self.0.refreshed(&tokens.access).await
    }
}

impl Inner {
    /// The cached grant, or the stored one.
    async fn current_grant(&self) -> Option<Grant> {
        {
            let state = self.state();
            if state.is_logging_out {
                return None;
            }
            if let Some(grant) = &state.grant {
                return Some(grant.clone());
            }
        }
        let stored = self.store.load().await;
        let stored = stored.unwrap_or_else(|error| {
            tracing::error!(%error, "a log-in at a server cannot be read");
            None
        })?;
        let mut state = self.state();
        if state.is_logging_out {
            return None;
        }
        Some(state.grant.get_or_insert(stored).clone())
    }

    /// Another token than this one, by the one refresh that is made for all who ask.
    async fn refreshed(self: &Arc<Self>, old: &str) -> Option<String> {
        let ready = || {
            let state = self.state();
            let tokens = state.grant.as_ref().and_then(|grant| grant.tokens.as_ref());
            let Some(tokens) = tokens else {
                return Some(None);
            };
            if tokens.access != old && tokens.is_fresh(now()) {
                return Some(Some(tokens.access.clone()));
            }
            (state.is_logging_out || state.has_just_failed()).then_some(None)
        };
        let job = || {
            let (inner, old) = (self.clone(), old.to_owned());
            async move { inner.refresh(&old).await }
        };
        self.refresh.run(ready, job).await.flatten()
    }

    async fn revoke(&self, grant: &Grant) -> Result<(), LoginError> {
        let (Some(endpoint), Some(tokens)) = (&grant.revocation_endpoint, &grant.tokens) else {
            return Ok(());
        };
        let client = self.token_client(endpoint, grant);
        let refresh = match &tokens.refresh {
            Some(refresh) => client.revoke(refresh, "refresh_token").await,
            None => Ok(()),
        };
        // Not every service revokes the one with the other.
        let access = client.revoke(&tokens.access, "access_token").await;
        refresh.and(access)
    }

    fn token_client<'a>(&'a self, endpoint: &'a url::Url, grant: &'a Grant) -> TokenClient<'a> {
        TokenClient {
            http: &self.http,
            endpoint,
            client: &grant.client,
            client_name: &self.client_name,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_just_failed(&self) -> bool {
        let failure = self.failure.as_ref();
        failure.is_some_and(|(_, at)| at.elapsed() < RETRY_INTERVAL)
    }
}

fn storage(error: GrantStorageError) -> LoginError {
    LoginError::Storage(error.0)
}

impl fmt::Debug for TokenManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenManager").finish_non_exhaustive()
    }
}
