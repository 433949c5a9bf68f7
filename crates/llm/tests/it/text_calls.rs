//! Calls that a server leaves in the text, and tools that it is told of in the prompt.

use serde_json::{Value, json};
use tenon_domain::{
    CallId, Message, Part, StopReason, ToolAnswer, ToolCall, ToolId, ToolOutput, ToolUse,
    WireFormat,
};
use tenon_llm::probe::{self, ProbeResult};
use tenon_llm::{ModelRequest, Remote, connect};

use crate::fake::{Act, Fake, ReadState, ask, begun, said, stream, tool};

const BLOCK: &str = "```json\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n```";

const RESULT: &str = "Result of weather:\n7 degrees\n\n\
     Answer my question with it, in words and in its language, or make the next call.";

fn user(text: &str) -> Message {
    Message::user(text)
}

fn hi() -> ModelRequest {
    ModelRequest {
        system: "You are Tenon.".into(),
        messages: vec![user("Weather?")],
        tools: vec![tool("weather"), tool("clock")],
        ..ModelRequest::default()
    }
}

fn weather() -> ToolCall {
    ToolCall {
        id: CallId::new("call_1"),
        tool_id: ToolId::new("weather"),
        input: json!({"city": "Oslo"}),
    }
}

async fn heard(text: &str, request: ModelRequest) -> ReadState {
    let fake = Fake::start([Act::stream(&said(WireFormat::Openai, text))]).await;
    ask(&*connect(fake.remote(WireFormat::Openai)), request).await
}

fn calls(heard: &ReadState) -> Vec<&ToolCall> {
    heard.reply.parts.iter().filter_map(Part::as_call).collect()
}

/// What the model is told after it said `parts` and the tool answered.
async fn told_back(parts: Vec<Part>, remote: impl Fn(Remote) -> Remote) -> Value {
    let answers = parts
        .iter()
        .filter_map(Part::as_call)
        .map(|call| ToolAnswer {
            call_id: call.id.clone(),
            tool_id: call.tool_id.clone(),
            result: Ok(ToolOutput::text("7 degrees")),
        })
        .collect();
    let messages = vec![
        user("Weather?"),
        Message::Assistant { parts },
        Message::Tools { answers },
    ];
    let fake = Fake::start([Act::hello(WireFormat::Openai)]).await;
    let remote = remote(fake.remote(WireFormat::Openai));
    let request = ModelRequest { messages, ..hi() };
    ask(&*connect(remote), request).await.is_answer("Hello");
    let body = &fake.asked()[0].body;
    Value::from(body["messages"].as_array().unwrap()[1..].to_vec())
}

#[tokio::test]
async fn a_call_in_the_text_is_a_call_and_the_words_before_it_are_shown() {
    let heard = heard(&format!("I look.\n{BLOCK}"), hi()).await;
    assert_eq!(heard.pieces.concat(), "I look.\n");
    assert_eq!(calls(&heard), [&weather()]);
    assert_eq!(heard.reply.stop, Some(StopReason::ToolCalls));
}

#[tokio::test]
async fn an_answer_may_be_cut_at_every_byte() {
    let events = format!(
        "{}{}",
        begun(
            WireFormat::Openai,
            "Grüße. <tool_call>{\"name\": \"weather\", \"argum"
        ),
        said(
            WireFormat::Openai,
            "ents\": {\"city\": \"Oslo\"}}</tool_call>"
        ),
    );
    let bytes: Vec<Vec<u8>> = stream(&events).chunks(1).map(<[u8]>::to_vec).collect();
    let fake = Fake::start([Act::Say(bytes)]).await;
    let heard = ask(&*connect(fake.remote(WireFormat::Openai)), hi()).await;
    assert_eq!(heard.pieces.concat(), "Grüße. ");
    assert_eq!(calls(&heard), [&weather()]);
}

#[tokio::test]
async fn without_tools_a_call_is_text() {
    let request = ModelRequest {
        tools: Vec::new(),
        ..hi()
    };
    heard(BLOCK, request).await.is_answer(BLOCK);
}

