//! What a turn does when all goes well, and when the model does not.

use std::time::Duration;

use serde_json::json;
use tenon_agent::Error;
use tenon_agent::TurnFault;
use tenon_domain::{
    CallStatus, ErrorDetail, ErrorKind, EventBody, Message, Part, StopReason, ToolAnswer,
    ToolOutput, TurnOutcome,
};
use tenon_llm::ModelDelta;
use tenon_llm::scripted::ScriptStep;

use crate::harness::AgentHarness;

#[tokio::test]
async fn a_model_calls_a_tool_and_answers_with_what_it_gave() {
    let harness = AgentHarness::new([
        vec![
            ScriptStep::text("Let me see."),
            ScriptStep::call(0, "mcp_bench_echo", &json!({"text": "42"})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("It is 42."), ScriptStep::stop()],
    ])
    .await;
    assert_eq!(harness.turn("What is it?").await, TurnOutcome::Done);

    let kinds: Vec<&str> = harness
        .events()
        .await
        .iter()
        .map(|event| kind(&event.body))
        .collect();
    assert_eq!(
        kinds,
        [
            "turnStarted",
            "chatTitled",
            "messageStarted",
            "messageFinished",
            "callRequested",
            "callStarted",
            "callFinished",
            "messageStarted",
            "messageFinished",
            "turnFinished",
        ]
    );

    // What the model was told the second time is exactly what happened.
    let asked = harness.model.requests();
    let [
        Message::User { text, .. },
        Message::Assistant { parts },
        Message::Tools { answers },
    ] = &asked[1].messages[..]
    else {
        panic!("{:?}", asked[1].messages);
    };
    assert_eq!(text, "What is it?");
    let Part::Call { call, .. } = &parts[1] else {
        panic!("{parts:?}")
    };
    assert_eq!(
        *answers,
        [ToolAnswer {
            call_id: call.id.clone(),
            tool_id: call.tool_id.clone(),
            result: Ok(ToolOutput::text("42")),
        }]
    );

    // And the next turn is told it again, from the store.
    let messages = harness.store.messages(&harness.chat).await.unwrap();
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[2].text(), "It is 42.");
    let _ = harness.turn("And now?").await;
    let told = &harness.model.requests()[2].messages;
    assert_eq!(told[..3], asked[1].messages[..]);
    assert_eq!(told.len(), 5);
}

#[tokio::test]
async fn calls_run_at_once_and_their_results_keep_their_order() {
    // Each waits for the other two: one after the other, they would wait for ever.
    let meet = |index, ms: u64, text: &str| {
        ScriptStep::call(index, "mcp_bench_meet", &json!({"ms": ms, "text": text}))
    };
    let harness = AgentHarness::new([
        vec![
            meet(0, 60, "slow"),
            meet(1, 30, "medium"),
            meet(2, 1, "quick"),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("Done."), ScriptStep::stop()],
    ])
    .await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);

    let Some(Message::Tools { answers }) = harness.model.requests()[1].messages.last().cloned()
    else {
        panic!("no answers");
    };
    let texts: Vec<String> = answers
        .iter()
        .map(|a| a.result.as_ref().unwrap().to_text())
        .collect();
    assert_eq!(texts, ["slow", "medium", "quick"]);
}

#[tokio::test]
async fn arguments_that_are_no_json_are_answered_and_the_turn_goes_on() {
    let harness = AgentHarness::new([
        vec![
            ScriptStep::raw_call(0, "mcp_bench_echo", "{\"text\": \"oops"),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("Sorry."), ScriptStep::stop()],
    ])
    .await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    let call = &harness.store.calls(&harness.chat).await.unwrap()[0];
    assert_eq!(call.status, CallStatus::Failed);
    assert_eq!(call.input, json!("{\"text\": \"oops"));
    assert_eq!(call.error.as_ref().unwrap().kind, ErrorKind::InvalidInput);
}

