//! Tools as a form that every answer must have, for models that cannot call them by themselves.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{
    CallId, Message, Part, StopReason, ToolAnswer, ToolCall, ToolError, ToolId, ToolOutput,
    ToolUse, WireFormat,
};
use tenon_llm::{ModelRequest, Remote, connect};

use crate::fake::{Act, Fake, ReadState, ask, tool};

fn constrained(fake: &Fake) -> Remote {
    Remote {
        tools: ToolUse::Constrained,
        ..fake.remote(WireFormat::Openai)
    }
}

fn user(text: &str) -> Message {
    Message::user(text)
}

fn hi() -> ModelRequest {
    ModelRequest {
        system: "You are Tenon.".into(),
        language: None,
        messages: vec![user("Weather?")],
        tools: vec![tool("weather"), tool("clock")],
        ..ModelRequest::default()
    }
}

/// What comes of an answer in these pieces of content.
async fn said(pieces: &[&str]) -> ReadState {
    let chunk = |piece: &&str| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"delta": {"content": piece}}]})
        )
    };
    let mut stream: String = pieces.iter().map(chunk).collect();
    stream.push_str(
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    let fake = Fake::start([Act::stream(&stream)]).await;
    ask(&*connect(constrained(&fake)), hi()).await
}

fn call(tool: &str, input: Value) -> Vec<Part> {
    vec![Part::call(ToolCall {
        id: CallId::new("call_1"),
        tool_id: ToolId::new(tool),
        input,
    })]
}

#[tokio::test]
async fn a_form_has_one_branch_for_each_tool_and_one_for_a_reply() {
    let fake = Fake::start([Act::hello(WireFormat::Openai)]).await;
    ask(&*connect(constrained(&fake)), hi())
        .await
        .is_answer("Hello");
    let body = &fake.asked()[0].body;
    let arguments = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let branch = |tool: &str, arguments: &Value| {
        json!({
            "type": "object",
            "properties": {"tool": {"type": "string", "enum": [tool]}, "arguments": arguments},
            "required": ["tool", "arguments"],
            "additionalProperties": false,
        })
    };
    let text = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": false,
    });
    let form = json!({"type": "json_schema", "json_schema": {
        "name": "answer",
        "schema": {"type": "object", "anyOf": [
            branch("weather", &arguments),
            branch("clock", &arguments),
            branch("reply", &text),
        ]},
    }});
    assert_eq!(body["response_format"], form);
    assert_eq!(body.get("tools"), None);
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("You are Tenon."), "{system}");
    let place = |text: &str| {
        system
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {system}"))
    };
    let places = [
        "\n- reply: ",
        "\n- weather: Does weather. Arguments: {city: string}",
        "\n- clock: Does clock. Arguments: {city: string}",
        "Answer with one JSON object",
        r#"Hello! → {"tool":"reply","arguments":{"text":"#,
    ]
    .map(place);
    assert!(places.is_sorted(), "the tools, then the rules: {system}");
}

