//! A server may take its time to come up, and what keeps it from that is told.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tenon_domain::SourceState;
use tenon_sources::mcp::{McpSettings, ServerTimeouts};
use tenon_sources::{Advice, ServerStatus, StartupStep, SupervisedServer};
use tenon_tools::ToolSource;

use super::bad_server::{BadServer, known, nothing, until, until_failed, until_ready};
use super::harness::{self, McpHarness};
use super::recording_client::RecordingClient;

/// A package that npx takes twelve seconds to install, and what it is run with.
fn slow_package(folder: &Path) -> McpSettings {
    let package = json!({
        "name": "a-server",
        "version": "1.0.0",
        "bin": {"a-server": "server.mjs"},
        "scripts": {"postinstall": "sleep 12"},
    });
    let server = crate::peer::ours("mcp/bad.mjs");
    let script = format!(
        "#!/usr/bin/env node\nimport {:?};\n",
        server.to_str().unwrap()
    );
    std::fs::write(folder.join("package.json"), package.to_string()).unwrap();
    std::fs::write(folder.join("server.mjs"), script).unwrap();
    let (place, lines) = (folder.to_str().unwrap(), folder.join("lines"));
    let spec = format!("file:{place}");
    let mut config = harness::program("npx", &["-y", &spec, "good", lines.to_str().unwrap()]);
    let cache = folder.join("cache");
    harness::set_env(&mut config, "NPM_CONFIG_CACHE", cache.to_str().unwrap());
    harness::set_env(&mut config, "NPM_CONFIG_OFFLINE", "true");
    harness::set_env(&mut config, "NPM_CONFIG_UPDATE_NOTIFIER", "false");
    harness::settings(config)
}

#[tokio::test]
async fn a_package_that_npx_has_to_install_is_waited_for_and_started_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = slow_package(folder.path());
    settings.known = vec![known("echo")];
    let harness = McpHarness::starting(settings).await;
    let is_installing = |status: &ServerStatus| {
        let startup = status.startup.as_ref();
        startup.is_some_and(|startup| startup.step == StartupStep::Installing)
    };
    let status = until(&harness, is_installing).await;
    assert_eq!(status.state, SourceState::Starting);

    // A call that comes meanwhile waits, and says what for.
    let client = RecordingClient::silent();
    let answer = harness
        .call_as(&client.context(), "echo", json!({"text": "on"}))
        .await;
    assert_eq!(answer.unwrap().to_text(), "on");
    let heard = client.heard.lock().unwrap().clone();
    let message = heard[0].message.as_deref().unwrap();
    assert!(
        message.starts_with("Test is still being installed after "),
        "{message}"
    );

    let status = until_ready(&harness).await;
    assert_eq!((status.restarts, status.startup), (0, None));
    let lines = std::fs::read_to_string(folder.path().join("lines")).unwrap();
    assert_eq!(lines.matches("start ").count(), 1, "{lines}");
}

