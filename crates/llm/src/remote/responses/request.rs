//! A request in the words of Responses.

use serde_json::{Map, Value, json};
use tenon_domain::{Message, Part, ToolAnswer, UserImage, WireFormat};

use super::options::add_options;
use crate::history::CallIds;
use crate::remote::{ModelRequestBody, Remote, RequestPlan};
use crate::tool_result::{ResultPart, arguments_object, result_parts};

/// The body of one request.
pub(crate) fn encode<'a>(remote: &Remote, plan: &'a RequestPlan) -> ModelRequestBody<'a> {
    let mut body = Map::new();
    body.insert("model".into(), json!(remote.model));
    if !plan.system.is_empty() {
        body.insert("instructions".into(), json!(plan.system));
    }
    body.insert("input".into(), Value::Array(input(remote, plan)));
    body.insert("stream".into(), json!(true));
    body.insert("store".into(), json!(false));
    if plan.capabilities.takes_thoughts {
        // What is not stored there must come back with the next request.
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
        if plan.capabilities.summarises_thoughts {
            body.insert("reasoning".into(), json!({"summary": "auto"}));
        }
    }
    if let Some(temperature) = plan.tool_temperature(remote) {
        body.insert("temperature".into(), json!(temperature));
    }
    remote.add_parameters(&mut body);
    add_options(plan, &mut body);
    ModelRequestBody {
        fields: body,
        tools: plan.entries(),
    }
}

fn input(remote: &Remote, plan: &RequestPlan) -> Vec<Value> {
    let mut items = Vec::new();
    let mut ids = CallIds::new(WireFormat::Responses, remote.maker());
    let turn = plan.turn_start();
    for (place, message) in plan.messages.iter().enumerate() {
        match message {
            Message::User { text, images, .. } => items.push(user(text, images)),
            Message::Assistant { parts } => {
                let with_thoughts = plan.capabilities.takes_thoughts && place > turn;
                items.extend(assistant(parts, &mut ids, with_thoughts));
            }
            Message::Tools { answers } => {
                let sees_images = plan.capabilities.shows_images();
                items.extend(outputs(answers, &ids, sees_images));
            }
        }
    }
    items
}

/// Text alone is a string: not every server knows parts.
fn user(text: &str, images: &[UserImage]) -> Value {
    if images.is_empty() {
        return json!({"role": "user", "content": text});
    }
    let images = images
        .iter()
        .map(|image| image_part(&image.media_type, &image.data));
    let text = (!text.trim().is_empty()).then(|| json!({"type": "input_text", "text": text}));
    let content: Value = text.into_iter().chain(images).collect();
    json!({"role": "user", "content": content})
}

fn image_part(media_type: &str, data: &str) -> Value {
    let url = format!("data:{media_type};base64,{data}");
    json!({"type": "input_image", "image_url": url})
}

fn assistant(parts: &[Part], ids: &mut CallIds, with_thoughts: bool) -> Vec<Value> {
    let mut items = Vec::new();
    for part in parts {
        match part {
            Part::Text { text, .. } if text.trim().is_empty() => {}
            Part::Image(_) | Part::File { .. } => {}
            Part::Text {
                text,
                provider_block,
            } => {
                let mut item = json!({"role": "assistant", "content": text});
                let phase = ids.own(provider_block).and_then(|block| block.get("phase"));
                if let Some(phase) = phase {
                    item["phase"] = phase.clone();
                }
                items.push(item);
            }
            Part::Thinking { provider_block, .. } => {
                let thought = ids.own(provider_block).filter(|_| with_thoughts);
                items.extend(thought.cloned());
            }
            // What its server searched for and found.
            Part::Opaque { provider_block } => {
                items.extend(ids.own_block(provider_block).cloned());
            }
            Part::Call {
                call,
                provider_block,
            } => {
                let block = ids.own(provider_block).cloned().unwrap_or_default();
                let mut item = json!({
                    "type": "function_call",
                    "call_id": ids.give(call, block["id"].as_str()),
                    "name": call.tool_id,
                    "arguments": arguments_object(&call.input).to_string(),
                });
                if let Some(namespace) = block.get("namespace") {
                    item["namespace"] = namespace.clone();
                }
                items.push(item);
            }
        }
    }
    // An answer that was stopped after its thoughts: they alone are not taken back.
    while items.last().is_some_and(|item| item["type"] == "reasoning") {
        items.pop();
    }
    items
}

fn outputs(answers: &[ToolAnswer], ids: &CallIds, sees_images: bool) -> Vec<Value> {
    let outputs = answers.iter().map(|answer| {
        let parts = result_parts(&answer.result, sees_images);
        let has_images = parts
            .iter()
            .any(|part| matches!(part, ResultPart::Image { .. }));
        let parts = parts.into_iter().map(|part| match part {
            ResultPart::Text(text) => json!({"type": "input_text", "text": text}),
            ResultPart::Image { media_type, data } => image_part(media_type, data),
        });
        let output = if has_images {
            parts.collect()
        } else {
            let texts = parts.filter_map(|part| part["text"].as_str().map(str::to_owned));
            Value::String(texts.collect::<Vec<_>>().join("\n"))
        };
        json!({
            "type": "function_call_output",
            "call_id": ids.of(&answer.call_id),
            "output": output,
        })
    });
    outputs.collect()
}
