//! Prompt texts for models that write calls as text: the tools, the model's own calls, and their
//! results.

use std::sync::Arc;

use serde_json::json;
use tenon_domain::{Message, Part, ProviderBlock, ToolAnswer, ToolCall};

use crate::history;
use crate::remote::compiled_tool::CompiledTool;
use crate::tool_result::{ResultPart, arguments_object, result_parts};

/// The tools in the system prompt, word for word as in the Hermes and Qwen templates, which most
/// open models were trained on.
pub(crate) fn prompt(tools: &[Arc<CompiledTool>]) -> String {
    let list: Vec<&str> = tools.iter().map(|tool| tool.entry.get()).collect();
    format!(
        "\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n\
         You are provided with function signatures within <tools></tools> XML tags:\n\
         <tools>\n{}\n</tools>\n\n\
         For each function call, return a json object with function name and arguments within \
         <tool_call></tool_call> XML tags:\n\
         <tool_call>\n{{\"name\": <function-name>, \"arguments\": <args-json-object>}}\n</tool_call>",
        list.join("\n")
    )
}

/// What is asked for after the results. Measured with Qwen2.5-Coder-1.5B and its own template,
/// which writes calls into code blocks: with this sentence 5 of 5 calls were followed by the right
/// answer; without it, with `<tool_response>` tags or with both none was: the model called again.
const RESULT_REQUEST: &str =
    "Answer my question with it, in words and in its language, or make the next call.";

/// Which calls of a conversation are rendered as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallScope {
    /// Only calls that this model wrote as text itself.
    OwnText,
    All,
}

/// A conversation in which calls are the text that they were written as, and results are what the
/// user says: several templates refuse a `tool` message that follows on no call of theirs.
pub(crate) fn calls_as_text(messages: Vec<Message>, maker: &str, scope: CallScope) -> Vec<Message> {
    let mut is_text = false;
    let messages = messages.into_iter().map(|message| match message {
        Message::Assistant { parts } => {
            is_text = scope == CallScope::All || is_own_text(&parts, maker);
            Message::Assistant {
                parts: if is_text {
                    written(parts, maker)
                } else {
                    parts
                },
            }
        }
        Message::Tools { answers } if is_text => {
            let results: Vec<String> = answers.iter().map(result).collect();
            Message::user(format!("{}\n\n{RESULT_REQUEST}", results.join("\n\n")))
        }
        other => other,
    });
    history::repair(messages.collect())
}

/// Whether there are calls, and all of them were read from this model's text.
fn is_own_text(parts: &[Part], maker: &str) -> bool {
    let mut calls = parts.iter().filter_map(|part| match part {
        Part::Call { provider_block, .. } => Some(provider_block),
        Part::Text { .. }
        | Part::Thinking { .. }
        | Part::Image(_)
        | Part::File { .. }
        | Part::Opaque { .. } => None,
    });
    let is_text = |block: &Option<ProviderBlock>| own_text(block, maker).is_some();
    let first = calls.next();
    first.is_some_and(is_text) && calls.all(is_text)
}

/// The same parts, with one text of all that was said and called.
fn written(parts: Vec<Part>, maker: &str) -> Vec<Part> {
    let (mut text, mut others) = (String::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text { text: words, .. } => text.push_str(&words),
            Part::Call {
                call,
                provider_block,
            } => match own_text(&provider_block, maker) {
                Some(raw) => text.push_str(raw),
                None => push_call(&mut text, &call),
            },
            Part::Thinking { .. } | Part::Image(_) | Part::File { .. } | Part::Opaque { .. } => {
                others.push(part)
            }
        }
    }
    others.push(Part::text(text));
    others
}

fn own_text<'a>(block: &'a Option<ProviderBlock>, maker: &str) -> Option<&'a str> {
    let block = block.as_ref().filter(|block| block.maker == maker)?;
    block.block["text"].as_str()
}

fn push_call(text: &mut String, call: &ToolCall) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let call = json!({"name": call.tool_id, "arguments": arguments_object(&call.input)});
    text.push_str(&format!("<tool_call>\n{call}\n</tool_call>"));
}

fn result(answer: &ToolAnswer) -> String {
    let parts = result_parts(&answer.result, false).into_iter();
    let texts: Vec<String> = parts
        .filter_map(|part| match part {
            ResultPart::Text(text) => Some(text),
            ResultPart::Image { .. } => None,
        })
        .collect();
    format!("Result of {}:\n{}", answer.tool_id, texts.join("\n"))
}
