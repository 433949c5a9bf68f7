//! A question outlives the process that asked it.

use std::path::Path;
use std::time::{Duration, Instant};

use tenon_agent::TurnProfile;
use tenon_domain::{
    CallId, CallStatus, ChatId, ErrorDetail, ErrorKind, EventBody, Message, ToolError, ToolOutput,
    TurnId, TurnOutcome, Verdict,
};
use tenon_llm::scripted::ScriptStep;
use tokio::runtime::Runtime;

use crate::asking::{asked, calling};
use crate::harness::{AgentHarness, TEST_TIMEOUT, ada, model, outcome, until};

const ASK: &str = "mcp_bench_ask";

/// What the first process left behind.
struct Left {
    chat: ChatId,
    turn: TurnId,
    call: CallId,
}

enum Going {
    /// Tasks are dropped where they stand, as a crash does.
    Crash,
    /// In order.
    Drain,
}

/// A process that asks about one call, while another has ended and a third
/// hangs, and then goes.
fn first_life(file: &Path, going: Going) -> Left {
    let runtime = Runtime::new().unwrap();
    let step: &[(&str, &str)] = match going {
        Going::Crash => &[("mcp_bench_echo", "1"), (ASK, "2"), ("mcp_bench_hang", "3")],
        Going::Drain => &[("mcp_bench_echo", "1"), (ASK, "2")],
    };
    let left = runtime.block_on(async {
        let harness = AgentHarness::in_file(file, calling(&[step])).await;
        let mut watch = harness.agent.feed().watch(&harness.chat);
        let turn = harness.start("go").await.unwrap();
        let (mut call, mut done) = (None, false);
        while call.is_none() || !done {
            match until(&mut watch, |_| true).await {
                EventBody::CallAsked { call_id } => call = Some(call_id),
                EventBody::CallFinished { .. } => done = true,
                _ => {}
            }
        }
        match going {
            Going::Crash => tokio::time::timeout(TEST_TIMEOUT, harness.bench.hanging.notified())
                .await
                .unwrap(),
            Going::Drain => {
                let started = Instant::now();
                harness.agent.drain(TEST_TIMEOUT).await;
                assert!(
                    started.elapsed() < TEST_TIMEOUT / 2,
                    "a question is not waited for"
                );
                assert_eq!(harness.agent.running(&harness.chat), None);
                assert_eq!(harness.store.open_turns().await.unwrap().len(), 1);
            }
        }
        let chat = harness.chat.clone();
        let call = call.unwrap();
        Left { chat, turn, call }
    });
    runtime.shutdown_timeout(Duration::from_millis(1));
    left
}

/// The next process, before it has gone on with anything.
async fn second_life(file: &Path, left: &Left) -> AgentHarness {
    let answer = vec![ScriptStep::text("Fine."), ScriptStep::stop()];
    let mut harness = AgentHarness::in_file(file, [answer]).await;
    harness.chat = left.chat.clone();
    assert_eq!(harness.agent.recover().await.unwrap(), 0);
    harness
}

async fn resume(harness: &AgentHarness, left: &Left) {
    let paused = harness.agent.take_over().await.unwrap();
    let [paused] = &paused[..] else {
        panic!("{paused:?}")
    };
    assert_eq!(paused.id, left.turn);
    assert_eq!(paused.user, ada());
    let model = model(harness.model.clone());
    harness
        .agent
        .resume(paused.clone(), model, TurnProfile::default())
        .unwrap();
    assert_eq!(harness.agent.running(&left.chat), Some(left.turn.clone()));
    assert!(harness.agent.take_over().await.unwrap().is_empty());
}

#[test]
fn after_a_crash_a_question_is_still_there_and_the_turn_goes_on_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let left = first_life(&file, Going::Crash);
    Runtime::new().unwrap().block_on(async {
        let harness = second_life(&file, &left).await;
        let mut watch = harness.agent.feed().watch(&harness.chat);
        resume(&harness, &left).await;
        until(&mut watch, |body| {
            matches!(body, EventBody::CallFinished { status, .. } if *status == CallStatus::Lost)
        })
        .await;
        harness
            .agent
            .answer(&ada(), &left.call, Verdict::Once)
            .await
            .unwrap();
        assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);

        let told = &harness.model.requests()[0].messages;
        let Some(Message::Tools { answers }) = told.last() else {
            panic!("{told:?}")
        };
        let results: Vec<_> = answers.iter().map(|answer| answer.result.clone()).collect();
        assert_eq!(
            results,
            [
                Ok(ToolOutput::text("1")),
                Ok(ToolOutput::text("2")),
                Err(ToolError::lost())
            ]
        );
        assert_eq!(harness.store.open_turns().await.unwrap(), []);
    });
}

