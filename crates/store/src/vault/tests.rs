use std::fs;

use super::file::KEY_FILE;
use super::key::parse;
use super::*;

impl Vault {
    fn with(key: [u8; 32]) -> Self {
        Self::of(&[key])
    }

    fn of(keys: &[[u8; 32]]) -> Self {
        let keys: Vec<VaultKey> = keys.iter().copied().map(VaultKey::new).collect();
        Self {
            file: None,
            keys: Mutex::new(keys.into()),
        }
    }

    fn key_id(&self) -> String {
        self.key_ids().remove(0)
    }
}

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
            "this secret was sealed with another key (id {}, in use: {}); \
             put back the key file or enter the secret again",
            theirs.key_id(),
            ours.key_id()
        )
    );
    // Two keys may share an id; then it is the seal that does not fit.
    let renamed = sealed.replace(&theirs.key_id(), &ours.key_id());
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
    assert_ne!(again.key_id(), from_file.key_id());
    assert_eq!(again.key_id(), given.key_id());
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
    assert_eq!(given.key_id(), later.key_id());
}

#[test]
fn all_that_start_at_once_agree_on_one_key() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let ready = std::sync::Barrier::new(8);
        let ids: Vec<String> = std::thread::scope(|scope| {
            let open = || {
                ready.wait();
                Vault::open(folder.path(), None).unwrap().key_id()
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
    assert_eq!(first.key_id(), second.key_id());
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
    assert_eq!(
        format!("{vault:?}"),
        r#"Vault { key_ids: ["4bb06f8e"], .. }"#
    );
}

#[test]
fn the_first_key_seals_and_all_of_them_open() {
    let (old, new) = (Vault::with([7; 32]), Vault::with([8; 32]));
    let both = Vault::of(&[[8; 32], [7; 32]]);
    let sealed = old.seal("a", SECRET);
    assert_eq!(both.open_sealed("a", &sealed).unwrap(), SECRET);
    let sealed = both.seal("a", SECRET);
    assert_eq!(new.open_sealed("a", &sealed).unwrap(), SECRET);
    assert!(old.open_sealed("a", &sealed).is_err());
}

#[test]
fn several_keys_can_be_given() {
    let check = |given: &str, expected: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::open(folder.path(), Some(given)).unwrap();
        let expected = expected.iter().map(|byte| VaultKey::new([*byte; 32]).id);
        assert_eq!(vault.key_ids(), expected.collect::<Vec<_>>(), "{given}");
    };
    let (seven, eight) = ("07".repeat(32), "08".repeat(32));
    check(&seven, &[7]);
    check(&format!("{seven},{eight}"), &[7, 8]);
    check(&format!(" {eight} , {seven},\n"), &[8, 7]);
    let folder = tempfile::tempdir().unwrap();
    for wrong in [",", &format!("{seven},hunter2")] {
        assert!(said(Vault::open(folder.path(), Some(wrong))).contains("is not a key"));
    }
}

#[test]
fn a_running_vault_notices_a_new_key() {
    let folder = tempfile::tempdir().unwrap();
    let running = Vault::open(folder.path(), None).unwrap();
    let before = running.seal("a", SECRET);
    let other = Vault::open(folder.path(), None).unwrap();
    other.renew(&HashSet::new()).unwrap();
    // Opens what the new key sealed, and seals with it.
    let after = other.seal("a", SECRET);
    assert_eq!(running.open_sealed("a", &after).unwrap(), SECRET);
    assert_eq!(key_id_of(&running.seal("a", SECRET)), key_id_of(&after));
    assert_eq!(other.open_sealed("a", &before).unwrap(), SECRET);

    // A file that goes away under a running vault costs it nothing.
    fs::remove_file(folder.path().join(KEY_FILE)).unwrap();
    assert_eq!(running.open_sealed("a", &after).unwrap(), SECRET);
    assert_eq!(key_id_of(&running.seal("a", SECRET)), key_id_of(&after));
}

#[test]
fn a_key_stays_for_one_rotation_and_then_for_as_long_as_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::open(folder.path(), None).unwrap();
    let first = vault.key_id();
    let nothing = HashSet::new();
    vault.renew(&nothing).unwrap();
    let second = vault.key_id();
    assert_eq!(vault.key_ids(), [second.clone(), first.clone()]);
    vault.renew(&HashSet::from([first.clone()])).unwrap();
    let third = vault.key_id();
    assert_eq!(vault.key_ids(), [third.clone(), second, first]);
    vault.renew(&nothing).unwrap();
    assert_eq!(vault.key_ids(), [vault.key_id(), third]);

    let files = fs::read_dir(folder.path()).unwrap();
    assert_eq!(files.count(), 1, "nothing else is left behind");
}

#[test]
fn keys_from_elsewhere_open_and_do_not_seal() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (ours, theirs) = (
        Vault::open(here.path(), None).unwrap(),
        Vault::open(there.path(), None).unwrap(),
    );
    let sealed = theirs.seal("a", SECRET);
    for _ in 0..2 {
        assert_eq!(ours.adopt(&theirs.export_keys()).unwrap(), [""; 0]);
        assert_eq!(ours.key_ids(), [ours.key_id(), theirs.key_id()]);
    }
    assert_eq!(ours.open_sealed("a", &sealed).unwrap(), SECRET);
    assert!(ours.adopt("hunter2").is_err());

    // Given keys are the operator's to add to.
    let given = Vault::with([7; 32]);
    assert_eq!(
        given.adopt(&theirs.export_keys()).unwrap(),
        [theirs.key_id()]
    );
}
