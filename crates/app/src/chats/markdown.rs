//! A chat as text for people: one branch, who said what and when, and what
//! tools were given and gave. Thinking is left out.
//!
//! What others wrote cannot break out of its place: outputs stand in fences
//! longer than any inside them, and a fence that a message left open is closed.

use std::fmt::Write;

use chrono::DateTime;
use tenon_domain::{CallRecord, Part, Role};

use super::export::{ExportedChat, ExportedMessage, ExportedTurn};

pub fn write(chat: &ExportedChat) -> String {
    let title = match chat.title.trim() {
        "" => "Chat",
        title => title,
    };
    let mut text = format!("# {}\n\n{}\n", inline(title), time(chat.created_at));
    for turn in &chat.turns {
        for message in &turn.messages {
            say(&mut text, turn, message);
        }
    }
    text
}

fn say(text: &mut String, turn: &ExportedTurn, message: &ExportedMessage) {
    let words = Part::words(&message.parts);
    if words.trim().is_empty() && message.tool_calls.is_empty() {
        return;
    }
    let who = match (message.role, &turn.model) {
        (Role::User, _) => "You".to_owned(),
        (Role::Assistant, Some(model)) => inline(&model.name),
        (Role::Assistant, None) => "Assistant".to_owned(),
    };
    let _ = writeln!(text, "\n## {who}, {}", time(message.created_at));
    if !words.trim().is_empty() {
        let _ = writeln!(text, "\n{}", closed(words.trim_end()));
    }
    for call in &message.tool_calls {
        quote(text, call);
    }
}

fn quote(text: &mut String, call: &CallRecord) {
    let mut lines = format!("**{}** ({}", inline(&call.display_name), call.status);
    if let Some(duration) = call.duration_ms {
        let _ = write!(lines, ", {duration} ms");
    }
    let input = serde_json::to_string_pretty(&call.input).unwrap_or_default();
    let _ = write!(lines, ")\n\nInput:\n\n{}", fenced("json", &input));
    if let Some(output) = &call.output {
        let output = output.to_text();
        let _ = write!(lines, "\n\nOutput:\n\n{}", fenced("", &output));
    }
    if let Some(error) = &call.error {
        let _ = write!(lines, "\n\nError:\n\n{}", fenced("", &error.message));
    }
    text.push('\n');
    for line in lines.lines() {
        let _ = writeln!(text, "{}", format!("> {line}").trim_end());
    }
}

/// In a fence of more backticks than follow on each other anywhere inside.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    // Markdown also takes a lone carriage return for the end of a line.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    format!(
        "{fence}{language}\n{}\n{fence}",
        text.trim_end_matches('\n')
    )
}

/// The same, with an end for a fence that has none.
fn closed(text: &str) -> String {
    let mut open: Option<String> = None;
    for line in text.lines() {
        let line = line.trim();
        let mark = if line.starts_with('~') { '~' } else { '`' };
        let length = line.chars().take_while(|c| *c == mark).count();
        let fence: String = line.chars().take(length).collect();
        match &open {
            None if length >= 3 => open = Some(fence),
            Some(began) if fence.starts_with(began) && line == fence => open = None,
            _ => {}
        }
    }
    match open {
        Some(fence) => format!("{text}\n{fence}"),
        None => text.to_owned(),
    }
}

/// One line of text that is nothing but text.
fn inline(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => line.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '~' | '&' => {
                line.extend(['\\', c]);
            }
            c => line.push(c),
        }
    }
    line
}

fn time(milliseconds: i64) -> String {
    let time = DateTime::from_timestamp_millis(milliseconds).unwrap_or_default();
    time.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(turns: serde_json::Value) -> String {
        let chat = json!({"format": "tenon.chat", "version": 1, "title": "Tōkyō *now*\n# x",
            "createdAt": 0, "turns": turns});
        write(&serde_json::from_value(chat).unwrap())
    }

    #[test]
    fn a_chat_reads_like_a_conversation() {
        let text = written(json!([{"id": "t", "model": {"id": "m", "name": "Claude_3"},
        "messages": [
            {"id": "1", "role": "user", "createdAt": 1000,
                "parts": [{"type": "text", "text": "几点？"}]},
            {"id": "2", "role": "assistant", "createdAt": 2000,
                "parts": [{"type": "thinking", "text": "secret"}, {"type": "text", "text": "Let me see."}],
                "toolCalls": [{"id": "c", "messageId": "2", "toolId": "t", "displayName": "Time/Now",
                    "runsOn": "server", "input": {"zone": "Asia/Tokyo"}, "status": "done",
                    "durationMs": 3, "output": {"content": [{"type": "text", "text": "9:12\r```\r\n# no"}]}}]},
            {"id": "3", "role": "assistant", "createdAt": 3000, "parts": []},
        ]}]));
        assert_eq!(
            text,
            "# Tōkyō \\*now\\* \\# x\n\n1970-01-01 00:00:00 UTC\n\
             \n## You, 1970-01-01 00:00:01 UTC\n\n几点？\n\
             \n## Claude\\_3, 1970-01-01 00:00:02 UTC\n\nLet me see.\n\
             \n> **Time/Now** (done, 3 ms)\n>\n> Input:\n>\n> ```json\n> {\n>   \"zone\": \"Asia/Tokyo\"\n> }\n> ```\n>\n\
             > Output:\n>\n> ````\n> 9:12\n> ```\n> # no\n> ````\n"
        );
    }

    #[test]
    fn a_fence_that_was_left_open_is_closed() {
        let check = |text: &str, expected: &str| assert_eq!(closed(text), expected, "{text:?}");
        check("plain", "plain");
        check("```\nx\n```", "```\nx\n```");
        check("```rust\nx", "```rust\nx\n```");
        check("~~~\n```\nx", "~~~\n```\nx\n~~~");
        check("````\n```\nx", "````\n```\nx\n````");
        check("```\nx\n````", "```\nx\n````");
        check("`a` ``b``", "`a` ``b``");
    }
}
