//! What a model is told: the body of the request, word for word.
//!
//! `tests/golden/requests/<format>/<name>.json` is what goes out for the chat
//! of that name below; `UPDATE_GOLDEN=1` writes them anew. Whatever the chat,
//! what goes out keeps the rules of its wire format.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use tenon_domain::{
    CallId, Content, Kept, Message, Part, ToolAnswer, ToolCall, ToolError, ToolId, ToolOutput,
    ToolResult, ToolUse, WireFormat,
};
use tenon_llm::{Remote, Request, connect};

use crate::fake::{Act, Fake, ask, tool};
use crate::history::{THIS, any_chat};

const BOTH: [WireFormat; 2] = [WireFormat::Openai, WireFormat::Anthropic];

/// The body that goes out for a request.
async fn sent(fake: &Fake, remote: Remote, mut request: Request) -> Value {
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
        let kept = match part {
            Part::Text { kept, .. } | Part::Thinking { kept, .. } | Part::Call { kept, .. } => {
                kept.as_mut()
            }
            Part::Opaque { kept } => Some(kept),
        };
        if let Some(kept) = kept.filter(|kept| kept.maker == THIS) {
            kept.maker = maker.to_owned();
        }
    }
}

async fn fake(format: WireFormat) -> Fake {
    Fake::start([Act::hello(format)]).await
}

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn says(parts: Vec<Part>) -> Message {
    Message::Assistant { parts }
}

fn kept(maker: &str, block: Value) -> Option<Kept> {
    Some(Kept {
        maker: maker.into(),
        block,
    })
}

fn call(id: &str, input: Value, kept: Option<Kept>) -> Part {
    Part::Call {
        call: ToolCall {
            id: CallId::new(id),
            tool_id: ToolId::new("weather"),
            input,
        },
        kept,
    }
}

fn results(results: Vec<(&str, ToolResult)>) -> Message {
    let answers = results.into_iter().map(|(id, result)| ToolAnswer {
        call_id: CallId::new(id),
        tool_id: ToolId::new("weather"),
        result,
    });
    Message::Tools {
        answers: answers.collect(),
    }
}

fn oslo() -> Value {
    json!({"city": "Oslo"})
}

fn warm() -> ToolResult {
    Ok(ToolOutput::text("7 degrees"))
}

