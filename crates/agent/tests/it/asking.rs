//! Calls that wait for a person.

use std::time::Duration;

use serde_json::json;
use tenon_agent::feed::ChatWatch;
use tenon_agent::{Error, TurnRequest};
use tenon_domain::pattern::Pattern;
use tenon_domain::{
    CallId, CallRecord, CallStatus, EntryPoint, ErrorKind, EventBody, KeyId, Layer, Message,
    Policy, SourceId, ToolError, ToolId, ToolOutput, ToolResult, TurnOutcome, UserId, Verdict,
};
use tenon_llm::scripted::ScriptStep;
use tenon_store::ToolSettingChange;

use crate::harness::{AgentHarness, ada, outcome, until};

const ASK: &str = "mcp_bench_ask";

/// A model that calls these, one step for each list, and then is content.
pub fn calling(steps: &[&[(&str, &str)]]) -> Vec<Vec<ScriptStep>> {
    let step = |calls: &&[(&str, &str)]| {
        let calls = calls.iter().zip(0..);
        let mut lines: Vec<ScriptStep> = calls
            .map(|((tool, text), index)| ScriptStep::call(index, tool, &json!({"text": text})))
            .collect();
        lines.push(ScriptStep::stop());
        lines
    };
    let mut scripts: Vec<Vec<ScriptStep>> = steps.iter().map(step).collect();
    scripts.push(vec![ScriptStep::text("Fine."), ScriptStep::stop()]);
    scripts
}

/// Waits until this many calls have been asked about.
pub async fn asked(watch: &mut ChatWatch, count: usize) -> Vec<CallId> {
    let mut asked = Vec::new();
    while asked.len() < count {
        let body = until(watch, |body| matches!(body, EventBody::CallAsked { .. })).await;
        if let EventBody::CallAsked { call_id } = body {
            asked.push(call_id);
        }
    }
    asked
}

/// What the model was told in its last step.
pub fn told(harness: &AgentHarness) -> Vec<ToolResult> {
    let requests = harness.model.requests();
    match requests.last().unwrap().messages.last() {
        Some(Message::Tools { answers }) => {
            answers.iter().map(|answer| answer.result.clone()).collect()
        }
        other => panic!("{other:?}"),
    }
}

async fn calls(harness: &AgentHarness) -> Vec<CallRecord> {
    harness.store.calls(&harness.chat).await.unwrap()
}

