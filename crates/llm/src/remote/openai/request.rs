//! A request in the words of chat completions.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tenon_domain::{Message, Part, ToolAnswer, ToolCall, ToolSpec, ToolUse, UserImage, WireFormat};

use super::options::add_options;
use crate::history::CallIds;
use crate::remote::constrained;
use crate::remote::{ModelRequestBody, Remote, RequestPlan};
use crate::tool_result::{ResultPart, result_parts};

/// The body of one request.
pub(crate) fn encode<'a>(remote: &Remote, plan: &'a RequestPlan) -> ModelRequestBody<'a> {
    let (mut body, mut tools) = (Map::new(), Vec::new());
    body.insert("model".into(), json!(remote.model));
    body.insert("messages".into(), Value::Array(messages(remote, plan)));
    body.insert("stream".into(), json!(true));
    if plan.capabilities.counts_tokens {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if remote.reports_progress {
        body.insert("return_progress".into(), json!(true));
    }
    match plan.tool_use {
        // Nothing to choose from: an answer is just words.
        _ if plan.tools.is_empty() => {}
        ToolUse::Constrained => {
            let form = constrained::response_format(&plan.tools, plan.options.requires_call());
            body.insert("response_format".into(), form);
        }
        ToolUse::Native => tools = plan.entries(),
        // They stand in the prompt.
        ToolUse::Text | ToolUse::None => {}
    }
    if let Some(temperature) = plan.tool_temperature(remote) {
        body.insert("temperature".into(), json!(temperature));
    }
    remote.add_parameters(&mut body);
    add_options(plan, &mut body);
    ModelRequestBody {
        fields: body,
        tools,
    }
}

fn messages(remote: &Remote, plan: &RequestPlan) -> Vec<Value> {
    let mut out = Vec::new();
    if !plan.system.is_empty() {
        out.push(json!({"role": "system", "content": plan.system}));
    }
    let mut ids = CallIds::new(WireFormat::Openai, remote.maker());
    let turn = plan.turn_start();
    for (place, message) in plan.messages.iter().enumerate() {
        match message {
            Message::User { text, images, .. } => push_user(&mut out, user(text, images)),
            Message::Assistant { parts } => {
                let with_thoughts = plan.capabilities.takes_thoughts && place > turn;
                out.extend(assistant(parts, &mut ids, with_thoughts));
            }
            Message::Tools { answers } => {
                tools(&mut out, answers, &ids, plan.capabilities.shows_images())
            }
        }
    }
    if plan.capabilities.takes_users_after_tools {
        out
    } else {
        with_assistant_after_tools(out)
    }
}

