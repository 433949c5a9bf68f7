//! What a model is told: the body of the request, word for word.
//!
//! `tests/golden/requests/<format>/<name>.json` is what goes out for the chat
//! of that name below; `UPDATE_GOLDEN=1` writes them anew. Whatever the chat,
//! what goes out keeps the rules of its wire format.

mod chats;
mod options;
mod rules;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use tenon_domain::{Message, Part, ToolResult, ToolUse, WireFormat};
use tenon_llm::{ModelRequest, Remote, connect};

use crate::fake::{Act, Fake, ask, tool};
use crate::history::{THIS, any_chat};

use chats::{chats, provider_block, results, says, user, warm};
use rules::validate;

const FORMATS: [WireFormat; 3] = [
    WireFormat::Openai,
    WireFormat::Responses,
    WireFormat::Anthropic,
];

/// The body that goes out for a request.
async fn sent(fake: &Fake, remote: Remote, mut request: ModelRequest) -> Value {
    // As the adapter itself signs what it keeps.
    let maker = format!(
        "{} {} {}",
        remote.format.as_str(),
        remote.base_url,
        remote.model
    );
    request
        .messages
        .iter_mut()
        .for_each(|message| sign(message, &maker));
    let before = fake.asked().len();
    let heard = ask(&*connect(remote.clone()), request).await;
    heard.is_answer("Hello");
    let asked = fake.asked();
    assert_eq!(asked.len(), before + 1);
    let asked = &asked[before];
    let path = match remote.format {
        WireFormat::Openai => "/v1/chat/completions",
        WireFormat::Responses => "/v1/responses",
        WireFormat::Anthropic => "/v1/messages",
    };
    assert_eq!(asked.path, path);
    validate(remote.format, &asked.body).unwrap();
    asked.body.clone()
}

fn sign(message: &mut Message, maker: &str) {
    let Message::Assistant { parts } = message else {
        return;
    };
    for part in parts {
        let provider_block = match part {
            Part::Text { provider_block, .. }
            | Part::Thinking { provider_block, .. }
            | Part::Call { provider_block, .. } => provider_block.as_mut(),
            Part::Opaque { provider_block } => Some(provider_block),
            Part::Image(_) | Part::File { .. } => None,
        };
        if let Some(provider_block) =
            provider_block.filter(|provider_block| provider_block.maker == THIS)
        {
            provider_block.maker = maker.to_owned();
        }
    }
}

async fn fake(format: WireFormat) -> Fake {
    Fake::start([Act::hello(format)]).await
}

fn compare(format: WireFormat, name: &str, body: &Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/requests");
    let path = folder.join(format.as_str()).join(format!("{name}.json"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, serde_json::to_string_pretty(body).unwrap() + "\n").unwrap();
    }
    let expected: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(*body, expected, "{}", path.display());
}

#[tokio::test]
async fn every_chat_is_told_as_it_should_be() {
    for format in FORMATS {
        let fake = fake(format).await;
        for (name, request) in chats(format) {
            let body = sent(&fake, fake.remote(format), request).await;
            compare(format, name, &body);
        }
    }
}

#[tokio::test]
async fn a_chat_with_calls_is_told_also_when_all_tools_are_off() {
    for format in FORMATS {
        let fake = fake(format).await;
        let (_, request) = chats(format)
            .into_iter()
            .find(|(name, _)| *name == "calls-and-results")
            .unwrap();
        let off = ModelRequest {
            tools: Vec::new(),
            ..request.clone()
        };
        compare(
            format,
            "tools-off",
            &sent(&fake, fake.remote(format), off).await,
        );
        // A model that cannot call tools is offered none, and told of past calls in words.
        let remote = Remote {
            tools: ToolUse::None,
            ..fake.remote(format)
        };
        compare(format, "no-tools", &sent(&fake, remote, request).await);
    }
}

#[tokio::test]
async fn white_space_is_not_told_back() {
    let text = |text: &str| Part::Text {
        text: text.into(),
        provider_block: provider_block(
            THIS,
            json!({"type": "text", "text": text, "citations": []}),
        ),
    };
    let fake = fake(WireFormat::Anthropic).await;
    let request = ModelRequest {
        messages: vec![
            user("Hi"),
            says(vec![text("Warm"), text("\n\n"), text("and dry.")]),
            user("Sure?"),
            says(vec![text(" ")]),
            user("Hello?"),
        ],
        ..ModelRequest::default()
    };
    let remote = fake.remote(WireFormat::Anthropic);
    let body = sent(&fake, remote, request).await;
    let texts = |message: &Value| -> Vec<String> {
        let blocks = message["content"].as_array().unwrap().iter();
        blocks
            .map(|block| block["text"].as_str().unwrap().to_owned())
            .collect()
    };
    let told: Vec<Vec<String>> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(texts)
        .collect();
    assert_eq!(
        told,
        [
            vec!["Hi"],
            vec!["Warm", "and dry."],
            vec!["Sure?", "Hello?"]
        ]
    );
}