#[test]
fn a_shutdown_does_not_wait_for_a_person_and_an_answer_given_meanwhile_counts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let left = first_life(&file, Going::Drain);
    Runtime::new().unwrap().block_on(async {
        let harness = second_life(&file, &left).await;
        let mut watch = harness.agent.feed().watch(&harness.chat);
        harness
            .agent
            .answer(&ada(), &left.call, Verdict::Once)
            .await
            .unwrap();
        resume(&harness, &left).await;
        assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
        let calls = harness.store.calls(&left.chat).await.unwrap();
        let ended: Vec<_> = calls.iter().map(|call| call.status).collect();
        assert_eq!(ended, [CallStatus::Done, CallStatus::Done]);
    });
}

#[tokio::test]
async fn what_runs_beside_a_question_is_stopped_in_the_end_and_the_question_stays() {
    let step = [(ASK, "1"), ("mcp_bench_hang", "2")];
    let harness = AgentHarness::new(calling(&[&step])).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    asked(&mut watch, 1).await;
    tokio::time::timeout(TEST_TIMEOUT, harness.bench.hanging.notified())
        .await
        .unwrap();
    harness.agent.drain(Duration::from_millis(50)).await;
    assert_eq!(harness.store.open_turns().await.unwrap().len(), 1);
    let calls = harness.store.calls(&harness.chat).await.unwrap();
    assert!(calls[0].asked, "{calls:?}");
    assert_eq!(calls[1].status, CallStatus::Cancelled);
}

#[test]
fn a_turn_that_was_parked_can_be_stopped_and_parked_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let left = first_life(&file, Going::Drain);
    Runtime::new().unwrap().block_on(async {
        let harness = second_life(&file, &left).await;
        resume(&harness, &left).await;
        harness.agent.drain(TEST_TIMEOUT).await;
        assert_eq!(harness.store.open_turns().await.unwrap().len(), 1);
    });
    Runtime::new().unwrap().block_on(async {
        let harness = second_life(&file, &left).await;
        let mut watch = harness.agent.feed().watch(&harness.chat);
        resume(&harness, &left).await;
        assert!(harness.agent.cancel(&left.turn));
        assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
        let calls = harness.store.calls(&left.chat).await.unwrap();
        assert_eq!(calls[1].status, CallStatus::Cancelled);
    });
}

#[test]
fn a_turn_whose_model_is_gone_ends_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let left = first_life(&file, Going::Drain);
    Runtime::new().unwrap().block_on(async {
        let harness = second_life(&file, &left).await;
        let paused = harness.agent.take_over().await.unwrap().remove(0);
        let why = ErrorDetail::other("It is gone.");
        harness.agent.give_up(&paused, why).await.unwrap();
        let calls = harness.store.calls(&left.chat).await.unwrap();
        assert_eq!(calls[1].status, CallStatus::Cancelled);
        assert_eq!(
            calls[1].error.as_ref().unwrap().kind,
            ErrorKind::Cancelled
        );
        let last = harness.events().await.pop().unwrap().body;
        assert!(
            matches!(&last, EventBody::TurnFinished { outcome: TurnOutcome::Interrupted(why), .. } if why.message.ends_with(" It is gone.")),
            "{last:?}"
        );
        assert_eq!(harness.turn("go on").await, TurnOutcome::Done);
    });
}

#[tokio::test]
async fn an_answer_given_in_another_process_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let harness = AgentHarness::in_file(&file, calling(&[&[(ASK, "1")]])).await;
    let another = AgentHarness::in_file(&file, []).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let call = asked(&mut watch, 1).await.remove(0);
    another
        .agent
        .answer(&ada(), &call, Verdict::Once)
        .await
        .unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    // It lives: nobody takes its turns over.
    assert!(another.agent.take_over().await.unwrap().is_empty());
}
