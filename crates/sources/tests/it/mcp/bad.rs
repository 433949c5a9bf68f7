//! Whatever a server does, a call ends with an answer or a reason, and the
//! server beside it does not notice.

use std::time::Duration;

use serde_json::json;
use tenon_domain::{Caller, ErrorKind, SourceState, ToolAccess};
use tenon_sources::SupervisedServer;
use tenon_sources::mcp::ServerTimeouts;
use tenon_tools::ToolSource;
use tokio::time::Instant;

use super::desk::Desk;
use super::ward::{self, Ward, known, nothing, until, until_failed, until_ready};

/// Short, because it is meant to run out.
const SHORT: Duration = Duration::from_millis(1500);

#[tokio::test]
async fn one_that_hangs_at_its_first_word_fails_and_keeps_what_it_offered() {
    let ward = Ward::new("hang-initialize");
    let mut settings = ward.settings();
    settings.known = vec![known("echo")];
    settings.config.timeout_ms = Some(60_000);
    let patience = ServerTimeouts {
        launch: SHORT,
        ..ServerTimeouts::default()
    };
    let desk = Desk::starting_with(settings, patience).await;
    let status = desk.server.status();
    assert_eq!(
        (status.state, status.stale, status.tools),
        (SourceState::Starting, true, 1)
    );

    // It is asked while it starts, and answered when that has come to nothing.
    let waited = desk.error("echo", nothing()).await;
    assert!(waited.starts_with("Test cannot be used now: "), "{waited}");
    until_failed(&desk).await;
    let begun = Instant::now();
    let error = desk.server.call("echo", nothing(), &desk.context).await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::Unavailable);
    assert!(begun.elapsed() < SHORT, "a failed server is not waited for");
    assert_eq!(desk.server.tools(), [known("echo")]);
    // Models are not offered what cannot be called.
    assert_eq!(desk.names(), Vec::<String>::new());
}

#[tokio::test]
async fn one_that_hangs_at_its_list_can_be_called_by_what_is_known() {
    let ward = Ward::new("hang-list");
    let mut settings = ward.settings();
    settings.known = vec![known("echo")];
    let patience = ServerTimeouts {
        list: SHORT,
        ..ServerTimeouts::default()
    };
    let desk = Desk::starting_with(settings, patience).await;
    let is_degraded = |state: &SourceState| matches!(state, SourceState::Degraded { .. });
    let status = until(&desk, |status| is_degraded(&status.state)).await;
    assert!(status.stale);
    assert_eq!(desk.text("echo", json!({"text": "hello"})).await, "hello");
}

#[tokio::test]
async fn a_list_that_cannot_be_read_again_leaves_the_old_one() {
    let ward = Ward::new("hang-second-list");
    let patience = ServerTimeouts {
        list: SHORT,
        ..ServerTimeouts::default()
    };
    let desk = Desk::starting_with(ward.settings(), patience).await;
    let before = until_ready(&desk).await;
    let names = desk.names();
    let said = desk.text("renew", nothing()).await;
    assert_eq!(said, "said so");
    let status = until(&desk, |status| status.state != SourceState::Ready).await;
    let SourceState::Degraded { why } = status.state else {
        panic!("{status:?}")
    };
    assert!(
        why.message.starts_with("Its tools could not be listed: "),
        "{why}"
    );
    assert_eq!((status.tools, desk.names()), (before.tools, names));
}

