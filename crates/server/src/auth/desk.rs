//! What logging in needs besides the store: hashing, counting, and telling
//! whoever has a socket open that it is over.

use std::sync::Arc;
use std::time::Instant;

use tenon_domain::{KeyId, SessionId, UserId};
use tokio::sync::broadcast;

use super::caller::Caller;
use super::limit::{Attempt, Limiter};
use super::oidc::Issuer;
use super::password::Passwords;
use crate::api::error::ApiError;
use crate::config::Config;

/// How many endings a slow socket may miss before it looks for itself.
const ENDINGS: usize = 256;

/// Letters that nobody takes for one another.
const CODE_LETTERS: &[u8; 16] = b"ABCDEFHKLMNPRTXY";

/// Cheap to clone.
#[derive(Clone)]
pub struct Auth {
    pub passwords: Passwords,
    pub single_user: bool,
    pub trust_proxy: bool,
    pub oidc: Issuer,
    limiter: Arc<Limiter>,
    setup_code: Arc<str>,
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
            setup_code: setup_code(),
            ended: broadcast::Sender::new(ENDINGS),
        }
    }

    /// What somebody elsewhere must know to make the first account.
    pub fn setup_code(&self) -> &str {
        &self.setup_code
    }

    pub fn is_setup_code(&self, code: &str) -> bool {
        let code = code.trim().to_ascii_uppercase();
        // Not by `==`, whose time tells how much of it is right.
        let differs = code.bytes().zip(self.setup_code.bytes());
        let differs = differs.fold(0, |differs, (one, other)| differs | (one ^ other));
        code.len() == self.setup_code.len() && differs == 0
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

fn setup_code() -> Arc<str> {
    let mut bytes = [0_u8; 12];
    getrandom::fill(&mut bytes).expect("the system has randomness: ids are made of it too");
    let letters = bytes.map(|byte| char::from(CODE_LETTERS[usize::from(byte % 16)]));
    letters.iter().collect::<String>().into()
}
