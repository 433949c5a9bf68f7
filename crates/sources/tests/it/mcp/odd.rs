//! Programs that are odd in one way each: what they do costs nobody else anything.

use serde_json::json;
use tenon_domain::{ErrorKind, SourceState};
use tenon_sources::SupervisedServer;

use super::harness::{self, McpHarness};
use super::peers::raw;
use super::recording_client::RecordingClient;
use crate::harness::sentences;

async fn odd(oddity: &str) -> McpHarness {
    let (python, script) = raw();
    McpHarness::program(python, &[&script, oddity]).await
}

/// Why it does not come up.
async fn failure(config: tenon_domain::McpConfig) -> String {
    let mut harness = McpHarness::starting(harness::settings(config)).await;
    harness.settle().await;
    match harness.server.status().state {
        SourceState::Failed { why } => why.message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let why = failure(harness::program("no-such-program", &[])).await;
    assert_eq!(
        why,
        "`no-such-program` was not found. Install it on the machine Tenon runs on, or give its \
         full path; it is looked for in PATH."
    );
    let mut config = harness::program("sh", &[]);
    harness::set_cwd(&mut config, "/no/such/folder");
    let why = failure(config).await;
    assert_eq!(why, "The working folder /no/such/folder does not exist.");
}

#[tokio::test]
async fn a_program_that_ends_at_once_is_quoted() {
    let (python, script) = raw();
    let why = failure(harness::program(&python, &[&script, "dies-at-once"])).await;
    let expected = "exited with code 1. It wrote: There is no configuration.";
    assert!(why.ends_with(expected), "{why}");
}

#[tokio::test]
async fn one_that_never_reads_its_input_is_said_to_have_ended() {
    let why = failure(harness::program("true", &[])).await;
    assert_eq!(why, "`true` exited with code 0.");
}

#[tokio::test]
async fn a_program_that_dies_when_it_is_probed_is_started_again() {
    let harness = odd("dies-when-probed").await;
    assert_eq!(harness.text("echo", json!({ "a": 1 })).await, r#"{"a": 1}"#);
}

#[tokio::test]
async fn a_program_that_is_silent_when_it_is_probed_is_greeted_the_old_way() {
    let harness = odd("silent-when-probed").await;
    assert_eq!(harness.text("echo", json!({ "a": 1 })).await, r#"{"a": 1}"#);
}

#[tokio::test]
async fn chatter_between_the_messages_is_put_into_the_log() {
    let harness = odd("garbage").await;
    assert_eq!(harness.text("echo", json!({})).await, "{}");
    let lines = harness.server.logs().lines();
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    assert!(
        texts.contains(&"Not a message of MCP: Welcome to the best server ever!"),
        "{texts:?}"
    );
    assert!(texts.contains(&"bad \u{fffd} bytes"), "{texts:?}");
    assert!(texts.iter().all(|text| text.len() < 3000));
}

#[tokio::test]
async fn pages_are_put_together_and_circles_are_left() {
    let harness = odd("pages").await;
    assert_eq!(harness.names(), ["t0", "t1", "t2"]);
    let harness = odd("circle").await;
    assert_eq!(harness.names(), ["tNone", "tagain"]);
    let problems = sentences(&harness.server.status().problems);
    assert_eq!(
        problems,
        ["The pages of its list of tools repeat. The list may not be complete."]
    );
}

#[tokio::test]
async fn ten_thousand_tools_are_listed() {
    let harness = odd("many").await;
    assert_eq!(harness.names().len(), 10_000);
}

#[tokio::test]
async fn a_schema_too_deep_to_read_costs_only_its_tool() {
    let harness = odd("deep").await;
    assert_eq!(harness.names(), ["echo"]);
    let problems = harness.server.status().problems;
    assert!(
        problems[0].message.contains("cannot be read"),
        "{problems:?}"
    );
}

#[tokio::test]
async fn answers_that_nobody_asked_for_are_nothing() {
    for oddity in ["twice", "wrong-id", "floods"] {
        let harness = odd(oddity).await;
        for number in 0..3 {
            let answer = harness.text("echo", json!({ "n": number })).await;
            assert_eq!(answer, format!(r#"{{"n": {number}}}"#), "{oddity}");
        }
    }
}

#[tokio::test]
async fn a_long_result_comes_and_one_that_is_too_long_is_refused() {
    let harness = odd("huge").await;
    let answer = harness
        .call("echo", json!({ "bytes": 16_000_000 }))
        .await
        .unwrap();
    assert!(
        answer
            .to_text()
            .contains("The output is 16000000 bytes long")
    );
    let (kind, message) = match harness.call("echo", json!({ "bytes": 40_000_000 })).await {
        Err(error) => (error.kind, error.message),
        Ok(output) => panic!("{}", output.to_text().len()),
    };
    assert_eq!(kind, ErrorKind::Failed);
    assert_eq!(
        message,
        "The server sent a message of more than 32 MB. Ask for less."
    );
    let answer = harness.call("echo", json!({ "bytes": 10 })).await.unwrap();
    assert_eq!(answer.to_text(), "xxxxxxxxxx");
}

#[tokio::test]
async fn a_program_that_dies_in_a_call_is_quoted_in_its_log_and_nowhere_else() {
    let harness = odd("dies").await;
    let error = harness.error("echo", json!({})).await;
    assert!(error.contains("exited with code 3. Check"), "{error}");
    assert!(!error.contains("terrible"), "{error}");
    let lines = harness.server.logs().lines();
    let expected = "exited with code 3. It wrote: Something terrible happened.";
    let is_told = lines.iter().any(|line| line.text.ends_with(expected));
    assert!(is_told, "{lines:#?}");
}

#[tokio::test]
async fn what_a_server_may_not_ask_is_refused_politely() {
    let harness = odd("pings").await;
    let answers = harness.text("echo", json!({})).await;
    assert!(
        answers.contains(r#""id": "ping", "result": {}"#),
        "{answers}"
    );
    assert!(
        answers.contains("Tenon does not offer roots/list."),
        "{answers}"
    );
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_on_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let marks = folder.path().join("marks");
    let (python, script) = raw();
    let harness = McpHarness::program(python, &[&script, "holds", marks.to_str().unwrap()]).await;
    let context = RecordingClient::silent().context();
    let cancel = context.cancel.clone();
    let call = harness.call_as(&context, "echo", json!({}));
    let stop = async {
        wait_for(&marks, "tools/call").await;
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(call, stop);
    assert_eq!(answer.unwrap_err().kind, ErrorKind::Cancelled);
    wait_for(&marks, "notifications/cancelled").await;
}

#[tokio::test]
async fn three_hundred_calls_run_at_once() {
    let harness = odd("plain").await;
    let calls = (0..300).map(|number| harness.text("echo", json!({ "n": number })));
    let answers = futures::future::join_all(calls).await;
    for (number, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer, format!(r#"{{"n": {number}}}"#));
    }
}

async fn wait_for(file: &std::path::Path, word: &str) {
    let found = async {
        loop {
            let text = tokio::fs::read_to_string(file).await.unwrap_or_default();
            if text.contains(word) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let found = tokio::time::timeout(std::time::Duration::from_secs(20), found).await;
    found.unwrap_or_else(|_| panic!("{word} does not come"));
}
