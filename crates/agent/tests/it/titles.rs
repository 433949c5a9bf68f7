//! A chat is named after what it is about.

use std::sync::Arc;
use std::time::Duration;

use tenon_agent::{TurnModel, TurnRequest};
use tenon_domain::{EventBody, TitledBy, TurnOutcome};
use tenon_llm::scripted::ScriptStep;
use tokio::sync::Notify;

use crate::world::{PATIENCE, World, ada, outcome, until};

fn says(text: &str) -> Vec<ScriptStep> {
    vec![ScriptStep::text(text), ScriptStep::stop()]
}

/// A turn with a model that can think of titles.
async fn turn(world: &World, text: &str) {
    let mut watch = world.agent.feed().watch(&world.chat);
    let request = world.request(text);
    let model = TurnModel {
        makes_titles: true,
        ..request.model
    };
    let request = TurnRequest { model, ..request };
    world.agent.start(request).await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
}

async fn title(world: &World) -> String {
    world.store.chat(&ada(), &world.chat).await.unwrap().title
}

/// Waits until the agent is idle: a title is made in the task of its turn.
async fn settle(world: &World) {
    wait_until(|| world.agent.running_tasks() == 0).await;
}

/// Waits until the model has been asked so many times.
async fn asked(world: &World, times: usize) {
    wait_until(|| world.model.requests().len() >= times).await;
}

async fn wait_until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap();
}

#[tokio::test]
async fn a_real_model_names_a_chat_after_its_first_turn_and_never_again() {
    let world = World::new([says("Yes."), says("\"Trains to Tokyo\"\n"), says("No.")]).await;
    let mut watch = world.agent.feed().watch(&world.chat);
    turn(&world, "is there a train to Tokyo?").await;
    let named = |body: &EventBody| matches!(body, EventBody::ChatTitled { by, .. } if *by == TitledBy::Model);
    until(&mut watch, named).await;
    assert_eq!(title(&world).await, "Trains to Tokyo");
    let request = &world.model.requests()[1];
    assert!(request.tools.is_empty());
    assert!(format!("{:?}", request.messages).contains("is there a train"));

    turn(&world, "and back?").await;
    settle(&world).await;
    assert_eq!(world.model.requests().len(), 3);
}

#[tokio::test]
async fn nonsense_and_silence_keep_the_name_there_was() {
    let world = World::new([says("Yes."), says("\"…\"")]).await;
    turn(&world, "is there a train?").await;
    asked(&world, 2).await;
    settle(&world).await;
    assert_eq!(title(&world).await, "is there a train?");

    // The script is at its end: the model refuses.
    let world = World::new([says("Yes.")]).await;
    turn(&world, "is there a train?").await;
    asked(&world, 2).await;
    settle(&world).await;
    assert_eq!(title(&world).await, "is there a train?");
}

#[tokio::test]
async fn the_person_who_renamed_the_chat_meanwhile_wins() {
    let go = Arc::new(Notify::new());
    let thinking = vec![
        ScriptStep::WaitFor(go.clone()),
        ScriptStep::text("Trains"),
        ScriptStep::stop(),
    ];
    let world = World::new([says("Yes."), thinking]).await;
    turn(&world, "is there a train?").await;
    asked(&world, 2).await;
    let mine = EventBody::ChatTitled {
        title: "Mine".into(),
        by: TitledBy::Person,
    };
    world
        .agent
        .feed()
        .emit(&world.chat, vec![mine])
        .await
        .unwrap();
    go.notify_one();
    settle(&world).await;
    assert_eq!(title(&world).await, "Mine");
}

#[tokio::test]
async fn nobody_is_asked_for_a_title_where_it_is_not_wanted() {
    // The assistant that comes with Tenon is no language model.
    let world = World::new([says("Yes."), says("No title")]).await;
    assert_eq!(world.turn("hello").await, TurnOutcome::Done);
    settle(&world).await;
    assert_eq!(world.model.requests().len(), 1);

    let world = World::with([says("Yes."), says("No title")], |settings| {
        settings.model_titles = false;
    })
    .await;
    turn(&world, "hello").await;
    settle(&world).await;
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_a_title() {
    let world = World::new([says("Yes."), vec![ScriptStep::Hang]]).await;
    turn(&world, "hello").await;
    asked(&world, 2).await;
    let draining = world.agent.drain(PATIENCE);
    tokio::time::timeout(PATIENCE / 2, draining).await.unwrap();
    assert_eq!(title(&world).await, "hello");
}
