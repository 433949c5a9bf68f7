//! Secrets at rest: sealed before they reach a table, opened when they are used.
//!
//! One key seals them all. The operator gives it, or it lies in a file beside
//! the data, so that a copy of the database alone opens nothing. A sealed
//! secret names its key, so that one day several keys can live side by side
//! while secrets move from the old to the new; there is no such move yet.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{Error, Result};

const KEY_FILE: &str = "secret.key";
const VERSION: &str = "v1";
/// XChaCha's. So many random bytes never meet twice, so nobody has to count.
const NONCE_BYTES: usize = 24;

/// Seals and opens secrets with one key.
pub struct Vault {
    cipher: XChaCha20Poly1305,
    key_id: String,
}

impl Vault {
    /// With the key that is `given` (the value of `TENON_SECRET_KEY`), else
    /// with the one in the folder's `secret.key`, which is made on first use.
    pub fn open(folder: &Path, given: Option<&str>) -> Result<Self> {
        let key = match given {
            Some(given) => parse(given).ok_or_else(|| {
                // Without what was given: it may be a good key with a slip in it.
                Error::Secret(
                    "TENON_SECRET_KEY is not a key; set it to 32 random bytes as base64 or hex, \
                     as `openssl rand -base64 32` prints them"
                        .into(),
                )
            })?,
            None => key_of(folder)?,
        };
        Ok(Self::with(key))
    }

    /// `about` is what the secret belongs to: the id of its row, or anything
    /// else that is the same when it is opened and that no other secret has.
    pub fn seal(&self, about: &str, secret: &str) -> String {
        let nonce = random::<NONCE_BYTES>();
        let message = Payload {
            msg: secret.as_bytes(),
            aad: about.as_bytes(),
        };
        let sealed = self
            .cipher
            .encrypt(&XNonce::from(nonce), message)
            .expect("only hundreds of gigabytes are too long to be sealed");
        let sealed = URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat());
        format!("{VERSION}.{}.{sealed}", self.key_id)
    }

    /// Opens what [`Vault::seal`] sealed about the same thing with the same key.
    pub fn open_sealed(&self, about: &str, sealed: &str) -> Result<String> {
        let sealed = Sealed::parse(sealed).ok_or_else(|| {
            refused("this secret is damaged or was sealed by another version of Tenon")
        })?;
        if sealed.key_id != self.key_id {
            return Err(Error::Secret(format!(
                "this secret was sealed with another key (id {}, the key in use is {}); \
                 put back the key file or enter the secret again",
                sealed.key_id, self.key_id
            )));
        }
        let message = Payload {
            msg: &sealed.message,
            aad: about.as_bytes(),
        };
        let opened = self.cipher.decrypt(&sealed.nonce, message).ok();
        opened
            .and_then(|secret| String::from_utf8(secret).ok())
            .ok_or_else(|| refused("this secret is damaged or was moved here from elsewhere"))
    }

    fn with(key: [u8; 32]) -> Self {
        let hash: [u8; 32] = Sha256::digest(key).into();
        let [a, b, c, d, ..] = hash;
        Self {
            cipher: XChaCha20Poly1305::new(&key.into()),
            key_id: format!("{:08x}", u32::from_be_bytes([a, b, c, d])),
        }
    }
}

/// The key stays inside; its id is no secret.
impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

/// `v1.<key id>.<base64url of nonce and message>`
struct Sealed<'a> {
    key_id: &'a str,
    nonce: XNonce,
    message: Vec<u8>,
}

impl<'a> Sealed<'a> {
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

fn key_of(folder: &Path) -> Result<[u8; 32]> {
    let path = folder.join(KEY_FILE);
    let found = match read(&path) {
        // Then read back: another process may have been quicker, and its key counts.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make(folder, &path).and_then(|()| read(&path))
        }
        other => other,
    };
    let found = found.map_err(|error| {
        Error::Secret(format!(
            "the key file {} cannot be used ({error}); let Tenon read and write it, \
             or set TENON_SECRET_KEY",
            path.display()
        ))
    })?;
    let key = str::from_utf8(&found).ok().and_then(parse);
    // Never replaced: it may be a good key that somebody's editor cut short.
    key.ok_or_else(|| {
        Error::Secret(format!(
            "the key file {} does not hold a key; put back a copy of it, \
             or remove it and enter all secrets again",
            path.display()
        ))
    })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    keep_private(&file)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    Ok(text)
}

/// The file appears under its name with all that is in it, or not at all: it
/// is written under a name nobody looks for, and the link fails if another
/// process has made one meanwhile.
fn make(folder: &Path, path: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let unseen = folder.join(format!(".{KEY_FILE}.{}", Uuid::new_v4()));
    let made = write(&unseen).and_then(|()| fs::hard_link(&unseen, path));
    let _ = fs::remove_file(&unseen);
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => {
            sync(folder);
            Ok(())
        }
    }
}

fn write(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{}", STANDARD.encode(random::<32>()))?;
    file.sync_all()
}

/// Puts the file's name on the disk as well, where a folder can be told to:
/// a power cut must not take the key and leave what was sealed with it.
fn sync(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Closes a key file to everybody but its owner.
#[cfg(unix)]
fn keep_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    match file.set_permissions(fs::Permissions::from_mode(0o600)) {
        // A file that somebody else put there, such as a mounted secret: its mode is their decision.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

#[cfg(not(unix))]
fn keep_private(_: &File) -> io::Result<()> {
    Ok(())
}

/// 32 bytes as hex, or as base64 of either alphabet.
fn parse(text: &str) -> Option<[u8; 32]> {
    let text = text.trim();
    let bytes = match text.len() {
        64 => hex(text)?,
        _ => {
            let standard = text.replace('-', "+").replace('_', "/");
            let standard = standard.trim_end_matches('=');
            STANDARD_NO_PAD.decode(standard).ok()?
        }
    };
    bytes.try_into().ok()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16)?.try_into().ok())
        .collect();
    let digits = digits?;
    let (pairs, _) = digits.as_chunks();
    Some(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness: ids are made of it too");
    bytes
}

#[cfg(test)]
mod tests;
