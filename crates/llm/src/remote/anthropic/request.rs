//! A request in the words of Anthropic's messages.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tenon_domain::{Message, Part, ToolAnswer, ToolId, UserImage, WireFormat};

use super::options::add_options;
use crate::history::CallIds;
use crate::remote::compiled_tool::tool_entry;
use crate::remote::{ModelRequestBody, Remote, RequestPlan};
use crate::tool_result::{ResultPart, arguments_object, result_parts};

/// `max_tokens` is mandatory. Models with a lower limit refuse it and name the limit, and the
/// request is repeated with that.
pub(crate) const MAX_TOKENS: u64 = 8_192;

/// The body of one request.
pub(crate) fn encode<'a>(remote: &Remote, plan: &'a RequestPlan) -> ModelRequestBody<'a> {
    let mut body = Map::new();
    body.insert("model".into(), json!(remote.model));
    let most = plan
        .capabilities
        .max_tokens
        .unwrap_or(MAX_TOKENS + thinking(remote));
    body.insert("max_tokens".into(), json!(most));
    body.insert("stream".into(), json!(true));
    if !plan.system.is_empty() {
        let mut system = json!({"type": "text", "text": plan.system});
        remember(plan, &mut system);
        body.insert("system".into(), json!([system]));
    }
    let mut messages = messages(remote, plan);
    let last = messages
        .iter_mut()
        .rfind(|message| message["role"] == "user")
        .and_then(|message| message["content"].as_array_mut()?.last_mut());
    if let Some(last) = last {
        remember(plan, last);
    }
    body.insert("messages".into(), Value::Array(messages));
    if plan.tools.is_empty() {
        add_past_tools(plan, &mut body);
    }
    remote.add_parameters(&mut body);
    add_options(plan, &mut body);
    ModelRequestBody {
        fields: body,
        tools: plan.entries(),
    }
}

/// The thinking budget, which counts towards `max_tokens`.
fn thinking(remote: &Remote) -> u64 {
    let thinking = remote.parameters.get("thinking");
    let budget = thinking.and_then(|thinking| thinking.get("budget_tokens")?.as_u64());
    budget.unwrap_or(0)
}

/// Up to here the next request will be the same: it is read from the cache then.
fn remember(plan: &RequestPlan, block: &mut Value) {
    if plan.capabilities.caches {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

/// A chat with calls in it is only accepted together with tools.
fn add_past_tools(plan: &RequestPlan, body: &mut Map<String, Value>) {
    let past = past_tools(plan);
    if past.is_empty() {
        return;
    }
    let nothing = json!({"type": "object", "properties": {}});
    let tools = past
        .into_iter()
        .map(|id| tool_entry(WireFormat::Anthropic, id, "No longer available.", &nothing));
    body.insert("tools".into(), tools.collect());
    body.insert("tool_choice".into(), json!({"type": "none"}));
}

fn past_tools(plan: &RequestPlan) -> BTreeSet<&ToolId> {
    let said = plan.messages.iter().flat_map(|message| match message {
        Message::Assistant { parts } => parts.as_slice(),
        Message::User { .. } | Message::Tools { .. } => &[],
    });
    said.filter_map(Part::as_call)
        .map(|call| &call.tool_id)
        .collect()
}

fn messages(remote: &Remote, plan: &RequestPlan) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    let mut ids = CallIds::new(WireFormat::Anthropic, remote.maker());
    for message in &plan.messages {
        let (role, blocks) = match message {
            Message::User { text, images, .. } => ("user", user(text, images)),
            Message::Assistant { parts } => ("assistant", assistant(parts, &mut ids)),
            Message::Tools { answers } => (
                "user",
                results(answers, &ids, plan.capabilities.shows_images()),
            ),
        };
        // Results of tools and the user's next words are one message here.
        match out.last_mut() {
            Some(last) if last["role"] == role => {
                if let Some(content) = last["content"].as_array_mut() {
                    content.extend(blocks);
                }
            }
            _ if blocks.is_empty() => {}
            _ => out.push(json!({"role": role, "content": blocks})),
        }
    }
    out
}

/// Pictures first, as Anthropic advises.
fn user(text: &str, images: &[UserImage]) -> Vec<Value> {
    let images = images
        .iter()
        .map(|image| image_block(&image.media_type, &image.data));
    // White space alone is refused.
    let text = (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    images.chain(text).collect()
}

fn image_block(media_type: &str, data: &str) -> Value {
    json!({
        "type": "image",
        "source": {"type": "base64", "media_type": media_type, "data": data},
    })
}

fn assistant(parts: &[Part], ids: &mut CallIds) -> Vec<Value> {
    let mut blocks = Vec::new();
    for part in parts {
        match part {
            // White space alone is refused, also where it was said that way.
            Part::Text { text, .. } if text.trim().is_empty() => {}
            Part::Text {
                text,
                provider_block,
            } => blocks.push(match ids.own(provider_block) {
                Some(block) => block.clone(),
                None => json!({"type": "text", "text": text}),
            }),
            // Without its signature a thought is not taken back.
            Part::Thinking { provider_block, .. } => {
                blocks.extend(ids.own(provider_block).cloned())
            }
            Part::Image(_) | Part::File { .. } => {}
            Part::Opaque { provider_block } => {
                blocks.extend(ids.own_block(provider_block).cloned())
            }
            Part::Call {
                call,
                provider_block,
            } => {
                let id = ids
                    .own(provider_block)
                    .and_then(|block| block["id"].as_str());
                let id = id.map(str::to_owned);
                blocks.push(json!({
                    "type": "tool_use",
                    "id": ids.give(call, id.as_deref()),
                    "name": call.tool_id,
                    "input": arguments_object(&call.input),
                }));
            }
        }
    }
    // An answer that was stopped after its thoughts: they alone are not taken back.
    while blocks.last().is_some_and(is_thought) {
        blocks.pop();
    }
    blocks
}

fn is_thought(block: &Value) -> bool {
    matches!(
        block["type"].as_str(),
        Some("thinking" | "redacted_thinking")
    )
}

fn results(answers: &[ToolAnswer], ids: &CallIds, sees_images: bool) -> Vec<Value> {
    let results = answers.iter().map(|answer| {
        let content = result_parts(&answer.result, sees_images);
        let content: Vec<Value> = content
            .into_iter()
            .map(|piece| match piece {
                ResultPart::Text(text) => json!({"type": "text", "text": text}),
                ResultPart::Image { media_type, data } => image_block(media_type, data),
            })
            .collect();
        let mut result = json!({
            "type": "tool_result",
            "tool_use_id": ids.of(&answer.call_id),
            "content": content,
        });
        if answer.result.is_err() {
            result["is_error"] = json!(true);
        }
        result
    });
    results.collect()
}
