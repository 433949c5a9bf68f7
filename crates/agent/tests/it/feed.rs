//! Persist first, then publish; nothing falls between the past and the present.

use std::time::Duration;

use tenon_agent::feed::{LiveUpdate, WatchEvent};
use tenon_domain::{DeltaKind, EventBody, MessageId, TitledBy};
use tenon_llm::scripted::ScriptStep;

use crate::world::{World, next, until};

#[tokio::test]
async fn what_is_published_can_be_read_from_the_store_already() {
    let world = World::new([vec![ScriptStep::text("hi"), ScriptStep::stop()]]).await;
    let mut watch = world.agent.feed().watch(&world.chat);
    world.start("go").await.unwrap();
    let mut expected = 1;
    loop {
        let LiveUpdate::Event(event) = next(&mut watch).await else {
            continue;
        };
        assert_eq!(event.seq, expected, "numbered without gaps");
        expected += 1;
        let stored = world
            .store
            .events(&world.chat, event.seq - 1, 1)
            .await
            .unwrap();
        assert_eq!(stored, [(*event).clone()]);
        if matches!(event.body, EventBody::TurnFinished { .. }) {
            break;
        }
    }
}

#[tokio::test]
async fn who_comes_late_gets_the_text_so_far() {
    let world = World::new([vec![
        ScriptStep::text("早上好 🙂, "),
        ScriptStep::text("Ada"),
        ScriptStep::Pause(Duration::from_millis(300)),
        ScriptStep::text("!"),
        ScriptStep::stop(),
    ]])
    .await;
    let mut early = world.agent.feed().watch(&world.chat);
    world.start("go").await.unwrap();
    loop {
        if let LiveUpdate::Delta(delta) = next(&mut early).await
            && delta.text == "Ada"
        {
            assert_eq!(delta.offset, "早上好 🙂, ".encode_utf16().count());
            break;
        }
    }
    let mut late = world.agent.feed().watch(&world.chat);
    let draft: Vec<(usize, &str)> = late
        .draft
        .iter()
        .map(|d| (d.offset, d.text.as_str()))
        .collect();
    assert_eq!(draft, [(0, "早上好 🙂, Ada")]);
    let LiveUpdate::Delta(delta) = next(&mut late).await else {
        panic!("the rest follows")
    };
    assert_eq!((delta.offset, delta.text.as_str()), (11, "!"));
}

#[tokio::test]
async fn a_chat_nobody_watches_costs_no_memory() {
    let world = World::new([vec![ScriptStep::text("hi"), ScriptStep::stop()]]).await;
    let feed = world.agent.feed();
    world.turn("go").await;
    assert_eq!(feed.open_channels(), 0);
    let watch = feed.watch(&world.chat);
    assert_eq!(feed.open_channels(), 1);
    drop(watch);
    assert_eq!(feed.open_channels(), 0);
}

#[tokio::test]
async fn who_is_too_slow_is_told_and_finds_the_rest_in_the_store() {
    let world = World::new([]).await;
    let mut slow = world.agent.feed().watch(&world.chat);
    for n in 0..1000 {
        let title = format!("title {n}");
        world
            .agent
            .feed()
            .emit(
                &world.chat,
                vec![EventBody::ChatTitled {
                    title,
                    by: TitledBy::Person,
                }],
            )
            .await
            .unwrap();
    }
    assert!(matches!(slow.next().await, WatchEvent::Behind));
    assert_eq!(world.events().await.len(), 1000);
}

#[tokio::test]
async fn many_chats_at_once_keep_their_own_order() {
    let world = World::new([]).await;
    let mut chats = Vec::new();
    for _ in 0..20 {
        chats.push(
            world
                .store
                .create_chat(&crate::world::ada(), "")
                .await
                .unwrap()
                .id,
        );
    }
    let emits = chats.iter().map(|chat| {
        let feed = world.agent.feed().clone();
        async move {
            for n in 0..50 {
                let title = format!("{n}");
                feed.emit(
                    chat,
                    vec![EventBody::ChatTitled {
                        title,
                        by: TitledBy::Person,
                    }],
                )
                .await
                .unwrap();
            }
        }
    });
    futures::future::join_all(emits).await;
    for chat in &chats {
        let events = world.store.events(chat, 0, 100).await.unwrap();
        let titles: Vec<String> = events.iter().map(|e| format!("{:?}", e.body)).collect();
        let expected: Vec<String> = (0..50)
            .map(|n| {
                format!(
                    "{:?}",
                    EventBody::ChatTitled {
                        title: format!("{n}"),
                        by: TitledBy::Person
                    }
                )
            })
            .collect();
        assert_eq!(titles, expected);
    }
}

#[tokio::test]
async fn a_chat_that_is_gone_fails_alone() {
    let world = World::new([]).await;
    let feed = world.agent.feed();
    let title = || {
        vec![EventBody::ChatTitled {
            title: "x".into(),
            by: TitledBy::Person,
        }]
    };
    let gone = tenon_domain::ChatId::new("gone");
    let (here, there) = tokio::join!(feed.emit(&world.chat, title()), feed.emit(&gone, title()));
    here.unwrap();
    assert!(there.is_err());
}

#[tokio::test]
async fn deltas_of_a_new_message_do_not_pile_on_the_old() {
    let world = World::new([]).await;
    let feed = world.agent.feed();
    let mut watch = feed.watch(&world.chat);
    feed.delta(
        &world.chat,
        &MessageId::new("a"),
        0,
        DeltaKind::Text,
        "old".into(),
    );
    feed.delta(
        &world.chat,
        &MessageId::new("b"),
        0,
        DeltaKind::Text,
        "new".into(),
    );
    let (LiveUpdate::Delta(_), LiveUpdate::Delta(second)) =
        (next(&mut watch).await, next(&mut watch).await)
    else {
        panic!("two deltas");
    };
    assert_eq!(second.offset, 0);
    assert_eq!(feed.watch(&world.chat).draft.len(), 1);
    feed.emit(
        &world.chat,
        vec![EventBody::ChatTitled {
            title: "x".into(),
            by: TitledBy::Person,
        }],
    )
    .await
    .unwrap();
    until(&mut watch, |body| {
        matches!(body, EventBody::ChatTitled { .. })
    })
    .await;
}
