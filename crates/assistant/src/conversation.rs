//! The conversation as exchanges: what was said, what was called for it, what was answered.

use serde_json::Value;
use tenon_domain::{Message, Part, ToolResult};

/// One user message and everything it set off so far.
#[derive(Debug, Default, Clone)]
pub(crate) struct Exchange<'a> {
    pub(crate) said: &'a str,
    pub(crate) calls: Vec<PastCall<'a>>,
    /// The last thing the assistant said in it.
    pub(crate) answer: String,
}

/// A call that was made.
#[derive(Debug, Clone)]
pub(crate) struct PastCall<'a> {
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Value,
    /// None while it is unanswered, or if its answer was lost.
    pub(crate) result: Option<&'a ToolResult>,
}

/// The exchanges, oldest first. An empty one comes first, so that there is always one.
pub(crate) fn exchanges(messages: &[Message]) -> Vec<Exchange<'_>> {
    let mut exchanges = vec![Exchange::default()];
    for message in messages {
        if matches!(message, Message::User { .. }) {
            exchanges.push(Exchange::default());
        }
        let Some(open) = exchanges.last_mut() else {
            continue;
        };
        match message {
            Message::User { text, .. } => open.said = text,
            Message::Assistant { parts } => {
                open.answer = parts.iter().filter_map(Part::as_text).collect();
                let calls = parts.iter().filter_map(Part::as_call);
                open.calls.extend(calls.map(|call| PastCall {
                    tool: call.tool_id.as_str(),
                    input: &call.input,
                    result: None,
                }));
            }
            Message::Tools { answers } => {
                // Answers come in the order of the calls, but a provider's history may lack some.
                let mut unanswered = open.calls.iter_mut().filter(|call| call.result.is_none());
                for answer in answers {
                    let tool = answer.tool_id.as_str();
                    if let Some(call) = unanswered.find(|call| call.tool == tool) {
                        call.result = Some(&answer.result);
                    }
                }
            }
        }
    }
    exchanges
}
