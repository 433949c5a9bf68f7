//! A database that does not answer: what it may have stored runs once, or ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tenon_agent::{Error, TurnRequest};
use tenon_domain::{EventBody, TurnId, TurnOutcome};
use tenon_llm::scripted::ScriptStep;
use tenon_store::{Error as StoreError, Store, fresh_id};
use tokio::sync::Notify;

use crate::harness::{AgentHarness, TEST_TIMEOUT, ada, outcome, until};
use crate::postgres::Postgres;
use crate::tcp_proxy::TcpProxy;

/// After so long others may take turns over.
const LEASE_TIME: Duration = Duration::from_secs(15);

#[tokio::test]
async fn a_message_whose_commit_is_not_answered_starts_one_turn_and_it_runs() {
    let postgres = Postgres::start();
    let proxy = TcpProxy::before(&postgres.url()).await;
    let answer = vec![ScriptStep::text("hello"), ScriptStep::stop()];
    let harness = AgentHarness::at(&proxy.url, [answer]).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let id = TurnId(fresh_id());
    let request = || TurnRequest {
        id: Some(id.clone()),
        ..harness.request("go")
    };
    proxy.swallow_next_commit();
    assert_eq!(harness.agent.start(request()).await.unwrap(), id);
    assert!(proxy.has_swallowed());
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    assert_eq!(harness.agent.start(request()).await.unwrap(), id);
    let begins = |body: &EventBody| matches!(body, EventBody::TurnStarted { .. });
    let events = harness.events().await;
    let begun = events.iter().filter(|event| begins(&event.body));
    assert_eq!(begun.count(), 1);
    assert_eq!(harness.model.requests().len(), 1);
}

#[tokio::test]
async fn a_turn_that_was_taken_over_without_an_answer_is_ended() {
    let postgres = Postgres::start();
    let proxy = TcpProxy::before(&postgres.url()).await;
    let former = AgentHarness::at(&postgres.url(), [vec![ScriptStep::Hang]]).await;
    former.start("go").await.unwrap();
    let heir = AgentHarness::at(&proxy.url, []).await;
    former.store.release().await.unwrap();
    proxy.swallow_next_commit();
    let unanswered = heir.agent.recover().await;
    assert!(
        matches!(unanswered, Err(StoreError::NoAnswer(_))),
        "{unanswered:?}"
    );
    assert!(heir.agent.has_adopted_turns());
    assert_eq!(heir.agent.recover().await.unwrap(), 1);
    assert!(!heir.agent.has_adopted_turns());
    let events = heir.store.events(&former.chat, 0, 100).await.unwrap();
    let last = events.last().map(|event| &event.body);
    assert!(
        matches!(last, Some(EventBody::TurnFinished { .. })),
        "{last:?}"
    );
}

#[tokio::test]
async fn a_server_whose_network_falls_silent_stops_its_answers_and_gives_new_ones_later() {
    let postgres = Postgres::start();
    let proxy = TcpProxy::before(&postgres.url()).await;
    let never = Arc::new(Notify::new());
    let harness = AgentHarness::at(
        &proxy.url,
        [
            vec![ScriptStep::WaitFor(never.clone())],
            vec![ScriptStep::text("hello"), ScriptStep::stop()],
        ],
    )
    .await;
    let other = Store::open(&postgres.url()).await.unwrap();
    let chat = other.create_chat(&ada(), "").await.unwrap().id;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    until(&mut watch, |body| {
        matches!(body, EventBody::MessageStarted { .. })
    })
    .await;
    while harness.model.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let silent_since = Instant::now();
    proxy.silence();
    while Arc::strong_count(&never) > 1 {
        assert!(silent_since.elapsed() < LEASE_TIME, "it goes on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    proxy.end_silence();
    let back_since = Instant::now();
    let mut watch = harness.agent.feed().watch(&chat);
    loop {
        let request = TurnRequest {
            chat: chat.clone(),
            ..harness.request("again")
        };
        match harness.agent.start(request).await {
            Ok(_) => break,
            Err(Error::Store(error)) => {
                assert!(back_since.elapsed() < 2 * TEST_TIMEOUT, "{error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
}
