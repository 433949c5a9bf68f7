//! How far a call is: live, and not too often.

use std::sync::Arc;

use tenon_agent::feed::LiveUpdate;
use tenon_domain::{CallProgress, EventBody, TurnOutcome};

use crate::asking::calling;
use crate::harness::{AgentHarness, next, outcome};

#[tokio::test]
async fn a_tool_that_hurries_is_told_of_at_a_pace_and_its_last_word_arrives() {
    let mut harness = AgentHarness::new(calling(&[&[("mcp_clerk_hurry", "")]])).await;
    harness.join_form_tool().await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let mut told: Vec<Arc<CallProgress>> = Vec::new();
    loop {
        match next(&mut watch).await {
            LiveUpdate::Progress(progress) => told.push(progress),
            LiveUpdate::Event(event) if matches!(event.body, EventBody::CallFinished { .. }) => {
                break;
            }
            _ => {}
        }
    }
    let at: Vec<f64> = told.iter().map(|progress| progress.progress).collect();
    assert_eq!(at.first(), Some(&0.0));
    assert_eq!(at.last(), Some(&1000.0), "what is no number is not told");
    assert!(at.len() < 20, "{at:?}");
    assert_eq!(told[0].total, Some(1000.0));
    assert_eq!(told[0].message.as_deref(), Some("at 0"));
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    drop(watch);
    assert_eq!(harness.agent.feed().open_channels(), 0);
}

#[tokio::test]
async fn who_comes_later_sees_how_far_it_is() {
    let mut harness = AgentHarness::new(calling(&[&[("mcp_clerk_begin", "")]])).await;
    harness.join_form_tool().await;
    let feed = harness.agent.feed();
    let mut watch = feed.watch(&harness.chat);
    let turn = harness.start("go").await.unwrap();
    while !matches!(next(&mut watch).await, LiveUpdate::Progress(_)) {}
    let seen = feed.watch(&harness.chat).progress.clone();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].progress, 1.0);
    harness.agent.cancel(&turn);
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
    assert!(feed.watch(&harness.chat).progress.is_empty());
    drop(watch);
    assert_eq!(feed.open_channels(), 0);
}
