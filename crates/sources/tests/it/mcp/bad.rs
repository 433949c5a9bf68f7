//! Whatever a server does, a call ends with an answer or a reason, and the
//! server beside it does not notice.

use std::time::Duration;

use serde_json::json;
use tenon_domain::{Caller, ErrorKind, SourceState, ToolAccess};
use tenon_sources::SupervisedServer;
use tenon_sources::mcp::ServerTimeouts;
use tenon_tools::ToolSource;
use tokio::time::Instant;

use super::bad_server::{self, BadServer, known, nothing, until, until_failed, until_ready};
use super::harness::McpHarness;

/// Short, because it is meant to run out.
const SHORT: Duration = Duration::from_millis(1500);

#[tokio::test]
async fn one_that_hangs_at_its_first_word_fails_and_keeps_what_it_offered() {
    let bad_server = BadServer::new("hang-initialize");
    let mut settings = bad_server.settings();
    settings.known = vec![known("echo")];
    settings.config.timeout_ms = Some(60_000);
    let timeouts = ServerTimeouts {
        launch: SHORT,
        ..ServerTimeouts::default()
    };
    let harness = McpHarness::starting_with(settings, timeouts).await;
    let status = harness.server.status();
    assert_eq!(
        (status.state, status.stale, status.tools),
        (SourceState::Starting, true, 1)
    );

    // It is asked while it starts, and answered when that has come to nothing.
    let waited = harness.error("echo", nothing()).await;
    assert!(waited.starts_with("Test cannot be used now: "), "{waited}");
    until_failed(&harness).await;
    let begun = Instant::now();
    let error = harness
        .server
        .call("echo", nothing(), &harness.context)
        .await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::Unavailable);
    assert!(begun.elapsed() < SHORT, "a failed server is not waited for");
    assert_eq!(harness.server.tools(), [known("echo")]);
    // Models are not offered what cannot be called.
    assert_eq!(harness.names(), Vec::<String>::new());
}

#[tokio::test]
async fn one_that_hangs_at_its_list_can_be_called_by_what_is_known() {
    let bad_server = BadServer::new("hang-list");
    let mut settings = bad_server.settings();
    settings.known = vec![known("echo")];
    let timeouts = ServerTimeouts {
        list: SHORT,
        ..ServerTimeouts::default()
    };
    let harness = McpHarness::starting_with(settings, timeouts).await;
    let is_degraded = |state: &SourceState| matches!(state, SourceState::Degraded { .. });
    let status = until(&harness, |status| is_degraded(&status.state)).await;
    assert!(status.stale);
    assert_eq!(
        harness.text("echo", json!({"text": "hello"})).await,
        "hello"
    );
}

#[tokio::test]
async fn a_list_that_cannot_be_read_again_leaves_the_old_one() {
    let bad_server = BadServer::new("hang-second-list");
    let timeouts = ServerTimeouts {
        list: SHORT,
        ..ServerTimeouts::default()
    };
    let harness = McpHarness::starting_with(bad_server.settings(), timeouts).await;
    let before = until_ready(&harness).await;
    let names = harness.names();
    let said = harness.text("renew", nothing()).await;
    assert_eq!(said, "said so");
    let status = until(&harness, |status| status.state != SourceState::Ready).await;
    let SourceState::Degraded { why } = status.state else {
        panic!("{status:?}")
    };
    assert!(
        why.message.starts_with("Its tools could not be listed: "),
        "{why}"
    );
    assert_eq!((status.tools, harness.names()), (before.tools, names));
}

