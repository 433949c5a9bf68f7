//! Saying something else in the place of an earlier message.

use tenon_agent::{Error, TurnRequest};
use tenon_domain::{EventBody, Message, TurnId, TurnOutcome, UserId};
use tenon_llm::scripted::ScriptStep;

use crate::world::{World, ada, outcome};

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
async fn instead(world: &World, replaced: &TurnId, text: Option<&str>) -> TurnId {
    let mut watch = world.agent.feed().watch(&world.chat);
    let request = TurnRequest {
        text: text.map(str::to_owned),
        replaces: Some(replaced.clone()),
        ..world.request("")
    };
    let turn = world.agent.start(request).await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    turn
}

async fn say(world: &World, text: &str) -> TurnId {
    let mut watch = world.agent.feed().watch(&world.chat);
    let turn = world.start(text).await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    turn
}

/// What the model was told last, in words.
fn told(world: &World) -> String {
    let requests = world.model.requests();
    let words = requests
        .last()
        .unwrap()
        .messages
        .iter()
        .map(|message| match message {
            Message::User { text } => text.clone(),
            Message::Assistant { parts } => {
                parts.iter().filter_map(|part| part.as_text()).collect()
            }
            Message::Tools { .. } => "tools".into(),
        });
    words.collect::<Vec<_>>().join(" | ")
}

async fn shown(world: &World) -> String {
    let branches = world.store.branches(&world.chat).await.unwrap();
    let messages = world
        .store
        .messages_of(&world.chat, &branches.shown())
        .await
        .unwrap();
    let words: Vec<String> = messages.iter().map(|message| message.text()).collect();
    words.join(" | ")
}

#[tokio::test]
async fn a_model_is_told_the_branch_it_is_on_and_nothing_of_the_others() {
    let world = World::new(answers(7)).await;
    let first = say(&world, "a").await;
    let second = say(&world, "b").await;

    let edited = instead(&world, &second, Some("c")).await;
    assert_eq!(told(&world), "a | answer 1 | c");
    assert_eq!(shown(&world).await, "a | answer 1 | c | answer 3");

    instead(&world, &edited, None).await;
    assert_eq!(told(&world), "a | answer 1 | c");
    assert_eq!(shown(&world).await, "a | answer 1 | c | answer 4");

    // What is said next goes on from what is shown.
    say(&world, "d").await;
    assert_eq!(told(&world), "a | answer 1 | c | answer 4 | d");

    // The first message can be another one, too.
    instead(&world, &first, Some("z")).await;
    assert_eq!(told(&world), "z");

    // The old branches are all there.
    let ada = ada();
    world
        .agent
        .choose_branch(&ada, &world.chat, &second)
        .await
        .unwrap();
    assert_eq!(shown(&world).await, "a | answer 1 | b | answer 2");
    world
        .agent
        .choose_branch(&ada, &world.chat, &first)
        .await
        .unwrap();
    let newest = "a | answer 1 | c | answer 4 | d | answer 5";
    assert_eq!(shown(&world).await, newest);
    say(&world, "e").await;
    assert_eq!(told(&world), format!("{newest} | e"));
}

#[tokio::test]
async fn only_turns_of_this_chat_can_be_replaced_or_shown() {
    let world = World::new(answers(2)).await;
    let turn = say(&world, "a").await;
    let elsewhere = world.store.create_chat(&ada(), "").await.unwrap().id;
    let nothing = |error: Error| {
        assert!(
            matches!(error, Error::Store(tenon_store::Error::NotFound(_))),
            "{error:?}"
        );
    };
    for (chat, replaced) in [
        (&elsewhere, turn.clone()),
        (&world.chat, TurnId::new("nothing")),
    ] {
        let request = TurnRequest {
            chat: chat.clone(),
            replaces: Some(replaced.clone()),
            ..world.request("b")
        };
        nothing(world.agent.start(request).await.unwrap_err());
        nothing(
            world
                .agent
                .choose_branch(&ada(), chat, &replaced)
                .await
                .unwrap_err(),
        );
    }
    let bob = UserId::new("bob");
    nothing(
        world
            .agent
            .choose_branch(&bob, &world.chat, &turn)
            .await
            .unwrap_err(),
    );
    let again = TurnRequest {
        text: None,
        ..world.request("")
    };
    assert!(matches!(world.agent.start(again).await, Err(Error::Empty)));
}

#[tokio::test]
async fn no_other_branch_is_shown_while_one_is_answered() {
    let world = World::new([
        vec![ScriptStep::text("answer 1"), ScriptStep::stop()],
        vec![ScriptStep::Hang],
    ])
    .await;
    let first = say(&world, "a").await;
    let mut watch = world.agent.feed().watch(&world.chat);
    let running = world.start("b").await.unwrap();
    let chosen = world.agent.choose_branch(&ada(), &world.chat, &first).await;
    assert!(matches!(chosen, Err(Error::Busy)), "{chosen:?}");
    world.agent.cancel(&running);
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
    // What is shown already needs no event.
    world
        .agent
        .choose_branch(&ada(), &world.chat, &first)
        .await
        .unwrap();
    let events = world.events().await;
    assert!(
        !events
            .iter()
            .any(|event| matches!(event.body, EventBody::BranchChosen { .. }))
    );
}
