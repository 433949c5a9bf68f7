//! A server that nobody needs sleeps, and the next call wakes it.

use std::time::Duration;

use serde_json::json;
use tenon_domain::SourceState;
use tenon_sources::SupervisedServer;
use tenon_sources::mcp::StartMode;
use tenon_tools::ToolSource;

use super::bad_server::{self, BadServer, known, nothing, until, until_gone, until_ready};
use super::harness::McpHarness;

#[tokio::test]
async fn an_idle_server_is_put_to_sleep_and_woken_by_a_call() {
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.config.sleep_after_ms = Some(300);
    let harness = bad_server::ready(settings).await;
    let (before, names) = (harness.server.status(), harness.names());
    let status = until(&harness, |status| status.state == SourceState::Sleeping).await;
    assert_eq!((status.tools, status.pid), (before.tools, None));
    until_gone(before.pid.unwrap()).await;
    assert_eq!(harness.names(), names);

    assert_eq!(harness.text("write", nothing()).await, "written in life 2");
    let status = until(&harness, |status| status.state == SourceState::Sleeping).await;
    assert_eq!(status.restarts, 0, "to wake is no accident");
}

#[tokio::test]
async fn a_server_does_not_sleep_while_it_works() {
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.config.sleep_after_ms = Some(100);
    let harness = bad_server::ready(settings).await;
    let said = harness.text("slow", json!({"steps": 1, "ms": 1000})).await;
    assert_eq!(said, "slow but sure");
}

#[tokio::test]
async fn many_calls_at_the_edge_of_sleep_are_all_answered() {
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.config.sleep_after_ms = Some(20);
    let harness = bad_server::ready(settings).await;
    for round in 0..30_u64 {
        let text = round.to_string();
        assert_eq!(harness.text("echo", json!({"text": text})).await, text);
        tokio::time::sleep(Duration::from_millis(15 + round % 10)).await;
    }
}

#[tokio::test]
async fn one_that_starts_on_call_sleeps_with_what_is_known_until_then() {
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.start = StartMode::OnCall;
    settings.known = vec![known("echo"), known("gone")];
    let harness = McpHarness::starting(settings).await;
    let status = until(&harness, |status| status.state == SourceState::Sleeping).await;
    assert!(status.stale);
    assert_eq!(harness.names(), ["echo", "gone"]);
    assert_eq!(bad_server.count("start"), 0);

    let calls = (0..8).map(|n| harness.text("echo", json!({"text": n.to_string()})));
    let said = futures::future::join_all(calls).await;
    assert_eq!(said, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert_eq!(bad_server.count("start"), 1);
    let status = until_ready(&harness).await;
    assert!(!status.stale);
    assert!(!harness.names().contains(&"gone".to_owned()));
}

#[tokio::test]
async fn a_sleeping_server_is_woken_by_a_restart_and_ended_by_a_stop() {
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.start = StartMode::OnCall;
    let harness = McpHarness::starting(settings).await;
    harness.server.restart();
    until_ready(&harness).await;
    harness.server.stop().await;
    assert_eq!(harness.server.state(), SourceState::Off);
}
