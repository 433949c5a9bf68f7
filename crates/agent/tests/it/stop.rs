//! Stop works at once, everywhere, and leaves a chat that can go on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenon_agent::{Error, TurnRequest};
use tenon_domain::{
    CallStatus, EventBody, Message, OmittedTool, Role, ToolError, ToolId, TurnOutcome, UserRole,
};
use tenon_llm::ModelDelta;
use tenon_llm::scripted::ScriptStep;
use tenon_store::{Enrollment, NewUserRow, UserEdit};
use tokio::sync::Notify;

use crate::harness::{AgentHarness, ada, next, outcome, until};

#[tokio::test]
async fn stop_reaches_a_model_that_is_speaking() {
    let harness = AgentHarness::new([
        vec![
            ScriptStep::text("Half"),
            ScriptStep::raw_call(0, "mcp_bench_echo", "{\"te"),
            ScriptStep::Hang,
        ],
        vec![ScriptStep::text("Yes?"), ScriptStep::stop()],
    ])
    .await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let turn = harness.start("go").await.unwrap();
    while !matches!(next(&mut watch).await, tenon_agent::feed::LiveUpdate::Delta(delta) if delta.part == 1)
    {
    }
    assert!(harness.agent.cancel(&turn));
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);

    assert_eq!(
        harness.store.messages(&harness.chat).await.unwrap()[1].text(),
        "Half"
    );
    assert_eq!(harness.turn("still there?").await, TurnOutcome::Done);
}

#[tokio::test]
async fn stop_reaches_running_tools_and_every_call_gets_a_result() {
    let mut first: Vec<ScriptStep> = (0..12)
        .map(|i| ScriptStep::call(i, "mcp_bench_hang", &json!({})))
        .collect();
    first.push(ScriptStep::stop());
    let harness =
        AgentHarness::new([first, vec![ScriptStep::text("Fine."), ScriptStep::stop()]]).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let turn = harness.start("go").await.unwrap();
    tokio::time::timeout(
        crate::harness::TEST_TIMEOUT,
        harness.bench.hanging.notified(),
    )
    .await
    .unwrap();
    assert!(harness.agent.cancel(&turn));
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);

    let calls = harness.store.calls(&harness.chat).await.unwrap();
    assert_eq!(
        calls.len(),
        12,
        "those that were still waiting for their turn, too"
    );
    assert!(
        calls
            .iter()
            .all(|call| call.status == CallStatus::Cancelled)
    );

    assert_eq!(harness.turn("go on").await, TurnOutcome::Done);
    let told = &harness.model.requests()[1].messages;
    let Message::Tools { answers } = &told[2] else {
        panic!("{told:?}")
    };
    assert_eq!(answers.len(), 12);
    assert!(
        answers
            .iter()
            .all(|answer| answer.result == Err(ToolError::cancelled()))
    );
}

#[tokio::test]
async fn stop_does_not_wait_for_a_slow_database() {
    let (go, never) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let left_out = OmittedTool {
        tool_id: ToolId::new("odd"),
        display_name: "Bench/odd".into(),
        why: tenon_domain::ErrorDetail::other("its input schema is too large"),
    };
    let harness = AgentHarness::new([vec![
        ScriptStep::WaitFor(go.clone()),
        ScriptStep::Say(ModelDelta::OmittedTool(vec![left_out])),
        ScriptStep::WaitFor(never.clone()),
    ]])
    .await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let turn = harness.start("go").await.unwrap();
    until(&mut watch, |body| {
        matches!(body, EventBody::MessageStarted { message } if message.role == Role::Assistant)
    })
    .await;
    // A query that nobody goes on with keeps the only connection there is.
    let ada = ada();
    let mut stuck = loop {
        let mut query = Box::pin(harness.store.create_chat(&ada, "stuck"));
        // The database may be quicker than we are.
        if futures::poll!(query.as_mut()).is_pending() {
            break query;
        }
    };
    go.notify_one();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(harness.agent.cancel(&turn));
    // The model is let go of, long before the database gives up.
    let let_go = async {
        while Arc::strong_count(&never) > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(4), let_go)
        .await
        .expect("the model is still being heard");
    stuck.as_mut().await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
}

