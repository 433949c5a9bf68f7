use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tenon_domain::text::hex;
use tenon_domain::{CallId, ChatId, UserId};

use super::tables::{LEFT_OUT, TABLES};
use super::*;
use crate::{Blob, ChatFilter, ChatQuery, Store};

/// A chat, an output, and which version the search index has.
const ROWS: u64 = 3;
/// The line with the chat, behind the header and that version.
const CHAT: usize = 2;

/// A store with a chat, an output and a file, and a backup of all that.
struct Room {
    folder: TempDir,
    store: Store,
    chat: ChatId,
}

impl Room {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tenon.db");
        let store = Store::open_file(&file).await.unwrap();
        let ada = UserId::new("ada");
        let chat = store.create_chat(&ada, "东京").await.unwrap().id;
        let blob = Blob {
            media_type: "image/png".into(),
            data: (0..=255).collect(),
        };
        let call = CallId::new("by-hand");
        store.put_blob(&ada, &call, blob).await.unwrap();
        let room = Self {
            folder,
            store,
            chat,
        };
        room.write("chat/a/notes.txt", b"notes");
        room.write("chat/空.txt", b"");
        room.backup().await;
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn work(&self) -> PathBuf {
        self.path("work")
    }

    fn file(&self) -> PathBuf {
        self.path("backup.tenon")
    }

    fn write(&self, path: &str, data: &[u8]) {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, data).unwrap();
    }

    async fn backup(&self) -> BackupSummary {
        let origin = BackupInput {
            work: &self.work(),
            keys: None,
        };
        self.store
            .backup_to(&self.file(), ExistingFile::Replace, origin, &mut |_, _| {})
            .await
            .unwrap()
    }

    async fn restore(&self) -> crate::Result<RestoreSummary> {
        let checked = VerifiedBackup::read(&self.file())?;
        self.store
            .restore(&checked, &self.work(), "before", &mut |_, _| {})
            .await
    }

    async fn titles(&self) -> Vec<String> {
        let listing = ChatQuery {
            folder: None,
            limit: 10,
            before: None,
            filter: ChatFilter::Current,
        };
        let chats = self.store.chats(&UserId::new("ada"), &listing).await;
        let chats = chats.unwrap();
        chats.into_iter().map(|chat| chat.title).collect()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with("tenon.db"))
            .collect();
        names.sort();
        names
    }

    fn lines(&self) -> Vec<String> {
        let mut text = String::new();
        let file = fs::File::open(self.file()).unwrap();
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Writes lines as a backup, with a trailer that fits.
    fn forge(&self, lines: &[String], rows: u64, files: u64) {
        let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let hash = hex(&Sha256::digest(&text));
        let end = BackupLine::End(BackupTrailer {
            rows,
            files,
            sha256: hash,
        });
        text.push_str(&serde_json::to_string(&end).unwrap());
        text.push('\n');
        let file = fs::File::create(self.file()).unwrap();
        let mut out = GzEncoder::new(file, Compression::fast());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap();
    }
}

/// Why a backup is refused.
fn refused(room: &Room) -> String {
    VerifiedBackup::read(&room.file()).unwrap_err().to_string()
}

#[tokio::test]
async fn every_table_is_in_a_backup_or_left_out_on_purpose() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let find = "SELECT name FROM sqlite_master WHERE type = 'table' \
                AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'search_words%' ORDER BY name";
    let found = store.first_column(find).await;
    let mut expected = [TABLES, LEFT_OUT, &["seaql_migrations"]].concat();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn what_was_backed_up_comes_back_and_what_came_later_goes() {
    let room = Room::new().await;
    // More than one chunk.
    room.write("chat/a/notes.txt", &[b'x'; 3 << 20]);
    room.backup().await;
    let ada = UserId::new("ada");
    let created = room.store.create_chat(&ada, "later").await.unwrap();
    room.store.delete_chat(&ada, &room.chat).await.unwrap();
    room.write("chat/a/notes.txt", b"changed");
    room.write("chat/later.txt", b"later");

    let restored = room.restore().await.unwrap();
    assert_eq!((restored.rows, restored.files), (ROWS, 2));
    assert_eq!(room.titles().await, ["东京"]);
    assert!(room.store.chat(&ada, &created.id).await.is_err());
    let notes = fs::read(room.work().join("chat/a/notes.txt")).unwrap();
    assert_eq!(notes, [b'x'; 3 << 20]);
    assert_eq!(fs::read(room.work().join("chat/空.txt")).unwrap(), b"");
    assert!(!room.work().join("chat/later.txt").exists());
    let aside = restored.moved_aside.unwrap();
    assert_eq!(fs::read(aside.join("chat/later.txt")).unwrap(), b"later");
    assert_eq!(room.names(), ["backup.tenon", "work", "work.before"]);
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed_and_that_is_said() {
    let room = Room::new().await;
    let secret = room.path("secret.key");
    fs::write(&secret, "hunter2").unwrap();
    std::os::unix::fs::symlink(&secret, room.work().join("chat/link")).unwrap();
    std::os::unix::fs::symlink(room.folder.path(), room.work().join("round")).unwrap();
    let mut made = room.backup().await;
    made.skipped.sort();
    let why = "it is a link".to_owned();
    assert_eq!(
        made.skipped,
        [("chat/link".into(), why.clone()), ("round".into(), why)]
    );
    assert!(!room.lines().concat().contains("hunter2"));
    assert_eq!(room.restore().await.unwrap().files, 2);
}

#[cfg(unix)]
#[tokio::test]
async fn a_backup_is_its_owners_alone_and_replaces_nothing_unasked() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new().await;
    let mode = fs::metadata(room.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let origin = BackupInput {
        work: &room.work(),
        keys: None,
    };
    let before = fs::read(room.file()).unwrap();
    let refused = room
        .store
        .backup_to(&room.file(), ExistingFile::Keep, origin, &mut |_, _| {})
        .await;
    assert!(refused.unwrap_err().to_string().contains("--force"));
    assert_eq!(fs::read(room.file()).unwrap(), before);
    let nowhere = room.path("nowhere/backup.tenon");
    let refused = room
        .store
        .backup_to(&nowhere, ExistingFile::Keep, origin, &mut |_, _| {})
        .await;
    assert!(refused.unwrap_err().to_string().contains("beside"));
    assert_eq!(room.names(), ["backup.tenon", "work"]);
}

#[tokio::test]
async fn a_file_that_was_cut_or_changed_is_never_used() {
    let room = Room::new().await;
    let whole = fs::read(room.file()).unwrap();
    let good = VerifiedBackup::read(&room.file()).unwrap();
    for length in 0..whole.len() {
        fs::write(room.file(), &whole[..length]).unwrap();
        refused(&room);
    }
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        fs::write(room.file(), &changed).unwrap();
        // A few bits mean nothing to anybody; then it is the same backup.
        let read = VerifiedBackup::read(&room.file());
        assert!(read.is_err() || read.unwrap() == good, "{at}");
    }
}

