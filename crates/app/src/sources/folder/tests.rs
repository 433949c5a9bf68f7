use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use tempfile::TempDir;

use super::*;
use tenon_sources::import::MAX_TEXT_BYTES;

struct FolderFixture {
    place: TempDir,
    folder: WatchedFolder,
    /// Every writing is a second later than the one before.
    now: SystemTime,
}

impl FolderFixture {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        Self {
            folder: WatchedFolder::new(place.path(), BTreeMap::new()),
            place,
            now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000),
        }
    }

    fn write(&mut self, name: &str, text: &str) {
        let path = self.place.path().join(name);
        fs::write(&path, text).unwrap();
        self.now += Duration::from_secs(1);
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(self.now).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.place.path().join(name)).unwrap();
    }

    /// What a look finds: `+file name=command …`, `-file`.
    fn poll(&mut self) -> Vec<String> {
        let told = |change: FolderChange| match change {
            FolderChange::Removed(file) => format!("-{file}"),
            FolderChange::Put(file, servers) => {
                let servers = servers.iter().map(|server| {
                    let notes = "!".repeat(server.notes.len());
                    match &server.config {
                        Ok(config) => {
                            format!(" {}={}{notes}", server.name, import::summary(config))
                        }
                        Err(why) => format!(" {}: {why}{notes}", server.name),
                    }
                });
                format!("+{file}{}", servers.collect::<String>())
            }
        };
        self.folder.poll().into_iter().map(told).collect()
    }
}

fn json(name: &str, command: &str) -> String {
    format!("{{\"mcpServers\": {{\"{name}\": {{\"command\": \"{command}\"}}}}}}")
}

const NOTHING: [&str; 0] = [];

#[test]
fn files_come_change_and_go() {
    let mut fixture = FolderFixture::new();
    assert_eq!(fixture.poll(), NOTHING);
    fixture.write("a.json", &json("one", "x"));
    fixture.write("b.yaml", "params: {command: y}\n");
    fixture.write("notes.txt", &json("no", "x"));
    fixture.write(".a.json", &json("no", "x"));
    assert_eq!(fixture.poll(), ["+a.json one=x", "+b.yaml b=y"]);
    assert_eq!(fixture.poll(), NOTHING);
    fixture.write("a.json", &json("one", "z"));
    assert_eq!(fixture.poll(), ["+a.json one=z"]);
    fixture.remove("a.json");
    assert_eq!(fixture.poll(), ["-a.json"]);
    fs::remove_dir_all(fixture.place.path()).unwrap();
    assert_eq!(fixture.poll(), ["-b.yaml"]);
}

#[test]
fn a_file_that_says_the_same_again_changes_nothing() {
    let mut fixture = FolderFixture::new();
    fixture.write("a.json", &json("one", "x"));
    fixture.poll();
    fixture.write("a.json", &format!(" {}", json("one", "x")));
    assert_eq!(fixture.poll(), NOTHING);
}

#[test]
fn a_half_written_file_is_given_time() {
    let mut fixture = FolderFixture::new();
    fixture.write("a.json", "{\"mcpServers\": {\"one\": {\"comm");
    assert_eq!(fixture.poll(), ["+a.json"]);
    fixture.write("a.json", &json("one", "x"));
    assert_eq!(fixture.poll(), ["+a.json one=x"]);
    // The same when it was good before.
    fixture.write("a.json", "");
    assert_eq!(fixture.poll(), NOTHING);
    fixture.write("a.json", &json("one", "y"));
    assert_eq!(fixture.poll(), ["+a.json one=y"]);
}

#[test]
fn a_broken_file_says_so_and_what_it_said_before_stays() {
    let mut fixture = FolderFixture::new();
    fixture.write("a.json", "{,");
    fixture.poll();
    let broken = "+a.json a: a.json cannot be read. Line 1, column 2: EOF while parsing an object.";
    assert_eq!(fixture.poll(), [broken]);
    assert_eq!(fixture.poll(), NOTHING);
    fixture.write("a.json", &json("one", "x"));
    assert_eq!(fixture.poll(), ["+a.json one=x"]);
    fixture.write("a.json", "{,");
    assert_eq!(fixture.poll(), NOTHING);
    assert_eq!(fixture.poll(), ["+a.json one=x!"]);
    fixture.write("a.json", "{,,");
    assert_eq!(fixture.poll(), NOTHING);
    fixture.write("a.json", &json("one", "x"));
    assert_eq!(fixture.poll(), ["+a.json one=x"]);
}

#[test]
fn servers_of_the_same_name_in_two_files_are_told_apart() {
    let mut fixture = FolderFixture::new();
    fixture.write("b.json", &json("One", "y"));
    assert_eq!(fixture.poll(), ["+b.json One=y"]);
    fixture.write("a.json", &json("one", "x"));
    assert_eq!(fixture.poll(), ["+a.json one=x", "+b.json One-2=y!"]);
    fixture.remove("a.json");
    assert_eq!(fixture.poll(), ["-a.json", "+b.json One=y"]);
}

