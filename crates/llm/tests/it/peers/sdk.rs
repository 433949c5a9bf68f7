//! The same conversation as the official SDKs have it and as our adapters do:
//! what goes over the wire is the same, but for what is named here.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};
use tenon_domain::{Message, ToolOutput, WireFormat};
use tenon_llm::connect;

use super::proxy::{Proxy, Seen};
use super::{
    FORMATS, Peer, answered, ask, base_url, calls, hear, installed, model, ours, remote, text,
};

#[tokio::test]
async fn calls_results_and_words_are_told_as_the_sdks_tell_them() {
    let turns = [
        ("weather in Oslo", "It is 7 degrees in Oslo."),
        (
            "weather in both cities",
            "Lima is 15 degrees warmer than Oslo.",
        ),
        ("say hello", "Hello from a model that nobody here wrote."),
    ];
    // Two with tools, of two steps each, and one without.
    compare(&turns, 5, none).await;
}

#[tokio::test]
async fn thoughts_are_told_as_the_sdks_tell_them() {
    let turns = [
        ("think about Oslo", "It is cold."),
        ("say hello", "Hello from a model that nobody here wrote."),
    ];
    compare(&turns, 3, thinking).await;
}

type Parameters = fn(WireFormat) -> Map<String, Value>;

fn none(_: WireFormat) -> Map<String, Value> {
    Map::new()
}

fn thinking(format: WireFormat) -> Map<String, Value> {
    match format {
        // Their models think unasked.
        WireFormat::Openai | WireFormat::Responses => none(format),
        WireFormat::Anthropic => {
            let thinking = json!({"type": "enabled", "budget_tokens": 1024});
            [("thinking".to_owned(), thinking)].into_iter().collect()
        }
    }
}

/// Has the same conversation twice: what the user says, and how each turn ends.
async fn compare(turns: &[(&str, &str)], steps: usize, parameters: Parameters) {
    let peer = Peer::aimock();
    let proxy = Proxy::before(&peer).await;
    let (users, answers): (Vec<&str>, Vec<&str>) = turns.iter().copied().unzip();
    for format in FORMATS {
        let said = with_sdk(&proxy, format, &users, parameters(format)).await;
        assert_eq!(said, answers, "{format:?}");
        let theirs = proxy.take();

        let said = with_adapter(&proxy, format, &users, parameters(format)).await;
        assert_eq!(said, answers, "{format:?}");
        let ours = proxy.take();

        assert_eq!((theirs.len(), ours.len()), (steps, steps), "{format:?}");
        for (theirs, ours) in theirs.into_iter().zip(ours) {
            check(format, theirs, ours);
        }
    }
}

/// What the tools say in both conversations, whatever they are asked.
const RESULT: &str = "7 degrees in the one, 22 in the other";

/// Anthropic's SDK has to be told; ours says it unasked.
const MAX_TOKENS: u64 = 8_192;

async fn with_sdk(
    proxy: &Proxy,
    format: WireFormat,
    users: &[&str],
    mut parameters: Map<String, Value>,
) -> Vec<String> {
    if format == WireFormat::Anthropic {
        // What may be thought comes on top.
        let budget = parameters
            .get("thinking")
            .and_then(|thinking| thinking["budget_tokens"].as_u64());
        let most = MAX_TOKENS + budget.unwrap_or(0);
        parameters.insert("max_tokens".into(), json!(most));
    }
    let asked = ask("");
    let tools: Vec<Value> = asked
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.id,
                "description": tool.description,
                "input_schema": tool.input_schema,
            })
        })
        .collect();
    let task = json!({
        "format": format,
        "base_url": base_url(&proxy.url, format),
        "key": "sk-test",
        "model": model(format),
        "parameters": parameters,
        "system": asked.system,
        "users": users,
        "tools": tools,
        "results": {"weather": RESULT},
    });
    let run = tokio::task::spawn_blocking(move || {
        let mut python = Command::new(installed("venv/bin/python"))
            .arg(ours("record.py"))
            // Both SDKs read keys, addresses and proxies from there.
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = python.stdin.take().unwrap();
        stdin.write_all(task.to_string().as_bytes()).unwrap();
        drop(stdin);
        python.wait_with_output().unwrap()
    });
    let output = run.await.unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{format:?}: {complaint}");
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn with_adapter(
    proxy: &Proxy,
    format: WireFormat,
    users: &[&str],
    parameters: Map<String, Value>,
) -> Vec<String> {
    let mut remote = remote(base_url(&proxy.url, format), format);
    remote.parameters = parameters;
    // Sent unasked to servers on one's own machine.
    let temperature = remote.parameters.entry("temperature");
    temperature.or_insert(Value::Null);
    let provider = connect(remote);
    let mut request = ask("");
    request.messages.clear();
    let mut said = Vec::new();
    for &user in users {
        request.messages.push(Message::user(user));
        let mut reply = hear(&*provider, request.clone()).await.whole();
        while !calls(&reply).is_empty() {
            request = answered(request, &reply, |_| Ok(ToolOutput::text(RESULT)));
            reply = hear(&*provider, request.clone()).await.whole();
        }
        said.push(text(&reply));
        request
            .messages
            .push(Message::Assistant { parts: reply.parts });
    }
    said
}

