//! Which page makes a call, and what becomes of it.

use std::time::Duration;

use serde_json::json;
use tenon_domain::ErrorKind;

use super::fixture::*;

#[tokio::test(start_paused = true)]
async fn another_page_takes_over_what_was_not_begun() {
    let fixture = Fixture::new();
    let first = fixture.laptop().await;
    let second = fixture.page("ada", "laptop", "2", vec![time()]).await;
    let calling = fixture.call_now();
    let order = second.order().await;
    second.connection.close();
    let again = first.order().await;
    assert_eq!(again.call_id, order.call_id);
    first.begin(&again);
    first.answer(
        &again,
        json!({"status": 200, "headers": [], "body": {"type": "text", "text": "here"}}),
    );
    assert_eq!(calling.await.unwrap().unwrap().to_text(), "here");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_sleeps_is_passed_over_while_there_is_another() {
    let fixture = Fixture::new();
    let awake = fixture.laptop().await;
    let asleep = fixture.page("ada", "laptop", "2", vec![time()]).await;
    let calling = fixture.call_now();
    let order = asleep.order().await;
    let again = awake.order().await;
    assert_eq!(asleep.cancelled().await, order.call_id);
    // It had begun after all, and its progress got lost.
    awake.answer(
        &again,
        json!({"error": {"kind": "taken", "message": "Another page has it."}}),
    );
    let error = error(calling.await.unwrap());
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.message.contains("is not known"), "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_closed_fails_at_once_what_it_had_begun() {
    let fixture = Fixture::new();
    let tab = fixture.laptop().await;
    let calling = fixture.call_now();
    tab.begun().await;
    let before = tokio::time::Instant::now();
    tab.connection.close();
    let error = error(calling.await.unwrap());
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert!(
        error.message.contains("Chrome on laptop"),
        "{}",
        error.message
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_whose_connection_broke_comes_back_to_its_calls() {
    let fixture = Fixture::new();
    let tab = fixture.laptop().await;
    let calling = fixture.call_now();
    let order = tab.begun().await;
    tab.connection.connection_lost();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let back = fixture.laptop().await;
    back.answer(
        &order,
        json!({"status": 200, "headers": [], "body": {"type": "text", "text": "kept"}}),
    );
    assert_eq!(calling.await.unwrap().unwrap().to_text(), "kept");

    let calling = fixture.call_now();
    back.begun().await;
    back.connection.connection_lost();
    let error = error(calling.await.unwrap());
    assert!(error.message.contains("is not known"), "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_lost_with_a_connection_is_given_to_the_page_again() {
    let fixture = Fixture::new();
    let asleep = fixture.laptop().await;
    let calling = fixture.call_now();
    asleep.order().await;
    // It comes back before anybody noticed that it was away.
    let back = fixture.laptop().await;
    let order = back.order().await;
    back.answer(&order, json!({"status": 200, "headers": []}));
    calling.await.unwrap().unwrap();

    let calling = fixture.call_now();
    back.order().await;
    back.connection.connection_lost();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let again = fixture.laptop().await;
    let order = again.order().await;
    again.answer(&order, json!({"status": 200, "headers": []}));
    calling.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let fixture = Fixture::new();
    let tab = fixture.laptop().await;
    let calling = fixture.call_now();
    let order = tab.order().await;
    calling.abort();
    assert_eq!(tab.cancelled().await, order.call_id);
    // What comes of it nevertheless is nobody's.
    tab.answer(&order, json!({"status": 200, "headers": []}));
}
