//! What must succeed: programs that mean no harm do not notice.

use std::collections::BTreeSet;

use tenon_sandbox::{Error, RunEnd, SetupStep, Wall, WallStrength};

use crate::machine::{Machine, World};

#[tokio::test]
async fn python_has_its_library_temporary_files_and_subprocesses() {
    const SCRIPT: &str = r#"
import asyncio, concurrent.futures, datetime, decimal, hashlib, json, os, random, sqlite3, ssl
import subprocess, sys, tempfile, threading, urllib.request, zoneinfo

with tempfile.TemporaryDirectory() as folder:
    with open(folder + "/x", "w") as file:
        file.write("temporary")
with open("result.json", "w") as file:
    json.dump({"done": True}, file)
os.makedirs("a/b"); os.rename("result.json", "a/b/result.json"); os.chmod("a/b/result.json", 0o600)
database = sqlite3.connect("numbers.db")
database.execute("create table numbers (n)"); database.commit()
assert subprocess.run(["sh", "-c", "echo hello | tr a-z A-Z"], capture_output=True, text=True).stdout == "HELLO\n"
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert sum(pool.map(abs, range(-10, 0))) == 55
asyncio.run(asyncio.sleep(0))
assert open(sys.argv[1] + "/data.txt").read() == "of the skill"
home = os.path.expanduser("~")
assert home.startswith(tempfile.gettempdir() + "/") and not home.startswith(os.getcwd()), home
assert os.listdir(home) == []
with open(home + "/.config", "w") as file:
    file.write("own")
zoneinfo.ZoneInfo("Europe/Berlin"); ssl.create_default_context()
print(json.load(open("a/b/result.json")))
"#;
    for world in World::each() {
        let skill = world.path("skill");
        let args = ["-c", SCRIPT, skill.to_str().unwrap()];
        assert_eq!(world.stdout("python3", &args).await, "{'done': True}\n");
        let written = std::fs::read_to_string(world.path("chat/a/b/result.json"));
        assert_eq!(written.unwrap(), r#"{"done": true}"#);
    }
}

#[tokio::test]
async fn a_home_is_its_own_where_the_work_folder_is_that_for_temporary_files() {
    for world in World::each() {
        let mut command = world.command("sh", &["-c", "touch ~/own && echo ~"]);
        command.work_dir = std::env::temp_dir();
        let output = world.run(&command).await;
        let home = String::from_utf8(output.stdout).unwrap();
        assert!(home.starts_with('/'), "{:?}: {home}", world.machine);
        let left = std::path::Path::new(home.trim()).join("own");
        assert!(!left.exists(), "{:?}: {home}", world.machine);
    }
}

#[tokio::test]
async fn files_that_tenon_wrote_can_be_changed() {
    for world in World::each() {
        let file = world.path("chat/list.txt");
        std::fs::write(&file, "one\n").unwrap();
        if world.machine == Machine::User {
            std::os::unix::fs::chown(&file, Some(12_345), Some(12_345)).unwrap();
        }
        world.stdout("sh", &["-c", "echo two >> list.txt"]).await;
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
    }
}

#[tokio::test]
async fn python_runs_processes_side_by_side() {
    const SCRIPT: &str = "
import multiprocessing
if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(abs, range(-10, 0))))
";
    // Its semaphores are files in /dev/shm, which only a root of one's own has.
    let world = World::new(Machine::This);
    if world.sandbox.support().await.unwrap().mount_namespace {
        std::fs::write(world.path("chat/main.py"), SCRIPT).unwrap();
        assert_eq!(world.stdout("python3", &["main.py"]).await, "55\n");
    }
}