#[track_caller]
fn check(format: WireFormat, mut theirs: Seen, mut ours: Seen) {
    assert_eq!(ours.line, theirs.line);
    for name in ["authorization", "content-type"] {
        assert_eq!(ours.headers.get(name), theirs.headers.get(name), "{name}");
    }
    match format {
        WireFormat::Openai => openai(&mut theirs.body, &mut ours.body),
        WireFormat::Responses => responses(&mut theirs.body, &mut ours.body),
        WireFormat::Anthropic => {
            // Theirs is newer: it no longer knows `temperature`, which people here may have set.
            assert_eq!(theirs.headers["anthropic-version"], "2026-10-21");
            assert_eq!(ours.headers["anthropic-version"], "2023-06-01");
            // Theirs says it under `authorization` alone, older servers read it here.
            assert_eq!(ours.headers["x-api-key"], "sk-test");
            anthropic(&mut theirs.body, &mut ours.body);
        }
    }
    without_nulls(&mut theirs.body);
    without_nulls(&mut ours.body);
    let (ours, theirs) = (ours.body, theirs.body);
    assert!(
        ours == theirs,
        "{format:?}, ours: {ours:#}\ntheirs: {theirs:#}"
    );
}

fn openai(theirs: &mut Value, ours: &mut Value) {
    // The SDK tells all thoughts back, we only those of this turn: older ones are only weight.
    let messages = list(&mut theirs["messages"]);
    let turn = messages
        .iter()
        .rposition(|message| message["role"] == "user");
    for message in &mut messages[..turn.unwrap()] {
        remove(message, "reasoning_content");
    }
    for message in messages {
        // The SDK joins the roles of all deltas, and aimock says it twice when it thinks.
        if message["role"] == "assistantassistant" {
            message["role"] = json!("assistant");
        }
        // The SDK sends the place in the stream along.
        for call in list(&mut message["tool_calls"]) {
            remove(call, "index");
        }
    }
    for message in list(&mut ours["messages"]) {
        // We name the tool whose result it is: templates of local models ask for it.
        if message["role"] == "tool" {
            assert_eq!(remove(message, "name"), Some(json!("weather")));
        }
    }
}

fn responses(theirs: &mut Value, ours: &mut Value) {
    // We ask for thoughts in short unasked, to show them.
    assert_eq!(remove(ours, "reasoning"), Some(json!({"summary": "auto"})));
    for item in list(&mut ours["input"]) {
        is_encrypted(item);
    }
    // The SDK tells all thoughts back, we only those of this turn: older ones are only weight.
    let items = theirs["input"].as_array_mut().unwrap();
    let turn = items
        .iter()
        .rposition(|item| item["role"] == "user")
        .unwrap();
    let mut place = 0..;
    items.retain(|item| place.next() >= Some(turn) || item["type"] != "reasoning");
    for item in list(&mut theirs["input"]) {
        is_encrypted(item);
        // What is not stored there has no id and no state.
        remove(item, "id");
        remove(item, "status");
        // A string is short for one text, and a message without parts needs no type.
        if item["type"] == "message" {
            remove(item, "type");
            let texts = list(&mut item["content"]).iter();
            let text: String = texts.filter_map(|part| part["text"].as_str()).collect();
            item["content"] = json!(text);
        }
    }
}

/// aimock gives each thought another id, which its encrypted form holds too.
#[track_caller]
fn is_encrypted(item: &mut Value) {
    if item["type"] == "reasoning" {
        let (id, thought) = (remove(item, "id"), remove(item, "encrypted_content"));
        assert!(id.is_some() && thought.is_some(), "{item}");
    }
}

fn anthropic(theirs: &mut Value, ours: &mut Value) {
    // A string is short for one block of text.
    as_blocks(&mut theirs["system"]);
    for message in list(&mut theirs["messages"]) {
        as_blocks(&mut message["content"]);
        for block in list(&mut message["content"]) {
            if block["type"] == "tool_result" {
                as_blocks(&mut block["content"]);
            }
        }
    }
    // We say up to where the next request will be the same.
    let system = list(&mut ours["system"]).last_mut().unwrap();
    assert!(remove(system, "cache_control").is_some(), "{system}");
    let message = list(&mut ours["messages"]).last_mut().unwrap();
    let block = list(&mut message["content"]).last_mut().unwrap();
    assert!(remove(block, "cache_control").is_some(), "{block}");
}

fn as_blocks(content: &mut Value) {
    if content.is_string() {
        *content = json!([{"type": "text", "text": content.take()}]);
    }
}

fn list(value: &mut Value) -> &mut [Value] {
    value.as_array_mut().map_or(&mut [], Vec::as_mut_slice)
}

fn remove(object: &mut Value, name: &str) -> Option<Value> {
    object.as_object_mut()?.remove(name)
}

/// What is null might as well not be there.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(without_nulls);
        }
        Value::Array(values) => values.iter_mut().for_each(without_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