/// Chats, each with one thing in it that has to be written with care.
fn chats(format: WireFormat) -> Vec<(&'static str, Request)> {
    let chat = |name: &'static str, messages: Vec<Message>| {
        let request = Request {
            system: "You are Tenon.".into(),
            messages,
            tools: vec![tool("weather"), tool("clock")],
        };
        (name, request)
    };
    let own = |block: Value| kept(THIS, block);
    let foreign = |block: Value| kept("another", block);
    let (thought, secret) = match format {
        WireFormat::Openai => (
            json!({"field": "reasoning_content"}),
            json!({"reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "signature": "c2ln+/=="}]}),
        ),
        WireFormat::Anthropic => (
            json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln+/=="}),
            json!({"type": "redacted_thinking", "data": "ZGF0YQ+/=="}),
        ),
    };
    let thinking = |kept: Option<Kept>| Part::Thinking {
        text: "Hm.".into(),
        kept,
    };
    let search = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"encrypted_content": "Eq+/=="}]});
    let cited = json!({"type": "text", "text": "It is 7 degrees.", "citations": [{"type": "web_search_result_location", "encrypted_index": "Eo8B=="}]});
    vec![
        chat(
            "text",
            vec![
                user("Hi"),
                says(vec![Part::text("Hello!")]),
                user("How are you?"),
            ],
        ),
        chat(
            "calls-and-results",
            vec![
                user("Weather?"),
                says(vec![
                    Part::text("I look."),
                    call("tenon-1", oslo(), own(json!({"id": "provider-1"}))),
                    call("tenon-2", json!({"city": "Rome"}), None),
                ]),
                results(vec![
                    ("tenon-1", warm()),
                    ("tenon-2", Ok(ToolOutput::json(json!({"degrees": 20})))),
                ]),
                says(vec![Part::text("7 and 20.")]),
                user("Thanks"),
            ],
        ),
        chat(
            "thinking-within-the-turn",
            vec![
                user("Weather?"),
                says(vec![
                    Part::Opaque {
                        kept: own(secret.clone()).unwrap(),
                    },
                    thinking(own(thought.clone())),
                    Part::text("I look."),
                    call("tenon-1", oslo(), own(json!({"id": "provider-1"}))),
                ]),
                results(vec![("tenon-1", warm())]),
            ],
        ),
        chat(
            "thinking-of-an-older-turn",
            vec![
                user("Weather?"),
                says(vec![thinking(own(thought.clone())), Part::text("Cold.")]),
                user("Thanks"),
            ],
        ),
        chat(
            "stopped-while-thinking",
            vec![
                user("Weather?"),
                says(vec![thinking(own(thought.clone()))]),
                user("Never mind."),
            ],
        ),
        chat(
            "began-elsewhere",
            vec![
                user("Weather?"),
                says(vec![
                    Part::Opaque {
                        kept: foreign(secret).unwrap(),
                    },
                    thinking(foreign(thought)),
                    Part::Text {
                        text: "I look.".into(),
                        kept: foreign(cited.clone()),
                    },
                    Part::Opaque {
                        kept: foreign(search.clone()).unwrap(),
                    },
                    call(
                        "tenon-1",
                        oslo(),
                        foreign(json!({"id": "foreign-1", "extra_content": {"x": 1}})),
                    ),
                ]),
                results(vec![("tenon-1", warm())]),
            ],
        ),
        chat(
            "results-with-an-image",
            vec![
                user("Show me"),
                says(vec![
                    call("tenon-1", oslo(), None),
                    call("tenon-2", oslo(), None),
                ]),
                results(vec![
                    (
                        "tenon-1",
                        Ok(ToolOutput {
                            content: vec![
                                Content::Text {
                                    text: "The harbour:".into(),
                                },
                                Content::Image {
                                    media_type: "image/png".into(),
                                    data: "aGk=".into(),
                                },
                            ],
                        }),
                    ),
                    (
                        "tenon-2",
                        Ok(ToolOutput {
                            content: vec![Content::Image {
                                media_type: "image/tiff".into(),
                                data: "aGk=".into(),
                            }],
                        }),
                    ),
                ]),
                user("Nice"),
            ],
        ),
        chat(
            "results-that-failed",
            vec![
                user("Weather?"),
                says(vec![
                    call("tenon-1", oslo(), None),
                    call("tenon-2", oslo(), None),
                ]),
                results(vec![
                    ("tenon-1", Err(ToolError::failed("no such city"))),
                    ("tenon-2", Ok(ToolOutput::default())),
                ]),
            ],
        ),
        chat(
            "arguments-that-are-no-json",
            vec![
                user("Weather?"),
                says(vec![
                    call("tenon-1", json!("{\"city\": Oslo"), None),
                    call("tenon-2", json!([1]), None),
                ]),
                results(vec![
                    (
                        "tenon-1",
                        Err(ToolError::invalid_input("the input is no JSON")),
                    ),
                    (
                        "tenon-2",
                        Err(ToolError::invalid_input("the input is no object")),
                    ),
                ]),
            ],
        ),
        chat(
            "stopped-call",
            vec![
                user("Weather?"),
                says(vec![call(
                    "tenon-1",
                    oslo(),
                    own(json!({"id": "provider-1"})),
                )]),
                user("Stop that."),
            ],
        ),
        chat(
            "repeated-provider-ids",
            vec![
                user("Weather?"),
                says(vec![call("tenon-1", oslo(), own(json!({"id": "call_0"})))]),
                results(vec![("tenon-1", warm())]),
                says(vec![
                    call("tenon-2", oslo(), own(json!({"id": "call_0"}))),
                    call("tenon-3", oslo(), own(json!({"id": "tenon-2"}))),
                ]),
                results(vec![
                    ("tenon-2", warm()),
                    ("tenon-3", Err(ToolError::cancelled())),
                ]),
            ],
        ),
        chat(
            "blocks-only-the-maker-can-read",
            vec![
                user("Search"),
                says(match format {
                    WireFormat::Openai => vec![call(
                        "tenon-1",
                        oslo(),
                        own(json!({
                            "id": "provider-1",
                            "extra_content": {"google": {"thought_signature": "c2ln"}},
                        })),
                    )],
                    WireFormat::Anthropic => vec![
                        Part::text("I search."),
                        Part::Opaque {
                            kept: own(search).unwrap(),
                        },
                        Part::Opaque {
                            kept: own(found).unwrap(),
                        },
                        Part::Text {
                            text: "It is 7 degrees.".into(),
                            kept: own(cited),
                        },
                    ],
                }),
                user("Thanks"),
            ],
        ),
    ]
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
    for format in BOTH {
        let fake = fake(format).await;
        for (name, request) in chats(format) {
            let body = sent(&fake, fake.remote(format), request).await;
            compare(format, name, &body);
        }
    }
}

