//! The messages of a chat completion request, converted to Tenon's.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::text::shorten;
use tenon_domain::{CallId, Message, Part, ToolAnswer, ToolCall, ToolError, ToolOutput, tool_id};

use super::error::bad_request;
use super::images::{self, ClientImage, StoredImage};
use crate::error::ApiError;

#[derive(Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum ClientMessage {
    #[serde(alias = "developer")]
    System {
        content: Option<ClientContent>,
    },
    User {
        content: Option<ClientContent>,
    },
    Assistant {
        content: Option<ClientContent>,
        tool_calls: Option<Vec<RequestToolCall>>,
    },
    Tool {
        tool_call_id: String,
        content: Option<ClientContent>,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum ClientContent {
    Text(String),
    Pieces(Vec<Value>),
}

#[derive(Deserialize)]
pub(super) struct RequestToolCall {
    id: String,
    function: CalledFunction,
}

#[derive(Deserialize)]
struct CalledFunction {
    name: String,
    /// JSON as a text; some write it out.
    arguments: Option<Value>,
}

/// A conversation as its client sends it.
#[derive(Debug)]
pub(super) struct Conversation {
    /// The instructions.
    pub(super) system: Option<String>,
    pub(super) messages: Vec<Message>,
    /// Pictures that are still to be added to the messages.
    pub(super) stored_images: Vec<StoredImage>,
}

pub(super) fn read(sent: Vec<ClientMessage>) -> Result<Conversation, ApiError> {
    let mut system = Vec::new();
    let mut messages = Vec::new();
    let (mut stored_images, mut count) = (Vec::new(), 0);
    let mut pending: VecDeque<ClientMessage> = sent.into();
    while let Some(one) = pending.pop_front() {
        match one {
            ClientMessage::System { content } => system.push(text(content)?),
            ClientMessage::User { content } => {
                let (text, shown) = content.map_or(Ok(Default::default()), ClientContent::user)?;
                count += shown.len();
                let mut images = Vec::new();
                for image in shown {
                    match image {
                        ClientImage::Inline(image) => images.push(image),
                        ClientImage::Blob(blob) => stored_images.push(StoredImage {
                            message: messages.len(),
                            blob,
                        }),
                    }
                }
                messages.push(Message::User {
                    text,
                    images,
                    files: Vec::new(),
                });
            }
            ClientMessage::Assistant {
                content,
                tool_calls,
            } => {
                let text = text(content)?;
                let calls: Vec<ToolCall> = tool_calls
                    .into_iter()
                    .flatten()
                    .map(RequestToolCall::call)
                    .collect();
                let answers = answers(&calls, &mut pending)?;
                let text = (!text.is_empty()).then(|| Part::text(text));
                let calls = calls.into_iter().map(|call| Part::Call {
                    call,
                    provider_block: None,
                });
                let parts: Vec<Part> = text.into_iter().chain(calls).collect();
                if !parts.is_empty() {
                    messages.push(Message::Assistant { parts });
                }
                if !answers.is_empty() {
                    messages.push(Message::Tools { answers });
                }
            }
            ClientMessage::Tool { tool_call_id, .. } => {
                let shown = shorten(&tool_call_id, 80);
                return Err(bad_request(format!(
                    "A `tool` message answers {shown:?}, which the message before it did not call."
                )));
            }
        }
    }
    // Instructions without any message are taken as the question.
    if messages.is_empty() && !system.is_empty() {
        let text = std::mem::take(&mut system).join("\n\n");
        messages.push(Message::user(text));
    }
    images::check_count(count)?;
    if !matches!(
        messages.last(),
        Some(Message::User { .. } | Message::Tools { .. })
    ) {
        return Err(bad_request(
            "The last message has to be the user's, or the result of a tool.",
        ));
    }
    let system = (!system.is_empty()).then(|| system.join("\n\n"));
    Ok(Conversation {
        system,
        messages,
        stored_images,
    })
}

impl ClientMessage {
    /// In bytes, of what a model is told.
    pub(super) fn length(&self) -> usize {
        let (content, calls) = match self {
            Self::System { content } | Self::User { content } | Self::Tool { content, .. } => {
                (content, None)
            }
            Self::Assistant {
                content,
                tool_calls,
            } => (content, tool_calls.as_ref()),
        };
        let text = match content {
            None => 0,
            Some(ClientContent::Text(text)) => text.len(),
            Some(ClientContent::Pieces(pieces)) => {
                let texts = pieces.iter().filter_map(|piece| piece["text"].as_str());
                texts.map(str::len).sum()
            }
        };
        let calls = calls.into_iter().flatten().map(|call| {
            let arguments = call.function.arguments.as_ref();
            arguments.and_then(Value::as_str).map_or(64, str::len)
        });
        text + calls.sum::<usize>()
    }
}

/// What the calls of a message gave, in the order of the calls: a model is to find an answer to
/// each.
fn answers(
    calls: &[ToolCall],
    pending: &mut VecDeque<ClientMessage>,
) -> Result<Vec<ToolAnswer>, ApiError> {
    let known: HashSet<&str> = calls.iter().map(|call| call.id.0.as_str()).collect();
    let mut given = HashMap::new();
    while let Some(ClientMessage::Tool { tool_call_id, .. }) = pending.front() {
        if !known.contains(tool_call_id.as_str()) {
            break;
        }
        if let Some(ClientMessage::Tool {
            tool_call_id,
            content,
        }) = pending.pop_front()
        {
            given.entry(tool_call_id).or_insert(text(content)?);
        }
    }
    let answers = calls.iter().map(|call| {
        let found = given.get(&call.id.0);
        ToolAnswer {
            call_id: call.id.clone(),
            tool_id: call.tool_id.clone(),
            result: match found {
                Some(text) => Ok(ToolOutput::text(text)),
                None => Err(ToolError::failed("The client gave no result of this call.")),
            },
        }
    });
    Ok(answers.collect())
}

impl RequestToolCall {
    fn call(self) -> ToolCall {
        let input = match self.function.arguments {
            None | Some(Value::Null) => json!({}),
            Some(Value::String(text)) if text.trim().is_empty() => json!({}),
            Some(Value::String(text)) => {
                serde_json::from_str(text.trim()).unwrap_or(Value::String(text))
            }
            Some(written_out) => written_out,
        };
        ToolCall {
            id: CallId(self.id),
            tool_id: tool_id::sanitise(&self.function.name),
            input,
        }
    }
}

/// Nothing at all is an empty text.
fn text(content: Option<ClientContent>) -> Result<String, ApiError> {
    content.map_or(Ok(String::new()), ClientContent::text)
}

impl ClientContent {
    fn text(self) -> Result<String, ApiError> {
        let (text, images) = self.user()?;
        if images.is_empty() {
            Ok(text)
        } else {
            Err(bad_request(
                "Pictures can only stand in messages of the user.",
            ))
        }
    }

    /// What a message of the user says and shows.
    fn user(self) -> Result<(String, Vec<ClientImage>), ApiError> {
        let pieces = match self {
            Self::Text(text) => return Ok((text, Vec::new())),
            Self::Pieces(pieces) => pieces,
        };
        let (mut texts, mut images) = (Vec::new(), Vec::new());
        for piece in &pieces {
            if let Some(image) = ClientImage::read(piece) {
                images.push(image?);
                continue;
            }
            let text = match piece["type"].as_str() {
                Some("text" | "input_text" | "output_text") => piece["text"].as_str(),
                Some("refusal") => piece["refusal"].as_str(),
                _ => None,
            };
            texts.push(text.ok_or_else(|| {
                bad_request("Messages can hold text and pictures: no sounds or files.")
            })?);
        }
        Ok((texts.join("\n"), images))
    }
}