#[tokio::test]
async fn an_installation_that_is_given_up_may_undo_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let undone = folder.path().join("undone");
    let script = format!(
        "trap 'sleep 1; touch {}; exit' TERM; echo begun >&2; while :; do sleep 0.1; done",
        undone.display()
    );
    let harness =
        McpHarness::starting(harness::settings(harness::program("sh", &["-c", &script]))).await;
    let has_begun = || {
        let lines = harness.server.logs().lines();
        lines.iter().any(|line| line.text == "begun")
    };
    let waiting = tokio::time::Instant::now();
    while !has_begun() {
        assert!(
            waiting.elapsed() < harness::TEST_TIMEOUT,
            "it does not begin"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    harness.server.stop().await;
    assert!(undone.exists());
}

#[tokio::test]
async fn a_server_has_the_time_to_come_up_that_is_set_for_it() {
    let bad_server = BadServer::new("hang-initialize");
    let mut settings = bad_server.settings();
    settings.config.start_timeout_ms = Some(1_500);
    let harness = McpHarness::starting(settings).await;
    let why = until_failed(&harness).await;
    assert_eq!(why, "It did not answer within 1.5 s.");
}

#[tokio::test]
async fn one_that_waits_for_its_turn_says_so() {
    let bad_server = BadServer::new("good");
    let settings = bad_server.settings();
    let starts = settings.starts.clone();
    let all = starts.acquire_many(4).await.unwrap();
    let harness = McpHarness::starting(settings).await;
    let is_queued = |status: &ServerStatus| {
        let startup = status.startup.as_ref();
        startup.is_some_and(|startup| startup.step == StartupStep::Queued)
    };
    until(&harness, is_queued).await;
    assert_eq!(bad_server.count("start"), 0);
    drop(all);
    until_ready(&harness).await;
}

#[tokio::test]
async fn a_call_has_one_that_failed_tried_again_at_once() {
    let bad_server = BadServer::new("needs-key");
    let timeouts = ServerTimeouts {
        retry: Duration::ZERO,
        ..ServerTimeouts::default()
    };
    let mut settings = bad_server.settings();
    settings.known = vec![known("echo")];
    let harness = McpHarness::starting_with(settings, timeouts).await;
    let why = until_failed(&harness).await;
    assert_eq!(why, "`node` exited with code 3. It wrote: KEY is not set");
    // It lacks the key all the same: the call hears why, and does not wait for ever.
    let error = harness.error("echo", nothing()).await;
    assert!(
        error.starts_with("Test cannot be used now: `node` exited"),
        "{error}"
    );
    until_failed(&harness).await;

    std::fs::write(bad_server.beside("key"), "").unwrap();
    assert_eq!(harness.text("echo", json!({"text": "on"})).await, "on");
    let lines = harness.server.logs().lines();
    let is_told = lines
        .iter()
        .any(|line| line.text.starts_with("A call wants it"));
    assert!(is_told, "{lines:#?}");
}

#[tokio::test]
async fn a_failure_a_moment_ago_is_told_and_not_tried_again() {
    let bad_server = BadServer::new("needs-key");
    let mut settings = bad_server.settings();
    settings.known = vec![known("echo")];
    let harness = McpHarness::starting(settings).await;
    until_failed(&harness).await;
    let before = harness.server.status().restarts;
    assert!(harness.server.unavailable().is_some());
    harness.error("echo", nothing()).await;
    assert_eq!(harness.server.status().restarts, before);
}

#[tokio::test]
async fn the_cause_is_shown_and_not_what_came_last() {
    let program = "throw new Error('FOO_TOKEN environment variable is required')";
    let harness = McpHarness::starting(harness::settings(harness::program(
        "node",
        &["-e", program],
    )))
    .await;
    let why = until_failed(&harness).await;
    assert_eq!(
        why,
        "`node` exited with code 1. It needs the environment variable `FOO_TOKEN`: set it for \
         this server. It wrote: Error: FOO_TOKEN environment variable is required"
    );
    let cause = harness.server.logs().cause();
    let advice = Advice::VariableMissing {
        name: "FOO_TOKEN".into(),
    };
    assert_eq!(cause.advice, Some(advice));
    // Models hear what helps, and nothing that only a reader of the log may.
    let said = harness.server.unavailable().unwrap().message;
    assert!(said.contains("set it for this server."), "{said}");
    assert!(!said.contains("It wrote"), "{said}");
}

#[tokio::test]
async fn a_complaint_where_only_messages_belong_is_a_cause_too() {
    let program = "console.log('Please set SOME_API_KEY'); process.exit(2)";
    let harness = McpHarness::starting(harness::settings(harness::program(
        "node",
        &["-e", program],
    )))
    .await;
    let why = until_failed(&harness).await;
    assert!(why.ends_with("It wrote: Please set SOME_API_KEY"), "{why}");
}
