//! Password hashing with argon2id.
//!
//! Hashing takes a core and 19 MiB for some time, on purpose. It runs on blocking threads, on half
//! of the cores at most, and with a bounded queue: who does not fit is told so at once.

use std::sync::{Arc, LazyLock};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tenon_store::random_bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::AccountInputError;
use crate::{Error, Result};

/// Memory in KiB and rounds, as OWASP recommends them for argon2id.
const MEMORY_KIB: u32 = 19 * 1024;
const ROUNDS: u32 = 2;

/// How many may wait for each that is being served. A hash takes some 30 ms.
const QUEUE_PER_CORE: usize = 64;

const MIN_CHARS: usize = 8;
const MAX_BYTES: usize = 1024;

/// Verified against where there is no account, so that the time does not tell whether there is one.
static UNKNOWN_USER_HASH: LazyLock<String> = LazyLock::new(|| hash_now(&random_bytes::<32>()));

#[derive(Debug, Clone)]
pub struct Passwords {
    cores: Arc<Semaphore>,
    /// Permits for running and waiting verifications together.
    queue: Arc<Semaphore>,
}

impl Passwords {
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() / 2);
        Self::on(cores.max(1), QUEUE_PER_CORE)
    }

    fn on(cores: usize, waiting: usize) -> Self {
        Self {
            cores: Arc::new(Semaphore::new(cores)),
            queue: Arc::new(Semaphore::new(cores + waiting)),
        }
    }

    /// The hash of a new password.
    pub async fn hash(&self, password: &str) -> Result<String> {
        check(password)?;
        let password = password.as_bytes().to_vec();
        self.run(move || hash_now(&password)).await
    }

    /// Whether this is the password. Without a hash it is not, after the same time.
    pub async fn verify(&self, password: &str, hash: Option<String>) -> Result<bool> {
        // No stored password is this long, so the rest need not be hashed.
        let password = password.as_bytes();
        let password = password[..password.len().min(MAX_BYTES + 1)].to_vec();
        self.run(move || {
            let known = hash.is_some();
            let hash = hash.unwrap_or_else(|| UNKNOWN_USER_HASH.clone());
            let fits = PasswordHash::new(&hash)
                .is_ok_and(|hash| argon().verify_password(&password, &hash).is_ok());
            known && fits
        })
        .await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let queued = self
            .queue
            .clone()
            .try_acquire_owned()
            .map_err(|_| Error::Busy)?;
        let core = self.cores.clone().acquire_owned();
        let core = core.await.expect("nobody closes it");
        // The permits move into the task: a client that disconnects must not free room for more
        // hashing.
        let held: [OwnedSemaphorePermit; 2] = [queued, core];
        let done = tokio::task::spawn_blocking(move || {
            let _held = held;
            work()
        });
        done.await.map_err(|_| Error::Busy)
    }
}

impl Default for Passwords {
    fn default() -> Self {
        Self::new()
    }
}

fn check(password: &str) -> Result<()> {
    if password.chars().count() < MIN_CHARS {
        return Err(AccountInputError::PasswordShort { min: MIN_CHARS }.into());
    }
    if password.len() > MAX_BYTES {
        return Err(AccountInputError::PasswordLong { max: MAX_BYTES }.into());
    }
    Ok(())
}

fn hash_now(password: &[u8]) -> String {
    let hash: PasswordHash = argon()
        .hash_password_with_salt(password, &random_bytes::<16>())
        .expect("the salt and the password are of lengths argon2 takes");
    hash.to_string()
}

fn argon() -> Argon2<'static> {
    let params =
        Params::new(MEMORY_KIB, ROUNDS, 1, None).expect("these are within argon2's bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_known_again_and_no_other() {
        let passwords = Passwords::new();
        let hash = passwords.hash("correct horse").await.unwrap();
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        let verify = async |password: &str, hash: Option<&str>| {
            let verified = passwords.verify(password, hash.map(str::to_owned));
            verified.await.unwrap()
        };
        assert!(verify("correct horse", Some(&hash)).await);
        assert!(!verify("correct horsf", Some(&hash)).await);
        assert!(!verify("", Some(&hash)).await);
        assert!(!verify("correct horse", None).await);
        assert!(!verify("correct horse", Some("no hash")).await);
        let long = "x".repeat(MAX_BYTES);
        let hash = passwords.hash(&long).await.unwrap();
        assert!(verify(&long, Some(&hash)).await);
        assert!(!verify(&format!("{long}x"), Some(&hash)).await);
    }

    #[tokio::test]
    async fn a_password_is_neither_too_short_nor_too_long() {
        let passwords = Passwords::new();
        let check = async |password: &str, expected: &str| {
            let refused = passwords.hash(password).await.unwrap_err();
            assert_eq!(refused.to_string(), expected);
        };
        check("", "A password has at least 8 characters.").await;
        check("1234567", "A password has at least 8 characters.").await;
        check("密码密码密码密", "A password has at least 8 characters.").await;
        let long = "x".repeat(1025);
        check(&long, "A password has 1024 bytes at most.").await;
    }

    #[tokio::test]
    async fn who_cannot_be_served_soon_is_told_so() {
        let passwords = Passwords::on(1, 1);
        let held = passwords.cores.clone().acquire_owned().await.unwrap();
        let first = tokio::spawn({
            let passwords = passwords.clone();
            async move { passwords.hash("correct horse").await.is_ok() }
        });
        let second = tokio::spawn({
            let passwords = passwords.clone();
            async move { passwords.hash("correct horse").await.is_ok() }
        });
        while passwords.queue.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = passwords.hash("correct horse").await.unwrap_err();
        assert!(matches!(refused, Error::Busy));
        drop(held);
        assert!(first.await.unwrap() && second.await.unwrap());
    }
}
