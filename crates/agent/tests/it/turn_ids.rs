//! A client chooses the id of its turn, so that sending twice is one turn.

use futures::future::join_all;
use tenon_agent::{Agent, Error, TurnRequest};
use tenon_domain::{ChatId, EventBody, TurnId, TurnOutcome, UserId};
use tenon_llm::scripted::ScriptStep;
use tenon_store::{Error as StoreError, fresh_id};

use crate::world::{World, ada, outcome};

fn answer() -> Vec<ScriptStep> {
    vec![ScriptStep::text("hello"), ScriptStep::stop()]
}

fn request(world: &World, id: &TurnId, text: &str) -> TurnRequest {
    TurnRequest {
        id: Some(id.clone()),
        ..world.request(text)
    }
}

async fn turns_begun(world: &World, chat: &ChatId) -> usize {
    let events = world.store.events(chat, 0, 10_000).await.unwrap();
    let begins = |body: &EventBody| matches!(body, EventBody::TurnStarted { .. });
    events.iter().filter(|event| begins(&event.body)).count()
}

#[tokio::test]
async fn a_message_sent_again_is_the_turn_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let world = World::in_file(&file, [answer()]).await;
    let id = TurnId(fresh_id());
    let mut watch = world.agent.feed().watch(&world.chat);
    for _ in 0..3 {
        let started = world.agent.start(request(&world, &id, "go")).await;
        assert_eq!(started.unwrap(), id);
    }
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    let again = world.agent.start(request(&world, &id, "go")).await;
    assert_eq!(again.unwrap(), id);

    // Another process knows it as well.
    let restarted = World::in_file(&file, []).await;
    let here = TurnRequest {
        chat: world.chat.clone(),
        ..request(&restarted, &id, "go")
    };
    assert_eq!(restarted.agent.start(here).await.unwrap(), id);
    assert_eq!(turns_begun(&world, &world.chat).await, 1);
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn an_answer_that_is_asked_for_anew_under_one_id_is_one_turn() {
    let world = World::new([answer(), answer()]).await;
    assert_eq!(world.turn("go").await, TurnOutcome::Done);
    let branches = world.store.branches(&world.chat).await.unwrap();
    let id = TurnId(fresh_id());
    let regenerate = || TurnRequest {
        text: None,
        replaces: branches.head().cloned(),
        ..request(&world, &id, "")
    };
    let mut watch = world.agent.feed().watch(&world.chat);
    assert_eq!(world.agent.start(regenerate()).await.unwrap(), id);
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    assert_eq!(world.agent.start(regenerate()).await.unwrap(), id);
    assert_eq!(turns_begun(&world, &world.chat).await, 2);
}

#[tokio::test]
async fn the_id_of_another_message_is_refused_and_changes_nothing() {
    let world = World::new([answer()]).await;
    let id = TurnId(fresh_id());
    let mut watch = world.agent.feed().watch(&world.chat);
    world.agent.start(request(&world, &id, "go")).await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);

    let bob = UserId::new("bob");
    let elsewhere = world.store.create_chat(&ada(), "").await.unwrap().id;
    let of_bob = world.store.create_chat(&bob, "").await.unwrap().id;
    let start = async |user: &UserId, chat: &ChatId, text: &str| {
        let request = TurnRequest {
            user: user.clone(),
            chat: chat.clone(),
            ..request(&world, &id, text)
        };
        world.agent.start(request).await.unwrap_err()
    };
    let taken = |error: Error| assert!(matches!(error, Error::TurnIdTaken), "{error:?}");
    taken(start(&ada(), &world.chat, "something else").await);
    taken(start(&ada(), &elsewhere, "go").await);
    taken(start(&bob, &of_bob, "go").await);
    let hidden = start(&bob, &world.chat, "go").await;
    assert!(
        matches!(hidden, Error::Store(StoreError::NotFound("chat"))),
        "{hidden:?}"
    );
    for chat in [&elsewhere, &of_bob] {
        assert_eq!(turns_begun(&world, chat).await, 0);
    }
    // A chat in which nothing could begin is not busy.
    let free = TurnRequest {
        chat: elsewhere.clone(),
        ..request(&world, &TurnId(fresh_id()), "go")
    };
    world.agent.start(free).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_requests_at_once_one_starts_a_turn_also_in_two_processes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let world = World::in_file(&file, [answer()]).await;
    let other = World::in_file(&file, [answer()]).await;
    let id = TurnId(fresh_id());
    let start = |agent: Agent| {
        let request = request(&world, &id, "go");
        tokio::spawn(async move { agent.start(request).await })
    };
    let agents = (0..16).map(|number| [&world, &other][number % 2].agent.clone());
    for started in join_all(agents.map(start)).await {
        assert_eq!(started.unwrap().unwrap(), id);
    }
    assert_eq!(turns_begun(&world, &world.chat).await, 1);
}
