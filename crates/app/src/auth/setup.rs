//! The set-up code: a secret that only whoever started Tenon has.
//!
//! It makes the first account, and in single-user mode it is the log-in. Where a
//! request comes from proves nothing: a peer on loopback may be a reverse proxy, or
//! anybody else with an account on this machine.
//!
//! A code works once. The current one is in a link that `tenon serve` prints and keeps
//! in a file of its owner's alone, from where `tenon link` takes it.

mod link_file;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use sha2::{Digest, Sha256};
use tenon_store::random_bytes;

use crate::lock::lock;
use link_file::LinkFile;

/// Letters and digits that nobody takes for one another, and that mean nothing in an address.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Five bits each: 120 bits, which nobody guesses however often they may try.
const CODE_LENGTH: usize = 24;

/// Cheap to clone.
#[derive(Clone)]
pub struct SetupCode {
    inner: Arc<Inner>,
}

struct Inner {
    code: Mutex<String>,
    /// Absent in a process that does not serve.
    published: OnceLock<PublishedLink>,
}

struct PublishedLink {
    /// Where the page is, such as `http://127.0.0.1:8366`.
    address: String,
    file: Mutex<LinkFile>,
}

impl SetupCode {
    pub(crate) fn fresh() -> Self {
        Self::new(fresh_code())
    }

    fn new(code: String) -> Self {
        let inner = Inner {
            code: Mutex::new(code),
            published: OnceLock::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The same at all servers that have the same secrets: the page of a link may be any of theirs.
    pub(crate) fn shared(secrets: &[&str]) -> Self {
        let mut hash = Sha256::new_with_prefix("tenon set-up code");
        for secret in secrets {
            hash.update([0]);
            hash.update(secret);
        }
        let bytes = hash.finalize();
        Self::new(code_of(&bytes[..CODE_LENGTH]))
    }

    /// The code that works now.
    pub fn current(&self) -> String {
        self.code().clone()
    }

    /// Whether this is the code that works now.
    pub fn fits(&self, code: &str) -> bool {
        is_same(code, &self.code())
    }

    /// Consumes the code if it is the current one. Of two concurrent attempts only one succeeds.
    pub async fn redeem(&self, code: &str) -> bool {
        {
            let mut current = self.code();
            if !is_same(code, &current) {
                return false;
            }
            *current = fresh_code();
        }
        self.in_file(|link, file| file.write(link)).await;
        true
    }

    /// Writes the link into the data folder, where `tenon link` finds it, and returns it.
    pub fn publish(&self, data: &Path, listening: SocketAddr) -> io::Result<String> {
        // A browser is not where Tenon was started.
        let folder = std::path::absolute(data)?;
        let published = self.inner.published.get_or_init(|| PublishedLink {
            address: page_address(listening),
            file: Mutex::new(LinkFile::in_folder(&folder)),
        });
        let link = link(&published.address, &self.code());
        lock(&published.file).write(&link)?;
        Ok(link)
    }

    /// Whether the link is in the data folder.
    pub fn is_published(&self) -> bool {
        let published = self.inner.published.get();
        published.is_some_and(|published| lock(&published.file).is_written())
    }

    /// A page in the data folder that leads to the link.
    pub fn redirect_page(&self) -> io::Result<Option<PathBuf>> {
        let Some(published) = self.inner.published.get() else {
            return Ok(None);
        };
        let link = link(&published.address, &self.code());
        lock(&published.file).write_redirect_page(&link).map(Some)
    }

    /// There is nothing to set up any more: the code works no longer and its link is removed.
    pub async fn retire(&self) {
        *self.code() = fresh_code();
        self.in_file(|_, file| file.remove()).await;
    }

    /// Removes the link of a process that ends.
    pub fn withdraw(&self) {
        if let Some(published) = self.inner.published.get() {
            log_failure(lock(&published.file).remove());
        }
    }

    /// Works on the file, off the reactor. That this fails must not keep anybody out.
    async fn in_file(
        &self,
        work: impl FnOnce(&str, &mut LinkFile) -> io::Result<()> + Send + 'static,
    ) {
        let inner = self.inner.clone();
        let worked = tokio::task::spawn_blocking(move || {
            let Some(published) = inner.published.get() else {
                return;
            };
            let mut file = lock(&published.file);
            // Read after the file is locked, so that the last writer writes the newest link.
            let link = link(&published.address, &lock(&inner.code));
            log_failure(work(&link, &mut file));
        });
        if let Err(error) = worked.await {
            tracing::error!(%error, "the file with the set-up link was not looked after");
        }
    }

    fn code(&self) -> MutexGuard<'_, String> {
        lock(&self.inner.code)
    }
}

/// The link of the server that runs with this data folder, as far as its file tells.
pub fn published_link(data: &Path) -> io::Result<Option<String>> {
    LinkFile::in_folder(data).read()
}

/// Removes the link of a server that did not live to do so.
pub fn remove_stale_link(data: &Path) -> io::Result<()> {
    LinkFile::in_folder(data).clear()
}

fn link(address: &str, code: &str) -> String {
    format!("{address}/#setup={code}")
}

/// Where a browser on this machine finds the page. Who listens everywhere listens here too.
pub fn page_address(listening: SocketAddr) -> String {
    let host = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(host, listening.port()))
}