#[tokio::test]
async fn what_a_person_set_goes_out_and_what_is_ours_stays() {
    let set = json!({
        "temperature": 0.2, "max_tokens": 77, "stream_options": null,
        "model": "stolen", "messages": [], "input": [], "stream": false, "tools": [],
    });
    for format in FORMATS {
        let fake = fake(format).await;
        let remote = Remote {
            parameters: set.as_object().unwrap().clone(),
            ..fake.remote(format)
        };
        let (_, request) = chats(format).swap_remove(0);
        let body = sent(&fake, remote, request).await;
        assert_eq!(body["temperature"], json!(0.2));
        let limit = match format {
            WireFormat::Openai | WireFormat::Anthropic => "max_tokens",
            WireFormat::Responses => "max_output_tokens",
        };
        assert_eq!(body[limit], json!(77));
        assert_eq!(body.get("stream_options"), None);
        assert_eq!(
            (&body["model"], &body["stream"]),
            (&json!("m"), &json!(true))
        );
        assert_eq!(body["tools"].as_array().unwrap().len(), 2);
    }
}

/// What a small model reads of its tools, it pays for with seconds and with room for the chat.
#[tokio::test]
async fn a_small_model_is_told_of_its_tools_in_short() {
    let mut wordy = (*tool("weather")).clone();
    wordy.description = "Tells the weather. Ask for one city at a time.".into();
    wordy.input_schema = json!({"type": "object", "title": "Weather", "properties": {
        "city": {"type": "string", "title": "City", "description": "Where. In English.", "default": ""},
    }})
    .into();
    let request = ModelRequest {
        messages: vec![user("Hi")],
        tools: vec![Arc::new(wordy)],
        ..ModelRequest::default()
    };
    let fake = fake(WireFormat::Openai).await;
    let small = Remote {
        model: "some-3b".into(),
        ..fake.remote(WireFormat::Openai)
    };
    let body = sent(&fake, small, request).await;
    assert_eq!(
        body["tools"],
        json!([{"type": "function", "function": {
            "name": "weather",
            "description": "Tells the weather.",
            "parameters": {"type": "object", "properties": {
                "city": {"type": "string", "description": "Where."},
            }},
        }}])
    );
}

#[tokio::test]
async fn a_key_goes_where_its_format_wants_it() {
    for (format, header) in [
        (WireFormat::Openai, "authorization: bearer sk-1"),
        (WireFormat::Responses, "authorization: bearer sk-1"),
        (WireFormat::Anthropic, "x-api-key: sk-1"),
    ] {
        let fake = fake(format).await;
        let (_, request) = chats(format).swap_remove(0);
        let remote = Remote {
            key: Some("sk-1".into()),
            ..fake.remote(format)
        };
        ask(&*connect(remote), request).await.is_answer("Hello");
        let head = &fake.asked()[0].head;
        assert!(head.contains(header), "{head}");
        assert_eq!(
            head.contains("anthropic-version:"),
            format == WireFormat::Anthropic
        );
    }
}