#[tokio::test]
async fn a_call_that_hangs_is_stopped_and_the_next_one_goes_through() {
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.config.timeout_ms = Some(20_000);
    settings.config.tool_timeouts_ms = [("hang".into(), 300)].into();
    let harness = bad_server::ready(settings).await;
    let error = harness.call("hang", nothing()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
    assert_eq!(harness.text("echo", json!({"text": "on"})).await, "on");
}

#[tokio::test]
async fn garbage_between_the_messages_is_passed_over() {
    let bad_server = BadServer::new("garbage");
    let harness = bad_server.ready().await;
    for round in 0..5 {
        let text = format!("round {round}");
        assert_eq!(harness.text("echo", json!({"text": text})).await, text);
    }
}

#[tokio::test]
async fn ten_thousand_tools_are_registered_and_more_are_left_out() {
    let harness = bad_server::ready(bad_server::bad("many", "10000")).await;
    let status = harness.server.status();
    assert_eq!((status.tools, status.problems.len()), (10_000, 0));
    assert_eq!(harness.names().len(), 10_000);

    let harness = bad_server::ready(bad_server::bad("many", "25000")).await;
    let status = harness.server.status();
    assert_eq!((status.tools, status.problems.len()), (20_000, 1));
}

#[tokio::test]
async fn a_list_without_end_is_ended() {
    let timeouts = ServerTimeouts {
        list: SHORT,
        ..ServerTimeouts::default()
    };
    let bad_server = BadServer::new("endless");
    let mut settings = bad_server.settings();
    settings.known = vec![known("echo")];
    let harness = McpHarness::starting_with(settings, timeouts).await;
    until(&harness, |status| status.state != SourceState::Starting).await;
    assert_eq!(harness.text("echo", json!({"text": "on"})).await, "on");
}

#[tokio::test]
async fn a_huge_result_is_cut_and_the_server_stays() {
    let bad_server = BadServer::new("huge");
    let harness = bad_server.ready().await;
    let pid = harness.server.status().pid;
    let shown = harness.text("result", json!({"bytes": 16_000_000})).await;
    assert!(shown.starts_with("xxx") && shown.len() < 100_000);
    // What is larger than any message may be is a failure with a reason, if it is one.
    if let Err(error) = harness.call("result", json!({"bytes": 40_000_000})).await {
        assert!(error.message.len() > 20, "{error:?}");
    }
    assert_eq!(harness.text("echo", json!({"text": "on"})).await, "on");
    assert!(pid.is_some());
}

#[tokio::test]
async fn tools_of_any_name_are_called_by_that_name() {
    let bad_server = BadServer::new("names");
    let harness = bad_server.ready().await;
    let long = "x".repeat(300);
    for name in ["../../etc", "a.b/c d", "名前", &long] {
        let said = harness.text(name, nothing()).await;
        assert_eq!(said, format!("ran {}", json!(name)));
    }
    let echoes = harness
        .names()
        .iter()
        .filter(|name| *name == "echo")
        .count();
    assert_eq!(echoes, 1);
    let toolset = harness
        .registry
        .toolset(ToolAccess::all(&harness.context.user, Caller::Person));
    for spec in toolset.specs() {
        assert!(
            tenon_domain::tool_id::is_valid(spec.id.as_str()),
            "{spec:?}"
        );
    }
    let problems = harness.server.status().problems;
    assert!(
        problems.iter().any(|said| said.message.contains("`echo`")),
        "{problems:?}"
    );
}

#[tokio::test]
async fn tools_of_any_schema_are_offered_and_called() {
    let bad_server = BadServer::new("schemas");
    let harness = bad_server.ready().await;
    for name in ["loop", "tree", "typeless", "anything", "elsewhere"] {
        assert_eq!(harness.text(name, nothing()).await, format!("ran {name}"));
    }
    assert_eq!(harness.text("choice", json!({"a": 1})).await, "ran choice");
    let error = harness.call("choice", json!({"c": 1})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidInput);
}

#[tokio::test]
async fn one_that_dies_at_once_fails_with_its_last_words_and_is_tried_slowly() {
    let bad_server = BadServer::new("dies-at-once");
    let harness = McpHarness::starting(bad_server.settings()).await;
    let begun = Instant::now();
    let why = until_failed(&harness).await;
    assert!(why.contains("the key is not set"), "{why}");
    bad_server.until("start", 3).await;
    // Each attempt may start it twice, where it has to find out how it speaks.
    let most = 2 * (4 + begun.elapsed().as_secs() as usize);
    let starts = bad_server.count("start");
    assert!(starts <= most, "{starts} of {most}");
}

#[tokio::test]
async fn one_that_dies_at_its_list_fails() {
    let bad_server = BadServer::new("dies-at-list");
    let harness = McpHarness::starting(bad_server.settings()).await;
    until_failed(&harness).await;
}

#[tokio::test]
async fn one_that_dies_at_every_call_says_so_and_is_back_for_the_next() {
    let bad_server = BadServer::new("dies-at-call");
    let harness = bad_server.ready().await;
    let error = harness.call("write", nothing()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    let said = &error.message;
    let begins =
        "Test stopped while `write` was running; it is not known whether the call took effect.";
    assert!(said.starts_with(begins), "{said}");
    assert!(said.contains('5'), "the exit code: {said}");
    // What it wrote is for those who may read its log.
    assert!(!said.contains("cannot go on"), "{said}");
    let lines = harness.server.logs().lines();
    let is_told = lines.iter().any(|line| line.text.contains("cannot go on"));
    assert!(is_told, "{lines:#?}");
    assert_eq!(
        bad_server.count("tools/call write"),
        1,
        "nothing is done twice"
    );

    // What only reads, by the word of a trusted server, is tried once more, and not for ever.
    harness.server.set_trusted_hints(true);
    harness.error("echo", nothing()).await;
    assert_eq!(bad_server.count("tools/call echo"), 2);
    until_ready(&harness).await;
    assert!(harness.server.status().restarts >= 3);
}

#[tokio::test]
async fn a_list_that_changes_while_it_is_called_is_taken_over() {
    let bad_server = BadServer::new("changes-list");
    let harness = bad_server.ready().await;
    let calls = (0..20).map(|n| harness.text("echo", json!({"text": n.to_string()})));
    let said = futures::future::join_all(calls).await;
    let expected: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    assert_eq!(said, expected);
    let is_there = |name: &str| harness.server.tools().iter().any(|tool| tool.name == name);
    until(&harness, |_| is_there("made_20")).await;
    assert_eq!(
        harness.error("made_20", nothing()).await,
        "there is no made_20"
    );
}

#[tokio::test]
async fn a_flood_of_notifications_costs_a_few_listings_a_second() {
    let bad_server = BadServer::new("floods");
    let harness = bad_server.ready().await;
    let (begun, before) = (Instant::now(), bad_server.count("tools/list"));
    for n in 0..10 {
        let text = n.to_string();
        assert_eq!(harness.text("echo", json!({"text": text})).await, text);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let listings = bad_server.count("tools/list") - before;
    let most = 2 + begun.elapsed().as_millis() as usize / 500;
    assert!((1..=most).contains(&listings), "{listings} of {most}");
}

#[tokio::test]
async fn an_answer_counts_once_and_only_for_its_question() {
    let bad_server = BadServer::new("answers-wrong");
    let harness = bad_server.ready().await;
    for _ in 0..3 {
        assert_eq!(harness.text("echo", nothing()).await, "the first answer");
    }
}
