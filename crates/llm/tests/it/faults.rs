//! Servers that are busy, broken, strict or strange, and what becomes of a question to them.

mod busy;
mod embeddings;
mod length;
mod lessons;
mod sentences;

use serde_json::{Value, json};
use tenon_domain::{
    CallId, Content, Message, Part, ToolAnswer, ToolCall, ToolId, ToolOutput, WireFormat,
};
use tenon_llm::{ModelRequest, connect};

use crate::fake::{Fake, ReadState, ask, tool};

const FORMATS: [WireFormat; 3] = [
    WireFormat::Openai,
    WireFormat::Responses,
    WireFormat::Anthropic,
];

/// Short, as tests go.
const SOON: &str = "retry-after: 0.05\r\n";

fn hi() -> ModelRequest {
    ModelRequest {
        messages: vec![Message::user("Hi")],
        tools: vec![tool("weather"), tool("clock")],
        ..ModelRequest::default()
    }
}

async fn ask_for(fake: &Fake, format: WireFormat, request: ModelRequest) -> ReadState {
    ask(&*connect(fake.remote(format)), request).await
}

/// One answer, once, and this sentence.
#[track_caller]
fn once(fake: &Fake, heard: &ReadState, sentence: &str) {
    assert_eq!(heard.refused(), sentence);
    assert_eq!(fake.asked().len(), 1, "{sentence}");
    assert_eq!(heard.text(), "");
}

fn names(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap().iter();
    tools
        .filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()))
        .collect()
}

fn with_image() -> ModelRequest {
    let call = ToolCall {
        id: CallId::new("call-1"),
        tool_id: ToolId::new("weather"),
        input: json!({}),
    };
    let picture = Content::Image {
        media_type: "image/png".into(),
        data: "aGk=".into(),
    };
    let answer = ToolAnswer {
        call_id: CallId::new("call-1"),
        tool_id: ToolId::new("weather"),
        result: Ok(ToolOutput {
            content: vec![picture],
        }),
    };
    let mut request = hi();
    request.messages.push(Message::Assistant {
        parts: vec![Part::call(call)],
    });
    request.messages.push(Message::Tools {
        answers: vec![answer],
    });
    request
}