#[tokio::test]
async fn what_is_wrong_in_a_backup_is_said_before_anything_changes() {
    let room = Room::new().await;
    let mut good = room.lines();
    good.pop();
    let check = |change: &dyn Fn(&mut Vec<String>), rows: u64, files: u64, expected: &str| {
        let mut lines = good.clone();
        change(&mut lines);
        room.forge(&lines, rows, files);
        let said = refused(&room);
        assert!(said.contains(expected), "{said}");
    };
    check(&|lines| lines.truncate(0), 0, 0, "is not a backup of Tenon");
    check(
        &|lines| drop(lines.remove(1)),
        ROWS - 1,
        2,
        "something is missing",
    );
    check(&|_| {}, ROWS, 3, "something is missing");
    let newer =
        |lines: &mut Vec<String>| lines[0] = lines[0].replace("\"schema\":", "\"schema\":9");
    check(&newer, ROWS, 2, "made by a newer Tenon");
    let table =
        |lines: &mut Vec<String>| lines[CHAT] = lines[CHAT].replace("\"chats\"", "\"cats\"");
    check(&table, ROWS, 2, "a row of cats is not one");
    let row = |lines: &mut Vec<String>| lines[CHAT] = lines[CHAT].replace("\"title\"", "\"titel\"");
    check(&row, ROWS, 2, "missing field `title`");
    for path in ["../x", "/etc/x", "a/../../x", "", "a\\u0000b"] {
        let outside = |lines: &mut Vec<String>| {
            lines.push(format!(
                r#"{{"file":{{"path":"{path}","data":"","isLast":true}}}}"#
            ));
        };
        check(&outside, ROWS, 3, "outside its folder");
    }
    let half = |lines: &mut Vec<String>| {
        lines.push(r#"{"file":{"path":"x","data":"","isLast":false}}"#.into());
    };
    check(&half, ROWS, 2, "something is missing");
    check(&|lines| lines.push("{}".into()), ROWS, 2, "damaged");
    assert_eq!(room.names(), ["backup.tenon", "work"]);
}

#[tokio::test]
async fn a_restore_that_fails_in_the_middle_leaves_the_old_state() {
    let room = Room::new().await;
    let mut lines = room.lines();
    lines.pop();
    // Twice the same row: each is good, the database takes only one.
    lines.insert(CHAT, lines[CHAT].clone());
    lines[0] = lines[0].replace("\"chats\":1", "\"chats\":2");
    room.forge(&lines, ROWS + 1, 2);
    room.write("chat/later.txt", b"later");
    let failed = room.restore().await.unwrap_err();
    assert!(matches!(failed, Error::Database(_)), "{failed}");
    assert_eq!(room.titles().await, ["东京"]);
    assert!(room.work().join("chat/later.txt").exists());
    assert_eq!(room.names(), ["backup.tenon", "work"]);

    // The old folder cannot be moved aside: there is one of that name.
    room.backup().await;
    fs::create_dir_all(room.path("work.before/full")).unwrap();
    let ada = UserId::new("ada");
    room.store.create_chat(&ada, "later").await.unwrap();
    let failed = room.restore().await.unwrap_err();
    assert!(
        failed.to_string().contains("cannot be replaced"),
        "{failed}"
    );
    assert_eq!(room.titles().await, ["later", "东京"]);
    assert!(room.work().join("chat/later.txt").exists());
    assert_eq!(room.names(), ["backup.tenon", "work", "work.before"]);
}
