//! Sleeping, and being done.

use std::time::Duration;

use serde_json::json;
use tenon_domain::ErrorKind;
use tokio::time::Instant;

use crate::harness::BuiltinHarness;

#[tokio::test(start_paused = true)]
async fn sleep_waits_as_long_as_asked_even_past_the_default_deadline() {
    let harness = BuiltinHarness::new().await;
    let started = Instant::now();
    let text = harness.text("sleep", json!({"seconds": 300})).await;
    assert!(text.starts_with("Waited 300 s. It is "), "{text}");
    assert_eq!(started.elapsed().as_secs(), 300);
    let text = harness.text("sleep", json!({"seconds": 0.5})).await;
    assert!(text.starts_with("Waited 0.5 s. It is "), "{text}");
    let text = harness.text("sleep", json!({"seconds": 0})).await;
    assert!(text.starts_with("Waited 0 s. It is "), "{text}");
}

#[tokio::test]
async fn sleep_refuses_what_is_too_long_or_backwards() {
    let harness = BuiltinHarness::new().await;
    for seconds in [-1.0, 300.5, 1e300] {
        let (kind, _) = harness.error("sleep", json!({"seconds": seconds})).await;
        assert_eq!(kind, ErrorKind::InvalidInput);
    }
}

#[tokio::test(start_paused = true)]
async fn sleep_ends_at_once_when_it_is_cancelled() {
    let harness = BuiltinHarness::new().await;
    let started = Instant::now();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        harness.context.cancel.cancel();
    };
    let ((kind, _), ()) = tokio::join!(harness.error("sleep", json!({"seconds": 300})), stop);
    assert_eq!(
        (kind, started.elapsed().as_secs()),
        (ErrorKind::Cancelled, 1)
    );
}

#[tokio::test]
async fn done_is_said_with_or_without_a_summary() {
    let harness = BuiltinHarness::new().await;
    assert_eq!(harness.text("claim_done", json!({})).await, "Done.");
    assert_eq!(
        harness
            .text("claim_done", json!({"summary": "All sent."}))
            .await,
        "Done: All sent."
    );
}
