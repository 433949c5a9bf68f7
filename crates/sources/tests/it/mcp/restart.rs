//! A server that ends is started again, and what was under way ends well or is told why not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tenon_domain::{ErrorDetail, ErrorKind, McpConfig, SourceState};
use tenon_sources::SupervisedServer;
use tenon_sources::mcp::{FillError, ServerTimeouts, VariableResolver};
use tenon_tools::ToolSource;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::bad_server::{
    BadServer, is_alive, kill, known, nothing, until, until_failed, until_gone, until_ready,
};
use super::harness::McpHarness;

#[tokio::test]
async fn a_killed_server_is_back_within_a_second() {
    let bad_server = BadServer::new("good");
    // Each life counts as a good one, so that each death is the first.
    let timeouts = ServerTimeouts {
        steady: Duration::ZERO,
        ..ServerTimeouts::default()
    };
    let harness = McpHarness::starting_with(bad_server.settings(), timeouts).await;
    let mut status = until_ready(&harness).await;
    // The machine may be busy with other tests: the best of some counts.
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let (pid, begun) = (status.pid.unwrap(), Instant::now());
        kill(pid);
        status = until(&harness, |status| {
            status.state == SourceState::Ready && status.pid.is_some_and(|new| new != pid)
        })
        .await;
        best = best.min(begun.elapsed());
    }
    assert!(best < Duration::from_secs(1), "{best:?}");
    assert_eq!((status.restarts, status.stale), (5, false));
}

#[tokio::test]
async fn a_call_that_meets_the_death_of_its_server_is_repeated_only_without_harm() {
    for tool in ["read", "set"] {
        let bad_server = BadServer::new("good");
        let harness = bad_server.ready().await;
        harness.server.set_trusted_hints(true);
        let killer = async {
            bad_server.until(&format!("tools/call {tool}"), 1).await;
            kill(harness.server.status().pid.unwrap());
        };
        let (said, ()) = tokio::join!(harness.text(tool, nothing()), killer);
        assert_eq!(said, format!("{tool} in life 2"));
    }

    // Nobody trusts the word of the second one.
    for (tool, trusted, then) in [
        ("write", true, "written in life 2"),
        ("read", false, "read in life 2"),
    ] {
        let bad_server = BadServer::new("good");
        let harness = bad_server.ready().await;
        harness.server.set_trusted_hints(trusted);
        let called = format!("tools/call {tool}");
        let killer = async {
            bad_server.until(&called, 1).await;
            kill(harness.server.status().pid.unwrap());
        };
        let (result, ()) = tokio::join!(harness.call(tool, nothing()), killer);
        let error = result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable);
        assert!(
            error
                .message
                .contains("it is not known whether the call took effect"),
            "{error}"
        );
        assert_eq!(bad_server.count(&called), 1);
        // The next one waits for the new life.
        assert_eq!(harness.text(tool, nothing()).await, then);
    }
}

#[tokio::test]
async fn a_restart_while_calls_run_loses_none_of_them() {
    let bad_server = BadServer::new("good");
    let harness = bad_server.ready().await;
    harness.server.set_trusted_hints(true);
    let restarter = async {
        bad_server.until("tools/call", 9).await;
        harness.server.restart();
    };
    let reads = futures::future::join_all((0..8).map(|_| harness.text("read", nothing())));
    let write = harness.call("write", nothing());
    let (reads, write, ()) = tokio::join!(reads, write, restarter);
    assert_eq!(reads, ["read in life 2"; 8]);
    write.unwrap_err();
    let status = until_ready(&harness).await;
    assert_eq!(status.restarts, 1);
}

#[tokio::test]
async fn one_that_lacks_a_secret_has_failed_at_once_and_waits_to_be_restarted() {
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    let is_set = Arc::new(AtomicBool::new(false));
    settings.fill = Arc::new(Secret {
        is_set: is_set.clone(),
        lacks: FillError::Unset(ErrorDetail::other("`KEY` is not set")),
    });
    let harness = McpHarness::starting(settings).await;
    let why = until_failed(&harness).await;
    assert_eq!(why, "`KEY` is not set");
    assert_eq!(bad_server.count("start"), 0);
    assert_eq!(
        harness.server.unavailable().unwrap().message,
        "Test cannot be used now: `KEY` is not set. Do without it, or tell the user that its log \
         and a button to restart it are under Settings → Tool servers."
    );
    // Within two minutes one that may come up by itself would have been tried again.
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(120)).await;
    tokio::time::resume();
    let lines = harness.server.logs().lines();
    let lines: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(
        lines,
        ["It is started when it has what it lacks. `KEY` is not set"]
    );
    assert_eq!(harness.server.status().restarts, 0);

    is_set.store(true, Ordering::SeqCst);
    harness.server.restart();
    until_ready(&harness).await;
    assert_eq!(harness.text("echo", json!({"text": "on"})).await, "on");
}

/// One variable that somebody sets sooner or later.
struct Secret {
    is_set: Arc<AtomicBool>,
    lacks: FillError,
}