#[tokio::test]
async fn a_tool_that_vanished_is_answered_and_the_turn_goes_on() {
    let mut harness = AgentHarness::new([
        vec![
            ScriptStep::call(0, "mcp_bench_echo", &json!({})),
            ScriptStep::call(1, "a b/\u{0}c", &json!({})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("Without it, then."), ScriptStep::stop()],
    ])
    .await;
    harness.connected.take();
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    let calls = harness.store.calls(&harness.chat).await.unwrap();
    assert_eq!(
        calls[0].error.as_ref().unwrap().kind,
        ErrorKind::UnknownTool
    );
    assert_eq!(
        calls[1].tool_id.as_str(),
        "a_b__c",
        "a name no provider accepts never gets into a history"
    );
}

#[tokio::test]
async fn a_tool_that_panics_does_not_take_the_turn_with_it() {
    let harness = AgentHarness::new([
        vec![
            ScriptStep::call(0, "mcp_bench_panic", &json!({})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("It crashed."), ScriptStep::stop()],
    ])
    .await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    assert_eq!(
        harness.store.calls(&harness.chat).await.unwrap()[0].status,
        CallStatus::Failed
    );
}

#[tokio::test]
async fn a_tool_that_says_the_work_is_done_ends_the_turn() {
    let harness = AgentHarness::new([vec![
        ScriptStep::call(0, "mcp_bench_done", &json!({"text": "all of it"})),
        ScriptStep::stop(),
    ]])
    .await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    assert_eq!(harness.model.requests().len(), 1);
}

#[tokio::test]
async fn a_model_that_goes_in_circles_meets_the_step_limit() {
    let circle = [1, 2, 3].map(|text| echo(&text.to_string()));
    let harness = AgentHarness::with(circle, |settings| settings.step_limit = 3).await;
    assert_eq!(harness.turn("go").await, TurnOutcome::StepLimit);
}

/// A step that calls `echo`, whose result is the text.
fn echo(text: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::call(0, "mcp_bench_echo", &json!({ "text": text })),
        ScriptStep::stop(),
    ]
}

#[tokio::test]
async fn a_model_that_repeats_itself_is_told_so_and_asked_to_answer_without_tools() {
    let harness = AgentHarness::new([
        echo("42"),
        echo("42"),
        vec![ScriptStep::text("It is 42."), ScriptStep::stop()],
    ])
    .await;
    assert_eq!(harness.turn("What is it?").await, TurnOutcome::Done);
    let asked = harness.model.requests();
    let results: Vec<String> = asked[2]
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Tools { answers } => Some(answers[0].result.as_ref().unwrap().to_text()),
            Message::User { .. } | Message::Assistant { .. } => None,
        })
        .collect();
    assert_eq!(results[0], "42");
    assert!(results[1].contains("same result as before"), "{results:?}");
    assert!(!asked[1].tools.is_empty() && asked[2].tools.is_empty());
    assert!(!asked[2].system.contains("with tools"));
    // What a person sees is what the tool said.
    let calls = harness.store.calls(&harness.chat).await.unwrap();
    let shown = calls.iter().map(|call| call.result().unwrap().to_text());
    assert_eq!(shown.collect::<Vec<_>>(), ["42", "42"]);
}

#[tokio::test]
async fn a_turn_that_only_repeats_ends_with_its_third_step_and_says_why() {
    let harness = AgentHarness::new([echo("42"), echo("42"), echo("42")]).await;
    let outcome = harness.turn("What is it?").await;
    let name = "Scripted model".into();
    assert_eq!(
        outcome,
        TurnOutcome::Interrupted(TurnFault::Repeats { name }.into())
    );
    assert_eq!(harness.model.requests().len(), 3);
    let calls = harness.store.calls(&harness.chat).await.unwrap();
    assert_eq!(calls.len(), 2, "the third was not made");
}

#[tokio::test]
async fn a_call_between_two_of_the_same_is_no_repeat() {
    let harness = AgentHarness::new([
        echo("running"),
        echo("wait"),
        echo("running"),
        vec![ScriptStep::text("It runs."), ScriptStep::stop()],
    ])
    .await;
    assert_eq!(harness.turn("Is it done?").await, TurnOutcome::Done);
    assert!(!harness.model.requests()[3].tools.is_empty());
}

#[tokio::test]
async fn a_model_that_fails_midway_keeps_its_words() {
    let harness = AgentHarness::new([vec![
        ScriptStep::text("Half a "),
        ScriptStep::Fail("the stream broke".into()),
    ]])
    .await;
    let ended = harness.turn("go").await;
    assert_eq!(
        ended,
        TurnOutcome::Interrupted(ErrorDetail::other("the stream broke"))
    );
    assert_eq!(
        harness.store.messages(&harness.chat).await.unwrap()[1].text(),
        "Half a "
    );
}