#[tokio::test]
async fn node_has_files_threads_and_subprocesses() {
    const SCRIPT: &str = "
        const { execFileSync } = require('node:child_process');
        const { Worker } = require('node:worker_threads');
        const fs = require('node:fs'), os = require('node:os'), path = require('node:path');
        fs.writeFileSync('out.txt', execFileSync('sh', ['-c', 'echo from sh']));
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'x-'));
        fs.writeFileSync(path.join(folder, 'y'), 'z');
        const code = \"require('worker_threads').parentPort.postMessage('from a thread')\";
        new Worker(code, { eval: true }).on('message', (message) =>
            console.log(fs.readFileSync('out.txt', 'utf8').trim(), message));";
    for world in World::each() {
        let report = world.stdout("node", &["-e", SCRIPT]).await;
        assert_eq!(report, "from sh from a thread\n");
    }
}

#[tokio::test]
async fn input_goes_in_and_lines_of_progress_come_out() {
    const SCRIPT: &str = "
import sys
print('10 %', file=sys.stderr); print('100 %', file=sys.stderr)
print(len(sys.stdin.read()))";
    let world = World::new(Machine::This);
    let input = vec![b'x'; 1_000_000];
    let mut lines = Vec::new();
    let command = world.command("python3", &["-c", SCRIPT]);
    let run = world
        .sandbox
        .run(&command, &input, |line| lines.push(line.to_owned()));
    let output = run.await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1000000\n");
    assert_eq!(lines, ["10 %", "100 %"]);
}

#[tokio::test]
async fn the_end_of_a_program_is_told_as_it_was() {
    for world in World::each() {
        for (script, end) in [
            ("exit 0", RunEnd::Exited(0)),
            ("echo no >&2; exit 7", RunEnd::Exited(7)),
            ("kill -SEGV $$", RunEnd::Signaled(11)),
            ("kill -TERM $$", RunEnd::Signaled(15)),
        ] {
            let output = world.run(&world.command("sh", &["-c", script])).await;
            assert_eq!(output.end, end, "{:?}: {script}", world.machine);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_run_is_told() {
    for world in World::each() {
        let missing = world.command("no-such-program", &[]);
        let missing = world.sandbox.spawn(&missing).await;
        assert!(
            matches!(missing, Err(Error::ProgramNotFound(_))),
            "{missing:?}"
        );
        let data = world.path("skill/data.txt").display().to_string();
        let data = world.sandbox.spawn(&world.command(&data, &[])).await;
        assert!(matches!(data, Err(Error::NotExecutable(_))), "{data:?}");
        let mut nowhere = world.command("sh", &[]);
        nowhere.work_dir = world.path("no-such-folder");
        let nowhere = world.sandbox.spawn(&nowhere).await;
        let expected = SetupStep::Folders;
        assert!(matches!(nowhere, Err(Error::Setup { step, .. }) if step == expected));
    }
    let lost = tenon_sandbox::Sandbox::with_helper("/usr/bin/true");
    let world = World::new(Machine::This);
    let lost = lost.spawn(&world.command("sh", &[])).await;
    assert!(
        matches!(lost, Err(Error::NoAnswer | Error::Helper(_))),
        "{lost:?}"
    );
}

#[tokio::test]
async fn each_machine_says_which_walls_it_has() {
    use WallStrength::{Full, Partial};
    for world in World::each() {
        let support = world.sandbox.support().await.unwrap();
        let expected: &[WallStrength] = match world.machine {
            Machine::This => continue,
            Machine::User => &[Full, Full, Full, Full, Full],
            Machine::Container => &[Full, Full, Partial, Full, Full],
            Machine::LonelyContainer => &[Full, Full, Partial, Full, Partial],
        };
        assert_eq!(support.mount_namespace, world.machine == Machine::User);
        let strengths = Wall::ALL.map(|wall| support.strength(wall));
        assert_eq!(strengths, expected, "{:?}: {support:?}", world.machine);
        let child = world.sandbox.spawn(&world.command("true", &[])).await;
        assert_eq!(child.unwrap().support, support);
    }
}

#[tokio::test]
async fn users_of_different_folders_are_different_and_none_is_root() {
    let (one, two) = (World::new(Machine::This), World::new(Machine::This));
    let mut users = BTreeSet::new();
    for world in [&one, &two, &one] {
        users.insert(world.stdout("id", &["-u"]).await);
    }
    assert!(!users.contains("0\n"), "{users:?}");
}
