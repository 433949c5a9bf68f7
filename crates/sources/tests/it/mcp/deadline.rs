//! How long a call may take: a tool's own deadline, then its server's, each
//! begun anew by a sign of life.

use std::time::Duration;

use serde_json::json;
use tenon_domain::ErrorKind;
use tenon_tools::ToolSource;

use super::bad_server::{self, BadServer, nothing};

#[tokio::test]
async fn a_tools_own_deadline_goes_before_its_servers() {
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.config.timeout_ms = Some(60_000);
    settings.config.tool_timeouts_ms = [("hang".into(), 200)].into();
    let harness = bad_server::ready(settings).await;
    let deadlines = ["hang", "echo"].map(|tool| harness.server.deadline(tool));
    let expected = [200, 60_000].map(|ms| Some(Duration::from_millis(ms)));
    assert_eq!(deadlines, expected);
    let error = harness.call("hang", nothing()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
}

#[tokio::test]
async fn progress_begins_the_deadline_anew() {
    let bad_server = BadServer::new("good");
    let mut settings = bad_server.settings();
    settings.config.timeout_ms = Some(2_000);
    let harness = bad_server::ready(settings).await;
    let said = harness.text("slow", json!({"steps": 15, "ms": 200})).await;
    assert_eq!(said, "slow but sure");
    let error = harness
        .call("slow", json!({"steps": 1, "ms": 60_000}))
        .await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::TimedOut);
}
