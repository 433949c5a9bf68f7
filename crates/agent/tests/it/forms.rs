//! Tools that ask a person something while they run.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenon_agent::feed::ChatWatch;
use tenon_agent::{Error, TurnRequest};
use tenon_domain::{
    CallId, CallStatus, ChatId, EntryPoint, EventBody, Form, FormAnswer, FormOutcome, KeyId,
    ToolOutput, TurnOutcome, UserId, UserRole,
};
use tenon_store::{Enrollment, NewUserRow, UserEdit};
use tokio::runtime::Runtime;

use crate::asking::{calling, told};
use crate::form_tool::{person, visit};
use crate::harness::{AgentHarness, TEST_TIMEOUT, ada, outcome, until};

/// An agent whose model calls this form tool, then ends its answer.
async fn harness(tool: &str) -> AgentHarness {
    let tool = format!("mcp_clerk_{tool}");
    AgentHarness::new(calling(&[&[(&tool, "")]])).await
}

async fn shown(watch: &mut ChatWatch) -> (CallId, Form) {
    let body = until(watch, |body| matches!(body, EventBody::FormShown { .. })).await;
    match body {
        EventBody::FormShown { call_id, form } => (call_id, form),
        other => panic!("{other:?}"),
    }
}

/// Ada's answer.
async fn answer(
    harness: &AgentHarness,
    call: &CallId,
    form: &Form,
    answer: FormAnswer,
) -> Result<(), Error> {
    let ada = ada();
    harness
        .agent
        .answer_form(&ada, call, &form.id, answer)
        .await
}

fn accept(content: Value) -> FormAnswer {
    FormAnswer::Accept { content }
}

/// What happened to forms, in order: shown, and what came of them.
async fn record(harness: &AgentHarness) -> Vec<Option<FormOutcome>> {
    let events = harness.events().await.into_iter();
    let record = events.filter_map(|event| match event.body {
        EventBody::FormShown { .. } => Some(None),
        EventBody::FormAnswered { outcome, .. } => Some(Some(outcome)),
        _ => None,
    });
    record.collect()
}

#[tokio::test]
async fn a_form_is_shown_filled_in_and_what_was_said_is_kept_nowhere() {
    let mut harness = harness("form").await;
    let form_tool = harness.join_form_tool().await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let (call, form) = shown(&mut watch).await;
    assert_eq!(form.message, "Who are you?");
    assert_eq!(form.request, person());
    assert_eq!(
        harness.agent.chats_with_forms(),
        [harness.chat.clone()].into()
    );

    let (agent, ada, bob) = (&harness.agent, ada(), UserId::new("bob"));
    let stranger = agent.answer_form(&bob, &call, &form.id, FormAnswer::Decline);
    assert!(matches!(
        stranger.await,
        Err(Error::Store(tenon_store::Error::NotFound("call")))
    ));
    let check = async |answer: FormAnswer, expected: &str| {
        let error = agent.answer_form(&ada, &call, &form.id, answer).await;
        assert_eq!(error.unwrap_err().to_string(), expected);
    };
    check(accept(json!({})), "“Your name” is missing; fill it in.").await;
    check(accept(json!(null)), "“Your name” is missing; fill it in.").await;
    let young = accept(json!({"name": "x", "age": 7}));
    check(young, "“age” must be at least 18.").await;

    let content = json!({"name": "top-secret", "age": 36});
    let fits = accept(content.clone());
    let answers = futures::future::join_all(
        [fits.clone(), fits.clone(), FormAnswer::Decline]
            .map(|answer| agent.answer_form(&ada, &call, &form.id, answer)),
    );
    let (won, lost): (Vec<_>, Vec<_>) = answers.await.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1, "of several answers one counts");
    assert!(
        lost.iter()
            .all(|lost| matches!(lost, Err(Error::FormClosed))),
        "{lost:?}"
    );

    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    assert_eq!(*form_tool.got.lock().unwrap(), [accept(content)]);
    assert_eq!(record(&harness).await, [None, Some(FormOutcome::Accepted)]);
    let events = serde_json::to_string(&harness.events().await).unwrap();
    assert!(!events.contains("top-secret"), "{events}");
    assert!(harness.agent.chats_with_forms().is_empty());
    check(
        FormAnswer::Decline,
        "This form is no longer waiting for an answer.",
    )
    .await;
}

