//! What the assistant says, in the language it was spoken to.

mod texts;

use std::collections::HashSet;

use serde_json::Value;
use tenon_domain::text::shorten;
use tenon_domain::{Content, ToolError, ToolOutput, ToolResult};

use crate::clause::Intent;
use crate::conversation::PastCall;
use crate::language::ReplyLanguage;
use crate::parameters::{ParameterType, ToolParameter};
use crate::tool_catalog::ToolCatalog;

/// What fits on a screen or two. The whole stands with the call.
const MAX_RESULT_CHARS: usize = 4_000;
/// Enough to show what there is, few enough to be read.
const MAX_EXAMPLES: usize = 6;
const MAX_VALUES: usize = 12;

/// The question for a missing argument. It names the tool and, in backticks, the argument: by
/// that it is recognised when the answer comes.
pub(crate) fn question(
    language: ReplyLanguage,
    display_name: &str,
    parameter: &ToolParameter,
) -> String {
    let mut about = parameter.description.clone();
    if let ParameterType::OneOf(values) = &parameter.value_type {
        let values: Vec<String> = values.iter().take(MAX_VALUES).map(plain).collect();
        about = format!("{about} ({})", values.join(", "));
    }
    let (colon, about) = match about.trim() {
        "" => ("", language.choose(texts::WHAT)),
        about => (language.choose(texts::COLON), about),
    };
    let to_use = language.choose(texts::TO_USE);
    let i_need = language.choose(texts::I_NEED);
    let name = &parameter.name;
    format!("{to_use}*{display_name}*{i_need}`{name}`{colon}{about}")
}

/// The display name and the argument of the [`question`] that an answer ends in.
pub(crate) fn asked(answer: &str) -> Option<(&str, &str)> {
    let last = answer.rsplit("\n\n").next()?;
    let mut texts = texts::TO_USE.iter().zip(texts::I_NEED);
    texts.find_map(|(to_use, i_need)| {
        let rest = last.strip_prefix(to_use)?.strip_prefix('*')?;
        let (display_name, rest) = rest.split_once(&format!("*{i_need}`"))?;
        Some((display_name, rest.split_once('`')?.0))
    })
}

/// Who this is and what it can do, for everything no tool answers.
pub(crate) fn introduction(
    language: ReplyLanguage,
    intent: Intent,
    catalog: &ToolCatalog<'_>,
) -> String {
    let opening = match intent {
        Intent::Thanks => language.choose(texts::WELCOME),
        Intent::Greeting => language.choose(texts::HELLO),
        Intent::Cancel => return language.choose(texts::CANCELLED).to_owned(),
        Intent::Request | Intent::Statement => "",
    };
    // A few tools by name, one of every source.
    let specs = catalog.tools.iter().map(|tool| tool.spec);
    let open = specs.filter(|spec| !spec.annotations.ends_turn);
    let mut sources = HashSet::new();
    let names = open.map(|spec| spec.display_name.as_str());
    let names = names.filter(|name| sources.insert(name.split('/').next()));
    let lines = names.take(MAX_EXAMPLES).map(|name| format!("\n- {name}"));
    let list: String = lines.collect();
    let tools = if list.is_empty() {
        texts::NO_TOOLS
    } else {
        texts::SOME_TOOLS
    };
    let [identity, tools, closing] =
        [texts::IDENTITY, tools, texts::CLOSING].map(|texts| language.choose(texts));
    format!("{opening}{identity}{tools}{list}\n\n{closing}")
}

/// What the calls of a turn came to.
pub(crate) fn report(
    language: ReplyLanguage,
    catalog: &ToolCatalog<'_>,
    calls: &[PastCall<'_>],
) -> String {
    let results = calls.iter().map(|call| {
        let text = match call.result {
            Some(result) => result_text(language, result),
            None => language.choose(texts::NO_ANSWER).to_owned(),
        };
        let tool = catalog.find(call.tool);
        let name = tool.map_or(call.tool, |tool| tool.spec.display_name.as_str());
        if calls.len() > 1 {
            format!("**{name}**\n\n{text}")
        } else {
            text
        }
    });
    results.collect::<Vec<_>>().join("\n\n")
}

fn result_text(language: ReplyLanguage, result: &ToolResult) -> String {
    let said = match result {
        Ok(output) => output_text(output),
        // What the error says then is for models, which need to be told what follows from it.
        Err(error) if *error == ToolError::refused() => language.choose(texts::REFUSED).to_owned(),
        Err(error) => {
            let failed = language.choose(texts::FAILED);
            format!("{failed}{}", shorten(&error.message, MAX_RESULT_CHARS))
        }
    };
    if said.is_empty() {
        language.choose(texts::DONE).to_owned()
    } else {
        said
    }
}

fn output_text(output: &ToolOutput) -> String {
    let structured = output.structured();
    let parts = output.content.iter().map(|part| match part {
        Content::Text { text } => match serde_json::from_str::<Value>(text) {
            // Many servers send their answer twice, as JSON and as its text.
            Ok(value) if structured == Some(&value) => String::new(),
            Ok(value) if value.is_object() || value.is_array() => json(&value),
            _ => prose_or_block(text),
        },
        Content::Json { value } => json(value),
        Content::Image { .. } | Content::File { .. } | Content::Blob { .. } => part.to_text(),
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

fn json(value: &Value) -> String {
    if value.is_object() || value.is_array() {
        fenced("json", &format!("{value:#}"))
    } else {
        prose_or_block(&plain(value))
    }
}

/// One line is prose; several are shown as they are.
fn prose_or_block(text: &str) -> String {
    let text = text.trim_end();
    if text.contains('\n') {
        fenced("", text)
    } else {
        shorten(text.trim_start(), MAX_RESULT_CHARS).into_owned()
    }
}

/// A code block, its fence longer than any run of backticks inside.
fn fenced(language: &str, text: &str) -> String {
    let text = shorten(text, MAX_RESULT_CHARS);
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn plain(value: &Value) -> String {
    let text = value.as_str().map(str::to_owned);
    text.unwrap_or_else(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_are_said_the_way_they_read_best() {
        #[track_caller]
        fn check(result: ToolResult, expected: &str) {
            assert_eq!(result_text(ReplyLanguage::English, &result), expected);
        }
        check(Ok(ToolOutput::text("It is 9:30.\n")), "It is 9:30.");
        check(
            Ok(ToolOutput::text("a.txt\nb.txt")),
            "```\na.txt\nb.txt\n```",
        );
        check(Ok(ToolOutput::text("a\n```\nb")), "````\na\n```\nb\n````");
        check(
            Ok(ToolOutput::text("{\"a\":1}")),
            "```json\n{\n  \"a\": 1\n}\n```",
        );
        check(Ok(ToolOutput::json(json!("plain"))), "plain");
        check(Ok(ToolOutput::default()), "Done.");
        check(
            Err(ToolError::failed("no such file")),
            "That did not work: no such file",
        );
        check(Err(ToolError::refused()), "All right, I will not do that.");
        let twice = vec![
            Content::Text {
                text: "{\"a\": 1}".into(),
            },
            Content::Json {
                value: json!({"a": 1}),
            },
        ];
        check(
            Ok(ToolOutput { content: twice }),
            "```json\n{\n  \"a\": 1\n}\n```",
        );
    }

    #[test]
    fn a_long_result_is_cut() {
        assert!(
            result_text(
                ReplyLanguage::English,
                &Ok(ToolOutput::text("长".repeat(1_000_000)))
            )
            .len()
                < 13_000
        );
    }
}