#[tokio::test]
async fn an_answer_that_is_not_all_of_it_is_not_taken_for_one() {
    let cut_off = |stop: Option<StopReason>| {
        let mut lines = vec![
            ScriptStep::text("So far"),
            ScriptStep::call(0, "mcp_bench_echo", &json!({})),
        ];
        lines.extend(stop.map(|stop| ScriptStep::Say(ModelDelta::Stop(stop))));
        lines
    };
    let scripts = [None, Some(StopReason::Length), Some(StopReason::Filtered)];
    let harness = AgentHarness::new(scripts.map(cut_off)).await;
    let interrupted = |fault: TurnFault| TurnOutcome::Interrupted(fault.into());
    assert_eq!(
        harness.turn("1").await,
        interrupted(TurnFault::ModelBrokeOff)
    );
    assert_eq!(harness.turn("2").await, interrupted(TurnFault::LengthLimit));
    assert!(matches!(harness.turn("3").await, TurnOutcome::Failed(_)));
    assert_eq!(
        harness.store.calls(&harness.chat).await.unwrap(),
        [],
        "half a wish is none"
    );
    assert_eq!(
        harness.store.messages(&harness.chat).await.unwrap()[1].text(),
        "So far"
    );
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let flood = || {
        (0..100)
            .map(|_| ScriptStep::text("0123456789"))
            .chain([ScriptStep::stop()])
            .collect()
    };
    let harness = AgentHarness::with([flood()], |settings| settings.reply_bytes = 500).await;
    let TurnOutcome::Interrupted(ErrorDetail { message, .. }) = harness.turn("go").await else {
        panic!("it went on")
    };
    assert_eq!(message, "The answer grew too long and was cut off.");
    assert_eq!(
        harness.store.messages(&harness.chat).await.unwrap()[1]
            .text()
            .len(),
        510
    );

    let dribble = || {
        let piece = || {
            [
                ScriptStep::text("."),
                ScriptStep::Pause(Duration::from_millis(20)),
            ]
        };
        (0..500)
            .flat_map(|_| piece())
            .chain([ScriptStep::stop()])
            .collect()
    };
    let harness =
        AgentHarness::with([dribble()], |s| s.model_time = Duration::from_millis(200)).await;
    let TurnOutcome::Interrupted(ErrorDetail { message, .. }) = harness.turn("go").await else {
        panic!("it went on")
    };
    assert_eq!(message, "The answer took too long and was cut off.");
}

#[tokio::test]
async fn more_calls_than_are_made_at_once_are_answered_too() {
    let mut lines: Vec<ScriptStep> = (0..5)
        .map(|i| ScriptStep::call(i, "mcp_bench_echo", &json!({})))
        .collect();
    lines.push(ScriptStep::stop());
    let harness = AgentHarness::with(
        [lines, vec![ScriptStep::text("ok"), ScriptStep::stop()]],
        |s| s.calls_per_step = 3,
    )
    .await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    let calls = harness.store.calls(&harness.chat).await.unwrap();
    let statuses: Vec<CallStatus> = calls.iter().map(|call| call.status).collect();
    use CallStatus::{Done, Failed};
    assert_eq!(statuses, [Done, Done, Done, Failed, Failed]);
    assert_eq!(calls[4].error.as_ref().unwrap().kind, ErrorKind::Denied);
}

#[tokio::test]
async fn calls_without_end_are_cut_off() {
    let flood = |tool: &'static str| {
        let calls = (0..100).map(move |i| ScriptStep::raw_call(i, tool, ""));
        [ScriptStep::text("So:")]
            .into_iter()
            .chain(calls)
            .chain([ScriptStep::stop()])
            .collect()
    };
    let cut_off = async |harness: AgentHarness, expected: &str| {
        let TurnOutcome::Interrupted(ErrorDetail { message, .. }) = harness.turn("go").await else {
            panic!("it went on")
        };
        assert_eq!(message, expected);
        let calls = harness.store.calls(&harness.chat).await.unwrap();
        assert_eq!(calls, [], "none of them is made");
    };
    let harness = AgentHarness::with([flood("mcp_bench_echo")], |s| s.calls_per_step = 3).await;
    cut_off(
        harness,
        "The model asked for more than 12 calls at once and was cut off.",
    )
    .await;
    // Their names weigh something also where their arguments do not.
    let harness = AgentHarness::with([flood("mcp_bench_echo")], |s| s.reply_bytes = 1_000).await;
    cut_off(harness, "The answer grew too long and was cut off.").await;
    // As many as that are still answered one by one.
    let mut lines: Vec<ScriptStep> = (0..12)
        .map(|i| ScriptStep::raw_call(i, "mcp_bench_echo", ""))
        .collect();
    lines.push(ScriptStep::stop());
    let harness = AgentHarness::with(
        [lines, vec![ScriptStep::text("ok"), ScriptStep::stop()]],
        |s| s.calls_per_step = 3,
    )
    .await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
}

