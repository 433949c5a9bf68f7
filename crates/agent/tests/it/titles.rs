//! A chat is named after what it is about.

use std::sync::Arc;
use std::time::Duration;

use tenon_agent::{TurnModel, TurnRequest};
use tenon_domain::{EventBody, TitledBy, TurnOutcome};
use tenon_llm::scripted::ScriptStep;
use tokio::sync::Notify;

use crate::harness::{AgentHarness, TEST_TIMEOUT, ada, outcome, until};

fn says(text: &str) -> Vec<ScriptStep> {
    vec![ScriptStep::text(text), ScriptStep::stop()]
}

/// A turn with a model that can think of titles.
async fn turn(harness: &AgentHarness, text: &str) {
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let request = harness.request(text);
    let model = TurnModel {
        makes_titles: true,
        ..request.model
    };
    let request = TurnRequest { model, ..request };
    harness.agent.start(request).await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
}

async fn title(harness: &AgentHarness) -> String {
    harness
        .store
        .chat(&ada(), &harness.chat)
        .await
        .unwrap()
        .title
}

/// Waits until the agent is idle: a title is made in the task of its turn.
async fn settle(harness: &AgentHarness) {
    wait_until(|| harness.agent.running_tasks() == 0).await;
}

/// Waits until the model has been asked so many times.
async fn asked(harness: &AgentHarness, times: usize) {
    wait_until(|| harness.model.requests().len() >= times).await;
}

async fn wait_until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, waiting).await.unwrap();
}

#[tokio::test]
async fn a_real_model_names_a_chat_after_its_first_turn_and_never_again() {
    let harness =
        AgentHarness::new([says("Yes."), says("\"Trains to Tokyo\"\n"), says("No.")]).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    turn(&harness, "is there a train to Tokyo?").await;
    let named = |body: &EventBody| matches!(body, EventBody::ChatTitled { by, .. } if *by == TitledBy::Model);
    until(&mut watch, named).await;
    assert_eq!(title(&harness).await, "Trains to Tokyo");
    let request = &harness.model.requests()[1];
    assert!(request.tools.is_empty());
    assert!(format!("{:?}", request.messages).contains("is there a train"));

    turn(&harness, "and back?").await;
    settle(&harness).await;
    assert_eq!(harness.model.requests().len(), 3);
}

#[tokio::test]
async fn nonsense_and_silence_keep_the_name_there_was() {
    let harness = AgentHarness::new([says("Yes."), says("\"…\"")]).await;
    turn(&harness, "is there a train?").await;
    asked(&harness, 2).await;
    settle(&harness).await;
    assert_eq!(title(&harness).await, "is there a train?");

    // The script is at its end: the model refuses.
    let harness = AgentHarness::new([says("Yes.")]).await;
    turn(&harness, "is there a train?").await;
    asked(&harness, 2).await;
    settle(&harness).await;
    assert_eq!(title(&harness).await, "is there a train?");
}

#[tokio::test]
async fn the_person_who_renamed_the_chat_meanwhile_wins() {
    let go = Arc::new(Notify::new());
    let thinking = vec![
        ScriptStep::WaitFor(go.clone()),
        ScriptStep::text("Trains"),
        ScriptStep::stop(),
    ];
    let harness = AgentHarness::new([says("Yes."), thinking]).await;
    turn(&harness, "is there a train?").await;
    asked(&harness, 2).await;
    let mine = EventBody::ChatTitled {
        title: "Mine".into(),
        by: TitledBy::Person,
    };
    harness
        .agent
        .feed()
        .emit(&harness.chat, vec![mine])
        .await
        .unwrap();
    go.notify_one();
    settle(&harness).await;
    assert_eq!(title(&harness).await, "Mine");
}

#[tokio::test]
async fn nobody_is_asked_for_a_title_where_it_is_not_wanted() {
    // The assistant that comes with Tenon is no language model.
    let harness = AgentHarness::new([says("Yes."), says("No title")]).await;
    assert_eq!(harness.turn("hello").await, TurnOutcome::Done);
    settle(&harness).await;
    assert_eq!(harness.model.requests().len(), 1);

    let harness = AgentHarness::with([says("Yes."), says("No title")], |settings| {
        settings.model_titles = false;
    })
    .await;
    turn(&harness, "hello").await;
    settle(&harness).await;
    assert_eq!(harness.model.requests().len(), 1);
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_a_title() {
    let harness = AgentHarness::new([says("Yes."), vec![ScriptStep::Hang]]).await;
    turn(&harness, "hello").await;
    asked(&harness, 2).await;
    let draining = harness.agent.drain(TEST_TIMEOUT);
    tokio::time::timeout(TEST_TIMEOUT / 2, draining)
        .await
        .unwrap();
    assert_eq!(title(&harness).await, "hello");
}