#[tokio::test]
async fn a_chat_with_calls_is_told_also_when_all_tools_are_off() {
    for format in BOTH {
        let fake = fake(format).await;
        let (_, request) = chats(format)
            .into_iter()
            .find(|(name, _)| *name == "calls-and-results")
            .unwrap();
        let off = Request {
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
        kept: kept(THIS, json!({"type": "text", "text": text, "citations": []})),
    };
    let fake = fake(WireFormat::Anthropic).await;
    let request = Request {
        messages: vec![
            user("Hi"),
            says(vec![text("Warm"), text("\n\n"), text("and dry.")]),
            user("Sure?"),
            says(vec![text(" ")]),
            user("Hello?"),
        ],
        ..Request::default()
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
        "model": "stolen", "messages": [], "stream": false, "tools": [],
    });
    for format in BOTH {
        let fake = fake(format).await;
        let remote = Remote {
            parameters: set.as_object().unwrap().clone(),
            ..fake.remote(format)
        };
        let (_, request) = chats(format).swap_remove(0);
        let body = sent(&fake, remote, request).await;
        assert_eq!(body["temperature"], json!(0.2));
        assert_eq!(body["max_tokens"], json!(77));
        assert_eq!(body.get("stream_options"), None);
        assert_eq!(
            (&body["model"], &body["stream"]),
            (&json!("m"), &json!(true))
        );
        assert_eq!(body["tools"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn a_key_goes_where_its_format_wants_it() {
    for (format, header) in [
        (WireFormat::Openai, "authorization: bearer sk-1"),
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
    let request = Request {
        messages: vec![user("Hi")],
        tools: vec![tool("weather"), tool("clock")],
        ..Request::default()
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
        let told = body["messages"].as_array().unwrap();
        let told = told
            .iter()
            .find(|message| message["role"] == "assistant")
            .unwrap();
        match format {
            WireFormat::Openai => assert_eq!(*told, expected, "{name}"),
            WireFormat::Anthropic => assert_eq!(told["content"], expected, "{name}"),
        }
    }
}

/// Why a provider would refuse this body.
fn validate(format: WireFormat, body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().ok_or("no messages")?;
    let found = match format {
        WireFormat::Openai => openai(body, messages),
        WireFormat::Anthropic => anthropic(body, messages),
    };
    found.map_err(|why| format!("{why}: {body}"))
}

fn must(is_so: bool, why: &str) -> Result<(), String> {
    is_so.then_some(()).ok_or_else(|| why.to_owned())
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

fn openai(body: &Value, messages: &[Value]) -> Result<(), String> {
    must(
        body.get("tools")
            .is_none_or(|tools| tools.as_array().is_some_and(|tools| !tools.is_empty())),
        "empty tools",
    )?;
    let messages = match messages.first() {
        Some(first) if first["role"] == "system" => {
            must(is_text(&first["content"]), "an empty system prompt")?;
            &messages[1..]
        }
        _ => messages,
    };
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut before = "assistant";
    for message in messages {
        let role = message["role"].as_str().ok_or("no role")?;
        if role == "tool" {
            let id = message["tool_call_id"]
                .as_str()
                .ok_or("a result of no call")?;
            must(
                !open.is_empty() && open.remove(0) == id,
                "a result that does not follow its call",
            )?;
            must(is_text(&message["content"]), "an empty result")?;
            before = role;
            continue;
        }
        must(open.is_empty(), "a call without its result")?;
        must(role != before, "one side speaks twice")?;
        before = role;
        match role {
            "user" => match &message["content"] {
                Value::Array(parts) => {
                    must(!parts.is_empty(), "an empty message")?;
                    for part in parts {
                        let is_image = part["type"] == "image_url"
                            && part["image_url"]["url"]
                                .as_str()
                                .is_some_and(|url| url.starts_with("data:image/"));
                        must(
                            is_image || (part["type"] == "text" && is_text(&part["text"])),
                            "a part of no kind",
                        )?;
                    }
                }
                text => must(is_text(text), "an empty message")?,
            },
            "assistant" => {
                let calls = message
                    .get("tool_calls")
                    .map(|calls| calls.as_array().ok_or("calls are a list"));
                let calls = calls.transpose()?.map_or(&[][..], Vec::as_slice);
                let content = &message["content"];
                must(
                    content.is_string() || (content.is_null() && !calls.is_empty()),
                    "the model says nothing",
                )?;
                for call in calls {
                    let id = call["id"]
                        .as_str()
                        .filter(|id| !id.is_empty())
                        .ok_or("a call without id")?;
                    must(seen.insert(id), "two calls of one id")?;
                    must(
                        call["type"] == "function" && is_text(&call["function"]["name"]),
                        "a call of no function",
                    )?;
                    let arguments = call["function"]["arguments"]
                        .as_str()
                        .ok_or("arguments are text")?;
                    let arguments: Value =
                        serde_json::from_str(arguments).map_err(|_| "arguments are JSON")?;
                    must(arguments.is_object(), "arguments are an object")?;
                    open.push(id);
                }
            }
            other => return Err(format!("who is {other}?")),
        }
    }
    must(open.is_empty(), "a call without its result")
}

fn anthropic(body: &Value, messages: &[Value]) -> Result<(), String> {
    must(
        body["max_tokens"].as_u64().is_some_and(|most| most > 0),
        "no max_tokens",
    )?;
    let marks = body.to_string().matches("\"cache_control\"").count();
    must(marks <= 4, "too many marks for the cache")?;
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut before = "assistant";
    let mut has_calls = false;
    for message in messages {
        let role = message["role"].as_str().ok_or("no role")?;
        must(matches!(role, "user" | "assistant"), "who is this?")?;
        must(role != before, "roles do not alternate")?;
        before = role;
        let blocks = message["content"].as_array().ok_or("content is a list")?;
        must(!blocks.is_empty(), "an empty message")?;
        let last = blocks.last().map(|block| &block["type"]);
        must(
            role == "user"
                || !last.is_some_and(|last| last == "thinking" || last == "redacted_thinking"),
            "thoughts come last",
        )?;
        for block in blocks {
            match (role, block["type"].as_str().ok_or("a block of no type")?) {
                ("user", "tool_result") => {
                    let id = block["tool_use_id"].as_str().ok_or("a result of no call")?;
                    let place = open.iter().position(|open| *open == id);
                    open.remove(place.ok_or("a result that does not follow its call")?);
                    let content = block["content"].as_array().ok_or("a result is a list")?;
                    must(!content.is_empty(), "an empty result")?;
                    for block in content {
                        let is_image =
                            block["type"] == "image" && block["source"]["type"] == "base64";
                        must(
                            is_image || (block["type"] == "text" && is_text(&block["text"])),
                            "an empty text in a result",
                        )?;
                    }
                }
                (_, "text") => {
                    must(
                        open.is_empty() || role == "assistant",
                        "something before the results",
                    )?;
                    must(is_text(&block["text"]), "an empty text")?;
                }
                ("assistant", "tool_use") => {
                    has_calls = true;
                    let id = block["id"].as_str().ok_or("a call without id")?;
                    let is_sign =
                        |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
                    must(
                        !id.is_empty() && id.chars().all(is_sign),
                        "an id of other signs",
                    )?;
                    must(seen.insert(id), "two calls of one id")?;
                    must(block["input"].is_object(), "input is an object")?;
                    open.push(id);
                }
                ("assistant", "thinking") => must(
                    block["signature"].is_string(),
                    "a thought without signature",
                )?,
                (
                    "assistant",
                    "redacted_thinking" | "server_tool_use" | "web_search_tool_result",
                ) => {}
                (role, other) => return Err(format!("a block of type {other} by {role}")),
            }
        }
        must(
            role == "assistant" || open.is_empty(),
            "a call without its result",
        )?;
    }
    must(open.is_empty(), "a call without its result")?;
    let tools = body["tools"].as_array().map_or(0, Vec::len);
    must(!has_calls || tools > 0, "calls without tools")
}

#[test]
fn the_rules_are_rules() {
    let check = |format: WireFormat, messages: Value, why: &str| {
        let body = json!({"max_tokens": 1, "tools": [{}], "messages": messages});
        let found = validate(format, &body).err().unwrap_or_default();
        assert!(
            found.starts_with(why) && found.is_empty() == why.is_empty(),
            "{why}: {found}"
        );
    };
    let hi = json!({"role": "user", "content": "hi"});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "1", "content": "x"});
    check(WireFormat::Openai, json!([hi, call, result]), "");
    check(
        WireFormat::Openai,
        json!([hi, call]),
        "a call without its result",
    );
    check(
        WireFormat::Openai,
        json!([hi, result]),
        "a result that does not follow its call",
    );
    check(WireFormat::Openai, json!([hi, hi]), "one side speaks twice");
    check(
        WireFormat::Openai,
        json!([hi, call, result, hi, call, result]),
        "two calls of one id",
    );
    let hi = json!({"role": "user", "content": [{"type": "text", "text": "hi"}]});
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]});
    let result = json!({"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "x"}]});
    let text = json!({"type": "text", "text": "so"});
    check(
        WireFormat::Anthropic,
        json!([hi, call, {"role": "user", "content": [result, text]}]),
        "",
    );
    check(
        WireFormat::Anthropic,
        json!([hi, call, {"role": "user", "content": [text, result]}]),
        "something before the results",
    );
    check(
        WireFormat::Anthropic,
        json!([hi, call, hi]),
        "something before the results",
    );
    check(
        WireFormat::Anthropic,
        json!([hi, call]),
        "a call without its result",
    );
    check(
        WireFormat::Anthropic,
        json!([call]),
        "roles do not alternate",
    );
    check(
        WireFormat::Anthropic,
        json!([hi, {"role": "assistant", "content": [{"type": "text", "text": " "}]}]),
        "an empty text",
    );
}

fn tell_any(format: WireFormat, tools: ToolUse, chat: Vec<Message>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let fake = fake(format).await;
        let request = Request {
            system: String::new(),
            messages: [chat, vec![user("and now?")]].concat(),
            tools: vec![tool("weather")],
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
    fn any_chat_is_told_by_the_rules_of_anthropic(chat in any_chat(WireFormat::Anthropic)) {
        tell_any(WireFormat::Anthropic, ToolUse::Native, chat)?;
    }

    #[test]
    fn any_chat_is_told_in_words_where_tools_are_a_form(chat in any_chat(WireFormat::Openai)) {
        tell_any(WireFormat::Openai, ToolUse::Constrained, chat)?;
    }
}