#[async_trait]
impl VariableResolver<McpConfig> for Secret {
    async fn fill(&self, config: &McpConfig) -> Result<McpConfig, FillError> {
        match self.is_set.load(Ordering::SeqCst) {
            true => Ok(config.clone()),
            false => Err(self.lacks.clone()),
        }
    }
}

#[tokio::test]
async fn one_whose_secrets_could_not_be_read_is_tried_again() {
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    let is_set = Arc::new(AtomicBool::new(false));
    settings.fill = Arc::new(Secret {
        is_set: is_set.clone(),
        lacks: FillError::Unread(ErrorDetail::other("The store is away")),
    });
    let harness = McpHarness::starting(settings).await;
    until(&harness, |status| status.restarts > 0).await;
    is_set.store(true, Ordering::SeqCst);
    until_ready(&harness).await;
}

#[tokio::test]
async fn a_panic_in_one_start_fails_that_server_only() {
    let beside = BadServer::new("good");
    let good = beside.ready().await;
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.fill = Arc::new(Faulty);
    let harness = McpHarness::starting(settings).await;
    let why = until_failed(&harness).await;
    assert!(why.contains("an internal error"), "{why}");
    assert_eq!(good.text("echo", json!({"text": "on"})).await, "on");
    harness.server.stop().await;
}

struct Faulty;

#[async_trait]
impl VariableResolver<McpConfig> for Faulty {
    async fn fill(&self, _config: &McpConfig) -> Result<McpConfig, FillError> {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn a_stopped_server_leaves_no_process_behind() {
    let bad_server = BadServer::new("stubborn");
    let harness = bad_server.ready().await;
    let pid = harness.server.status().pid.unwrap();
    let child = child(&bad_server);
    assert!(is_alive(pid) && is_alive(child));
    harness.server.stop().await;
    assert!(!is_alive(pid) && !is_alive(child));

    assert_eq!(harness.server.status().state, SourceState::Off);
    let error = harness
        .server
        .call("echo", nothing(), &harness.context)
        .await;
    let said = error.unwrap_err().message;
    assert_eq!(
        said,
        "Test has been switched off or removed. Do without it."
    );
    // Twice is as good as once, and a restart comes too late.
    harness.server.restart();
    harness.server.stop().await;
    assert_eq!(bad_server.count("start"), 1);
}

#[tokio::test]
async fn a_server_that_is_let_go_ends_with_its_children() {
    let bad_server = BadServer::new("stubborn");
    let harness = bad_server.ready().await;
    let (pid, child) = (harness.server.status().pid.unwrap(), child(&bad_server));
    drop(harness);
    until_gone(pid).await;
    until_gone(child).await;
}

#[tokio::test]
async fn one_that_is_stopped_or_let_go_while_it_starts_is_gone_too() {
    for is_stopped in [true, false] {
        let bad_server = BadServer::new("hang-initialize");
        let harness = McpHarness::starting(bad_server.settings()).await;
        bad_server.until("start", 1).await;
        let pid = pid(&bad_server.lines()[0]);
        if is_stopped {
            harness.server.stop().await;
        }
        drop(harness);
        until_gone(pid).await;
    }
}

#[tokio::test]
async fn servers_that_hang_do_not_keep_the_next_from_starting() {
    let starts = Arc::new(Semaphore::new(2));
    let timeouts = ServerTimeouts {
        start_slot: Duration::from_millis(500),
        ..ServerTimeouts::default()
    };
    let mut hanging = Vec::new();
    for _ in 0..4 {
        let bad_server = BadServer::new("hang-initialize");
        let mut settings = bad_server.settings();
        settings.starts = starts.clone();
        hanging.push((
            McpHarness::starting_with(settings, timeouts).await,
            bad_server,
        ));
    }
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.starts = starts;
    settings.known = vec![known("echo")];
    let begun = Instant::now();
    let harness = McpHarness::starting_with(settings, timeouts).await;
    // A call made meanwhile waits for it.
    assert_eq!(harness.text("echo", json!({"text": "on"})).await, "on");
    until_ready(&harness).await;
    assert!(begun.elapsed() < timeouts.start / 2);
    for (harness, _) in &hanging {
        assert_eq!(harness.server.status().state, SourceState::Starting);
    }
}

#[tokio::test]
async fn one_that_fell_is_back_although_others_are_starting() {
    let starts = Arc::new(Semaphore::new(1));
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.starts = starts.clone();
    let harness = McpHarness::starting(settings).await;
    let pid = until_ready(&harness).await.pid.unwrap();
    let _turn = starts.acquire().await.unwrap();
    let begun = Instant::now();
    kill(pid);
    until(&harness, |status| {
        status.state == SourceState::Ready && status.pid.is_some_and(|new| new != pid)
    })
    .await;
    assert!(begun.elapsed() < ServerTimeouts::default().start_slot);
}

/// The process a stubborn server has started.
fn child(bad_server: &BadServer) -> u32 {
    let lines = bad_server.lines();
    let line = lines.iter().find(|line| line.starts_with("child "));
    pid(line.unwrap())
}

fn pid(line: &str) -> u32 {
    line.split(' ').nth(1).unwrap().parse().unwrap()
}