fn is_same(code: &str, current: &str) -> bool {
    let code = code.trim().to_ascii_uppercase();
    // Not by `==`, whose time tells how much of it is right.
    let differs = code.bytes().zip(current.bytes());
    let differs = differs.fold(0, |differs, (one, other)| differs | (one ^ other));
    code.len() == current.len() && differs == 0
}

fn fresh_code() -> String {
    code_of(&random_bytes::<CODE_LENGTH>())
}

fn code_of(bytes: &[u8]) -> String {
    let symbols = bytes.iter();
    symbols
        .map(|byte| char::from(ALPHABET[usize::from(byte % 32)]))
        .collect()
}

fn log_failure(done: io::Result<()>) {
    if let Err(error) = done {
        tracing::error!(%error, "the file with the set-up link cannot be changed");
    }
}

/// The code stays inside.
impl std::fmt::Debug for SetupCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SetupCode(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_known_again_in_any_case_and_nothing_else_is() {
        let code = SetupCode::fresh();
        let current = code.current();
        assert_eq!(current.len(), CODE_LENGTH);
        assert!(current.bytes().all(|byte| ALPHABET.contains(&byte)));
        let check = |shown: &str, expected: bool| {
            assert_eq!(code.fits(shown), expected, "{shown:?} for {current:?}");
        };
        check(&current, true);
        check(&format!(" {}\n", current.to_lowercase()), true);
        check("", false);
        check(&current[1..], false);
        check(&format!("{current}A"), false);
        check(&SetupCode::fresh().current(), false);
    }

    #[test]
    fn servers_with_the_same_secrets_have_the_same_code() {
        let code = SetupCode::shared(&["key", "cluster"]).current();
        assert_eq!(code.len(), CODE_LENGTH);
        assert!(SetupCode::shared(&["key", "cluster"]).fits(&code));
        assert!(!SetupCode::shared(&["key", "another"]).fits(&code));
        assert!(!SetupCode::shared(&["keyc", "luster"]).fits(&code));
    }

    #[tokio::test]
    async fn of_many_who_show_the_same_code_one_is_let_in() {
        let code = SetupCode::fresh();
        let shown = code.current();
        let trying: Vec<_> = (0..32)
            .map(|_| {
                let (code, shown) = (code.clone(), shown.clone());
                tokio::spawn(async move { code.redeem(&shown).await })
            })
            .collect();
        let mut entered = 0;
        for tried in trying {
            entered += usize::from(tried.await.unwrap());
        }
        assert_eq!(entered, 1);
        assert!(!code.fits(&shown) && code.fits(&code.current()));
    }

    #[tokio::test]
    async fn the_file_has_the_code_that_works_now() {
        let data = tempfile::tempdir().unwrap();
        let code = SetupCode::fresh();
        let link = code.publish(data.path(), "0.0.0.0:8366".parse().unwrap());
        let link = link.unwrap();
        assert_eq!(
            link,
            format!("http://127.0.0.1:8366/#setup={}", code.current())
        );
        let in_file = || published_link(data.path()).unwrap();
        assert_eq!(in_file(), Some(link.clone()));
        assert!(code.redeem(&code.current()).await);
        let next = in_file().unwrap();
        assert_ne!(next, link);
        assert!(next.ends_with(&code.current()), "{next}");
        code.retire().await;
        assert_eq!(in_file(), None);
        assert!(!code.fits(&next[next.len() - CODE_LENGTH..]));
    }
}
