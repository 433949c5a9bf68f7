//! What a small model is asked for after the results of its calls.
//!
//! Measured with Qwen2.5-Coder-1.5B on llama.cpp, five tools, native calls: after a result it made
//! the same call again in 5 of 5 conversations, and answered with the result in 5 of 5 with this
//! request. Chinese questions were answered in Chinese in 4 of 4 with the last words, which the
//! system prompt and English words do not achieve.

use tenon_domain::tokenizer::{Script, runs};
use tenon_domain::{Content, Message, ToolUse};

const REQUEST: &str = "(This is the result of the call. Answer the user with it, in words and in the user's language, or make the next call.)";
/// The same in both scripts.
const IN_CHINESE: &str = "用中文回答。";

/// How much of a message its language is read from.
const MAX_TEXT_BYTES: usize = 2_000;

/// Adds the request to the results of calls. To each of them and not to the last alone: so a
/// conversation begins alike from step to step, and the server's prompt cache holds.
pub(crate) fn add(messages: &mut [Message], tool_use: ToolUse) {
    let request = match tool_use {
        ToolUse::Native => REQUEST,
        // Text calls have a request of their own; the others answer without one.
        ToolUse::Constrained | ToolUse::Text | ToolUse::None => "",
    };
    let mut in_chinese = "";
    for message in messages {
        match message {
            Message::User { text, .. } if is_chinese(text) => in_chinese = IN_CHINESE,
            Message::User { .. } => in_chinese = "",
            Message::Assistant { .. } => {}
            Message::Tools { answers } => {
                // Errors already tell the model what to do, so nothing is appended to them.
                let output = answers.last_mut().map(|answer| answer.result.as_mut());
                if let Some(Ok(output)) = output
                    && !(request.is_empty() && in_chinese.is_empty())
                {
                    let text = format!("\n{request}{in_chinese}");
                    output.content.push(Content::Text { text });
                }
            }
        }
    }
}

/// Whether there are more Chinese characters than words of other languages: a word that is asked
/// about, or the name of a file, does not decide.
fn is_chinese(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    let (mut characters, mut words) = (0, 0);
    for run in runs(text) {
        match run.script {
            Script::Spaced => words += 1,
            Script::Unspaced => {
                let is_chinese = |c: &char| matches!(c, '\u{4E00}'..='\u{9FFF}');
                let chinese = run.text.chars().filter(is_chinese).count();
                let others = run.text.chars().count() - chinese;
                characters += chinese;
                // Kana and Hangul stand beside Chinese characters in Japanese and Korean.
                words += 2 * others;
            }
        }
    }
    characters > words
}

#[cfg(test)]
mod tests {
    use tenon_domain::{CallId, ToolAnswer, ToolError, ToolId, ToolOutput, ToolResult};

    use super::*;

    /// What is added to a result, after a message of the user.
    fn added(user: &str, result: ToolResult, tool_use: ToolUse) -> Vec<Content> {
        let mut messages = vec![
            Message::user(user),
            Message::Tools {
                answers: vec![ToolAnswer {
                    call_id: CallId::new("c"),
                    tool_id: ToolId::new("t"),
                    result,
                }],
            },
        ];
        add(&mut messages, tool_use);
        match messages.pop() {
            Some(Message::Tools { mut answers }) => match answers.remove(0).result {
                Ok(output) => output.content.into_iter().skip(1).collect(),
                Err(_) => Vec::new(),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_small_model_is_asked_to_answer_in_the_language_of_the_user() {
        let check = |user: &str, tool_use: ToolUse, expected: &str| {
            let text = added(user, Ok(ToolOutput::text("7 degrees")), tool_use);
            let text: String = text.iter().map(Content::to_text).collect();
            assert_eq!(text.trim(), expected, "{user} {tool_use:?}");
        };
        check("Weather?", ToolUse::Native, REQUEST);
        check(
            "天气怎么样？",
            ToolUse::Native,
            &format!("{REQUEST}{IN_CHINESE}"),
        );
        check("天気はどうですか", ToolUse::Native, REQUEST);
        check("What does 你好 mean?", ToolUse::Native, REQUEST);
        check("把 notes.txt 里的 TODO 列出来", ToolUse::Text, IN_CHINESE);
        check("Weather?", ToolUse::Constrained, "");
        check("天气怎么样？", ToolUse::Text, IN_CHINESE);
    }

    #[test]
    fn what_failed_is_left_as_it_is() {
        assert_eq!(
            added("天气？", Err(ToolError::failed("no")), ToolUse::Native),
            []
        );
    }
}
