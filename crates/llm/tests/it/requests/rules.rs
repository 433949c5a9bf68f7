//! The rules of the wire formats, as their providers enforce them.

use std::collections::HashSet;

use serde_json::{Value, json};
use tenon_domain::WireFormat;

/// Why a provider would refuse this body.
pub(super) fn validate(format: WireFormat, body: &Value) -> Result<(), String> {
    let list = |name: &str| body[name].as_array().ok_or("no messages");
    let found = match format {
        WireFormat::Openai => openai(body, list("messages")?),
        WireFormat::Responses => responses(body, list("input")?),
        WireFormat::Anthropic => anthropic(body, list("messages")?),
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

fn responses(body: &Value, items: &[Value]) -> Result<(), String> {
    must(body["store"] == false, "it is kept there")?;
    must(
        body.get("instructions").is_none_or(is_text),
        "an empty system prompt",
    )?;
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut is_thought = false;
    for item in items {
        let kind = item.get("type").unwrap_or(&item["role"]);
        let kind = kind.as_str().ok_or("an item of no type")?;
        must(
            !is_thought || !matches!(kind, "user" | "function_call_output"),
            "a thought without what it led to",
        )?;
        is_thought = kind == "reasoning";
        let id = item["call_id"].as_str();
        let id = id.filter(|id| (1..=64).contains(&id.len()));
        match kind {
            "user" | "assistant" => {
                must(
                    open.is_empty() || kind == "assistant",
                    "a call without its result",
                )?;
                responses_text(&item["content"])?;
            }
            "reasoning" => must(
                item["encrypted_content"].is_string() && item["summary"].is_array(),
                "a thought that is not there",
            )?,
            "function_call" => {
                let id = id.ok_or("a call without id")?;
                must(seen.insert(id), "two calls of one id")?;
                must(is_text(&item["name"]), "a call of no function")?;
                let arguments = item["arguments"].as_str().ok_or("arguments are text")?;
                let arguments: Value =
                    serde_json::from_str(arguments).map_err(|_| "arguments are JSON")?;
                must(arguments.is_object(), "arguments are an object")?;
                open.push(id);
            }
            "function_call_output" => {
                let id = id.ok_or("a result of no call")?;
                let place = open.iter().position(|open| *open == id);
                open.remove(place.ok_or("a result that does not follow its call")?);
                responses_text(&item["output"])?;
            }
            "tool_search_call" | "tool_search_output" => {}
            other => return Err(format!("an item of type {other}")),
        }
    }
    must(!is_thought, "thoughts come last")?;
    must(open.is_empty(), "a call without its result")
}

/// A text, or its parts.
fn responses_text(content: &Value) -> Result<(), String> {
    let Value::Array(parts) = content else {
        return must(is_text(content), "an empty text");
    };
    must(!parts.is_empty(), "an empty message")?;
    parts.iter().try_for_each(|part| {
        let url = part["image_url"].as_str();
        let is_image =
            part["type"] == "input_image" && url.is_some_and(|url| url.starts_with("data:image/"));
        must(
            is_image || (part["type"] == "input_text" && is_text(&part["text"])),
            "a part of no kind",
        )
    })
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
                ("user", "image") => {
                    must(open.is_empty(), "something before the results")?;
                    must(is_text(&block["source"]["data"]), "an empty picture")?;
                }
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