#[tokio::test]
async fn what_happened_is_told_in_the_form_that_is_asked_for() {
    let call = |id: &str| {
        Part::call(ToolCall {
            id: CallId::new(id),
            tool_id: ToolId::new("weather"),
            input: json!({"city": "Oslo"}),
        })
    };
    let answer = |id: &str, result| ToolAnswer {
        call_id: CallId::new(id),
        tool_id: ToolId::new("weather"),
        result,
    };
    let messages = vec![
        user("Weather?"),
        Message::Assistant {
            parts: vec![Part::thinking("Hm."), call("1"), call("2")],
        },
        Message::Tools {
            answers: vec![
                answer("1", Ok(ToolOutput::text("7 degrees"))),
                answer("2", Err(ToolError::failed("no such city"))),
            ],
        },
        Message::Assistant {
            parts: vec![Part::text("7.")],
        },
        user("Thanks"),
    ];
    let fake = Fake::start([Act::hello(WireFormat::Openai)]).await;
    ask(
        &*connect(constrained(&fake)),
        ModelRequest { messages, ..hi() },
    )
    .await
    .is_answer("Hello");
    let told = fake.asked()[0].body["messages"].as_array().unwrap()[1..].to_vec();
    let called = r#"{"tool":"weather","arguments":{"city":"Oslo"}}"#;
    assert_eq!(
        Value::from(told),
        json!([
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": called},
            {"role": "user", "content": "Result of weather:\n7 degrees"},
            {"role": "assistant", "content": called},
            {"role": "user", "content": "Result of weather:\nError: no such city"},
            {"role": "assistant", "content": r#"{"tool":"reply","arguments":{"text":"7."}}"#},
            {"role": "user", "content": "Thanks"},
        ])
    );
}

/// A small model is not to write out which source a tool is from.
#[tokio::test]
async fn tools_are_called_by_their_own_names() {
    let mut prefixed = (*tool("weather")).clone();
    prefixed.id = ToolId::new("mcp_home_weather");
    let tools = vec![Arc::new(prefixed)];
    let stream = format!(
        "data: {}\n\ndata: [DONE]\n\n",
        json!({"choices": [{"delta": {"content": r#"{"tool":"weather","arguments":{"city":"Oslo"}}"#}, "finish_reason": "stop"}]})
    );
    let fake = Fake::start([Act::stream(&stream)]).await;
    let request = ModelRequest { tools, ..hi() };
    let heard = ask(&*connect(constrained(&fake)), request).await;
    assert_eq!(
        heard.reply.parts,
        call("mcp_home_weather", json!({"city": "Oslo"}))
    );
    let body = fake.asked()[0].body.to_string();
    assert!(!body.contains("mcp_home"), "{body}");
}

#[tokio::test]
async fn a_reply_comes_as_it_is_written() {
    let heard = said(&[
        "{\"tool\": \"re",
        "ply\", \"arguments\": {\"text\": \"Hel",
        "lo\\",
        "n\\ud83d",
        "\\ude00",
        " you",
        "\"",
        "}}",
    ])
    .await;
    heard.is_answer("Hello\n😀 you");
    assert_eq!(heard.pieces, ["Hel", "lo", "\n", "😀", " you"]);
    assert_eq!(
        (heard.reply.parts, heard.reply.stop),
        (vec![Part::text("Hello\n😀 you")], Some(StopReason::End))
    );
}

#[tokio::test]
async fn a_call_comes_out_as_a_call() {
    for pieces in [
        &[
            "{\"tool\":\"weather\",",
            "\"arguments\":{\"city\":\"Oslo\"}}",
        ][..],
        &[
            "\n{ \"arguments\": {\"city\": \"Oslo\"}, ",
            "\"tool\": \"weather\" }\n",
        ],
        &[
            "<think>hm</think>",
            "{\"tool\":\"weather\",\"arguments\":{\"city\":\"Oslo\"}}",
        ],
        &[
            "```json\n{\"tool\":\"weather\",",
            "\"arguments\":{\"city\":\"Oslo\"}}\n```",
        ],
    ] {
        let heard = said(pieces).await;
        assert!(heard.error.is_none(), "{:?}", heard.error);
        let parts: Vec<Part> = heard
            .reply
            .parts
            .into_iter()
            .filter(|part| !matches!(part, Part::Thinking { .. }))
            .collect();
        assert_eq!(
            parts,
            call("weather", json!({"city": "Oslo"})),
            "{pieces:?}"
        );
        assert_eq!(heard.reply.stop, Some(StopReason::ToolCalls));
    }
}

#[tokio::test]
async fn a_call_without_arguments_has_none() {
    let heard = said(&["{\"tool\":\"clock\"}"]).await;
    assert_eq!(heard.reply.parts, call("clock", json!({})));
}

#[tokio::test]
async fn a_server_that_ignores_the_form_is_heard_all_the_same() {
    let heard = said(&["It is ", "7 degrees."]).await;
    heard.is_answer("It is 7 degrees.");
    assert_eq!(
        heard.pieces,
        ["It is ", "7 degrees."],
        "whole text is never held back"
    );
    said(&["{\"answer\": 7}"])
        .await
        .is_answer("{\"answer\": 7}");
    said(&["{not json"]).await.is_answer("{not json");
    said(&["`7` degrees"]).await.is_answer("`7` degrees");
}

#[tokio::test]
async fn without_tools_there_is_no_form() {
    let fake = Fake::start([Act::hello(WireFormat::Openai)]).await;
    ask(
        &*connect(constrained(&fake)),
        ModelRequest {
            tools: Vec::new(),
            ..hi()
        },
    )
    .await
    .is_answer("Hello");
    assert_eq!(
        fake.asked()[0].body,
        json!({
            "model": "m",
            "stream": true,
            "stream_options": {"include_usage": true},
            "messages": [
                {"role": "system", "content": "You are Tenon."},
                {"role": "user", "content": "Weather?"},
            ],
        })
    );
}

/// There is no such form in its language; its models can call tools.
#[tokio::test]
async fn anthropic_is_asked_as_ever() {
    let fake = Fake::start([Act::hello(WireFormat::Anthropic)]).await;
    let native = fake.remote(WireFormat::Anthropic);
    let constrained = Remote {
        tools: ToolUse::Constrained,
        ..native.clone()
    };
    for remote in [native, constrained] {
        ask(&*connect(remote), hi()).await.is_answer("Hello");
    }
    let asked = fake.asked();
    assert_eq!(asked[0].body, asked[1].body);
}
