//! What a server starts ends with it, whatever ends us.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tenon_sources::SupervisedServer;

use super::harness::{self, McpHarness};
use super::peers::old;

/// Like `npx`: a shell that starts the server as its child, beside another one
/// that listens to nobody and one that went away into a session of its own.
async fn wrapped(folder: &Path) -> McpHarness {
    let (python, script) = old();
    let wrapper = format!(
        "trap '' TERM; sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & echo $! >{0}/lingering; \
         setsid sh -c 'while :; do sleep 1; done' & echo $! >{0}/away; \
         {1} {script} stdio & echo $! >{0}/server; echo $$ >{0}/shell; wait",
        folder.display(),
        python.display(),
    );
    // A shell gives what runs beside it no input unless it is told to.
    let wrapper = wrapper.replace(" stdio & ", " stdio <&3 & ");
    let wrapper = format!("exec 3<&0; {wrapper}");
    McpHarness::ready(harness::settings(harness::program("sh", &["-c", &wrapper]))).await
}

fn pids(folder: &Path) -> Vec<i32> {
    ["shell", "server", "lingering", "away"]
        .iter()
        .map(|name| {
            let pid = std::fs::read_to_string(folder.join(name)).unwrap();
            pid.trim().parse().unwrap()
        })
        .collect()
}

/// Whether it still does something. One that is dead and not buried does not.
fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned();
    !state.is_empty() && !state.starts_with('Z') && !state.starts_with('X')
}

fn all_end(pids: &[i32]) {
    let began = Instant::now();
    while pids.iter().any(|pid| lives(*pid)) {
        let left: Vec<_> = pids.iter().filter(|pid| lives(**pid)).collect();
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{left:?} of {pids:?} are left"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test]
async fn a_server_that_is_stopped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let harness = wrapped(folder.path()).await;
    let pids = pids(folder.path());
    assert!(pids.iter().all(|pid| lives(*pid)), "{pids:?}");
    harness.server.stop().await;
    let left: Vec<_> = pids.iter().filter(|pid| lives(**pid)).collect();
    assert_eq!(left, Vec::<&i32>::new());
}

#[tokio::test]
async fn a_server_whose_first_process_is_killed_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let _desk = wrapped(folder.path()).await;
    let pids = pids(folder.path());
    let killed = Command::new("kill")
        .args(["-9", &pids[0].to_string()])
        .status();
    assert!(killed.unwrap().success());
    tokio::task::spawn_blocking(move || all_end(&pids))
        .await
        .unwrap();
}

/// Where the process that is to be killed runs, given by the test that kills it.
const FOLDER: &str = "TENON_TEST_ORPHANS";

/// A process with a server, until it is killed. Does nothing when it is run as a test.
#[tokio::test]
async fn victim() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let _desk = wrapped(Path::new(&folder)).await;
    std::fs::write(Path::new(&folder).join("ready"), "").unwrap();
    tokio::time::sleep(Duration::from_secs(120)).await;
}

#[test]
fn a_kill_of_our_own_process_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "mcp::orphans::victim"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !folder.path().join("ready").exists() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "it does not start"
        );
        assert!(victim.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pids = pids(folder.path());
    assert!(pids.iter().all(|pid| lives(*pid)), "{pids:?}");
    victim.kill().unwrap();
    victim.wait().unwrap();
    all_end(&pids);
}