#[tokio::test]
async fn a_call_is_told_back_as_it_was_written() {
    let text = format!("I look.\n{BLOCK}");
    // The block is this server's own: the address belongs to it.
    let fake = Fake::start([Act::stream(&said(WireFormat::Openai, &text))]).await;
    let first = fake.remote(WireFormat::Openai);
    let parts = ask(&*connect(first.clone()), hi()).await.reply.parts;

    let as_written = json!([
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": text},
        {"role": "user", "content": RESULT},
    ]);
    let made_here = |parts: Vec<Part>, maker: &str| -> Vec<Part> {
        let mut parts = parts;
        for part in &mut parts {
            if let Part::Call {
                provider_block: Some(block),
                ..
            } = part
            {
                block.maker = maker.to_owned();
            }
        }
        parts
    };
    let fake = Fake::start([Act::hello(WireFormat::Openai)]).await;
    let maker = format!("openai {} m", fake.remote(WireFormat::Openai).base_url);
    let request = ModelRequest {
        messages: vec![
            user("Weather?"),
            Message::Assistant {
                parts: made_here(parts.clone(), &maker),
            },
            Message::Tools {
                answers: vec![ToolAnswer {
                    call_id: weather().id,
                    tool_id: weather().tool_id,
                    result: Ok(ToolOutput::text("7 degrees")),
                }],
            },
        ],
        ..hi()
    };
    let heard = ask(&*connect(fake.remote(WireFormat::Openai)), request).await;
    heard.is_answer("Hello");
    let body = &fake.asked()[0].body;
    let told = Value::from(body["messages"].as_array().unwrap()[1..].to_vec());
    assert_eq!(told, as_written);
    assert!(
        body.get("tools").is_some(),
        "they are still offered natively"
    );

    // To another model it is a call like any other.
    let told = told_back(parts, |remote| remote).await;
    assert_eq!(told[1]["content"], "I look.\n");
    assert_eq!(told[1]["tool_calls"][0]["function"]["name"], "weather");
    assert_eq!(told[2]["role"], "tool");
}

#[tokio::test]
async fn tools_stand_in_the_prompt_where_they_are_text() {
    let as_text = |remote| Remote {
        tools: ToolUse::Text,
        ..remote
    };
    let call =
        "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>";
    let fake = Fake::start([Act::stream(&said(WireFormat::Openai, call))]).await;
    let heard = ask(&*connect(as_text(fake.remote(WireFormat::Openai))), hi()).await;
    assert_eq!(calls(&heard), [&weather()]);
    let body = &fake.asked()[0].body;
    assert_eq!(
        (body.get("tools"), body.get("response_format")),
        (None, None)
    );
    let system = body["messages"][0]["content"].as_str().unwrap();
    let entry = json!({"type": "function", "function": {
        "name": "clock",
        "description": "Does clock.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }});
    assert!(
        system.starts_with("You are Tenon.\n\n# Tools\n\n"),
        "{system}"
    );
    assert!(system.contains(&format!("\n{entry}\n</tools>")), "{system}");

    // Calls of other times and models are told in the same form.
    let parts = vec![Part::text("I look."), Part::call(weather())];
    assert_eq!(
        told_back(parts, as_text).await,
        json!([
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": "I look.\n<tool_call>\n{\"name\":\"weather\",\"arguments\":{\"city\":\"Oslo\"}}\n</tool_call>"},
            {"role": "user", "content": RESULT},
        ])
    );
}

/// What a test finds of a server that gives these answers to the trials of calls.
async fn tested(acts: impl IntoIterator<Item = Act>) -> (ToolUse, bool) {
    let acts = [Act::hello(WireFormat::Openai)].into_iter().chain(acts);
    let fake = Fake::start(acts).await;
    let found = probe::run(&fake.remote(WireFormat::Openai), |_| {}).await;
    let ProbeResult {
        tools, is_in_text, ..
    } = found.unwrap();
    (tools, is_in_text)
}

#[tokio::test]
async fn a_test_finds_the_way_in_which_calls_come() {
    let hello = || Act::hello(WireFormat::Openai);
    let say = |text: &str| Act::stream(&said(WireFormat::Openai, text));
    let block = "```json\n{\"name\": \"open_door\", \"arguments\": {\"number\": 7}}\n```";
    assert_eq!(tested([say(block)]).await, (ToolUse::Native, true));
    assert_eq!(
        tested([hello(), hello(), say(block)]).await,
        (ToolUse::Text, true)
    );
    assert_eq!(
        tested([hello(), hello(), hello()]).await,
        (ToolUse::None, false)
    );
    // A server that takes no tools is asked again with the tools in the prompt; that is not native.
    let refuse = Act::json(
        400,
        &json!({"error": {"message": "m does not support tools"}}),
    );
    assert_eq!(
        tested([refuse, say(block), hello(), say(block)]).await,
        (ToolUse::Text, true)
    );
}