#[tokio::test]
async fn all_questions_of_a_step_are_asked_at_once_and_the_rest_runs_meanwhile() {
    let step = [
        (ASK, "1"),
        ("mcp_bench_echo", "2"),
        (ASK, "3"),
        ("mcp_bench_echo", "4"),
    ];
    // One call at a time: whoever waits for a person must not be the one.
    let harness =
        AgentHarness::with(calling(&[&step]), |settings| settings.parallel_calls = 1).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let (mut finished, mut waiting) = (0, Vec::new());
    while finished < 2 || waiting.len() < 2 {
        match until(&mut watch, |_| true).await {
            EventBody::CallFinished { .. } => finished += 1,
            EventBody::CallAsked { call_id } => waiting.push(call_id),
            _ => {}
        }
    }
    let asks: Vec<bool> = calls(&harness)
        .await
        .iter()
        .map(|call| call.asked)
        .collect();
    assert_eq!(asks, [true, false, true, false]);
    assert_eq!(
        harness
            .store
            .chats_awaiting_approval(std::slice::from_ref(&harness.chat))
            .await
            .unwrap(),
        [harness.chat.clone()].into()
    );
    for call in &waiting {
        harness
            .agent
            .answer(&ada(), call, Verdict::Once)
            .await
            .unwrap();
    }
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    let expected = ["1", "2", "3", "4"].map(|text| Ok(ToolOutput::text(text)));
    assert_eq!(told(&harness), expected);
    assert!(
        harness
            .store
            .chats_awaiting_approval(std::slice::from_ref(&harness.chat))
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn once_is_once_and_a_refusal_is_told_to_the_model() {
    let harness = AgentHarness::new(calling(&[&[(ASK, "1")], &[(ASK, "2")]])).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let first = asked(&mut watch, 1).await;
    harness
        .agent
        .answer(&ada(), &first[0], Verdict::Once)
        .await
        .unwrap();
    let second = asked(&mut watch, 1).await;
    harness
        .agent
        .answer(&ada(), &second[0], Verdict::Denied)
        .await
        .unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    assert_eq!(told(&harness), [Err(ToolError::refused())]);
    let calls = calls(&harness).await;
    assert_eq!(calls[0].status, CallStatus::Done);
    assert_eq!(calls[1].status, CallStatus::Failed);
    assert_eq!(calls[1].verdict, Some(Verdict::Denied));
}

#[tokio::test]
async fn for_this_chat_holds_for_what_waits_and_what_comes_in_this_chat_alone() {
    let steps: [&[(&str, &str)]; 2] = [&[(ASK, "1"), (ASK, "2")], &[(ASK, "3")]];
    let mut scripts = calling(&steps);
    scripts.extend(calling(&[&[(ASK, "4")]]));
    let mut harness = AgentHarness::new(scripts).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let waiting = asked(&mut watch, 2).await;
    harness
        .agent
        .answer(&ada(), &waiting[1], Verdict::Chat)
        .await
        .unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    let verdicts: Vec<_> = calls(&harness)
        .await
        .iter()
        .map(|call| call.verdict)
        .collect();
    assert_eq!(verdicts, [Some(Verdict::Once), Some(Verdict::Chat), None]);

    harness.chat = harness.store.create_chat(&ada(), "").await.unwrap().id;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let turn = harness.start("go").await.unwrap();
    asked(&mut watch, 1).await;
    harness.agent.cancel(&turn);
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
}

#[tokio::test]
async fn a_chat_with_a_rule_of_its_own_keeps_it_and_its_question() {
    let mut scripts = calling(&[&[(ASK, "1")]]);
    scripts.truncate(1);
    scripts.extend(calling(&[&[(ASK, "2")]]));
    let mut harness = AgentHarness::new(scripts).await;
    let strict = harness.chat.clone();
    let ask_here = ToolSettingChange {
        target: ToolId::new(ASK).into(),
        enabled: None,
        policy: Some(Some(Policy::Ask)),
    };
    let rule = harness
        .store
        .set_tools(Layer::Chat, strict.as_str(), [ask_here]);
    rule.await.unwrap();
    let mut watch_strict = harness.agent.feed().watch(&strict);
    let turn = harness.start("go").await.unwrap();
    asked(&mut watch_strict, 1).await;

    harness.chat = harness.store.create_chat(&ada(), "").await.unwrap().id;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let waiting = asked(&mut watch, 1).await;
    let ada = ada();
    let answered = harness.agent.answer(&ada, &waiting[0], Verdict::Always);
    answered.await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);

    let settings = harness.store.tool_settings(&ada, None, Some(&strict));
    let policy = settings
        .await
        .unwrap()
        .effective(None, &ToolId::new(ASK))
        .policy;
    assert_eq!(policy, Some((Policy::Ask, Layer::Chat)));
    harness.agent.cancel(&turn);
    assert_eq!(outcome(&mut watch_strict).await, TurnOutcome::Stopped);
}

#[tokio::test]
async fn always_holds_in_every_chat_even_where_one_waits() {
    let mut scripts = calling(&[&[(ASK, "1")]]);
    scripts.truncate(1);
    scripts.extend(calling(&[&[(ASK, "2")]]));
    scripts.push(vec![ScriptStep::text("Fine."), ScriptStep::stop()]);
    let mut harness = AgentHarness::new(scripts).await;
    let first = harness.chat.clone();
    let mut watch_first = harness.agent.feed().watch(&first);
    harness.start("go").await.unwrap();
    asked(&mut watch_first, 1).await;

    harness.chat = harness.store.create_chat(&ada(), "").await.unwrap().id;
    let ask_here = ToolSettingChange {
        target: ToolId::new(ASK).into(),
        enabled: None,
        policy: Some(Some(Policy::Ask)),
    };
    harness
        .store
        .set_tools(Layer::Chat, harness.chat.as_str(), [ask_here])
        .await
        .unwrap();
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let waiting = asked(&mut watch, 1).await;
    harness
        .agent
        .answer(&ada(), &waiting[0], Verdict::Always)
        .await
        .unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    assert_eq!(outcome(&mut watch_first).await, TurnOutcome::Done);
    let settings = harness
        .store
        .tool_settings(&ada(), None, Some(&harness.chat))
        .await
        .unwrap();
    assert_eq!(
        settings.effective(None, &ToolId::new(ASK)).policy,
        Some((Policy::Allow, Layer::User))
    );
}

#[tokio::test]
async fn always_holds_in_a_chat_that_is_asked_about_the_whole_source() {
    let harness = AgentHarness::new(calling(&[&[(ASK, "1")], &[(ASK, "2")]])).await;
    let ask_here = ToolSettingChange {
        target: SourceId::new("bench").into(),
        enabled: None,
        policy: Some(Some(Policy::Ask)),
    };
    let chat = harness.chat.as_str();
    let rule = harness.store.set_tools(Layer::Chat, chat, [ask_here]);
    rule.await.unwrap();
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let waiting = asked(&mut watch, 1).await;
    let ada = ada();
    let answered = harness.agent.answer(&ada, &waiting[0], Verdict::Always);
    answered.await.unwrap();
    // The second call is not asked about.
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    let settings = harness
        .store
        .tool_settings(&ada, None, Some(&harness.chat))
        .await
        .unwrap();
    let policy = |tool: &str| {
        let source = SourceId::new("bench");
        let setting = settings.effective(Some(&source), &ToolId::new(tool));
        setting.policy
    };
    assert_eq!(policy(ASK), Some((Policy::Allow, Layer::Chat)));
    assert_eq!(policy("another"), Some((Policy::Ask, Layer::Chat)));
}

#[tokio::test]
async fn of_two_answers_one_counts_and_strangers_have_none() {
    let harness = AgentHarness::new(calling(&[&[(ASK, "1")]])).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let call = asked(&mut watch, 1).await.remove(0);
    let bob = UserId::new("bob");
    assert!(matches!(
        harness.agent.answer(&bob, &call, Verdict::Always).await,
        Err(Error::Store(tenon_store::Error::NotFound("call")))
    ));
    let (ada, agent) = (ada(), &harness.agent);
    let answers = futures::future::join_all(
        [Verdict::Once, Verdict::Denied, Verdict::Once]
            .map(|verdict| agent.answer(&ada, &call, verdict)),
    )
    .await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    assert!(
        lost.iter()
            .all(|answer| matches!(answer, Err(Error::NotWaiting))),
        "{lost:?}"
    );
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    let answered = harness.events().await;
    let answered = answered
        .iter()
        .filter(|event| matches!(event.body, EventBody::CallAnswered { .. }));
    assert_eq!(answered.count(), 1);
    assert!(matches!(
        agent.answer(&ada, &call, Verdict::Once).await,
        Err(Error::NotWaiting)
    ));
}

#[tokio::test]
async fn stop_ends_a_question_and_so_does_time() {
    let harness = AgentHarness::new(calling(&[&[(ASK, "1")]])).await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let turn = harness.start("go").await.unwrap();
    let call = asked(&mut watch, 1).await.remove(0);
    assert!(matches!(harness.start("busy?").await, Err(Error::Busy)));
    assert!(harness.agent.cancel(&turn));
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Stopped);
    assert_eq!(calls(&harness).await[0].status, CallStatus::Cancelled);
    assert!(matches!(
        harness.agent.answer(&ada(), &call, Verdict::Once).await,
        Err(Error::NotWaiting)
    ));

    let harness = AgentHarness::with(calling(&[&[(ASK, "1")]]), |settings| {
        settings.approval_wait = Duration::from_millis(50);
    })
    .await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    let [Err(error)] = &told(&harness)[..] else {
        panic!("it was made")
    };
    assert_eq!(error.kind, ErrorKind::Denied);
    assert!(error.message.starts_with("Nobody answered"), "{error}");
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_refusal_says_what_would_allow_it() {
    let check = async |door: EntryPoint, granted: &[&str], expected: Result<&str, &str>| {
        let harness = AgentHarness::new(calling(&[&[(ASK, "1")]])).await;
        let door = harness.with_real_key(door).await;
        let mut watch = harness.agent.feed().watch(&harness.chat);
        let request = TurnRequest {
            door,
            can_ask: false,
            granted: granted.iter().copied().map(Pattern::new).collect(),
            ..harness.request("go")
        };
        harness.agent.start(request).await.unwrap();
        assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
        let told = told(&harness).remove(0);
        let told = told.map(|output| output.to_text());
        let told = told.map_err(|error| error.message);
        let expected = expected.map(str::to_owned).map_err(|advice| {
            format!("Bench/ask needs a person's approval, and nobody can be asked here. {advice}")
        });
        assert_eq!(told, expected);
    };
    let shell = "`--allow mcp_bench_ask` or `--yes` would allow it.";
    check(EntryPoint::Shell, &[], Err(shell)).await;
    check(EntryPoint::Shell, &["mcp_other_*"], Err(shell)).await;
    check(EntryPoint::Shell, &["mcp_bench_*"], Ok("1")).await;
    let key = EntryPoint::Key(KeyId::new("k"));
    let scope = "Make a key that allows it (`\"allow\": [\"mcp_bench_ask\"]` in its scope, `tenon user key … --allow 'mcp_bench_ask'`), or set the policy of `mcp_bench_ask` to `allow`.";
    check(key.clone(), &[], Err(scope)).await;
    check(key, &["*"], Ok("1")).await;
}

#[tokio::test]
async fn what_is_denied_is_not_offered_and_what_is_off_is_not_there() {
    let steps = [("mcp_bench_echo", "1"), ("mcp_bench_done", "2")];
    let harness = AgentHarness::new(calling(&[&steps])).await;
    let say = |tool: &str, enabled, policy| ToolSettingChange {
        target: ToolId::new(tool).into(),
        enabled: Some(enabled),
        policy: Some(policy),
    };
    let changes = [
        say("mcp_bench_echo", None, Some(Policy::Deny)),
        say("mcp_bench_done", Some(false), None),
    ];
    let user = ada();
    harness
        .store
        .set_tools(Layer::User, user.as_str(), changes)
        .await
        .unwrap();
    let mut watch = harness.agent.feed().watch(&harness.chat);
    let granted = TurnRequest {
        granted: vec![Pattern::new("*")],
        ..harness.request("go")
    };
    harness.agent.start(granted).await.unwrap();
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    let offered = &harness.model.requests()[0].tools;
    let offered: Vec<&str> = offered.iter().map(|tool| tool.id.as_str()).collect();
    assert!(offered.contains(&"mcp_bench_ask"), "{offered:?}");
    assert!(!offered.contains(&"mcp_bench_echo"), "{offered:?}");
    assert!(!offered.contains(&"mcp_bench_done"), "{offered:?}");
    let kinds: Vec<ErrorKind> = told(&harness)
        .into_iter()
        .map(|result| result.unwrap_err().kind)
        .collect();
    assert_eq!(kinds, [ErrorKind::Denied, ErrorKind::UnknownTool]);
}

#[tokio::test]
async fn nobody_is_asked_about_an_input_that_does_not_fit() {
    let wrong = vec![
        ScriptStep::call(0, ASK, &json!({"text": 7})),
        ScriptStep::stop(),
    ];
    let harness =
        AgentHarness::new([wrong, vec![ScriptStep::text("Oh."), ScriptStep::stop()]]).await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    assert_eq!(
        told(&harness).remove(0).unwrap_err().kind,
        ErrorKind::InvalidInput
    );
}
