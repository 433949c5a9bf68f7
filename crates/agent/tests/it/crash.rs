//! A process that goes away leaves chats that can go on.

use std::time::{Duration, Instant};

use serde_json::json;
use tenon_domain::{CallStatus, Message, ToolError, TurnOutcome};
use tenon_llm::scripted::Line;
use tokio::runtime::Runtime;

use crate::world::{PATIENCE, World};

/// Dropping a runtime drops its tasks where they stand, as a crash does.
#[test]
fn after_a_crash_text_is_kept_calls_are_lost_and_the_chat_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");

    let first = Runtime::new().unwrap();
    let (chat, turn) = first.block_on(async {
        let world = World::in_file(
            &file,
            [vec![
                Line::text("On it."),
                Line::call(0, "mcp_bench_hang", &json!({})),
                Line::stop(),
            ]],
        )
        .await;
        let turn = world.start("go").await.unwrap();
        tokio::time::timeout(PATIENCE, world.bench.hanging.notified())
            .await
            .unwrap();
        (world.chat, turn)
    });
    first.shutdown_timeout(Duration::from_millis(1));

    Runtime::new().unwrap().block_on(async {
        let mut world = World::in_file(&file, [vec![Line::text("Again."), Line::stop()]]).await;
        world.chat = chat;
        assert_eq!(world.agent.recover().await.unwrap(), 1);
        assert_eq!(world.agent.recover().await.unwrap(), 0);

        let last = world.events().await.pop().unwrap().body;
        let tenon_domain::EventBody::TurnFinished {
            turn_id, outcome, ..
        } = last
        else {
            panic!("{last:?}")
        };
        assert_eq!(turn_id, turn);
        assert_eq!(
            outcome,
            TurnOutcome::Interrupted {
                message: "Tenon was restarted during this answer.".into()
            }
        );
        assert_eq!(
            world.store.calls(&world.chat).await.unwrap()[0].status,
            CallStatus::Lost
        );

        assert_eq!(world.turn("go on").await, TurnOutcome::Done);
        let told = &world.model.requests()[0].messages;
        let Message::Tools { answers } = &told[2] else {
            panic!("{told:?}")
        };
        assert_eq!(answers[0].result, Err(ToolError::lost()));
    });
}

#[test]
fn streamed_text_is_kept_at_least_once_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");

    let first = Runtime::new().unwrap();
    let chat = first.block_on(async {
        let world = World::in_file(&file, [vec![Line::text("Slow words"), Line::Hang]]).await;
        world.start("go").await.unwrap();
        // No event says that a checkpoint was made: look until it is there.
        let asked = Instant::now();
        let kept = || async {
            let messages = world.store.messages(&world.chat).await.unwrap();
            messages
                .get(1)
                .is_some_and(|message| message.text() == "Slow words")
        };
        while !kept().await {
            assert!(asked.elapsed() < PATIENCE, "nothing was kept");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        world.chat
    });
    first.shutdown_timeout(Duration::from_millis(1));

    Runtime::new().unwrap().block_on(async {
        let mut world = World::in_file(&file, []).await;
        world.chat = chat;
        world.agent.recover().await.unwrap();
        assert_eq!(
            world.store.messages(&world.chat).await.unwrap()[1].text(),
            "Slow words"
        );
    });
}
