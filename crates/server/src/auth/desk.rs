//! What logging in needs besides the store: hashing, counting, and telling
//! whoever has a socket open that it is over.

use std::sync::Arc;
use std::time::Instant;

use tenon_domain::{KeyId, SessionId, UserId};
use tenon_store::{LOCAL, Revoked};
use tokio::sync::broadcast;

use super::CurrentUser;
use super::caller::Caller;
use super::limit::{Attempt, Limiter};
use super::oidc::Issuer;
use super::password::Passwords;
use super::setup::SetupCode;
use super::shell::ShellToken;
use crate::api::error::ApiError;
use crate::config::Config;

/// How many endings a slow socket may miss before it looks for itself.
const ENDINGS: usize = 256;

/// Cheap to clone.
#[derive(Clone)]
pub struct Auth {
    pub passwords: Passwords,
    pub single_user: bool,
    pub trust_proxy: bool,
    pub oidc: Issuer,
    /// What lets in whoever started Tenon.
    pub setup: SetupCode,
    /// What lets in commands of whoever can read the data folder.
    pub shell: ShellToken,
    limiter: Arc<Limiter>,
    ended: broadcast::Sender<Ended>,
}

/// What no longer counts, so that whoever came by it has to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    User(UserId),
    Session(SessionId),
    Key(KeyId),
}

impl Auth {
    pub fn new(config: &Config, oidc: Issuer) -> Self {
        Self {
            passwords: Passwords::new(),
            single_user: config.single_user,
            trust_proxy: config.trust_proxy,
            oidc,
            limiter: Arc::default(),
            setup: SetupCode::fresh(),
            shell: ShellToken::default(),
            ended: broadcast::Sender::new(ENDINGS),
        }
    }

    /// Under whose name the log-ins of a user are kept.
    pub fn session_owner(&self, user: &CurrentUser) -> UserId {
        if self.single_user {
            UserId::new(LOCAL)
        } else {
            user.id.clone()
        }
    }

    /// Counts an attempt; too many are refused.
    pub fn attempt(&self, attempt: Attempt<'_>, caller: &Caller) -> Result<(), ApiError> {
        let tried = self
            .limiter
            .try_now(attempt, caller.address, Instant::now());
        tried.map_err(|wait| ApiError::too_many(wait.as_secs() + 1))
    }

    pub fn succeeded(&self, attempt: Attempt<'_>, caller: &Caller) {
        self.limiter
            .succeeded(attempt, caller.address, Instant::now());
    }

    pub fn end(&self, ended: Ended) {
        // Nobody listens where no socket is open.
        let _ = self.ended.send(ended);
    }

    /// Closes what came by any of these.
    pub fn end_revoked(&self, revoked: &Revoked) {
        let sessions = revoked.sessions.iter().cloned().map(Ended::Session);
        let keys = revoked.keys.iter().cloned().map(Ended::Key);
        sessions.chain(keys).for_each(|ended| self.end(ended));
    }

    pub fn endings(&self) -> broadcast::Receiver<Ended> {
        self.ended.subscribe()
    }
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth")
            .field("single_user", &self.single_user)
            .finish_non_exhaustive()
    }
}
