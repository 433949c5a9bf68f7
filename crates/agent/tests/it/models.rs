//! What real models do beyond speaking: they count, retry, pause, and leave tools out.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tenon_agent::TurnRequest;
use tenon_agent::feed::LiveUpdate;
use tenon_domain::{
    Cost, EventBody, Message, OmittedTool, Part, Prices, ProviderBlock, StopReason, ToolId,
    TurnOutcome, Usage,
};
use tenon_llm::scripted::ScriptStep;
use tenon_llm::{ModelDelta, ModelRequest, ModelStream, Provider, Scripted};

use crate::harness::{AgentHarness, model, next, outcome};

fn usage(input_tokens: u64, output_tokens: u64) -> ScriptStep {
    ScriptStep::Say(ModelDelta::Usage(Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    }))
}

fn left_out(id: &str) -> OmittedTool {
    OmittedTool {
        tool_id: ToolId::new(id),
        display_name: format!("Bench/{id}"),
        why: tenon_domain::ErrorDetail::other("its input schema is too large"),
    }
}

#[tokio::test]
async fn tokens_of_all_steps_are_counted_and_priced() {
    let mut harness = AgentHarness::new([
        vec![
            ScriptStep::call(0, "mcp_bench_echo", &json!({"text": "42"})),
            usage(1, 1),
            // The last figures count.
            usage(100, 20),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("42"), usage(150, 5), ScriptStep::stop()],
    ])
    .await;
    harness.prices = Some(Prices {
        currency: "USD".into(),
        input: 2.0,
        output: 10.0,
        cache_read: None,
        cache_write: None,
    });
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    let events = harness.events().await;
    let Some(EventBody::TurnFinished { usage, cost, .. }) = events.last().map(|event| &event.body)
    else {
        panic!("{events:?}");
    };
    assert_eq!((usage.input_tokens, usage.output_tokens), (250, 25));
    let expected = Cost {
        currency: "USD".into(),
        micros: 750,
    };
    assert_eq!(*cost, Some(expected));
    let EventBody::TurnStarted { model, .. } = &events[0].body else {
        panic!("{events:?}");
    };
    assert_eq!(model.as_ref().unwrap().name, "Scripted model");
}

#[tokio::test]
async fn without_prices_or_figures_nothing_is_invented() {
    let harness = AgentHarness::new([vec![ScriptStep::text("hi"), ScriptStep::stop()]]).await;
    harness.turn("go").await;
    let events = harness.events().await;
    let last = &events.last().unwrap().body;
    assert!(
        matches!(last, EventBody::TurnFinished { cost: None, .. }),
        "{last:?}"
    );
}

#[tokio::test]
async fn tools_left_out_are_told_once_and_the_turn_goes_on() {
    let script = |rest: ScriptStep| {
        vec![
            ScriptStep::Say(ModelDelta::OmittedTool(vec![left_out("odd")])),
            rest,
            ScriptStep::stop(),
        ]
    };
    let harness = AgentHarness::new([
        script(ScriptStep::call(
            0,
            "mcp_bench_echo",
            &json!({"text": "42"}),
        )),
        script(ScriptStep::text("Done.")),
    ])
    .await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    let told: Vec<Vec<OmittedTool>> = harness
        .events()
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::ToolsLeftOut { tools, .. } => Some(tools),
            _ => None,
        })
        .collect();
    assert_eq!(told, [[left_out("odd")]]);
}

#[tokio::test]
async fn a_pause_between_two_tries_is_not_the_models_silence() {
    let harness = AgentHarness::with(
        [vec![
            ScriptStep::Say(ModelDelta::Retry(Duration::from_millis(600))),
            ScriptStep::Pause(Duration::from_millis(400)),
            ScriptStep::text("At last."),
            ScriptStep::stop(),
        ]],
        |settings| settings.model_silence = Duration::from_millis(200),
    )
    .await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    // Whoever watches is told how long it will take.
    loop {
        if let LiveUpdate::Waiting(waiting) = next(&mut watch).await {
            assert_eq!(waiting.wait_ms, 600);
            break;
        }
    }
    // So is whoever comes meanwhile, and nobody later.
    let late = harness.agent.feed().watch(&harness.chat).waiting.clone();
    assert!(late.is_some_and(|waiting| waiting.wait_ms <= 600));
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
    assert_eq!(harness.agent.feed().watch(&harness.chat).waiting, None);
    drop(watch);
    assert_eq!(harness.agent.feed().open_channels(), 0);
}

