//! One refresh: what is stored, what is asked, and what is stored before it is used.

use std::time::{Duration, Instant};

use super::super::error::EndedLogin;
use super::super::scopes;
use super::{Grant, Inner, LoginError, now, storage};

/// Time after which another process that is refreshing now has stored its result.
const OTHER_PROCESS_WAIT: Duration = Duration::from_millis(700);

/// A database that is away for a moment must not cost a log-in.
const SAVE_ATTEMPTS: u32 = 4;

impl Inner {
    /// A token that is not the `old` one, if there is a way to one.
    pub(super) async fn refresh(&self, old: &str) -> Option<String> {
        match self.try_refresh(old).await {
            Ok(grant) => {
                let access = grant.access().map(str::to_owned);
                let mut state = self.state();
                state.failure = None;
                state.grant = Some(grant);
                access
            }
            Err(error) => {
                tracing::warn!(why = %error, "a log-in at a server could not be renewed");
                let mut state = self.state();
                if error.is_transient() {
                    state.failure = Some((error, Instant::now()));
                } else {
                    // What is stored says so too by now.
                    state.grant = None;
                    state.failure = None;
                }
                None
            }
        }
    }

    /// Once in all processes: a refresh token that is rotated is good for one of them.
    async fn try_refresh(&self, old: &str) -> Result<Grant, LoginError> {
        self.store.lock().await;
        let refreshed = self.refresh_alone(old).await;
        self.store.unlock().await;
        refreshed
    }

    async fn refresh_alone(&self, old: &str) -> Result<Grant, LoginError> {
        // The previous holder of the lock may have stored a new grant.
        let stored = self.stored_grant().await?;
        if is_newer(&stored, old) {
            return Ok(stored);
        }
        let tokens = stored.tokens.as_ref().ok_or_else(logged_out)?;
        let Some(refresh_token) = tokens.refresh.clone() else {
            let error = LoginError::Ended(EndedLogin::NotRenewable);
            return self.end_grant(stored, error).await;
        };
        match self.request_refresh(&stored, &refresh_token).await {
            Ok(refreshed) => {
                self.save(&refreshed).await;
                Ok(refreshed)
            }
            Err(error) if error.is_transient() => Err(error),
            Err(error) => {
                // Two processes may have used the same refresh token; the other has the new one.
                tokio::time::sleep(OTHER_PROCESS_WAIT).await;
                let stored = self.stored_grant().await?;
                if is_newer(&stored, old) {
                    Ok(stored)
                } else {
                    self.end_grant(stored, error).await
                }
            }
        }
    }

    async fn request_refresh(
        &self,
        grant: &Grant,
        refresh_token: &str,
    ) -> Result<Grant, LoginError> {
        let client = self.token_client(&grant.token_endpoint, grant);
        let (mut tokens, scope) = client
            .request(&[
                ("grant_type", "refresh_token"),
                ("refresh_token", refresh_token),
                ("resource", &grant.resource),
            ])
            .await?;
        // Without rotation the old refresh token stays valid.
        tokens.refresh = tokens.refresh.or_else(|| Some(refresh_token.to_owned()));
        Ok(Grant {
            tokens: Some(tokens),
            scopes: scopes::granted(scope.as_deref(), &grant.scopes),
            ..grant.clone()
        })
    }

    /// Before it is used: the old one may be invalid by now.
    async fn save(&self, grant: &Grant) {
        let mut pause = Duration::from_millis(100);
        for attempts_left in (0..SAVE_ATTEMPTS).rev() {
            match self.store.save(grant).await {
                Ok(()) => return,
                // Continue with the unsaved grant rather than lose it.
                Err(error) if attempts_left == 0 => {
                    tracing::error!(
                        %error,
                        "a renewed log-in cannot be stored, a restart will lose it"
                    );
                }
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause *= 2;
        }
    }

    /// Stores that only a person can help.
    async fn end_grant(&self, grant: Grant, error: LoginError) -> Result<Grant, LoginError> {
        let ended = Grant {
            tokens: None,
            ..grant
        };
        self.save(&ended).await;
        Err(error)
    }

    async fn stored_grant(&self) -> Result<Grant, LoginError> {
        let stored = self.store.load().await.map_err(storage)?;
        stored.ok_or_else(logged_out)
    }
}

fn is_newer(grant: &Grant, old: &str) -> bool {
    let tokens = grant.tokens.as_ref();
    tokens.is_some_and(|tokens| tokens.access != old && tokens.is_fresh(now()))
}

fn logged_out() -> LoginError {
    LoginError::Ended(EndedLogin::LoggedOut)
}