#[tokio::test]
async fn a_call_may_ask_more_than_once() {
    let mut harness = harness("twice").await;
    let form_tool = harness.join_form_tool().await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let (call, first) = shown(&mut watch).await;
    let (agent, ada) = (&harness.agent, ada());
    let declined = agent.answer_form(&ada, &call, &first.id, FormAnswer::Decline);
    declined.await.unwrap();
    let (same, second) = shown(&mut watch).await;
    assert_eq!(same, call);
    assert_ne!(second.id, first.id, "ids are ours");
    assert_eq!(second.request, visit("https://example.org/log-in"));
    let late = agent.answer_form(&ada, &call, &first.id, FormAnswer::Decline);
    assert!(matches!(late.await, Err(Error::FormClosed)));
    let other = CallId::new("other");
    let of_another = agent.answer_form(&ada, &other, &second.id, FormAnswer::Decline);
    assert!(matches!(of_another.await, Err(Error::Store(_))));
    // What was done on the page stays there.
    let done = accept(json!({"name": "nothing to do with it"}));
    let visited = agent.answer_form(&ada, &call, &second.id, done);
    visited.await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    assert_eq!(told(&harness), [Ok(ToolOutput::text("Declined Accepted"))]);
    let got = [FormAnswer::Decline, accept(Value::Null)];
    assert_eq!(*form_tool.got.lock().unwrap(), got);
}

#[tokio::test]
async fn where_nobody_is_there_it_is_declined_and_nothing_is_shown() {
    for door in [EntryPoint::Shell, EntryPoint::Key(KeyId::new("k"))] {
        let mut harness = harness("twice").await;
        let door = harness.with_real_key(door).await;
        harness.join_form_tool().await;
        let mut watch = harness.agent.feed().watch(&harness.chat);
        let request = TurnRequest {
            door,
            can_ask: false,
            ..harness.request("go")
        };
        harness.agent.start(request).await.unwrap();
        assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
        assert_eq!(told(&harness), [Ok(ToolOutput::text("Declined Declined"))]);
        assert_eq!(record(&harness).await, []);
    }
}

#[tokio::test]
async fn a_form_ends_with_its_turn() {
    let mut harness = harness("form").await;
    harness.join_form_tool().await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let turn = harness.start("go").await.unwrap();
    let (call, form) = shown(&mut watch).await;
    assert!(harness.agent.cancel(&turn));
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
    assert_eq!(record(&harness).await, [None, Some(FormOutcome::Cancelled)]);
    let calls = harness.store.calls(&harness.chat).await.unwrap();
    assert_eq!(calls[0].status, CallStatus::Cancelled);
    let late = answer(&harness, &call, &form, FormAnswer::Cancel).await;
    assert!(matches!(late, Err(Error::FormClosed)));
}

#[tokio::test]
async fn a_turn_that_is_stopped_shows_no_more_forms() {
    let mut harness = harness("late").await;
    let form_tool = harness.join_form_tool().await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let turn = harness.start("go").await.unwrap();
    let soon = || tokio::time::timeout(TEST_TIMEOUT, form_tool.late.notified());
    soon().await.unwrap();
    harness.agent.cancel(&turn);
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
    soon().await.unwrap();
    assert_eq!(*form_tool.got.lock().unwrap(), [FormAnswer::Cancel]);
    assert_eq!(record(&harness).await, []);
}

#[tokio::test]
async fn a_form_that_nobody_fills_in_is_cancelled() {
    let mut harness = AgentHarness::with(calling(&[&[("mcp_clerk_form", "")]]), |settings| {
        settings.form_wait = Duration::from_millis(50);
    })
    .await;
    harness.join_form_tool().await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    assert_eq!(told(&harness), [Ok(ToolOutput::text("Cancelled"))]);
    assert_eq!(record(&harness).await, [None, Some(FormOutcome::Cancelled)]);
}

#[tokio::test]
async fn a_shutdown_waits_for_no_form() {
    let mut harness = harness("twice").await;
    harness.join_form_tool().await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    shown(&mut watch).await;
    let started = Instant::now();
    harness.agent.drain(TEST_TIMEOUT).await;
    assert!(started.elapsed() < TEST_TIMEOUT / 2);
    // The tool went on, and what it asked then was not shown any more.
    assert_eq!(
        told(&harness),
        [Ok(ToolOutput::text("Cancelled Cancelled"))]
    );
    assert_eq!(record(&harness).await, [None, Some(FormOutcome::Cancelled)]);
}

