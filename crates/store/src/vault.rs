//! Secrets at rest: sealed before they reach a table, opened when they are used.
//!
//! The operator gives the keys, or they lie in a file beside the data, so that
//! a copy of the database alone opens nothing. A sealed secret names its key,
//! so that several can live side by side: the first seals, all of them open.
//! `rotate.rs` moves what is sealed from one to the next.

mod file;
mod key;

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::XNonce;
use chacha20poly1305::aead::{Aead, Payload};

use crate::random::random_bytes;
use crate::{Error, Result};
use file::KeyFile;
use key::{VaultKey, parse_all};

const VERSION: &str = "v1";
/// XChaCha20's nonce. Random nonces of this size do not collide, so no counter is needed.
const NONCE_BYTES: usize = 24;

/// Seals and opens secrets.
pub struct Vault {
    /// Where the keys come from; None: the operator gave them.
    file: Option<KeyFile>,
    keys: Mutex<Arc<[VaultKey]>>,
}

impl Vault {
    /// With the keys that are `given` (the value of `TENON_SECRET_KEY`), else
    /// with those in the folder's `secret.key`, which is made on first use.
    pub fn open(folder: &Path, given: Option<&str>) -> Result<Self> {
        let (file, keys) = match given {
            Some(given) => {
                let keys = parse_all(given).ok_or_else(|| {
                    // The value is not quoted: it may be a valid key with a typo.
                    Error::Secret(
                        "TENON_SECRET_KEY is not a key; set it to 32 random bytes as base64 or hex, \
                         as `openssl rand -base64 32` prints them, \
                         or to several such keys with commas between them"
                            .into(),
                    )
                })?;
                (None, keys)
            }
            None => {
                let file = KeyFile::in_folder(folder);
                let keys = file.read_or_make()?;
                (Some(file), keys)
            }
        };
        Ok(Self {
            file,
            keys: Mutex::new(keys.into()),
        })
    }

