//! Everything in a sandbox ends with it.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tenon_sandbox::{Sandbox, SandboxCommand};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::time::timeout;

use crate::machine::{Machine, World};

const DEADLINE: Duration = Duration::from_secs(20);

/// Leaves its process group, session and parent, and holds a named pipe open for ever.
const DAEMON: &str = "
import os, signal, sys
ready, wake = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        held = os.open('alive', os.O_WRONLY)
        os.write(held, b'x')
        for stream in range(3):
            os.close(stream)
        os.write(wake, b'x')
        while True:
            signal.pause()
    os._exit(0)
os.read(ready, 1)
print('daemonised', flush=True)
";

/// A named pipe in the work folder, which ends when nobody has it open any more.
struct Heartbeat(pipe::Receiver);

impl Heartbeat {
    fn new(world: &World) -> Self {
        let path = world.path("chat/alive");
        let made = Command::new("mkfifo").arg("-m0666").arg(&path).status();
        assert!(made.unwrap().success());
        Self(open(&path))
    }

    async fn began(&mut self) {
        let mut byte = [0];
        let read = timeout(DEADLINE, self.0.read_exact(&mut byte)).await;
        read.expect("it begins").unwrap();
    }

    async fn ends(&mut self) {
        let mut rest = Vec::new();
        let read = timeout(DEADLINE, self.0.read_to_end(&mut rest)).await;
        read.expect("nobody is left").unwrap();
    }
}

fn open(path: &Path) -> pipe::Receiver {
    const NONBLOCK: i32 = 0o4000;
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).custom_flags(NONBLOCK).open(path);
    pipe::Receiver::from_file(file.unwrap()).unwrap()
}

#[tokio::test]
async fn a_daemon_ends_with_the_program_that_left_it() {
    for world in World::each() {
        let mut heartbeat = Heartbeat::new(&world);
        let report = world.stdout("python3", &["-c", DAEMON]).await;
        assert_eq!(report, "daemonised\n", "{:?}", world.machine);
        heartbeat.began().await;
        heartbeat.ends().await;
    }
}

#[tokio::test]
async fn killed_or_dropped_everything_ends() {
    let stays = format!("{DAEMON}\nimport time\ntime.sleep(1000)");
    for world in World::each() {
        let mut heartbeat = Heartbeat::new(&world);
        let command = world.command("python3", &["-c", &stays]);
        let mut child = world.sandbox.spawn(&command).await.unwrap();
        heartbeat.began().await;
        child.kill().await.unwrap();
        heartbeat.ends().await;

        heartbeat.0 = open(&world.path("chat/alive"));
        let child = world.sandbox.spawn(&command).await.unwrap();
        heartbeat.began().await;
        drop(child);
        heartbeat.ends().await;
    }
}

#[tokio::test]
async fn a_guard_that_is_killed_takes_its_namespace_with_it() {
    let stays = format!("{DAEMON}\nimport time\ntime.sleep(1000)");
    let world = World::new(Machine::This);
    let mut heartbeat = Heartbeat::new(&world);
    let command = world.command("python3", &["-c", &stays]);
    let mut child = world.sandbox.spawn(&command).await.unwrap();
    heartbeat.began().await;
    if child.support.pid_namespace {
        let guard = child.id().unwrap().to_string();
        let killed = Command::new("kill").args(["-KILL", &guard]).status();
        assert!(killed.unwrap().success());
        heartbeat.ends().await;
        assert!(!child.wait().await.unwrap().success());
    }
}

#[tokio::test]
async fn a_worker_answers_again_and_again() {
    const ECHO: &str = "
import sys
for line in sys.stdin:
    print(line.upper(), end='', flush=True)";
    for world in World::each() {
        let command = world.command("python3", &["-c", ECHO]);
        let mut child = world.sandbox.spawn(&command).await.unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for (question, answer) in [("one\n", "ONE"), ("two\n", "TWO")] {
            stdin.write_all(question.as_bytes()).await.unwrap();
            let line = timeout(DEADLINE, lines.next_line()).await.unwrap();
            assert_eq!(line.unwrap().as_deref(), Some(answer));
        }
        drop(stdin);
        assert!(child.wait().await.unwrap().success());
    }
}

#[tokio::test]
async fn no_folder_for_temporary_files_is_left() {
    for world in World::each() {
        let script = "echo ${TMPDIR-/tmp}; touch ${TMPDIR-/tmp}/left-behind";
        let folder = world.stdout("sh", &["-c", script]).await;
        assert!(!Path::new(folder.trim()).join("left-behind").exists());
    }
}

#[tokio::test]
async fn a_helper_whose_launcher_is_gone_leaves_nobody() {
    // Whether its init has asked for the end of its guard by then is chance.
    for _ in 0..20 {
        let mut helper = tokio::process::Command::new(env!("CARGO_BIN_EXE_sandbox-helper"));
        let helper = helper
            .arg("sandbox-exec")
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped());
        let mut helper = helper.spawn().unwrap();
        let mut stdout = helper.stdout.take().unwrap();
        let mut said = Vec::new();
        let ended = timeout(DEADLINE, stdout.read_to_end(&mut said)).await;
        ended.expect("nobody has it open").unwrap();
        helper.wait().await.unwrap();
    }
}

#[tokio::test]
async fn a_helper_waits_for_the_next_program_and_is_replaced_when_something_ended_it() {
    let folder = tempfile::tempdir().unwrap();
    // A copy, so that its processes are told apart from those of other tests.
    let helper = folder.path().join("waiting-helper");
    std::fs::copy(env!("CARGO_BIN_EXE_sandbox-helper"), &helper).unwrap();
    let sandbox = Sandbox::with_helper(&helper);
    let command = SandboxCommand::new("/bin/true", std::env::temp_dir());
    for _ in 0..2 {
        let mut child = sandbox.spawn(&command).await.unwrap();
        assert!(child.wait().await.unwrap().success());
        let waiting = waiting_helper(&helper).await;
        let killed = Command::new("kill").arg("-9").arg(&waiting).status();
        assert!(killed.unwrap().success());
        // A signal is on its way for a moment.
        let status = format!("/proc/{waiting}/status");
        let is_alive =
            || std::fs::read_to_string(&status).is_ok_and(|is| !is.contains("State:\tZ"));
        timeout(DEADLINE, async {
            while is_alive() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }
    let mut child = sandbox.spawn(&command).await.unwrap();
    assert!(child.wait().await.unwrap().success());
}

/// The process id of a helper that this process started, and has not waited for.
async fn waiting_helper(helper: &Path) -> String {
    let parent = format!("PPid:\t{}\n", std::process::id());
    let is_ours = |id: &String| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status"));
        let program = std::fs::read_link(format!("/proc/{id}/exe"));
        status.is_ok_and(|it| it.contains(&parent)) && program.is_ok_and(|it| it == helper)
    };
    let looking = async {
        loop {
            let processes = std::fs::read_dir("/proc").unwrap().flatten();
            let mut ids = processes.map(|process| process.file_name().into_string().unwrap());
            if let Some(waiting) = ids.find(is_ours) {
                return waiting;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(DEADLINE, looking).await.expect("one waits")
}