#[tokio::test]
async fn how_far_a_prompt_is_read_is_told_to_whoever_watches() {
    let read = |processed| {
        ScriptStep::Say(ModelDelta::PromptProgress {
            processed,
            total: 2048,
        })
    };
    let harness = AgentHarness::new([vec![
        read(512),
        read(2048),
        ScriptStep::text("Hello."),
        ScriptStep::stop(),
    ]])
    .await;
    let mut watch = harness.agent.feed().watch(&harness.chat);
    harness.start("go").await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 2 {
        if let LiveUpdate::PromptProgress(progress) = next(&mut watch).await {
            seen.push((progress.processed, progress.total));
        }
    }
    assert_eq!(seen, [(512, 2048), (2048, 2048)]);
    assert_eq!(outcome(&mut watch).await, TurnOutcome::Done);
}

/// On somebody's own machine.
struct LocalModel(Scripted);

#[async_trait]
impl Provider for LocalModel {
    fn name(&self) -> &str {
        "Local model"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, tenon_llm::Error> {
        self.0.stream(request).await
    }

    fn is_local(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn a_model_on_ones_own_machine_has_time_to_read_before_its_first_word() {
    let pause = || ScriptStep::Pause(Duration::from_millis(400));
    let slow = LocalModel(Scripted::new([
        vec![pause(), ScriptStep::text("Hello."), ScriptStep::stop()],
        vec![ScriptStep::text("Hel"), ScriptStep::Hang],
    ]));
    let slow = Arc::new(slow);
    let harness = AgentHarness::with([], |settings| {
        settings.model_silence = Duration::from_millis(100);
    })
    .await;
    let turn = async || {
        let mut watch = harness.agent.feed().watch(&harness.chat);
        let request = TurnRequest {
            model: model(slow.clone()),
            ..harness.request("go")
        };
        harness.agent.start(request).await.unwrap();
        outcome(&mut watch).await
    };
    assert_eq!(turn().await, TurnOutcome::Done);
    // Once it speaks it is held to the same as all others.
    let TurnOutcome::Interrupted(why) = turn().await else {
        panic!("it has stalled");
    };
    assert_eq!(why.code, "model_stalled");
}

#[tokio::test]
async fn a_sign_of_life_is_no_silence() {
    let alive = || {
        [
            ScriptStep::Pause(Duration::from_millis(150)),
            ScriptStep::Say(ModelDelta::Alive),
        ]
    };
    let script = (0..4).flat_map(|_| alive());
    let script = script
        .chain([ScriptStep::text("Hm."), ScriptStep::stop()])
        .collect();
    let harness = AgentHarness::with([script], |settings| {
        settings.model_silence = Duration::from_millis(300);
    })
    .await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
}

#[tokio::test]
async fn a_provider_that_paused_is_asked_to_go_on() {
    let own = ProviderBlock {
        maker: "somebody".into(),
        block: json!({"type": "server_tool_use", "id": "s1"}),
    };
    let harness = AgentHarness::new([
        vec![
            ScriptStep::text("Searching."),
            ScriptStep::Say(ModelDelta::Opaque(own.clone())),
            ScriptStep::Say(ModelDelta::Stop(StopReason::Paused)),
        ],
        vec![ScriptStep::text("Found it."), ScriptStep::stop()],
    ])
    .await;
    assert_eq!(harness.turn("go").await, TurnOutcome::Done);
    let Some(Message::Assistant { parts }) = harness.model.requests()[1].messages.last().cloned()
    else {
        panic!("what was said is told back");
    };
    assert_eq!(
        parts,
        [
            Part::text("Searching."),
            Part::Opaque {
                provider_block: own
            }
        ]
    );
}

#[tokio::test]
async fn what_has_to_be_told_back_survives_a_turn() {
    let signed = ProviderBlock {
        maker: "somebody".into(),
        block: json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
    };
    let harness = AgentHarness::new([
        vec![
            ScriptStep::Say(ModelDelta::Thinking("hm".into())),
            ScriptStep::Say(ModelDelta::Keep(signed.clone())),
            ScriptStep::text("Yes."),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("Still yes."), ScriptStep::stop()],
    ])
    .await;
    harness.turn("Really?").await;
    harness.turn("And now?").await;
    let Message::Assistant { parts } = &harness.model.requests()[1].messages[1] else {
        panic!("the first answer is in the history");
    };
    let thought = Part::Thinking {
        text: "hm".into(),
        provider_block: Some(signed),
    };
    assert_eq!(*parts, [thought, Part::text("Yes.")]);
}
