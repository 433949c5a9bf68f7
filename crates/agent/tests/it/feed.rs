//! Persist first, then publish; nothing falls between the past and the present.

use std::time::Duration;

use tenon_agent::feed::{LiveUpdate, WatchEvent};
use tenon_domain::{DeltaKind, EventBody, MessageId, TitledBy};
use tenon_llm::scripted::ScriptStep;

use crate::harness::{AgentHarness, TEST_TIMEOUT, next, until};

#[tokio::test]
async fn what_is_published_can_be_read_from_the_store_already() {
    let harness = AgentHarness::new([vec![ScriptStep::text("hi"), ScriptStep::stop()]]).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let mut expected = 1;
    loop {
        let LiveUpdate::Event(event) = next(&mut watch).await else {
            continue;
        };
        assert_eq!(event.seq, expected, "numbered without gaps");
        expected += 1;
        let stored = harness
            .store
            .events(&harness.chat, event.seq - 1, 1)
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
    let harness = AgentHarness::new([vec![
        ScriptStep::text("早上好 🙂, "),
        ScriptStep::text("Ada"),
        ScriptStep::Pause(Duration::from_millis(300)),
        ScriptStep::text("!"),
        ScriptStep::stop(),
    ]])
    .await;
    let mut early = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    loop {
        if let LiveUpdate::Delta(delta) = next(&mut early).await
            && delta.text == "Ada"
        {
            assert_eq!(delta.offset, "早上好 🙂, ".encode_utf16().count());
            break;
        }
    }
    let mut late = harness.agent.feed().watch(&harness.chat);
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
    let harness = AgentHarness::new([vec![ScriptStep::text("hi"), ScriptStep::stop()]]).await;
    let feed = harness.agent.feed();
    harness.turn("go").await;
    assert_eq!(feed.open_channels(), 0);
    let watch = feed.watch(&harness.chat);
    assert_eq!(feed.open_channels(), 1);
    drop(watch);
    assert_eq!(feed.open_channels(), 0);
}

#[tokio::test]
async fn who_is_too_slow_is_told_and_finds_the_rest_in_the_store() {
    let harness = AgentHarness::new([]).await;
    let mut slow = harness.agent.feed().watch(&harness.chat);
    for n in 0..1000 {
        let title = format!("title {n}");
        harness
            .agent
            .feed()
            .emit(
                &harness.chat,
                vec![EventBody::ChatTitled {
                    title,
                    by: TitledBy::Person,
                }],
            )
            .await
            .unwrap();
    }
    assert!(matches!(slow.next().await, WatchEvent::Behind));
    assert_eq!(harness.events().await.len(), 1000);
}

#[tokio::test]
async fn many_chats_at_once_keep_their_own_order() {
    let harness = AgentHarness::new([]).await;
    let mut chats = Vec::new();
    for _ in 0..20 {
        chats.push(
            harness
                .store
                .create_chat(&crate::harness::ada(), "")
                .await
                .unwrap()
                .id,
        );
    }
    let emits = chats.iter().map(|chat| {
        let feed = harness.agent.feed().clone();
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
        let events = harness.store.events(chat, 0, 100).await.unwrap();
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
    let harness = AgentHarness::new([]).await;
    let feed = harness.agent.feed();
    let title = || {
        vec![EventBody::ChatTitled {
            title: "x".into(),
            by: TitledBy::Person,
        }]
    };
    let gone = tenon_domain::ChatId::new("gone");
    let (here, there) = tokio::join!(feed.emit(&harness.chat, title()), feed.emit(&gone, title()));
    here.unwrap();
    assert!(there.is_err());
}

#[tokio::test]
async fn deltas_of_a_new_message_do_not_pile_on_the_old() {
    let harness = AgentHarness::new([]).await;
    let feed = harness.agent.feed();
    let mut watch = feed.watch(&harness.chat);
    feed.delta(
        &harness.chat,
        &MessageId::new("a"),
        0,
        DeltaKind::Text,
        "old".into(),
    );
    feed.delta(
        &harness.chat,
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
    assert_eq!(feed.watch(&harness.chat).draft.len(), 1);
    feed.emit(
        &harness.chat,
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

#[tokio::test]
async fn who_watches_a_chat_is_woken_by_what_another_process_writes_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let ours = AgentHarness::in_file(&file, []).await;
    let theirs = AgentHarness::in_file(&file, []).await;
    let mut watch = ours.agent.feed().watch(&ours.chat);
    let title = EventBody::ChatTitled {
        title: "x".into(),
        by: TitledBy::Person,
    };
    let feed = theirs.agent.feed();
    feed.emit(&ours.chat, vec![title]).await.unwrap();
    let woken = tokio::time::timeout(TEST_TIMEOUT, watch.next()).await;
    assert!(matches!(woken, Ok(WatchEvent::Behind)), "{woken:?}");
    assert_eq!(ours.events().await.len(), 1);
}
