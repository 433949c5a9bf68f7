//! Saying something else in the place of an earlier message.

use tenon_agent::{Error, TurnRequest};
use tenon_domain::{EventBody, Message, TurnId, TurnOutcome, UserId};
use tenon_llm::scripted::ScriptStep;

use crate::harness::{AgentHarness, ada, outcome};

fn answers(count: usize) -> Vec<Vec<ScriptStep>> {
    let answer = |number| {
        vec![
            ScriptStep::text(&format!("answer {number}")),
            ScriptStep::stop(),
        ]
    };
    (1..=count).map(answer).collect()
}

/// Says something beside a turn; None says the same again.
async fn instead(harness: &AgentHarness, replaced: &TurnId, text: Option<&str>) -> TurnId {
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let request = TurnRequest {
        text: text.map(str::to_owned),
        replaces: Some(replaced.clone()),
        ..harness.request("")
    };
    let turn = harness.agent.start(request).await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    turn
}

async fn say(harness: &AgentHarness, text: &str) -> TurnId {
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let turn = harness.start(text).await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    turn
}

/// What the model was told last, in words.
fn told(harness: &AgentHarness) -> String {
    let requests = harness.model.requests();
    let words = requests
        .last()
        .unwrap()
        .messages
        .iter()
        .map(|message| match message {
            Message::User { text, .. } => text.clone(),
            Message::Assistant { parts } => {
                parts.iter().filter_map(|part| part.as_text()).collect()
            }
            Message::Tools { .. } => "tools".into(),
        });
    words.collect::<Vec<_>>().join(" | ")
}

async fn shown(harness: &AgentHarness) -> String {
    let branches = harness.store.branches(&harness.chat).await.unwrap();
    let messages = harness
        .store
        .messages_of(&harness.chat, &branches.shown())
        .await
        .unwrap();
    let words: Vec<String> = messages.iter().map(|message| message.text()).collect();
    words.join(" | ")
}

#[tokio::test]
async fn a_model_is_told_the_branch_it_is_on_and_nothing_of_the_others() {
    let harness = AgentHarness::new(answers(7)).await;
    let first = say(&harness, "a").await;
    let second = say(&harness, "b").await;

    let edited = instead(&harness, &second, Some("c")).await;
    assert_eq!(told(&harness), "a | answer 1 | c");
    assert_eq!(shown(&harness).await, "a | answer 1 | c | answer 3");

    instead(&harness, &edited, None).await;
    assert_eq!(told(&harness), "a | answer 1 | c");
    assert_eq!(shown(&harness).await, "a | answer 1 | c | answer 4");

    // What is said next goes on from what is shown.
    say(&harness, "d").await;
    assert_eq!(told(&harness), "a | answer 1 | c | answer 4 | d");

    // The first message can be another one, too.
    instead(&harness, &first, Some("z")).await;
    assert_eq!(told(&harness), "z");

    // The old branches are all there.
    let ada = ada();
    harness
        .agent
        .choose_branch(&ada, &harness.chat, &second)
        .await
        .unwrap();
    assert_eq!(shown(&harness).await, "a | answer 1 | b | answer 2");
    harness
        .agent
        .choose_branch(&ada, &harness.chat, &first)
        .await
        .unwrap();
    let newest = "a | answer 1 | c | answer 4 | d | answer 5";
    assert_eq!(shown(&harness).await, newest);
    say(&harness, "e").await;
    assert_eq!(told(&harness), format!("{newest} | e"));
}

#[tokio::test]
async fn only_turns_of_this_chat_can_be_replaced_or_shown() {
    let harness = AgentHarness::new(answers(2)).await;
    let turn = say(&harness, "a").await;
    let elsewhere = harness.store.create_chat(&ada(), "").await.unwrap().id;
    let nothing = |error: Error| {
        assert!(
            matches!(error, Error::Store(tenon_store::Error::NotFound(_))),
            "{error:?}"
        );
    };
    for (chat, replaced) in [
        (&elsewhere, turn.clone()),
        (&harness.chat, TurnId::new("nothing")),
    ] {
        let request = TurnRequest {
            chat: chat.clone(),
            replaces: Some(replaced.clone()),
            ..harness.request("b")
        };
        nothing(harness.agent.start(request).await.unwrap_err());
        nothing(
            harness
                .agent
                .choose_branch(&ada(), chat, &replaced)
                .await
                .unwrap_err(),
        );
    }
    let bob = UserId::new("bob");
    nothing(
        harness
            .agent
            .choose_branch(&bob, &harness.chat, &turn)
            .await
            .unwrap_err(),
    );
    let again = TurnRequest {
        text: None,
        ..harness.request("")
    };
    assert!(matches!(
        harness.agent.start(again).await,
        Err(Error::Empty)
    ));
}

#[tokio::test]
async fn no_other_branch_is_shown_while_one_is_answered() {
    let harness = AgentHarness::new([
        vec![ScriptStep::text("answer 1"), ScriptStep::stop()],
        vec![ScriptStep::Hang],
    ])
    .await;
    let first = say(&harness, "a").await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let running = harness.start("b").await.unwrap();
    let chosen = harness
        .agent
        .choose_branch(&ada(), &harness.chat, &first)
        .await;
    assert!(matches!(chosen, Err(Error::Busy)), "{chosen:?}");
    harness.agent.cancel(&running);
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
    // What is shown already needs no event.
    harness
        .agent
        .choose_branch(&ada(), &harness.chat, &first)
        .await
        .unwrap();
    let events = harness.events().await;
    assert!(
        !events
            .iter()
            .any(|event| matches!(event.body, EventBody::BranchChosen { .. }))
    );
}
