//! What a request asks of the generation: it counts, or is refused by its name.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::StopReason;
use tenon_llm::scripted::{ScriptStep, Scripted};
use tenon_llm::{GenerationOptions, ModelDelta, OutputFormat, ToolChoice};

use crate::server::Server;

/// Asks with these options, and is refused because of one.
async fn refused(server: &Server, options: Value, code: &str, param: &str) {
    let mut body = json!({"messages": [{"role": "user", "content": "hi"}]});
    let fields = options.as_object().cloned().unwrap();
    body.as_object_mut().unwrap().extend(fields);
    let (status, answer) = server.post("/v1/chat/completions", body).await;
    assert_eq!(status, 400, "{options}: {answer}");
    let error = &answer["error"];
    assert_eq!(error["type"], "invalid_request_error", "{options}");
    assert_eq!(
        (&error["code"], &error["param"]),
        (&json!(code), &json!(param)),
        "{options}"
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(&format!("`{param}`")), "{message}");
}

#[tokio::test]
async fn what_a_request_asks_of_the_generation_reaches_the_model() {
    let sum = ScriptStep::call(0, "builtin_calculate", &json!({"expression": "6*7"}));
    let length = ScriptStep::Say(ModelDelta::Stop(StopReason::Length));
    let model = Arc::new(Scripted::new([
        vec![sum, ScriptStep::stop()],
        vec![ScriptStep::text("It is"), length],
    ]));
    let server = Server::with_model(model.clone()).await;
    let schema = json!({"name": "sum", "schema": {"type": "object"}, "strict": true});
    let body = json!({
        "messages": [{"role": "user", "content": "what is 6*7"}],
        "max_completion_tokens": 5, "max_tokens": 7, "temperature": 0.5, "top_p": 0.25, "seed": -3, "stop": "END",
        "tool_choice": "required", "parallel_tool_calls": false, "presence_penalty": null,
        "response_format": {"type": "json_schema", "json_schema": schema},
        "frequency_penalty": 1.5, "logit_bias": {"7": -100}, "reasoning_effort": "low",
        "n": 1, "logprobs": false, "user": "ada", "store": false,
    });
    let (status, answer) = server.post("/v1/chat/completions", body).await;
    assert_eq!(status, 200, "{answer}");
    let choice = &answer["choices"][0];
    assert_eq!(choice["message"]["content"], "It is", "{answer}");
    assert_eq!(choice["finish_reason"], "length", "{answer}");

    let asked = model.requests();
    let sampling =
        json!({"frequency_penalty": 1.5, "logit_bias": {"7": -100}, "reasoning_effort": "low"});
    let expected = GenerationOptions {
        max_tokens: Some(5),
        temperature: Some(0.5),
        top_p: Some(0.25),
        seed: Some(-3),
        stop: vec!["END".into()],
        tool_choice: Some(ToolChoice::Required),
        parallel_tool_calls: Some(false),
        response_format: Some(OutputFormat::JsonSchema(schema)),
        sampling: sampling.as_object().cloned().unwrap(),
    };
    assert_eq!(asked[0].options, expected);
    // A call that is required is required once.
    let then = GenerationOptions {
        tool_choice: None,
        ..expected
    };
    assert_eq!(asked[1].options, then);
}

#[tokio::test]
async fn an_option_that_cannot_count_is_refused_by_its_name() {
    let model = Arc::new(Scripted::new([]));
    let server = Server::with_model(model.clone()).await;
    let check = async |options: Value, code: &str, param: &str| {
        refused(&server, options, code, param).await
    };
    for (name, value) in [
        ("n", json!(2)),
        ("logprobs", json!(true)),
        ("top_logprobs", json!(3)),
        ("functions", json!([{"name": "a"}])),
        ("function_call", json!("auto")),
        ("audio", json!({"voice": "alloy"})),
        ("modalities", json!(["text", "audio"])),
        ("web_search_options", json!({})),
    ] {
        check(json!({ name: value }), "unsupported_parameter", name).await;
    }
    for (name, value) in [
        ("max_tokens", json!(0)),
        ("max_completion_tokens", json!("5")),
        ("temperature", json!(2.5)),
        ("top_p", json!(-1)),
        ("seed", json!("x")),
        ("stop", json!(["a", "b", "c", "d", "e"])),
        ("stop", json!("")),
        ("parallel_tool_calls", json!("no")),
        ("response_format", json!({"type": "xml"})),
        ("response_format", json!({"type": "json_schema"})),
        ("logit_bias", json!([1])),
        ("frequency_penalty", json!("high")),
        ("tool_choice", json!("any")),
        (
            "tool_choice",
            json!({"type": "function", "function": {"name": "calculate"}}),
        ),
    ] {
        check(json!({ name: value }), "invalid_value", name).await;
    }
    let tool = json!({"type": "function", "function": {"name": "a"}});
    let other = json!({"type": "function", "function": {"name": "b"}});
    check(
        json!({"tools": [tool], "tool_choice": other}),
        "invalid_value",
        "tool_choice",
    )
    .await;
    check(
        json!({"tool_ids": [], "tool_choice": "required"}),
        "invalid_value",
        "tool_choice",
    )
    .await;
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn the_assistant_that_is_built_in_is_no_language_model() {
    let server = Server::start().await;
    for (name, value) in [
        ("response_format", json!({"type": "json_object"})),
        ("tool_choice", json!("required")),
        ("parallel_tool_calls", json!(false)),
        ("logit_bias", json!({"7": 1})),
    ] {
        refused(
            &server,
            json!({ name: value }),
            "model_option_unsupported",
            name,
        )
        .await;
    }
    let hi = json!({"role": "user", "content": "hi"});
    let short = json!({"messages": [hi], "max_tokens": 2, "seed": 1, "temperature": 0});
    let (status, answer) = server.post("/v1/chat/completions", short).await;
    assert_eq!(status, 200, "{answer}");
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "length", "{answer}");
    let text = choice["message"]["content"].as_str().unwrap();
    assert_eq!(text.chars().count(), 8, "{text}");
}
