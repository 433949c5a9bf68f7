//! What one request asks of the generation, as it goes out.

use serde_json::{Map, Value, json};
use tenon_domain::{ToolId, ToolUse, WireFormat};
use tenon_llm::{GenerationOptions, ModelRequest, OutputFormat, Remote, ToolChoice, connect};

use super::chats::user;
use super::{FORMATS, compare, fake, sent};
use crate::fake::{Act, Fake, ask, tool};

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn request(options: GenerationOptions) -> ModelRequest {
    ModelRequest {
        messages: vec![user("Weather?")],
        tools: vec![tool("weather"), tool("clock")],
        options,
        ..ModelRequest::default()
    }
}

/// All that a format has a word for.
fn all_options(format: WireFormat) -> GenerationOptions {
    let both = GenerationOptions {
        max_tokens: Some(5),
        temperature: Some(0.5),
        top_p: Some(0.25),
        stop: vec!["END".into()],
        tool_choice: Some(ToolChoice::Required),
        parallel_tool_calls: Some(false),
        sampling: object(json!({"top_k": 3})),
        ..GenerationOptions::default()
    };
    match format {
        WireFormat::Anthropic => both,
        WireFormat::Responses => GenerationOptions {
            stop: Vec::new(),
            response_format: Some(OutputFormat::JsonSchema(
                json!({"name": "city", "schema": {"type": "object"}, "strict": true}),
            )),
            sampling: object(json!({"reasoning_effort": "low", "verbosity": "high"})),
            ..both
        },
        WireFormat::Openai => GenerationOptions {
            seed: Some(7),
            response_format: Some(OutputFormat::JsonSchema(
                json!({"name": "city", "schema": {"type": "object"}, "strict": true}),
            )),
            sampling: object(json!({"frequency_penalty": 0.5, "logit_bias": {"50256": -100}})),
            ..both
        },
    }
}

#[tokio::test]
async fn options_go_out_and_win_over_the_models_own_parameters() {
    for format in FORMATS {
        let fake = fake(format).await;
        let remote = Remote {
            parameters: object(json!({"max_tokens": 900, "temperature": 1, "top_p": 1})),
            ..fake.remote(format)
        };
        let options = all_options(format);
        assert_eq!(
            connect(remote.clone()).unsupported_option(&options, true),
            None
        );
        compare(
            format,
            "options",
            &sent(&fake, remote, request(options)).await,
        );
    }
}

#[tokio::test]
async fn a_choice_of_one_tool_offers_that_one_alone() {
    for (format, choice) in [
        (WireFormat::Openai, json!("required")),
        (WireFormat::Responses, json!("required")),
        (
            WireFormat::Anthropic,
            json!({"type": "tool", "name": "clock"}),
        ),
    ] {
        let fake = fake(format).await;
        let options = GenerationOptions {
            tool_choice: Some(ToolChoice::Tool(ToolId::new("clock"))),
            ..GenerationOptions::default()
        };
        let body = sent(&fake, fake.remote(format), request(options)).await;
        assert_eq!(body["tools"].as_array().unwrap().len(), 1, "{body}");
        assert_eq!(body["tool_choice"], choice);
        // And none offers none; servers refuse a choice where there is nothing to choose from.
        let options = GenerationOptions {
            tool_choice: Some(ToolChoice::None),
            parallel_tool_calls: Some(true),
            ..GenerationOptions::default()
        };
        let body = sent(&fake, fake.remote(format), request(options)).await;
        for field in ["tools", "tool_choice", "parallel_tool_calls"] {
            assert_eq!(body.get(field), None, "{body}");
        }
    }
}

