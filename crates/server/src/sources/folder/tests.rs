use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use tempfile::TempDir;

use super::*;
use tenon_sources::import::MAX_TEXT;

struct Desk {
    place: TempDir,
    folder: Folder,
    /// Every writing is a second later than the one before.
    now: SystemTime,
}

impl Desk {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        Self {
            folder: Folder::beside(place.path(), BTreeMap::new()),
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
    fn look(&mut self) -> Vec<String> {
        let told = |change: Change| match change {
            Change::Removed(file) => format!("-{file}"),
            Change::Put(file, servers) => {
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
        self.folder.look().into_iter().map(told).collect()
    }
}

fn json(name: &str, command: &str) -> String {
    format!("{{\"mcpServers\": {{\"{name}\": {{\"command\": \"{command}\"}}}}}}")
}

const NOTHING: [&str; 0] = [];

#[test]
fn files_come_change_and_go() {
    let mut desk = Desk::new();
    assert_eq!(desk.look(), NOTHING);
    desk.write("a.json", &json("one", "x"));
    desk.write("b.yaml", "params: {command: y}\n");
    desk.write("notes.txt", &json("no", "x"));
    desk.write(".a.json", &json("no", "x"));
    assert_eq!(desk.look(), ["+a.json one=x", "+b.yaml b=y"]);
    assert_eq!(desk.look(), NOTHING);
    desk.write("a.json", &json("one", "z"));
    assert_eq!(desk.look(), ["+a.json one=z"]);
    desk.remove("a.json");
    assert_eq!(desk.look(), ["-a.json"]);
    fs::remove_dir_all(desk.place.path()).unwrap();
    assert_eq!(desk.look(), ["-b.yaml"]);
}

#[test]
fn a_file_that_says_the_same_again_changes_nothing() {
    let mut desk = Desk::new();
    desk.write("a.json", &json("one", "x"));
    desk.look();
    desk.write("a.json", &format!(" {}", json("one", "x")));
    assert_eq!(desk.look(), NOTHING);
}

#[test]
fn a_half_written_file_is_given_time() {
    let mut desk = Desk::new();
    desk.write("a.json", "{\"mcpServers\": {\"one\": {\"comm");
    assert_eq!(desk.look(), ["+a.json"]);
    desk.write("a.json", &json("one", "x"));
    assert_eq!(desk.look(), ["+a.json one=x"]);
    // The same when it was good before.
    desk.write("a.json", "");
    assert_eq!(desk.look(), NOTHING);
    desk.write("a.json", &json("one", "y"));
    assert_eq!(desk.look(), ["+a.json one=y"]);
}

#[test]
fn a_broken_file_says_so_and_what_it_said_before_stays() {
    let mut desk = Desk::new();
    desk.write("a.json", "{,");
    desk.look();
    let broken = "+a.json a: a.json cannot be read. Line 1, column 2: EOF while parsing an object.";
    assert_eq!(desk.look(), [broken]);
    assert_eq!(desk.look(), NOTHING);
    desk.write("a.json", &json("one", "x"));
    assert_eq!(desk.look(), ["+a.json one=x"]);
    desk.write("a.json", "{,");
    assert_eq!(desk.look(), NOTHING);
    assert_eq!(desk.look(), ["+a.json one=x!"]);
    desk.write("a.json", "{,,");
    assert_eq!(desk.look(), NOTHING);
    desk.write("a.json", &json("one", "x"));
    assert_eq!(desk.look(), ["+a.json one=x"]);
}

#[test]
fn servers_of_the_same_name_in_two_files_are_told_apart() {
    let mut desk = Desk::new();
    desk.write("b.json", &json("One", "y"));
    assert_eq!(desk.look(), ["+b.json One=y"]);
    desk.write("a.json", &json("one", "x"));
    assert_eq!(desk.look(), ["+a.json one=x", "+b.json One-2=y!"]);
    desk.remove("a.json");
    assert_eq!(desk.look(), ["-a.json", "+b.json One=y"]);
}

#[test]
fn what_is_too_long_or_no_text_is_refused() {
    let mut desk = Desk::new();
    desk.write("a.json", &" ".repeat(MAX_TEXT + 10));
    fs::write(desk.place.path().join("b.json"), b"\xff\xfe{").unwrap();
    desk.look();
    assert_eq!(
        desk.look(),
        [
            "+a.json a: a.json cannot be read. It is too long: at most 1024 KB are read, and 32 MB of an OpenAPI document.",
            "+b.json b: b.json cannot be read. It is not text in UTF-8.",
        ]
    );
}

#[test]
fn what_strangers_may_have_written_is_not_run() {
    let mut desk = Desk::new();
    let path = desk.place.path().join("a.json");
    let permit = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    let name = desk.place.path().file_name().unwrap().to_str().unwrap();
    let refused = format!(
        "+a.json a: a.json is not run, because other users of this machine may write to it: \
         `chmod go-w {name}/a.json`."
    );
    desk.write("a.json", &json("one", "x"));
    for mode in [0o664, 0o606, 0o666] {
        permit(mode);
        assert_eq!(desk.look(), [refused.as_str()], "{mode:o}");
        assert_eq!(desk.look(), NOTHING);
        permit(0o644);
        assert_eq!(desk.look(), ["+a.json one=x"], "{mode:o}");
    }
    // Only root can give a file away.
    if chown(&path, Some(12_345), None).is_ok() {
        let told = desk.look();
        assert!(told[0].contains("it belongs to another user"), "{told:?}");
    }
}

#[test]
fn nothing_is_run_out_of_a_folder_that_strangers_may_write_to() {
    let mut desk = Desk::new();
    let place = desk.place.path().to_owned();
    let permit = |mode| fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
    let name = place.file_name().unwrap().to_str().unwrap().to_owned();
    desk.write("a.json", &json("one", "x"));
    assert_eq!(desk.look(), ["+a.json one=x"]);
    for mode in [0o770, 0o707, 0o1777] {
        permit(mode);
        let refused = format!(
            "+a.json a: a.json is not run, because other users of this machine may write to the \
             folder it is in: `chmod go-w {name}`."
        );
        assert_eq!(desk.look(), [refused], "{mode:o}");
        permit(0o755);
        assert_eq!(desk.look(), ["+a.json one=x"], "{mode:o}");
    }
    if chown(&place, Some(12_345), None).is_ok() {
        let told = desk.look();
        assert!(
            told[0].contains("the folder it is in belongs to another user"),
            "{told:?}"
        );
    }
}

#[test]
fn a_link_is_as_safe_as_the_folder_it_leads_to() {
    let mut desk = Desk::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("real.json");
    fs::write(&file, json("one", "x")).unwrap();
    std::os::unix::fs::symlink(&file, desk.place.path().join("a.json")).unwrap();
    assert_eq!(desk.look(), ["+a.json one=x"]);
    let permit = |mode| {
        fs::set_permissions(elsewhere.path(), fs::Permissions::from_mode(mode)).unwrap();
    };
    permit(0o777);
    let told = desk.look();
    assert!(
        told[0].contains("may write to the folder it is in"),
        "{told:?}"
    );
    // There nobody can replace the files of others.
    permit(0o1777);
    assert_eq!(desk.look(), ["+a.json one=x"]);
}

#[test]
fn the_folder_is_ours_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("servers");
    Folder::beside(&path, BTreeMap::new()).make();
    let mode = fs::metadata(&path).unwrap().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn no_name_of_a_file_is_too_strange_to_be_shown() {
    let mut desk = Desk::new();
    desk.write("a\u{1b}[2J\n.json", &json("one", "x"));
    desk.write("a\u{202E}[2J\n.json", &json("two", "y"));
    assert_eq!(desk.look(), ["+a\u{FFFD}[2J\u{FFFD}.json one=x two=y"]);
}

#[test]
fn of_too_many_files_the_first_by_name_count() {
    let mut desk = Desk::new();
    for number in (0..MAX_FILES + 5).rev() {
        desk.write(&format!("{number:04}.json"), "{}");
        desk.write(&format!("{number:04}.txt"), "");
    }
    let names: Vec<String> = list(desk.place.path()).unwrap().into_keys().collect();
    assert_eq!(names.len(), MAX_FILES);
    assert_eq!(names[MAX_FILES - 1], format!("{:04}.json", MAX_FILES - 1));
}

#[test]
fn what_stands_elsewhere_keeps_its_name() {
    let mut desk = Desk::new();
    desk.folder.taken = BTreeMap::from([("one".to_owned(), "TOOL_SERVER_CONNECTIONS".to_owned())]);
    desk.write("a.json", &json("One", "x"));
    assert_eq!(desk.look(), ["+a.json One-2=x!"]);
}
