//! The conversation that a client brings along, in Tenon's words.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::{CallId, Message, Part, ToolAnswer, ToolCall, ToolError, ToolOutput, tool_id};

use crate::api::error::ApiError;

#[derive(Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum Said {
    #[serde(alias = "developer")]
    System {
        content: Option<Content>,
    },
    User {
        content: Option<Content>,
    },
    Assistant {
        content: Option<Content>,
        tool_calls: Option<Vec<Called>>,
    },
    Tool {
        tool_call_id: String,
        content: Option<Content>,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Pieces(Vec<Value>),
}

#[derive(Deserialize)]
pub(super) struct Called {
    id: String,
    function: CalledFunction,
}

#[derive(Deserialize)]
struct CalledFunction {
    name: String,
    /// JSON as a text; some write it out.
    arguments: Option<Value>,
}

/// The instructions, and what was said.
pub(super) fn read(said: Vec<Said>) -> Result<(Option<String>, Vec<Message>), ApiError> {
    let mut system = Vec::new();
    let mut messages = Vec::new();
    let mut said: VecDeque<Said> = said.into();
    while let Some(one) = said.pop_front() {
        match one {
            Said::System { content } => system.push(text(content)?),
            Said::User { content } => messages.push(Message::User {
                text: text(content)?,
            }),
            Said::Assistant {
                content,
                tool_calls,
            } => {
                let text = text(content)?;
                let calls: Vec<ToolCall> =
                    tool_calls.into_iter().flatten().map(Called::call).collect();
                let answers = answers(&calls, &mut said)?;
                let text = (!text.is_empty()).then(|| Part::text(text));
                let calls = calls
                    .into_iter()
                    .map(|call| Part::Call { call, kept: None });
                let parts: Vec<Part> = text.into_iter().chain(calls).collect();
                if !parts.is_empty() {
                    messages.push(Message::Assistant { parts });
                }
                if !answers.is_empty() {
                    messages.push(Message::Tools { answers });
                }
            }
            Said::Tool { tool_call_id, .. } => {
                let shown: String = tool_call_id.chars().take(80).collect();
                return Err(ApiError::bad_request(format!(
                    "A `tool` message answers {shown:?}, which the message before it did not call."
                )));
            }
        }
    }
    // Who has nothing but instructions means them as the question.
    if messages.is_empty() && !system.is_empty() {
        let text = std::mem::take(&mut system).join("\n\n");
        messages.push(Message::User { text });
    }
    if !matches!(
        messages.last(),
        Some(Message::User { .. } | Message::Tools { .. })
    ) {
        return Err(ApiError::bad_request(
            "The last message has to be the user's, or the result of a tool.",
        ));
    }
    let system = (!system.is_empty()).then(|| system.join("\n\n"));
    Ok((system, messages))
}

impl Said {
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
            Some(Content::Text(text)) => text.len(),
            Some(Content::Pieces(pieces)) => {
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

/// What the calls of a message gave, in the order of the calls: a model is to find an answer to each.
fn answers(calls: &[ToolCall], said: &mut VecDeque<Said>) -> Result<Vec<ToolAnswer>, ApiError> {
    let known: HashSet<&str> = calls.iter().map(|call| call.id.0.as_str()).collect();
    let mut given = HashMap::new();
    while let Some(Said::Tool { tool_call_id, .. }) = said.front() {
        if !known.contains(tool_call_id.as_str()) {
            break;
        }
        if let Some(Said::Tool {
            tool_call_id,
            content,
        }) = said.pop_front()
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

impl Called {
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
fn text(content: Option<Content>) -> Result<String, ApiError> {
    content.map_or(Ok(String::new()), Content::text)
}

impl Content {
    fn text(self) -> Result<String, ApiError> {
        let pieces = match self {
            Self::Text(text) => return Ok(text),
            Self::Pieces(pieces) => pieces,
        };
        let texts: Option<Vec<&str>> = pieces
            .iter()
            .map(|piece| match piece["type"].as_str() {
                Some("text" | "input_text" | "output_text") => piece["text"].as_str(),
                Some("refusal") => piece["refusal"].as_str(),
                _ => None,
            })
            .collect();
        let texts = texts.ok_or_else(|| {
            ApiError::bad_request(
                "Messages can hold text alone so far: no images, sounds or files.",
            )
        })?;
        Ok(texts.join("\n"))
    }
}
