//! Packages without a network: from a folder, by a `uv` of the server, by pip, and not at all.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Asks, SkillFiles, id_of, path_of};
use crate::program::{Served, stdout, tenon};

fn path(folder: &TempDir) -> &str {
    folder.path().to_str().unwrap()
}

/// A program in a folder of its own, as `uv` is in `~/.local/bin`.
fn program_at(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
}

/// Does what is asked of `uv`, with modules from a folder in the place of an index.
const UV: &str = "#!/bin/sh
case \"$1\" in
--version) echo 'uv 0.0.0';;
venv) exec python3 -m venv --without-pip \"$3\";;
pip)
    site=$(\"$4\" -c 'import site; print(site.getsitepackages()[0])')
    while read -r package || [ -n \"$package\" ]; do
        if ! [ -f \"$UV_FIND_LINKS/$package\" ]; then
            echo \"there is no $package\" >&2
            exit 1
        fi
        cp \"$UV_FIND_LINKS/$package\" \"$site/${package%%==*}.py\"
    done < \"$6\";;
esac
";

/// Folders of a server whose package manager is where its sandbox would not find it.
struct Packages {
    home: TempDir,
    index: TempDir,
}

impl Packages {
    fn new(uv: &str) -> Self {
        // Not in /tmp, of which a sandbox has its own.
        let folder = || tempfile::tempdir_in("/var/tmp").unwrap();
        let (home, index) = (folder(), folder());
        program_at(home.path(), "uv", uv);
        Self { home, index }
    }

    fn add(&self, package: &str, text: &str) {
        std::fs::write(self.index.path().join(package), text).unwrap();
    }

    /// Lets a command use them and nothing else.
    fn set<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", path(&self.home));
        command.env("PATH", path);
        for name in ["UV_FIND_LINKS", "PIP_FIND_LINKS"] {
            command.env(name, self.index.path());
        }
        command.env("PIP_NO_INDEX", "1")
    }
}

fn greeting(version: &str) -> SkillFiles {
    SkillFiles::new("greets")
        .with(&format!("version: {version}.0"))
        .with(&format!("requirements: [greeting=={version}]"))
        .python("greet", "import greeting\nprint(greeting.TEXT)")
}

#[tokio::test]
async fn an_update_whose_packages_cannot_be_installed_leaves_the_version_before() {
    let data = tempfile::tempdir().unwrap();
    let packages = Packages::new(UV);
    packages.add("greeting==1.0", "TEXT = 'hello'");
    let start = || Served::start_with(&data, |serve| packages.set(serve));
    let served = start();
    let settled = async |served: &Served| {
        let settled = served.until("/api/skills", |skills| skills[0]["state"] != "starting");
        settled.await[0].take()
    };
    let skill = served.install(&greeting("1.0")).await;
    assert_eq!(settled(&served).await["state"], "ready");
    let greet = id_of(&skill, "greet");
    let greets = async |served: &Served| served.result(&greet, json!({})).await;
    assert_eq!(greets(&served).await, "hello");

    // The new one waits for its packages, the old one for nothing.
    let updated = served.install(&greeting("2.0")).await;
    assert_eq!(greets(&served).await, "hello");
    let failed = async |served: &Served| {
        let skill = settled(served).await;
        let state = (&skill["state"], &skill["why"]["code"], &skill["version"]);
        let expected = (
            &json!("degraded"),
            &json!("skill_update_failed"),
            &json!("2.0.0"),
        );
        assert_eq!(state, expected, "{skill}");
        let why = skill["why"]["message"].as_str().unwrap();
        assert!(why.contains("there is no greeting==2.0"), "{why}");
        assert_eq!(greets(served).await, "hello");
    };
    failed(&served).await;
    // What is set counts for it all the same, and so it is after a restart.
    let change = async |served: &Served, body: Value| {
        let (status, changed) = served.ask_for("PATCH", &path_of(&updated), body).await;
        assert_eq!(status, 200, "{changed}");
    };
    change(&served, json!({"enabled": false})).await;
    let path = format!("/api/tools/{greet}/call");
    assert_eq!(served.status(&path, json!({"arguments": {}})).await, 404);
    change(&served, json!({"enabled": true})).await;
    failed(&served).await;
    drop(served);
    let served = start();
    assert_eq!(greets(&served).await, "hello");
    failed(&served).await;

    packages.add("greeting==2.0", "TEXT = 'good day'");
    change(&served, json!({"enabled": true})).await;
    let skill = settled(&served).await;
    assert_eq!(skill["state"], "ready", "{skill}");
    assert_eq!(greets(&served).await, "good day");
}

#[test]
fn a_command_says_that_an_update_cannot_be_set_up() {
    let data = tempfile::tempdir().unwrap();
    let packages = Packages::new(UV);
    packages.add("greeting==1.0", "TEXT = 'hello'");
    let install = |skill: &SkillFiles| {
        let folder = skill.folder();
        let mut command = tenon(&data, &["skill", "install", path(&folder), "--yes"]);
        packages.set(&mut command).output().unwrap()
    };
    stdout(&install(&greeting("1.0")));
    let failed = install(&greeting("2.0"));
    assert!(!failed.status.success(), "{failed:?}");
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    let expected = "The new version cannot be set up, so the one before it goes on: uv";
    assert!(said.contains(expected), "{said}");
}

#[tokio::test]
async fn where_uv_does_not_run_in_the_sandbox_pip_installs_packages() {
    let data = tempfile::tempdir().unwrap();
    let packages = Packages::new("#!/no/such/interpreter\n");
    let wheel = packages.index.path().join("greeting-1.0-py3-none-any.whl");
    let mut archive = ZipWriter::new(File::create(wheel).unwrap());
    for (path, text) in [
        ("greeting.py", "TEXT = 'hello'"),
        (
            "greeting-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n",
        ),
        (
            "greeting-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
        (
            "greeting-1.0.dist-info/RECORD",
            "greeting.py,,\ngreeting-1.0.dist-info/METADATA,,\ngreeting-1.0.dist-info/WHEEL,,\ngreeting-1.0.dist-info/RECORD,,\n",
        ),
    ] {
        archive
            .start_file(path, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    let folder = greeting("1.0").folder();
    let mut install = tenon(
        &data,
        &["skill", "install", path(&folder), "--yes", "--json"],
    );
    let installed = packages.set(&mut install).output().unwrap();
    let installed: Value = serde_json::from_str(&stdout(&installed)).unwrap();
    let served = Served::start_with(&data, |serve| packages.set(serve));
    let greet = id_of(&installed[0], "greet");
    assert_eq!(served.result(&greet, json!({})).await, "hello");
}
