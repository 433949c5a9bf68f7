//! What the assistant says, in English and in Chinese.

use serde_json::Value;
use tenon_domain::{Content, ToolError, ToolOutput, ToolResult};

use super::choice::Shelf;
use super::history::Made;
use super::schema::{Parameter, Shape};
use super::tone::{Language, Manner};

/// What fits on a screen or two. The whole stands with the call.
const LONGEST_RESULT: usize = 4_000;
/// Enough to show what there is, few enough to be read.
const EXAMPLES: usize = 6;

/// The question for a missing argument. It names the tool and, in backticks,
/// the argument: by that it is recognised when the answer comes.
pub(super) fn question(language: Language, display_name: &str, parameter: &Parameter) -> String {
    let name = &parameter.name;
    let mut about = parameter.description.clone();
    if let Shape::OneOf(values) = &parameter.shape {
        let values: Vec<String> = values.iter().take(12).map(plain).collect();
        about = format!("{about} ({})", values.join(", "))
            .trim_start()
            .to_owned();
    }
    match (language, about.is_empty()) {
        (Language::English, true) => {
            format!("To use *{display_name}* I need `{name}`. What should it be?")
        }
        (Language::English, false) => format!("To use *{display_name}* I need `{name}`: {about}"),
        (Language::Chinese, true) => {
            format!("要使用 *{display_name}*，我还需要 `{name}`。请告诉我。")
        }
        (Language::Chinese, false) => {
            format!("要使用 *{display_name}*，我还需要 `{name}`：{about}")
        }
    }
}

pub(super) fn dropped(language: Language) -> String {
    match language {
        Language::English => "All right, I leave it.".into(),
        Language::Chinese => "好的，那就不做了。".into(),
    }
}

/// Who this is and what it can do, for everything no tool answers.
pub(super) fn introduction(language: Language, manner: Manner, shelf: &Shelf<'_>) -> String {
    let names = examples(shelf);
    let list: Vec<String> = names.iter().map(|name| format!("- {name}")).collect();
    let list = list.join("\n");
    match language {
        Language::English => {
            let opening = match manner {
                Manner::Thanks => "You are welcome. ",
                Manner::Greeting => "Hello! ",
                Manner::Cancel => "All right. ",
                Manner::Wish | Manner::Statement => "",
            };
            let tools = if names.is_empty() {
                "There are no tools at hand right now.".into()
            } else {
                format!("Some of what I can do:\n\n{list}")
            };
            format!(
                "{opening}I am Tenon's built-in assistant: no language model is connected, so I only match your \
                 words to tools. {tools}\n\nFree conversation takes a language model."
            )
        }
        Language::Chinese => {
            let opening = match manner {
                Manner::Thanks => "不客气。",
                Manner::Greeting => "你好！",
                Manner::Cancel => "好的。",
                Manner::Wish | Manner::Statement => "",
            };
            let tools = if names.is_empty() {
                "现在没有可用的工具。".into()
            } else {
                format!("我可以做的事，例如：\n\n{list}")
            };
            format!(
                "{opening}我是 Tenon 的内置助手：目前没有连接语言模型，我只能把你的话对应到工具上。{tools}\n\n\
                 自由对话需要连接语言模型。"
            )
        }
    }
}

/// What the calls of a turn came to.
pub(super) fn report(language: Language, shelf: &Shelf<'_>, made: &[Made<'_>]) -> String {
    let titled = made.len() > 1;
    let results = made.iter().map(|made| {
        let told = match made.result {
            Some(result) => told(language, result),
            None => String::from(match language {
                Language::English => "No answer came.",
                Language::Chinese => "没有得到回答。",
            }),
        };
        let name = shelf
            .find(made.tool)
            .map_or(made.tool, |tool| tool.spec.display_name.as_str());
        if titled {
            format!("**{name}**\n\n{told}")
        } else {
            told
        }
    });
    let results: Vec<String> = results.collect();
    results.join("\n\n")
}

fn told(language: Language, result: &ToolResult) -> String {
    match (result, language) {
        (Ok(output), _) => {
            let shown = shown(output);
            let done = match language {
                Language::English => "Done.",
                Language::Chinese => "完成。",
            };
            if shown.is_empty() { done.into() } else { shown }
        }
        // What the error says then is for models, which need to be told what follows from it.
        (Err(error), Language::English) if *error == ToolError::refused() => {
            "All right, I will not do that.".into()
        }
        (Err(error), Language::Chinese) if *error == ToolError::refused() => {
            "好的，不做了。".into()
        }
        (Err(error), Language::English) => format!("That did not work: {}", cut(&error.message)),
        (Err(error), Language::Chinese) => format!("没有成功：{}", cut(&error.message)),
    }
}

fn shown(output: &ToolOutput) -> String {
    let structured = output.structured();
    let parts = output.content.iter().filter_map(|part| match part {
        Content::Text { text } => {
            let value = serde_json::from_str::<Value>(text)
                .ok()
                .filter(|value| value.is_object() || value.is_array());
            // Many servers send their answer twice, as JSON and as its text.
            match value {
                Some(value) if structured == Some(&value) => None,
                Some(value) => Some(json(&value)),
                None => (!text.trim().is_empty()).then(|| prose_or_block(text)),
            }
        }
        Content::Json { value } => Some(json(value)),
        Content::Image { .. } | Content::File { .. } | Content::Blob { .. } => Some(part.to_text()),
    });
    let parts: Vec<String> = parts.collect();
    parts.join("\n\n")
}

fn json(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => fenced(
            "json",
            &serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            prose_or_block(&plain(value))
        }
    }
}

/// A line is said; several are shown as they are.
fn prose_or_block(text: &str) -> String {
    let text = text.trim_end();
    if text.contains('\n') {
        fenced("", text)
    } else {
        cut(text.trim_start())
    }
}

fn fenced(language: &str, text: &str) -> String {
    let text = cut(text);
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_RESULT) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    }
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A few tools by name, from as many sources as there are.
fn examples<'s>(shelf: &'s Shelf<'_>) -> Vec<&'s str> {
    let names = shelf
        .tools
        .iter()
        .filter(|tool| !tool.spec.annotations.ends_turn);
    let names: Vec<&str> = names.map(|tool| tool.spec.display_name.as_str()).collect();
    let source = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let mut chosen: Vec<&str> = Vec::new();
    for fresh in [true, false] {
        for name in &names {
            let known = chosen.iter().any(|one| source(one) == source(name));
            if chosen.len() < EXAMPLES && !chosen.contains(name) && !(fresh && known) {
                chosen.push(name);
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_are_said_the_way_they_read_best() {
        #[track_caller]
        fn check(result: ToolResult, expected: &str) {
            assert_eq!(told(Language::English, &result), expected);
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
            told(
                Language::English,
                &Ok(ToolOutput::text("长".repeat(1_000_000)))
            )
            .len()
                < 13_000
        );
    }
}
