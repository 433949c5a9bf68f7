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
mod tests {
    use super::*;

    const SECRET: &str = "sk-秘密\0🔑";

    fn said(refused: Result<impl fmt::Debug>) -> String {
        refused.unwrap_err().to_string()
    }

    fn check_key(text: &str, expected: Option<u8>) {
        assert_eq!(parse(text), expected.map(|byte| [byte; 32]), "{text:?}");
    }

    #[test]
    fn what_is_sealed_opens_and_never_looks_the_same() {
        let vault = Vault::with([7; 32]);
        for secret in ["", SECRET, &"long".repeat(100_000)] {
            let sealed = vault.seal("model-1", secret);
            assert_eq!(vault.open_sealed("model-1", &sealed).unwrap(), secret);
            assert_ne!(vault.seal("model-1", secret), sealed);
        }
    }

    /// The format is on people's disks. Made with libsodium, not with this code.
    #[test]
    fn what_was_sealed_long_ago_still_opens() {
        let vault = Vault::with([7; 32]);
        let sealed = "v1.4bb06f8e.AAECAwQFBgcICQoLDA0ODxAREhMUFRYX23yG6pR_PooL6XFYakLRQwYJNdekD8U";
        assert_eq!(vault.open_sealed("model-1", sealed).unwrap(), "sk-once");
    }

    #[test]
    fn a_secret_opens_only_where_it_was_put() {
        let vault = Vault::with([7; 32]);
        let sealed = vault.seal("model-1", SECRET);
        assert_eq!(
            said(vault.open_sealed("model-2", &sealed)),
            "this secret is damaged or was moved here from elsewhere; enter the secret again"
        );
    }

    #[test]
    fn another_key_says_which_one_is_missing() {
        let (ours, theirs) = (Vault::with([7; 32]), Vault::with([8; 32]));
        let sealed = theirs.seal("model-1", SECRET);
        assert_eq!(
            said(ours.open_sealed("model-1", &sealed)),
            format!(
                "this secret was sealed with another key (id {}, the key in use is {}); \
                 put back the key file or enter the secret again",
                theirs.key_id, ours.key_id
            )
        );
        // Two keys may share an id; then it is the seal that does not fit.
        let renamed = sealed.replace(&theirs.key_id, &ours.key_id);
        assert!(said(ours.open_sealed("model-1", &renamed)).contains("damaged"));
    }

    #[test]
    fn no_character_can_be_changed_lost_or_added_unnoticed() {
        let vault = Vault::with([7; 32]);
        let sealed = vault.seal("model-1", SECRET);
        for at in 0..sealed.len() {
            for other in [
                "",
                "A",
                "b",
                "0",
                ".",
                "-",
                "=",
                " ",
                "é",
                &sealed[at..=at].repeat(2),
            ] {
                let mut damaged = sealed.clone();
                damaged.replace_range(at..=at, other);
                let opened = vault.open_sealed("model-1", &damaged);
                assert!(damaged == sealed || opened.is_err(), "{damaged}");
            }
            assert!(vault.open_sealed("model-1", &sealed[..at]).is_err());
        }
    }

    #[test]
    fn a_key_is_32_bytes_as_hex_or_base64() {
        check_key(&"07".repeat(32), Some(7));
        check_key(&"fF".repeat(32), Some(255));
        check_key(" BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n", Some(7));
        check_key("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc", Some(7));
        check_key("//////////////////////////////////////////8=", Some(255));
        check_key("__________________________________________8", Some(255));
        check_key("", None);
        check_key("password", None);
        check_key(&"07".repeat(31), None);
        check_key(&"07".repeat(33), None);
        check_key(&"0x".repeat(32), None);
        check_key(&"+7".repeat(32), None);
        check_key("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw==", None);
    }

    #[test]
    fn a_given_key_wins_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let given = Vault::open(folder.path(), Some(&"07".repeat(32))).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        let from_file = Vault::open(folder.path(), None).unwrap();
        let again = Vault::open(folder.path(), Some(&"07".repeat(32))).unwrap();
        assert_ne!(again.key_id, from_file.key_id);
        assert_eq!(again.key_id, given.key_id);
    }

    #[test]
    fn a_given_key_that_is_none_is_refused_without_being_shown() {
        let folder = tempfile::tempdir().unwrap();
        let refused = said(Vault::open(folder.path(), Some("hunter2")));
        assert!(refused.starts_with("TENON_SECRET_KEY is not a key; set it to 32 random bytes"));
        assert!(!refused.contains("hunter2"));
    }

    #[test]
    fn the_key_file_is_made_once_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        let deeper = folder.path().join("not/yet");
        let sealed = Vault::open(&deeper, None).unwrap().seal("a", SECRET);
        let later = Vault::open(&deeper, None).unwrap();
        assert_eq!(later.open_sealed("a", &sealed).unwrap(), SECRET);

        let files = fs::read_dir(&deeper).unwrap();
        let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names, [KEY_FILE]);
        // What the file holds can be given instead of it.
        let text = fs::read_to_string(deeper.join(KEY_FILE)).unwrap();
        let given = Vault::open(folder.path(), Some(&text)).unwrap();
        assert_eq!(given.key_id, later.key_id);
    }

    #[test]
    fn all_that_start_at_once_agree_on_one_key() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let ready = std::sync::Barrier::new(8);
            let ids: Vec<String> = std::thread::scope(|scope| {
                let open = || {
                    ready.wait();
                    Vault::open(folder.path(), None).unwrap().key_id
                };
                let opening: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
                let opened = opening.into_iter().map(|thread| thread.join().unwrap());
                opened.collect()
            });
            assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_the_key_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(KEY_FILE);
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let first = Vault::open(folder.path(), None).unwrap();
        assert_eq!(mode(), 0o600);

        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let second = Vault::open(folder.path(), None).unwrap();
        assert_eq!(mode(), 0o600);
        assert_eq!(first.key_id, second.key_id);
    }

    #[test]
    fn a_damaged_key_file_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(KEY_FILE);
        for damaged in [&b""[..], b"BwcHBwcHBwcHBwcH", b"\xFF\xFE"] {
            fs::write(&path, damaged).unwrap();
            let refused = said(Vault::open(folder.path(), None));
            assert!(
                refused.contains("does not hold a key; put back a copy"),
                "{refused}"
            );
            assert_eq!(fs::read(&path).unwrap(), damaged);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_used_points_to_the_variable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a-file");
        fs::write(&file, "").unwrap();
        let refused = said(Vault::open(&file, None));
        assert!(refused.contains("or set TENON_SECRET_KEY"), "{refused}");
    }

    #[test]
    fn a_vault_does_not_show_its_key() {
        let vault = Vault::with([7; 32]);
        assert_eq!(format!("{vault:?}"), r#"Vault { key_id: "4bb06f8e", .. }"#);
    }
}