#[tokio::test]
async fn a_call_that_hangs_is_stopped_and_the_next_one_goes_through() {
    let ward = Ward::new("good");
    let mut settings = ward.settings();
    settings.config.timeout_ms = Some(20_000);
    settings.config.tool_timeouts_ms = [("hang".into(), 300)].into();
    let desk = ward::ready(settings).await;
    let error = desk.call("hang", nothing()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
    assert_eq!(desk.text("echo", json!({"text": "on"})).await, "on");
}

#[tokio::test]
async fn garbage_between_the_messages_is_passed_over() {
    let ward = Ward::new("garbage");
    let desk = ward.ready().await;
    for round in 0..5 {
        let text = format!("round {round}");
        assert_eq!(desk.text("echo", json!({"text": text})).await, text);
    }
}

#[tokio::test]
async fn ten_thousand_tools_are_registered_and_more_are_left_out() {
    let desk = ward::ready(ward::bad("many", "10000")).await;
    let status = desk.server.status();
    assert_eq!((status.tools, status.problems.len()), (10_000, 0));
    assert_eq!(desk.names().len(), 10_000);

    let desk = ward::ready(ward::bad("many", "25000")).await;
    let status = desk.server.status();
    assert_eq!((status.tools, status.problems.len()), (20_000, 1));
}

#[tokio::test]
async fn a_list_without_end_is_ended() {
    let patience = ServerTimeouts {
        list: SHORT,
        ..ServerTimeouts::default()
    };
    let ward = Ward::new("endless");
    let mut settings = ward.settings();
    settings.known = vec![known("echo")];
    let desk = Desk::starting_with(settings, patience).await;
    until(&desk, |status| status.state != SourceState::Starting).await;
    assert_eq!(desk.text("echo", json!({"text": "on"})).await, "on");
}

#[tokio::test]
async fn a_huge_result_is_cut_and_the_server_stays() {
    let ward = Ward::new("huge");
    let desk = ward.ready().await;
    let pid = desk.server.status().pid;
    let shown = desk.text("result", json!({"bytes": 16_000_000})).await;
    assert!(shown.starts_with("xxx") && shown.len() < 100_000);
    // What is larger than any message may be is a failure with a reason, if it is one.
    if let Err(error) = desk.call("result", json!({"bytes": 40_000_000})).await {
        assert!(error.message.len() > 20, "{error:?}");
    }
    assert_eq!(desk.text("echo", json!({"text": "on"})).await, "on");
    assert!(pid.is_some());
}

#[tokio::test]
async fn tools_of_any_name_are_called_by_that_name() {
    let ward = Ward::new("names");
    let desk = ward.ready().await;
    let long = "x".repeat(300);
    for name in ["../../etc", "a.b/c d", "名前", &long] {
        let said = desk.text(name, nothing()).await;
        assert_eq!(said, format!("ran {}", json!(name)));
    }
    let echoes = desk.names().iter().filter(|name| *name == "echo").count();
    assert_eq!(echoes, 1);
    let toolset = desk
        .registry
        .toolset(ToolAccess::all(&desk.context.user, Caller::Person));
    for spec in toolset.specs() {
        assert!(
            tenon_domain::tool_id::is_valid(spec.id.as_str()),
            "{spec:?}"
        );
    }
    let problems = desk.server.status().problems;
    assert!(
        problems.iter().any(|said| said.message.contains("`echo`")),
        "{problems:?}"
    );
}

#[tokio::test]
async fn tools_of_any_schema_are_offered_and_called() {
    let ward = Ward::new("schemas");
    let desk = ward.ready().await;
    for name in ["loop", "tree", "typeless", "anything", "elsewhere"] {
        assert_eq!(desk.text(name, nothing()).await, format!("ran {name}"));
    }
    assert_eq!(desk.text("choice", json!({"a": 1})).await, "ran choice");
    let error = desk.call("choice", json!({"c": 1})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidInput);
}

#[tokio::test]
async fn one_that_dies_at_once_fails_with_its_last_words_and_is_tried_slowly() {
    let ward = Ward::new("dies-at-once");
    let desk = Desk::starting(ward.settings()).await;
    let begun = Instant::now();
    let why = until_failed(&desk).await;
    assert!(why.contains("the key is not set"), "{why}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    // Each attempt may start it twice, where it has to find out how it speaks.
    let most = 2 * (4 + begun.elapsed().as_secs() as usize);
    let starts = ward.count("start");
    assert!((3..=most).contains(&starts), "{starts} of {most}");
}

#[tokio::test]
async fn one_that_dies_at_its_list_fails() {
    let ward = Ward::new("dies-at-list");
    let desk = Desk::starting(ward.settings()).await;
    until_failed(&desk).await;
}

#[tokio::test]
async fn one_that_dies_at_every_call_says_so_and_is_back_for_the_next() {
    let ward = Ward::new("dies-at-call");
    let desk = ward.ready().await;
    let error = desk.call("write", nothing()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    let said = &error.message;
    let begins = "Test stopped while `write` was running; whether it took effect is not known.";
    assert!(said.starts_with(begins), "{said}");
    assert!(said.contains('5'), "the exit code: {said}");
    // What it wrote is for those who may read its log.
    assert!(!said.contains("cannot go on"), "{said}");
    let lines = desk.server.logs().lines();
    let is_told = lines.iter().any(|line| line.text.contains("cannot go on"));
    assert!(is_told, "{lines:#?}");
    assert_eq!(ward.count("tools/call write"), 1, "nothing is done twice");

    // What only reads is tried once more, and not for ever.
    desk.error("echo", nothing()).await;
    assert_eq!(ward.count("tools/call echo"), 2);
    until_ready(&desk).await;
    assert!(desk.server.status().restarts >= 3);
}

#[tokio::test]
async fn a_list_that_changes_while_it_is_called_is_taken_over() {
    let ward = Ward::new("changes-list");
    let desk = ward.ready().await;
    let calls = (0..20).map(|n| desk.text("echo", json!({"text": n.to_string()})));
    let said = futures::future::join_all(calls).await;
    let expected: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    assert_eq!(said, expected);
    let is_there = |name: &str| desk.server.tools().iter().any(|tool| tool.name == name);
    until(&desk, |_| is_there("made_20")).await;
    assert_eq!(
        desk.error("made_20", nothing()).await,
        "there is no made_20"
    );
}

#[tokio::test]
async fn a_flood_of_notifications_costs_a_few_listings_a_second() {
    let ward = Ward::new("floods");
    let desk = ward.ready().await;
    let (begun, before) = (Instant::now(), ward.count("tools/list"));
    for n in 0..10 {
        let text = n.to_string();
        assert_eq!(desk.text("echo", json!({"text": text})).await, text);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let listings = ward.count("tools/list") - before;
    let most = 2 + begun.elapsed().as_millis() as usize / 500;
    assert!((1..=most).contains(&listings), "{listings} of {most}");
}

#[tokio::test]
async fn an_answer_counts_once_and_only_for_its_question() {
    let ward = Ward::new("answers-wrong");
    let desk = ward.ready().await;
    for _ in 0..3 {
        assert_eq!(desk.text("echo", nothing()).await, "the first answer");
    }
}