#[tokio::test]
async fn a_model_that_fills_in_a_form_is_held_to_a_call_by_the_form() {
    let fake = Fake::start([Act::hello(WireFormat::Openai)]).await;
    let remote = Remote {
        tools: ToolUse::Constrained,
        ..fake.remote(WireFormat::Openai)
    };
    let with = |choice: ToolChoice| GenerationOptions {
        tool_choice: Some(choice),
        stop: vec!["\n".into()],
        ..GenerationOptions::default()
    };
    let formats = [ToolChoice::Auto, ToolChoice::Required, ToolChoice::None].map(with);
    let mut bodies = Vec::new();
    for options in formats {
        ask(&*connect(remote.clone()), request(options)).await;
        bodies.push(fake.asked().last().unwrap().body.clone());
    }
    let form = |body: &Value| body["response_format"].to_string();
    assert!(form(&bodies[0]).contains("reply"), "{}", bodies[0]);
    assert!(form(&bodies[1]).contains("clock"), "{}", bodies[1]);
    assert!(!bodies[1].to_string().contains("reply"), "{}", bodies[1]);
    assert_eq!(bodies[2].get("response_format"), None);
    // A form may hold the sequence without meaning it; an answer in plain words ends there.
    assert_eq!(bodies[1].get("stop"), None);
    assert_eq!(bodies[2]["stop"], json!(["\n"]));
    // Without tools the form is the client's.
    let options = GenerationOptions {
        response_format: Some(OutputFormat::JsonObject),
        ..with(ToolChoice::None)
    };
    assert_eq!(
        connect(remote.clone()).unsupported_option(&options, false),
        None
    );
    ask(&*connect(remote), request(options)).await;
    let body = fake.asked().last().unwrap().body.clone();
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
}

#[tokio::test]
async fn what_a_model_cannot_be_asked_for_is_named() {
    let check = |format: WireFormat, tools: ToolUse, options: GenerationOptions, name: &str| {
        let remote = Remote {
            tools,
            ..crate::fake::remote(format, "http://127.0.0.1:1/v1")
        };
        let fault = connect(remote).unsupported_option(&options, true);
        assert_eq!(fault.unwrap().option(), name, "{options:?}");
    };
    let none = GenerationOptions::default;
    let json_object = || GenerationOptions {
        response_format: Some(OutputFormat::JsonObject),
        ..none()
    };
    let required = GenerationOptions {
        tool_choice: Some(ToolChoice::Required),
        ..none()
    };
    let (openai, anthropic) = (WireFormat::Openai, WireFormat::Anthropic);
    let responses = WireFormat::Responses;
    check(openai, ToolUse::None, required.clone(), "tool_choice");
    check(openai, ToolUse::Text, required, "tool_choice");
    check(openai, ToolUse::Text, json_object(), "response_format");
    check(
        openai,
        ToolUse::Constrained,
        json_object(),
        "response_format",
    );
    check(anthropic, ToolUse::Native, json_object(), "response_format");
    let seed = GenerationOptions {
        seed: Some(7),
        ..none()
    };
    check(responses, ToolUse::Native, seed.clone(), "seed");
    check(anthropic, ToolUse::Native, seed, "seed");
    let stop = GenerationOptions {
        stop: vec!["END".into()],
        ..none()
    };
    check(responses, ToolUse::Native, stop, "stop");
    let hot = GenerationOptions {
        temperature: Some(1.5),
        ..none()
    };
    check(anthropic, ToolUse::Native, hot, "temperature");
    let biased = GenerationOptions {
        sampling: object(json!({"top_k": 3, "logit_bias": {}})),
        ..none()
    };
    check(anthropic, ToolUse::Native, biased.clone(), "logit_bias");
    let biased = GenerationOptions {
        sampling: object(json!({"verbosity": "low", "logit_bias": {}})),
        ..biased
    };
    check(responses, ToolUse::Native, biased, "logit_bias");
}

#[tokio::test]
async fn an_option_goes_out_under_the_name_that_a_server_knows() {
    let said = "Unsupported parameter: 'max_tokens' is not supported with this model. \
                Use 'max_completion_tokens' instead.";
    let stop = "Unsupported parameter: 'stop' is not supported with this model.";
    let refuse = |said: &str| {
        let error =
            json!({"message": said, "type": "invalid_request_error", "param": null, "code": null});
        Act::json(400, &json!({"error": error}))
    };
    let hello = Act::hello(WireFormat::Openai);
    let fake = Fake::start([refuse(said), refuse(stop), hello]).await;
    let provider = connect(fake.remote(WireFormat::Openai));
    let options = GenerationOptions {
        max_tokens: Some(5),
        stop: vec!["END".into()],
        ..GenerationOptions::default()
    };
    // The second request knows it from the start.
    for asked in [3, 4] {
        let heard = ask(&*provider, request(options.clone())).await;
        heard.is_answer("Hello");
        let bodies = fake.asked();
        assert_eq!(bodies.len(), asked);
        let body = &bodies[asked - 1].body;
        assert_eq!(body["max_completion_tokens"], 5, "{body}");
        assert_eq!((body.get("max_tokens"), body.get("stop")), (None, None));
    }
}
