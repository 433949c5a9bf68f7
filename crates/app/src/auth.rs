//! Who is asking, and what lets them in: sessions, keys, passwords, OpenID Connect, the set-up code.
//!
//! [`Auth`] is what logging in needs besides the store: password hashing, throttling of attempts,
//! and the broadcast by which open sockets learn that a log-in was revoked.

mod current_user;
pub mod oidc;
pub mod password;
pub mod proof;
pub mod setup;
pub mod shell;
pub mod throttle;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use tenon_domain::{KeyId, SessionId, UserId};
use tenon_store::{LOCAL, RevokedCredentials};
use tokio::sync::broadcast;

use crate::config::Config;
use crate::{Error, Result};
use oidc::Issuer;
use password::Passwords;
use setup::SetupCode;
use shell::ShellToken;
use throttle::{Attempt, LoginThrottle};

pub use current_user::{AuthMethod, CurrentUser, record};

/// How many revocations a slow socket may miss before it asks the store instead.
const REVOCATION_BACKLOG: usize = 256;

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
    throttle: Arc<LoginThrottle>,
    revocations: broadcast::Sender<Revocation>,
}

/// A credential that no longer counts: sockets that were opened with it are closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
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
            throttle: Arc::default(),
            setup: SetupCode::fresh(),
            shell: ShellToken::default(),
            revocations: broadcast::Sender::new(REVOCATION_BACKLOG),
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
    pub fn attempt(&self, attempt: Attempt<'_>, address: IpAddr) -> Result<()> {
        let tried = self.throttle.try_now(attempt, address, Instant::now());
        tried.map_err(|wait| Error::TooManyAttempts {
            seconds: wait.as_secs() + 1,
        })
    }

    pub fn succeeded(&self, attempt: Attempt<'_>, address: IpAddr) {
        self.throttle.succeeded(attempt, address, Instant::now());
    }

    /// Closes the sockets of a credential.
    pub fn revoke(&self, revocation: Revocation) {
        // Nobody listens where no socket is open.
        let _ = self.revocations.send(revocation);
    }

    /// Closes the sockets of all these.
    pub fn revoke_all(&self, revoked: &RevokedCredentials) {
        let sessions = revoked.sessions.iter().cloned().map(Revocation::Session);
        let keys = revoked.keys.iter().cloned().map(Revocation::Key);
        sessions.chain(keys).for_each(|one| self.revoke(one));
    }

    pub fn revocations(&self) -> broadcast::Receiver<Revocation> {
        self.revocations.subscribe()
    }
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth")
            .field("single_user", &self.single_user)
            .finish_non_exhaustive()
    }
}