#[tokio::test]
async fn a_model_that_says_nothing_is_given_up() {
    let silence = |settings: &mut tenon_agent::AgentSettings| {
        settings.model_silence = Duration::from_millis(50)
    };
    let harness = AgentHarness::with(
        [
            vec![ScriptStep::Hang],
            vec![ScriptStep::text("Hm"), ScriptStep::Hang],
            vec![ScriptStep::stop()],
        ],
        silence,
    )
    .await;
    let TurnOutcome::Failed(ErrorDetail { message, .. }) = harness.turn("go").await else {
        panic!("it waited")
    };
    assert!(message.contains("said nothing for"), "{message}");

    // What was said before it fell silent stands, and can be continued.
    let TurnOutcome::Interrupted(ErrorDetail { message, .. }) = harness.turn("go").await else {
        panic!("it waited")
    };
    assert!(message.contains("sent nothing for"), "{message}");
    assert_eq!(
        harness.store.messages(&harness.chat).await.unwrap()[3].text(),
        "Hm"
    );

    let TurnOutcome::Failed(ErrorDetail { message, .. }) = harness.turn("again").await else {
        panic!("an empty answer")
    };
    assert!(
        message.contains("returned an empty answer. Try again"),
        "{message}"
    );
}

#[tokio::test]
async fn messages_of_every_kind_are_taken_whole() {
    let answer = || vec![ScriptStep::text("ok"), ScriptStep::stop()];
    let harness = AgentHarness::new([answer(), answer(), answer()]).await;
    let long = "字x".repeat(2500);
    for text in ["🙂🙃", long.as_str(), "nul \0 and \u{202e}"] {
        assert_eq!(harness.turn(text).await, TurnOutcome::Done);
    }
    let messages = harness.store.messages(&harness.chat).await.unwrap();
    assert_eq!(messages[0].text(), "🙂🙃");
    assert_eq!(messages[2].text(), long);
    assert_eq!(messages[4].text(), "nul \0 and \u{202e}");
}

#[tokio::test]
async fn a_title_is_the_first_line_cut_between_characters() {
    let harness = AgentHarness::new([vec![ScriptStep::text("ok"), ScriptStep::stop()]]).await;
    harness
        .turn(&format!("\n\n  {}\nmore", "東京".repeat(40)))
        .await;
    let title = harness
        .store
        .chat(&crate::harness::ada(), &harness.chat)
        .await
        .unwrap()
        .title;
    assert_eq!(title, format!("{}…", "東京".repeat(30)));
}

#[tokio::test]
async fn what_cannot_begin_is_refused_in_words() {
    let harness = AgentHarness::new([vec![ScriptStep::Hang]]).await;
    assert!(matches!(harness.start(" \n ").await, Err(Error::Empty)));
    assert!(matches!(
        harness.start(&"x".repeat(1024 * 1024 + 1)).await,
        Err(Error::TooLong { .. })
    ));
    harness.start("first").await.unwrap();
    assert!(matches!(harness.start("second").await, Err(Error::Busy)));
}

fn kind(body: &EventBody) -> &'static str {
    match body {
        EventBody::ChatTitled { .. } => "chatTitled",
        EventBody::ToolsLeftOut { .. } => "toolsLeftOut",
        EventBody::TurnStarted { .. } => "turnStarted",
        EventBody::MessageStarted { .. } => "messageStarted",
        EventBody::MessageFinished { .. } => "messageFinished",
        EventBody::CallRequested { .. } => "callRequested",
        EventBody::BranchChosen { .. } => "branchChosen",
        EventBody::CallAsked { .. } => "callAsked",
        EventBody::CallAnswered { .. } => "callAnswered",
        EventBody::CallStarted { .. } => "callStarted",
        EventBody::FormShown { .. } => "formShown",
        EventBody::FormAnswered { .. } => "formAnswered",
        EventBody::CallFinished { .. } => "callFinished",
        EventBody::TurnFinished { .. } => "turnFinished",
    }
}
