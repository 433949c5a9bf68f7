//! A client chooses the id of its turn, so that sending twice is one turn.

use futures::future::join_all;
use tenon_agent::{Agent, Error, TurnRequest};
use tenon_domain::{ChatId, EventBody, TurnId, TurnOutcome, UserId};
use tenon_llm::scripted::ScriptStep;
use tenon_store::{Error as StoreError, fresh_id};

use crate::harness::{AgentHarness, ada, outcome};

fn answer() -> Vec<ScriptStep> {
    vec![ScriptStep::text("hello"), ScriptStep::stop()]
}

fn request(harness: &AgentHarness, id: &TurnId, text: &str) -> TurnRequest {
    TurnRequest {
        id: Some(id.clone()),
        ..harness.request(text)
    }
}

async fn turns_begun(harness: &AgentHarness, chat: &ChatId) -> usize {
    let events = harness.store.events(chat, 0, 10_000).await.unwrap();
    let begins = |body: &EventBody| matches!(body, EventBody::TurnStarted { .. });
    events.iter().filter(|event| begins(&event.body)).count()
}

#[tokio::test]
async fn a_message_sent_again_is_the_turn_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let harness = AgentHarness::in_file(&file, [answer()]).await;
    let id = TurnId(fresh_id());
    let mut watch = harness.agent.feed().watch(&harness.chat);
    for _ in 0..3 {
        let started = harness.agent.start(request(&harness, &id, "go")).await;
        assert_eq!(started.unwrap(), id);
    }
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    let again = harness.agent.start(request(&harness, &id, "go")).await;
    assert_eq!(again.unwrap(), id);

    // Another process knows it as well.
    let restarted = AgentHarness::in_file(&file, []).await;
    let here = TurnRequest {
        chat: harness.chat.clone(),
        ..request(&restarted, &id, "go")
    };
    assert_eq!(restarted.agent.start(here).await.unwrap(), id);
    assert_eq!(turns_begun(&harness, &harness.chat).await, 1);
    assert_eq!(harness.model.requests().len(), 1);
}

#[tokio::test]
async fn an_answer_that_is_asked_for_anew_under_one_id_is_one_turn() {
    let harness = AgentHarness::new([answer(), answer()]).await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    let branches = harness.store.branches(&harness.chat).await.unwrap();
    let id = TurnId(fresh_id());
    let regenerate = || TurnRequest {
        text: None,
        replaces: branches.head().cloned(),
        ..request(&harness, &id, "")
    };
    let mut watch = harness.agent.feed().watch(&harness.chat);
    assert_eq!(harness.agent.start(regenerate()).await.unwrap(), id);
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    assert_eq!(harness.agent.start(regenerate()).await.unwrap(), id);
    assert_eq!(turns_begun(&harness, &harness.chat).await, 2);
}

#[tokio::test]
async fn the_id_of_another_message_is_refused_and_changes_nothing() {
    let harness = AgentHarness::new([answer()]).await;
    let id = TurnId(fresh_id());
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness
        .agent
        .start(request(&harness, &id, "go"))
        .await
        .unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);

    let bob = UserId::new("bob");
    let elsewhere = harness.store.create_chat(&ada(), "").await.unwrap().id;
    let of_bob = harness.store.create_chat(&bob, "").await.unwrap().id;
    let start = async |user: &UserId, chat: &ChatId, text: &str| {
        let request = TurnRequest {
            user: user.clone(),
            chat: chat.clone(),
            ..request(&harness, &id, text)
        };
        harness.agent.start(request).await.unwrap_err()
    };
    let taken = |error: Error| assert!(matches!(error, Error::TurnIdTaken), "{error:?}");
    taken(start(&ada(), &harness.chat, "something else").await);
    taken(start(&ada(), &elsewhere, "go").await);
    taken(start(&bob, &of_bob, "go").await);
    let hidden = start(&bob, &harness.chat, "go").await;
    assert!(
        matches!(hidden, Error::Store(StoreError::NotFound("chat"))),
        "{hidden:?}"
    );
    for chat in [&elsewhere, &of_bob] {
        assert_eq!(turns_begun(&harness, chat).await, 0);
    }
    // A chat in which nothing could begin is not busy.
    let free = TurnRequest {
        chat: elsewhere.clone(),
        ..request(&harness, &TurnId(fresh_id()), "go")
    };
    harness.agent.start(free).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_requests_at_once_one_starts_a_turn_also_in_two_processes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let harness = AgentHarness::in_file(&file, [answer()]).await;
    let other = AgentHarness::in_file(&file, [answer()]).await;
    let id = TurnId(fresh_id());
    let start = |agent: Agent| {
        let request = request(&harness, &id, "go");
        tokio::spawn(async move { agent.start(request).await })
    };
    let agents = (0..16).map(|number| [&harness, &other][number % 2].agent.clone());
    for started in join_all(agents.map(start)).await {
        assert_eq!(started.unwrap().unwrap(), id);
    }
    assert_eq!(turns_begun(&harness, &harness.chat).await, 1);
}