/// What is said in one request comes back in the next exactly as it was.
#[tokio::test]
async fn what_a_provider_said_is_told_back_to_it_byte_by_byte() {
    let golden = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/golden")
            .join(name);
        fs::read_to_string(path).unwrap()
    };
    let request = ModelRequest {
        messages: vec![user("Hi")],
        tools: vec![tool("weather"), tool("clock")],
        ..ModelRequest::default()
    };
    for (format, name, expected) in [
        (
            WireFormat::Anthropic,
            "anthropic/interleaved-in-order.sse",
            json!([
                {"type": "thinking", "thinking": "First thought.", "signature": "RXEBc2lnMQ=="},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_01A", "name": "weather", "input": {"city": "Oslo"}},
                {"type": "thinking", "thinking": "Second.", "signature": "RXEBc2lnMg=="},
                {"type": "text", "text": "And the clock."},
                {"type": "tool_use", "id": "toolu_02B", "name": "clock", "input": {}},
            ]),
        ),
        (
            WireFormat::Anthropic,
            "anthropic/citations.sse",
            json!([
                {"type": "text", "text": "As is known, "},
                {"type": "text", "text": "grass is green", "citations": [
                    {"type": "char_location", "cited_text": "The grass is green. ", "document_index": 0,
                     "document_title": "Grass", "start_char_index": 0, "end_char_index": 20},
                    {"type": "char_location", "cited_text": "Green.", "document_index": 0,
                     "document_title": "Grass", "start_char_index": 0, "end_char_index": 20},
                ]},
                {"type": "text", "text": "."},
            ]),
        ),
        (
            WireFormat::Anthropic,
            "anthropic/redacted-thinking.sse",
            json!([
                {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a=="},
                {"type": "thinking", "thinking": "Hm", "signature": "c2ln"},
                {"type": "text", "text": "Hello"},
            ]),
        ),
        (
            WireFormat::Anthropic,
            "anthropic/thinking-empty-with-signature.sse",
            json!([
                {"type": "thinking", "thinking": "", "signature": "EqQBCgIYAhIMwithheld=="},
                {"type": "text", "text": "Hello"},
            ]),
        ),
        (
            WireFormat::Responses,
            "responses/thought-text-and-calls.sse",
            json!([
                {"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAAA+/==", "summary": [
                    {"type": "summary_text", "text": "I need the weather."},
                    {"type": "summary_text", "text": "And the clock."},
                ]},
                {"role": "assistant", "content": "I look.", "phase": "commentary"},
                {"type": "function_call", "call_id": "call_a", "name": "weather", "arguments": "{\"city\":\"Oslo\"}"},
                {"type": "function_call", "call_id": "call_b", "name": "clock", "arguments": "{}"},
            ]),
        ),
        (
            WireFormat::Responses,
            "responses/tool-search.sse",
            json!([
                {"type": "tool_search_call", "call_id": null, "execution": "server",
                    "arguments": {"paths": ["sky_1"]}, "status": "completed"},
                {"type": "tool_search_output", "call_id": null, "execution": "server", "status": "completed",
                    "tools": [{"type": "namespace", "name": "sky_1", "description": "Sky", "tools": []}]},
                {"type": "function_call", "call_id": "call_a", "name": "weather", "arguments": "{\"city\":\"Oslo\"}",
                    "namespace": "sky_1"},
            ]),
        ),
        (
            WireFormat::Openai,
            "openai/reasoning-content-then-a-call.sse",
            json!({
                "role": "assistant", "content": null, "reasoning_content": "I need the clock.",
                "tool_calls": [{"id": "call_00_x", "type": "function", "function": {"name": "clock", "arguments": "{}"}}],
            }),
        ),
        (
            WireFormat::Openai,
            "openai/signature-first-id-again-later.sse",
            json!({
                "role": "assistant", "content": null,
                "tool_calls": [{"id": "call_a1", "type": "function", "function": {"name": "clock", "arguments": "{}"},
                    "extra_content": {"google": {"thought_signature": "c2ln"}}}],
            }),
        ),
        (
            WireFormat::Openai,
            "openai/reasoning-openrouter.sse",
            json!({
                "role": "assistant", "content": null,
                "tool_calls": [{"id": "toolu_01", "type": "function", "function": {"name": "clock", "arguments": "{}"}}],
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "Let me ", "format": "anthropic-claude-v1", "index": 0},
                    {"type": "reasoning.text", "text": "look.", "format": "anthropic-claude-v1", "index": 0},
                    {"type": "reasoning.text", "signature": "EtUBCk==", "format": "anthropic-claude-v1", "index": 0},
                ],
            }),
        ),
    ] {
        let fake = Fake::start([Act::stream(&golden(name)), Act::hello(format)]).await;
        let provider = connect(fake.remote(format));
        let parts = ask(&*provider, request.clone()).await.reply.parts;
        let results: Vec<(&str, ToolResult)> = parts
            .iter()
            .filter_map(Part::as_call)
            .map(|call| (call.id.as_str(), warm()))
            .collect();
        let mut next = request.clone();
        let answers = self::results(results);
        next.messages.push(says(parts.clone()));
        next.messages.push(answers);
        ask(&*provider, next).await.is_answer("Hello");
        let body = &fake.asked()[1].body;
        validate(format, body).unwrap();
        let messages = || body["messages"].as_array().unwrap().iter();
        let told = || {
            messages()
                .find(|message| message["role"] == "assistant")
                .unwrap()
        };
        let told = match format {
            WireFormat::Openai => told().clone(),
            WireFormat::Responses => {
                let items = body["input"].as_array().unwrap();
                let is_said = |item: &&Value| {
                    item["role"] != "user" && item["type"] != "function_call_output"
                };
                items.iter().filter(is_said).cloned().collect()
            }
            WireFormat::Anthropic => told()["content"].clone(),
        };
        assert_eq!(told, expected, "{name}");
    }
}

fn tell_any(format: WireFormat, tools: ToolUse, chat: Vec<Message>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let fake = fake(format).await;
        let request = ModelRequest {
            system: String::new(),
            language: None,
            messages: [chat, vec![user("and now?")]].concat(),
            tools: vec![tool("weather")],
            ..ModelRequest::default()
        };
        sent(
            &fake,
            Remote {
                tools,
                ..fake.remote(format)
            },
            request,
        )
        .await;
    });
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_chat_is_told_by_the_rules_of_chat_completions(chat in any_chat(WireFormat::Openai)) {
        tell_any(WireFormat::Openai, ToolUse::Native, chat)?;
    }

    #[test]
    fn any_chat_is_told_by_the_rules_of_responses(chat in any_chat(WireFormat::Responses)) {
        tell_any(WireFormat::Responses, ToolUse::Native, chat)?;
    }

    #[test]
    fn any_chat_is_told_by_the_rules_of_anthropic(chat in any_chat(WireFormat::Anthropic)) {
        tell_any(WireFormat::Anthropic, ToolUse::Native, chat)?;
    }

    #[test]
    fn any_chat_is_told_in_words_where_tools_are_a_form(chat in any_chat(WireFormat::Openai)) {
        tell_any(WireFormat::Openai, ToolUse::Constrained, chat.clone())?;
        tell_any(WireFormat::Openai, ToolUse::Text, chat)?;
    }
}
