//! The form in which models get what a tool of a skill gave: `{"success": true, "data": …}` or
//! `{"success": false, "error": …}`.

use serde_json::{Value, json};
use tenon_domain::{Content, ToolError, ToolOutput, ToolResult};

/// What a tool gave, before it has that form.
pub(super) struct SkillReply {
    pub(super) data: Value,
    /// Pictures and files that come with it.
    pub(super) attachments: Vec<Content>,
}

impl SkillReply {
    /// JSON where it is some, otherwise text.
    pub(super) fn of_output(output: &[u8]) -> Self {
        let text = String::from_utf8_lossy(output);
        let text = text.trim_end_matches(['\n', '\r']);
        let data = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        Self::of_data(data)
    }

    pub(super) fn of_data(data: Value) -> Self {
        Self {
            data,
            attachments: Vec::new(),
        }
    }
}

impl From<ToolOutput> for SkillReply {
    fn from(output: ToolOutput) -> Self {
        let mut texts = Vec::new();
        let mut data = None;
        let mut attachments = Vec::new();
        for content in output.content {
            match content {
                Content::Json { value } if data.is_none() => data = Some(value),
                Content::Json { value } => texts.push(value.to_string()),
                Content::Text { text } => texts.push(text),
                other => attachments.push(other),
            }
        }
        let data = match data {
            Some(data) if texts.is_empty() => data,
            // What is said beside the data is said with it.
            Some(data) => json!({ "text": texts.join("\n"), "data": data }),
            None => Value::from(texts.join("\n")),
        };
        Self { data, attachments }
    }
}

pub(super) fn envelope(reply: Result<SkillReply, ToolError>) -> ToolResult {
    match reply {
        Ok(SkillReply { data, attachments }) => {
            let mut output = ToolOutput::json(json!({ "success": true, "data": data }));
            output.content.extend(attachments);
            Ok(output)
        }
        Err(error) => Err(failure(error)),
    }
}

/// An error with what a model is told of it.
pub(super) fn failure(error: ToolError) -> ToolError {
    let reply = json!({ "success": false, "error": error.message });
    error.with_reply(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_prints_is_json_or_text() {
        let check = |output: &str, expected: Value| {
            let found = envelope(Ok(SkillReply::of_output(output.as_bytes()))).unwrap();
            let expected = json!({ "success": true, "data": expected });
            assert_eq!(found.structured(), Some(&expected));
        };
        check("{\"words\": 3}\n", json!({ "words": 3 }));
        check("three words\n", json!("three words"));
        check("{broken", json!("{broken"));
        check("", json!(""));
    }

    #[test]
    fn a_failure_says_so_to_the_model_and_in_words_to_people() {
        let error = envelope(Err(ToolError::failed("No such city."))).unwrap_err();
        assert_eq!(error.message, "No such city.");
        let reply = json!({ "success": false, "error": "No such city." });
        assert_eq!(error.reply.as_deref(), Some(&reply));
    }
}
