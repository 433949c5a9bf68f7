//! Who is asking, and what lets them in: sessions, keys, passwords, OpenID Connect, the set-up
//! code.
//!
//! [`Auth`] is what logging in needs besides the store: password hashing and throttling of
//! attempts.

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

use tenon_domain::UserId;
use tenon_store::LOCAL;

use crate::config::Config;
use crate::{Error, Result};
use oidc::Issuer;
use password::Passwords;
use setup::SetupCode;
use shell::ShellToken;
use throttle::{Attempt, LoginThrottle};

pub use current_user::{AuthMethod, CurrentUser, record};

/// Cheap to clone.
#[derive(Clone)]
pub struct Auth {
    pub passwords: Passwords,
    pub single_user: bool,
    pub trust_proxy: bool,
    pub oidc: Issuer,
    /// The set-up code, for the person who started Tenon.
    pub setup: SetupCode,
    /// The token for commands of people who can read the data folder.
    pub shell: ShellToken,
    throttle: Arc<LoginThrottle>,
}

impl Auth {
    pub fn new(config: &Config, oidc: Issuer, setup: SetupCode) -> Self {
        Self {
            passwords: Passwords::new(),
            single_user: config.single_user,
            trust_proxy: config.trust_proxy,
            oidc,
            throttle: Arc::default(),
            setup,
            shell: ShellToken::default(),
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
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth")
            .field("single_user", &self.single_user)
            .finish_non_exhaustive()
    }
}
