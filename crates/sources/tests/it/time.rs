//! Asking the time, and converting it.

use chrono::{DateTime, Utc};
use serde_json::json;
use tenon_domain::ErrorKind;

use crate::harness::BuiltinHarness;

#[tokio::test]
async fn the_time_somewhere_is_told_on_one_line_that_begins_with_the_iso_time() {
    let harness = BuiltinHarness::new().await;
    let before = Utc::now().timestamp();
    let said = harness
        .text("current_time", json!({"timezone": "东京"}))
        .await;
    let (iso, rest) = said.split_once(" · ").unwrap();
    let told: DateTime<chrono::FixedOffset> = iso.parse().unwrap();
    assert!(
        (before..=Utc::now().timestamp()).contains(&told.timestamp()),
        "{said}"
    );
    let expected = format!(
        "{} in Tokyo (Asia/Tokyo, UTC+09:00)",
        told.format("%A, %H:%M")
    );
    assert_eq!(rest, expected);
}

#[tokio::test]
async fn without_a_place_the_time_is_the_servers() {
    let harness = BuiltinHarness::new().await;
    for input in [json!({}), json!({"timezone": ""})] {
        let said = harness.text("current_time", input).await;
        assert!(said.contains(" · ") && said.contains("UTC"), "{said}");
    }
}

#[tokio::test]
async fn an_unknown_place_names_the_nearest() {
    let harness = BuiltinHarness::new().await;
    assert_eq!(
        harness
            .error("current_time", json!({"timezone": "Tokio"}))
            .await,
        (
            ErrorKind::InvalidInput,
            "There is no time zone `Tokio`. The nearest is `Asia/Tokyo`.".into()
        )
    );
}

#[tokio::test]
async fn a_time_is_converted_from_place_to_place() {
    let harness = BuiltinHarness::new().await;
    let said = harness
        .text(
            "convert_time",
            json!({"time": "2026-07-05 14:30", "from": "纽约", "to": "UTC+8"}),
        )
        .await;
    assert_eq!(
        said,
        "2026-07-05T14:30:00-04:00 · Sunday, 14:30 in New York (America/New_York, UTC-04:00) is \
         2026-07-06T02:30:00+08:00 · Monday, 02:30 (UTC+08:00)"
    );
    let said = harness
        .text(
            "convert_time",
            json!({"time": "2026-03-29 02:30", "from": "Berlin", "to": "UTC"}),
        )
        .await;
    assert!(
        said.contains("\nThe clocks in Berlin go forward then"),
        "{said}"
    );
}