#[tokio::test]
async fn a_chat_that_is_deleted_asks_nobody() {
    let mut harness = harness("form").await;
    harness.join_form_tool().await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    shown(&mut watch).await;
    harness.agent.delete(&ada(), &harness.chat).await.unwrap();
    assert_eq!(harness.agent.running(&harness.chat), None);
    assert!(harness.agent.chats_with_forms().is_empty());
}

#[tokio::test]
async fn who_is_disabled_elsewhere_is_asked_no_more() {
    let mut harness = harness("form").await;
    harness.join_form_tool().await;
    let new = |email| NewUserRow {
        email,
        name: "Somebody",
        role: UserRole::User,
        password_hash: None,
        oidc_subject: None,
    };
    let created = harness.store.create_user(new("ada"), Enrollment::First);
    created.await.unwrap();
    let bob = harness.store.create_user(new("bob"), Enrollment::Another);
    let bob = bob.await.unwrap().id;
    let chat = harness.store.create_chat(&bob, "").await.unwrap().id;
    let mut watch = harness.agent.feed().watch(&chat);
    let request = TurnRequest {
        user: bob.clone(),
        chat,
        ..harness.request("go")
    };
    harness.agent.start(request).await.unwrap();
    shown(&mut watch).await;
    let disabled = UserEdit {
        disabled: Some(true),
        ..UserEdit::default()
    };
    harness.store.change_user(&bob, disabled).await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
}

#[tokio::test]
async fn a_tool_cannot_cover_the_screen_with_forms() {
    let mut harness = harness("five").await;
    harness.join_form_tool().await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    for _ in 0..4 {
        let (call, form) = shown(&mut watch).await;
        let answered = answer(&harness, &call, &form, FormAnswer::Decline).await;
        answered.unwrap();
    }
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    let expected = "Declined Declined Declined Declined Cancelled";
    assert_eq!(told(&harness), [Ok(ToolOutput::text(expected))]);
}

#[tokio::test]
async fn what_nobody_could_fill_in_or_should_visit_is_not_shown() {
    let mut harness = harness("odd").await;
    harness.join_form_tool().await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    let expected = ["Cancelled"; 4].join(" ");
    assert_eq!(told(&harness), [Ok(ToolOutput::text(expected))]);
    assert_eq!(record(&harness).await, []);
}

#[tokio::test]
async fn a_form_does_not_outlive_its_call() {
    let mut harness = harness("detached").await;
    let form_tool = harness.join_form_tool().await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let (call, form) = shown(&mut watch).await;
    form_tool.late.notify_one();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    assert_eq!(record(&harness).await, [None, Some(FormOutcome::Cancelled)]);
    let late = answer(&harness, &call, &form, FormAnswer::Decline).await;
    assert!(matches!(late, Err(Error::FormClosed)));

    // And one that comes too late is not put on record.
    let shown = EventBody::FormShown {
        call_id: call,
        form,
    };
    let late = harness.agent.feed().emit(&harness.chat, vec![shown]).await;
    assert!(matches!(late, Err(tenon_store::Error::TooLate(_))));
}

#[test]
fn after_a_crash_a_form_is_over_with_its_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let first = Runtime::new().unwrap();
    let (chat, call, form): (ChatId, CallId, Form) = first.block_on(async {
        let mut harness = AgentHarness::in_file(&file, calling(&[&[("mcp_clerk_form", "")]])).await;
        harness.join_form_tool().await;
        let mut watch = harness.agent.feed().watch(&harness.chat);
        harness.start("go").await.unwrap();
        let (call, form) = shown(&mut watch).await;
        (harness.chat.clone(), call, form)
    });
    first.shutdown_timeout(Duration::from_millis(1));

    Runtime::new().unwrap().block_on(async {
        let mut harness = AgentHarness::in_file(&file, []).await;
        harness.chat = chat;
        assert_eq!(harness.agent.recover().await.unwrap(), 1);
        let bodies = harness.events().await.into_iter().map(|event| event.body);
        let ends: Vec<CallStatus> = bodies
            .filter_map(|body| match body {
                EventBody::CallFinished { status, .. } => Some(status),
                _ => None,
            })
            .collect();
        assert_eq!(ends, [CallStatus::Lost]);
        let late = answer(&harness, &call, &form, FormAnswer::Decline).await;
        assert!(matches!(late, Err(Error::FormClosed)));
    });
}