#[test]
fn what_is_too_long_or_no_text_is_refused() {
    let mut fixture = FolderFixture::new();
    fixture.write("a.json", &" ".repeat(MAX_TEXT_BYTES + 10));
    fs::write(fixture.place.path().join("b.json"), b"\xff\xfe{").unwrap();
    fixture.poll();
    assert_eq!(
        fixture.poll(),
        [
            "+a.json a: a.json cannot be read. It is too long: at most 1024 KB are read, and 32 MB of an OpenAPI document.",
            "+b.json b: b.json cannot be read. It is not text in UTF-8.",
        ]
    );
}

#[test]
fn what_strangers_may_have_written_is_not_run() {
    let mut fixture = FolderFixture::new();
    let path = fixture.place.path().join("a.json");
    let permit = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    let name = fixture.place.path().file_name().unwrap().to_str().unwrap();
    let refused = format!(
        "+a.json a: a.json is not run, because other users of this machine may write to it: \
         `chmod go-w {name}/a.json`."
    );
    fixture.write("a.json", &json("one", "x"));
    for mode in [0o664, 0o606, 0o666] {
        permit(mode);
        assert_eq!(fixture.poll(), [refused.as_str()], "{mode:o}");
        assert_eq!(fixture.poll(), NOTHING);
        permit(0o644);
        assert_eq!(fixture.poll(), ["+a.json one=x"], "{mode:o}");
    }
    // Only root can give a file away.
    if chown(&path, Some(12_345), None).is_ok() {
        let told = fixture.poll();
        assert!(told[0].contains("it belongs to another user"), "{told:?}");
    }
}

#[test]
fn nothing_is_run_out_of_a_folder_that_strangers_may_write_to() {
    let mut fixture = FolderFixture::new();
    let place = fixture.place.path().to_owned();
    let permit = |mode| fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
    let name = place.file_name().unwrap().to_str().unwrap().to_owned();
    fixture.write("a.json", &json("one", "x"));
    assert_eq!(fixture.poll(), ["+a.json one=x"]);
    for mode in [0o770, 0o707, 0o1777] {
        permit(mode);
        let refused = format!(
            "+a.json a: a.json is not run, because other users of this machine may write to the \
             folder it is in: `chmod go-w {name}`."
        );
        assert_eq!(fixture.poll(), [refused], "{mode:o}");
        permit(0o755);
        assert_eq!(fixture.poll(), ["+a.json one=x"], "{mode:o}");
    }
    if chown(&place, Some(12_345), None).is_ok() {
        let told = fixture.poll();
        assert!(
            told[0].contains("the folder it is in belongs to another user"),
            "{told:?}"
        );
    }
}

#[test]
fn a_link_is_as_safe_as_the_folder_it_leads_to() {
    let mut fixture = FolderFixture::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("real.json");
    fs::write(&file, json("one", "x")).unwrap();
    std::os::unix::fs::symlink(&file, fixture.place.path().join("a.json")).unwrap();
    assert_eq!(fixture.poll(), ["+a.json one=x"]);
    let permit = |mode| {
        fs::set_permissions(elsewhere.path(), fs::Permissions::from_mode(mode)).unwrap();
    };
    permit(0o777);
    let told = fixture.poll();
    assert!(
        told[0].contains("may write to the folder it leads to"),
        "{told:?}"
    );
    // There nobody can replace the files of others.
    permit(0o1777);
    assert_eq!(fixture.poll(), ["+a.json one=x"]);
}

#[test]
fn the_folder_is_ours_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("servers");
    WatchedFolder::new(&path, BTreeMap::new()).create();
    let mode = fs::metadata(&path).unwrap().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn no_name_of_a_file_is_too_strange_to_be_shown() {
    let mut fixture = FolderFixture::new();
    fixture.write("a\u{1b}[2J\n.json", &json("one", "x"));
    fixture.write("a\u{202E}[2J\n.json", &json("two", "y"));
    assert_eq!(fixture.poll(), ["+a\u{FFFD}[2J\u{FFFD}.json one=x two=y"]);
}

#[test]
fn of_too_many_files_the_first_by_name_count() {
    let mut fixture = FolderFixture::new();
    for number in (0..MAX_FILES + 5).rev() {
        fixture.write(&format!("{number:04}.json"), "{}");
        fixture.write(&format!("{number:04}.txt"), "");
    }
    let names: Vec<String> = list(fixture.place.path()).unwrap().into_keys().collect();
    assert_eq!(names.len(), MAX_FILES);
    assert_eq!(names[MAX_FILES - 1], format!("{:04}.json", MAX_FILES - 1));
}

#[test]
fn what_stands_elsewhere_keeps_its_name() {
    let mut fixture = FolderFixture::new();
    fixture.folder.taken =
        BTreeMap::from([("one".to_owned(), "TOOL_SERVER_CONNECTIONS".to_owned())]);
    fixture.write("a.json", &json("One", "x"));
    assert_eq!(fixture.poll(), ["+a.json One-2=x!"]);
}