    /// `about` is what the secret belongs to: the id of its row, or anything
    /// else that is the same when it is opened and that no other secret has.
    /// What goes into a table has its place in [`crate::rotate`]'s list.
    pub fn seal(&self, about: &str, secret: &str) -> String {
        let keys = self.fresh_keys();
        let key = keys.first().expect("a vault has at least one key");
        let nonce = random_bytes::<NONCE_BYTES>();
        let message = Payload {
            msg: secret.as_bytes(),
            aad: about.as_bytes(),
        };
        let sealed = key
            .cipher
            .encrypt(&XNonce::from(nonce), message)
            .expect("only hundreds of gigabytes are too long to be sealed");
        let sealed = URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat());
        format!("{VERSION}.{}.{sealed}", key.id)
    }

    /// Opens what [`Vault::seal`] sealed about the same thing with one of the keys.
    pub fn open_sealed(&self, about: &str, sealed: &str) -> Result<String> {
        let sealed = SealedText::parse(sealed).ok_or_else(|| {
            refused("this secret is damaged or was sealed by another version of Tenon")
        })?;
        let mut keys = self.keys();
        if !keys.iter().any(|key| key.id == sealed.key_id) {
            // Another process may have rotated the file since it was read.
            keys = self.fresh_keys();
        }
        let mut of_that_id = keys.iter().filter(|key| key.id == sealed.key_id).peekable();
        if of_that_id.peek().is_none() {
            let ids: Vec<&str> = keys.iter().map(|key| key.id.as_str()).collect();
            return Err(Error::Secret(format!(
                "this secret was sealed with another key (id {}, in use: {}); \
                 put back the key file or enter the secret again",
                sealed.key_id,
                ids.join(", ")
            )));
        }
        let opened = of_that_id.find_map(|key| {
            let message = Payload {
                msg: &sealed.message,
                aad: about.as_bytes(),
            };
            key.cipher.decrypt(&sealed.nonce, message).ok()
        });
        opened
            .and_then(|secret| String::from_utf8(secret).ok())
            .ok_or_else(|| refused("this secret is damaged or was moved here from elsewhere"))
    }

    /// The ids of the keys, first the one that seals.
    pub fn key_ids(&self) -> Vec<String> {
        self.fresh_keys().iter().map(|key| key.id.clone()).collect()
    }

    /// Whether the operator gave the keys: then only the operator can change them.
    pub fn is_given(&self) -> bool {
        self.file.is_none()
    }

    /// The keys themselves, as the key file holds them.
    pub fn export_keys(&self) -> String {
        file::lines(&self.fresh_keys())
    }

    /// Puts a new key before those of the file. Older keys are removed, except the former first
    /// one, which another process may still use, and those in `used`. Keys from the environment
    /// stay.
    pub(crate) fn renew(&self, used: &HashSet<String>) -> Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let old = file.read_or_make()?;
        let mut keys = vec![VaultKey::fresh()];
        for (place, key) in old.into_iter().enumerate() {
            if place == 0 || used.contains(&key.id) {
                keys.push(key);
            }
        }
        self.replace(file, keys)
    }

    /// Adds keys from elsewhere to the file, after the existing ones. Returns the ids of those that
    /// could not be added, because keys from the environment have no file.
    pub fn adopt(&self, lines: &str) -> Result<Vec<String>> {
        let others = parse_all(lines)
            .ok_or_else(|| Error::Secret("these are not keys; nothing was changed".into()))?;
        let known = match &self.file {
            Some(file) => file.read_or_make()?,
            None => self.keys().to_vec(),
        };
        let is_new = |key: &VaultKey| !known.iter().any(|known| known.text == key.text);
        let new: Vec<VaultKey> = others.into_iter().filter(is_new).collect();
        match &self.file {
            Some(_) if new.is_empty() => Ok(Vec::new()),
            Some(file) => {
                let keys = [known, new].concat();
                self.replace(file, keys).map(|()| Vec::new())
            }
            None => Ok(new.into_iter().map(|key| key.id).collect()),
        }
    }

    fn replace(&self, file: &KeyFile, keys: Vec<VaultKey>) -> Result<()> {
        file.replace(&keys)?;
        self.keep(keys.into());
        Ok(())
    }

    /// The keys as they are now: another process may have changed the file,
    /// which is tiny. One that cannot be read leaves us those we have.
    fn fresh_keys(&self) -> Arc<[VaultKey]> {
        if let Some(file) = &self.file
            && let Ok(keys) = file.read()
        {
            self.keep(keys.into());
        }
        self.keys()
    }

    fn keys(&self) -> Arc<[VaultKey]> {
        let keys = self.keys.lock();
        keys.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, keys: Arc<[VaultKey]>) {
        *self.keys.lock().unwrap_or_else(PoisonError::into_inner) = keys;
    }
}

/// The keys stay inside; their ids are no secret.
impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.keys();
        let ids: Vec<&str> = keys.iter().map(|key| key.id.as_str()).collect();
        f.debug_struct("Vault")
            .field("key_ids", &ids)
            .finish_non_exhaustive()
    }
}

/// The id of the key that something was sealed with.
pub(crate) fn key_id_of(sealed: &str) -> Option<String> {
    SealedText::parse(sealed).map(|sealed| sealed.key_id.to_owned())
}

/// `v1.<key id>.<base64url of nonce and message>`
struct SealedText<'a> {
    key_id: &'a str,
    nonce: XNonce,
    message: Vec<u8>,
}

impl<'a> SealedText<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (version, rest) = text.split_once('.')?;
        let (key_id, bytes) = rest.split_once('.')?;
        let is_id = key_id.len() == 8 && key_id.bytes().all(|digit| digit.is_ascii_hexdigit());
        if version != VERSION || !is_id {
            return None;
        }
        let mut bytes = URL_SAFE_NO_PAD.decode(bytes).ok()?;
        let nonce: [u8; NONCE_BYTES] = *bytes.first_chunk()?;
        Some(Self {
            key_id,
            nonce: nonce.into(),
            message: bytes.split_off(NONCE_BYTES),
        })
    }
}

fn refused(why: &str) -> Error {
    Error::Secret(format!("{why}; enter the secret again"))
}

#[cfg(test)]
mod tests;