#[tokio::test]
async fn draining_waits_for_turns_and_then_cuts_them_off() {
    let harness = AgentHarness::new([vec![
        ScriptStep::Pause(Duration::from_millis(100)),
        ScriptStep::text("In time."),
        ScriptStep::stop(),
    ]])
    .await;
    harness.start("go").await.unwrap();
    harness.agent.drain(crate::harness::TEST_TIMEOUT).await;
    assert_eq!(
        harness.store.messages(&harness.chat).await.unwrap()[1].text(),
        "In time."
    );
    assert!(matches!(
        harness.start("too late").await,
        Err(Error::Closing)
    ));

    let harness = AgentHarness::new([vec![ScriptStep::text("Never"), ScriptStep::Hang]]).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    harness.agent.drain(Duration::from_millis(50)).await;
    // Nobody pressed Stop: it ends as one whose server was killed.
    let TurnOutcome::Interrupted(why) = outcome(&mut watch).await else {
        panic!("it was cut off");
    };
    assert_eq!(why.code, "answer_restarted");
}

#[tokio::test]
async fn who_pressed_stop_before_the_server_ends_has_stopped_it() {
    let harness = AgentHarness::new([vec![
        ScriptStep::call(0, "mcp_bench_hang", &json!({})),
        ScriptStep::stop(),
    ]])
    .await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let turn = harness.start("go").await.unwrap();
    harness.bench.hanging.notified().await;
    assert!(harness.agent.cancel(&turn));
    harness.agent.drain(Duration::ZERO).await;
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
}

#[tokio::test]
async fn a_client_that_hangs_up_at_any_moment_leaves_no_turn_that_never_runs() {
    const MOMENTS: usize = 12;
    let answer = || vec![ScriptStep::text("ok"), ScriptStep::stop()];
    // A query that is dropped costs its connection, and a database in memory lives in one.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let harness = AgentHarness::in_file(&file, (0..MOMENTS).map(|_| answer())).await;
    for moment in 0..MOMENTS {
        let mut starting = Box::pin(harness.start("go"));
        for _ in 0..moment {
            if futures::poll!(starting.as_mut()).is_ready() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(starting);
        // What was begun runs to its end; what was not is not on record.
        let deadline = tokio::time::Instant::now() + crate::harness::TEST_TIMEOUT;
        while harness.agent.running(&harness.chat).is_some()
            || !harness.store.open_turns().await.unwrap().is_empty()
        {
            assert!(
                tokio::time::Instant::now() < deadline,
                "a turn is left open after moment {moment}"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn a_turn_of_somebody_who_is_disabled_ends_at_its_next_step() {
    let go = Arc::new(Notify::new());
    let first = vec![
        ScriptStep::WaitFor(go.clone()),
        ScriptStep::call(0, "mcp_bench_echo", &json!({"text": "x"})),
        ScriptStep::stop(),
    ];
    let second = vec![ScriptStep::text("I go on."), ScriptStep::stop()];
    let mut harness = AgentHarness::new([first, second]).await;
    let new = |email| NewUserRow {
        email,
        name: "Somebody",
        role: UserRole::User,
        password_hash: None,
        oidc_subject: None,
    };
    harness
        .store
        .create_user(new("ada"), Enrollment::First)
        .await
        .unwrap();
    let bob = harness.store.create_user(new("bob"), Enrollment::Another);
    let bob = bob.await.unwrap().id;
    harness.chat = harness.store.create_chat(&bob, "").await.unwrap().id;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let request = TurnRequest {
        user: bob.clone(),
        ..harness.request("go")
    };
    harness.agent.start(request).await.unwrap();
    // By another process: nobody tells this one.
    let disabled = UserEdit {
        disabled: Some(true),
        ..UserEdit::default()
    };
    harness.store.change_user(&bob, disabled).await.unwrap();
    go.notify_one();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
    let messages = harness.store.messages(&harness.chat).await.unwrap();
    let said: String = messages.iter().map(|message| message.text()).collect();
    assert_eq!(said, "go");
}
