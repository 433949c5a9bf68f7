//! A process that goes away leaves chats that can go on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::json;
use tenon_agent::TurnFault;
use tenon_agent::TurnRequest;
use tenon_domain::{CallStatus, ErrorDetail, EventBody, Message, ToolError, TurnOutcome};
use tenon_llm::scripted::ScriptStep;
use tenon_llm::{ModelRequest, ModelStream, Provider};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::harness::{AgentHarness, TEST_TIMEOUT};

/// Dropping a runtime drops its tasks where they stand, as a crash does.
#[test]
fn after_a_crash_text_is_kept_calls_are_lost_and_the_chat_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");

    let first = Runtime::new().unwrap();
    let (chat, turn) = first.block_on(async {
        let harness = AgentHarness::in_file(
            &file,
            [vec![
                ScriptStep::text("On it."),
                ScriptStep::call(0, "mcp_bench_hang", &json!({})),
                ScriptStep::stop(),
            ]],
        )
        .await;
        let turn = harness.start("go").await.unwrap();
        tokio::time::timeout(TEST_TIMEOUT, harness.bench.hanging.notified())
            .await
            .unwrap();
        (harness.chat, turn)
    });
    first.shutdown_timeout(Duration::from_millis(1));

    Runtime::new().unwrap().block_on(async {
        let mut harness = AgentHarness::in_file(
            &file,
            [vec![ScriptStep::text("Again."), ScriptStep::stop()]],
        )
        .await;
        harness.chat = chat;
        assert_eq!(harness.agent.recover().await.unwrap(), 1);
        assert_eq!(harness.agent.recover().await.unwrap(), 0);

        let last = harness.events().await.pop().unwrap().body;
        let tenon_domain::EventBody::TurnFinished {
            turn_id, outcome, ..
        } = last
        else {
            panic!("{last:?}")
        };
        assert_eq!(turn_id, turn);
        assert_eq!(
            outcome,
            TurnOutcome::Interrupted(TurnFault::Restarted.into())
        );
        assert_eq!(
            harness.store.calls(&harness.chat).await.unwrap()[0].status,
            CallStatus::Lost
        );

        assert_eq!(harness.turn("go on").await, TurnOutcome::Done);
        let told = &harness.model.requests()[0].messages;
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
        let go_on = Arc::new(Notify::new());
        let script = vec![
            ScriptStep::text("Slow"),
            ScriptStep::WaitFor(go_on.clone()),
            ScriptStep::text(" words"),
            ScriptStep::Hang,
        ];
        let harness = AgentHarness::in_file(&file, [script]).await;
        harness.start("go").await.unwrap();
        kept(&harness, "Slow").await;
        go_on.notify_one();
        kept(&harness, "Slow words").await;
        harness.chat
    });
    first.shutdown_timeout(Duration::from_millis(1));

    Runtime::new().unwrap().block_on(async {
        let mut harness = AgentHarness::in_file(&file, []).await;
        harness.chat = chat;
        harness.agent.recover().await.unwrap();
        assert_eq!(
            harness.store.messages(&harness.chat).await.unwrap()[1].text(),
            "Slow words"
        );
    });
}

/// No event says that a checkpoint was made: looks until it is there. A loaded
/// machine may be late, but not by several checkpoints.
async fn kept(harness: &AgentHarness, text: &str) {
    let asked = Instant::now();
    loop {
        let messages = harness.store.messages(&harness.chat).await.unwrap();
        if messages
            .get(1)
            .is_some_and(|message| message.text() == text)
        {
            return;
        }
        assert!(
            asked.elapsed() < Duration::from_secs(4),
            "{text:?} is not kept: {messages:?}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_mistake_of_our_own_leaves_nothing_open() {
    let harness = AgentHarness::new([]).await;
    let request = TurnRequest {
        model: crate::harness::model(Arc::new(Broken)),
        ..harness.request("go")
    };
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.agent.start(request).await.unwrap();
    let TurnOutcome::Failed(ErrorDetail { message, .. }) =
        crate::harness::outcome(&mut watch).await
    else {
        panic!("it did not fail");
    };
    assert!(
        message.starts_with("Tenon had an internal error"),
        "{message}"
    );
    let bodies: Vec<EventBody> = harness
        .events()
        .await
        .into_iter()
        .map(|event| event.body)
        .collect();
    assert!(
        bodies
            .iter()
            .any(|body| matches!(body, EventBody::MessageFinished { .. })),
        "{bodies:?}"
    );
    assert_eq!(harness.store.open_turns().await.unwrap(), []);
}

/// A model whose adapter has a bug.
struct Broken;

#[async_trait]
impl Provider for Broken {
    fn name(&self) -> &str {
        "Broken"
    }

    async fn stream(&self, _request: ModelRequest) -> Result<ModelStream, tenon_llm::Error> {
        panic!("on purpose")
    }
}