/// Text alone is a string: not every server knows parts.
fn user(text: &str, images: &[UserImage]) -> Value {
    if images.is_empty() {
        return json!(text);
    }
    let images = images
        .iter()
        .map(|image| image_part(&image.media_type, &image.data));
    let text = (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    text.into_iter().chain(images).collect()
}

fn image_part(media_type: &str, data: &str) -> Value {
    let url = format!("data:{media_type};base64,{data}");
    json!({"type": "image_url", "image_url": {"url": url}})
}

/// A conversation and its tools as the body of a request has them, for any client of this API. What
/// only the model's own server understands is left out.
pub fn transcript(system: &str, messages: &[Message], tools: &[Arc<ToolSpec>]) -> Value {
    let mut out = Vec::new();
    if !system.is_empty() {
        out.push(json!({"role": "system", "content": system}));
    }
    let mut ids = CallIds::new(WireFormat::Openai, String::new());
    for message in messages {
        match message {
            Message::User { text, images, .. } => push_user(&mut out, user(text, images)),
            Message::Assistant { parts } => out.extend(assistant(parts, &mut ids, false)),
            Message::Tools { answers } => self::tools(&mut out, answers, &ids, true),
        }
    }
    let functions = tools.iter().map(|tool| {
        json!({"type": "function", "function": {
            "name": tool.id,
            "description": tool.description,
            "parameters": tool.input_schema.value(),
        }})
    });
    json!({"messages": out, "tools": functions.collect::<Vec<_>>()})
}

/// Mistral's servers want to hear the model between a result and the user.
fn with_assistant_after_tools(messages: Vec<Value>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::with_capacity(messages.len());
    for message in messages {
        let is_after_tool = out.last().is_some_and(|last| last["role"] == "tool");
        if is_after_tool && message["role"] == "user" {
            out.push(json!({"role": "assistant", "content": "I see."}));
        }
        out.push(message);
    }
    out
}

/// What the user's side says; roles alternate for servers that insist on it.
fn push_user(out: &mut Vec<Value>, content: Value) {
    let last = out.last_mut().filter(|last| last["role"] == "user");
    let Some(last) = last else {
        return out.push(json!({"role": "user", "content": content}));
    };
    let before = last["content"].take();
    last["content"] = match (before, content) {
        (Value::String(before), Value::String(text)) => json!(format!("{before}\n\n{text}")),
        (before, text) => Value::Array(parts(before).into_iter().chain(parts(text)).collect()),
    };
}

fn parts(content: Value) -> Vec<Value> {
    match content {
        Value::Array(parts) => parts,
        text => vec![json!({"type": "text", "text": text})],
    }
}

fn assistant(parts: &[Part], ids: &mut CallIds, with_thoughts: bool) -> Option<Value> {
    let text = Part::words(parts);
    let (mut calls, mut extra) = (Vec::new(), Map::new());
    for part in parts {
        match part {
            Part::Text { .. } | Part::Image(_) | Part::File { .. } => {}
            Part::Thinking {
                text,
                provider_block,
            } => {
                let field = ids
                    .own(provider_block)
                    .and_then(|block| block["field"].as_str());
                if let Some(field) = field.filter(|_| with_thoughts)
                    && let Value::String(whole) =
                        extra.entry(field).or_insert(Value::String(String::new()))
                {
                    whole.push_str(text);
                }
            }
            Part::Call {
                call,
                provider_block,
            } => {
                let block = ids.own(provider_block).cloned().unwrap_or_default();
                let mut entry = json!({
                    "id": ids.give(call, block["id"].as_str()),
                    "type": "function",
                    "function": {"name": call.tool_id, "arguments": arguments(call)},
                });
                if let Some(extra) = block.get("extra_content") {
                    entry["extra_content"] = extra.clone();
                }
                calls.push(entry);
            }
            Part::Opaque { provider_block } => {
                if with_thoughts && let Some(Value::Object(block)) = ids.own_block(provider_block) {
                    extra.extend(block.clone());
                }
            }
        }
    }
    if extra.contains_key("reasoning_details") {
        // The same thoughts, only signed.
        extra.remove("reasoning");
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({
        "role": "assistant",
        "content": if text.is_empty() { Value::Null } else { json!(text) },
    });
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    if let Value::Object(message) = &mut message {
        message.extend(extra);
    }
    Some(message)
}

/// Arguments are JSON for every server that reads them again, also where a model sent none.
fn arguments(call: &ToolCall) -> String {
    crate::tool_result::arguments_object(&call.input).to_string()
}

fn tools(out: &mut Vec<Value>, answers: &[ToolAnswer], ids: &CallIds, sees_images: bool) {
    let mut images = Vec::new();
    for answer in answers {
        let (mut text, mut count) = (Vec::new(), images.len());
        for piece in result_parts(&answer.result, sees_images) {
            match piece {
                ResultPart::Text(piece) => text.push(piece),
                ResultPart::Image { media_type, data } => {
                    count += 1;
                    text.push(format!("[image {count}, shown below]"));
                    images.push(image_part(media_type, data));
                }
            }
        }
        out.push(json!({
            "role": "tool",
            "tool_call_id": ids.of(&answer.call_id),
            "name": answer.tool_id,
            "content": text.join("\n"),
        }));
    }
    if !images.is_empty() {
        // A tool's message holds text alone; the user's may hold pictures.
        let intro = json!({"type": "text", "text": "Images from the results of the tools:"});
        images.insert(0, intro);
        push_user(out, Value::Array(images));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;
    use tenon_domain::ToolId;

    use super::*;
    use crate::GenerationOptions;
    use crate::remote::Capabilities;
    use crate::remote::compiled_tool::CompiledTool;

    /// The temperature of a request with so many tools to a server at this address.
    #[track_caller]
    fn check(address: &str, parameters: Value, tools: usize, expected: Option<f64>) {
        let remote = Remote {
            name: "m".into(),
            format: WireFormat::Openai,
            base_url: address.into(),
            key: None,
            model: "m".into(),
            parameters: parameters.as_object().cloned().unwrap_or_default(),
            tools: ToolUse::Native,
            context_tokens: None,
            tool_budget: None,
            reports_progress: false,
        };
        let tool = Arc::new(CompiledTool {
            id: ToolId::new("t"),
            name: "t".into(),
            description: String::new(),
            schema: json!({}),
            entry: to_raw_value(&()).unwrap(),
        });
        let plan = RequestPlan {
            system: String::new(),
            messages: Vec::new(),
            tools: vec![tool; tools],
            deferred: Vec::new(),
            tool_use: ToolUse::Native,
            capabilities: Capabilities::default(),
            options: GenerationOptions::default(),
        };
        let found = encode(&remote, &plan).fields.get("temperature").cloned();
        let found = found.and_then(|value| value.as_f64());
        assert_eq!(found, expected, "{address} {parameters}");
    }

    #[test]
    fn local_servers_choose_tools_at_a_low_temperature_where_nobody_set_one() {
        let local = "http://192.168.1.5:8080/v1";
        check(local, json!({}), 1, Some(0.2));
        check(local, json!({}), 0, None);
        check(local, json!({"temperature": 0.9}), 1, Some(0.9));
        check(local, json!({"temperature": null}), 1, None);
        check("https://api.example.com/v1", json!({}), 1, None);
    }
}
