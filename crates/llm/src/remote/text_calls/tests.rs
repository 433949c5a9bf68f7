//! Each family's form as its published template has it, whole and cut anywhere; and what only looks
//! like it.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tenon_domain::ToolId;

use super::callable_tools::CallableTools;
use super::reader::{TextCallReader, TextPiece};
use crate::remote::compiled_tool::CompiledTool;

fn tool(id: &str, schema: Value) -> Arc<CompiledTool> {
    Arc::new(CompiledTool {
        id: ToolId::new(id),
        name: id.into(),
        description: String::new(),
        schema,
        entry: to_raw_value(&()).unwrap(),
    })
}

fn reader() -> TextCallReader {
    let weather = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "hourly": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["city"],
    });
    let clock = json!({"type": "object", "properties": {}});
    let tools = [tool("weather", weather), tool("clock", clock)];
    TextCallReader::new(CallableTools::new(&tools))
}

/// What is read of a text in these pieces: text as it is, a call as `⟦name arguments⟧`, and the raw
/// texts of the calls in their places.
fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
    let (mut reader, mut out) = (reader(), Vec::new());
    for piece in pieces {
        reader.push(piece, &mut out);
    }
    reader.finish(&mut out);
    let (mut shown, mut written) = (String::new(), String::new());
    for piece in out {
        match piece {
            TextPiece::Text(text) => {
                shown.push_str(&text);
                written.push_str(&text);
            }
            TextPiece::Call { call, raw } => {
                shown.push_str(&format!("⟦{} {}⟧", call.tool, call.arguments));
                written.push_str(&raw);
            }
        }
    }
    (shown, written)
}

/// Reads the text whole, in two pieces cut at every place, and one character at a time.
#[track_caller]
fn check(text: &str, expected: &str) {
    let (shown, written) = read([text]);
    assert_eq!(shown, expected, "{text}");
    assert_eq!(
        written.trim_end(),
        text.trim_end(),
        "what was written is kept"
    );
    let cuts = text.char_indices().map(|(at, _)| at);
    for at in cuts {
        let cut = read([&text[..at], &text[at..]]);
        assert_eq!(cut.0, expected, "{:?} | {:?}", &text[..at], &text[at..]);
        assert_eq!(cut.1.trim_end(), text.trim_end());
    }
    let chars: Vec<String> = text.chars().map(String::from).collect();
    let (shown, _) = read(chars.iter().map(String::as_str));
    assert_eq!(shown, expected, "one by one: {text}");
}

/// Stays text, byte for byte, however it is cut.
#[track_caller]
fn check_text(text: &str) {
    let (shown, _) = read([text]);
    assert_eq!(shown, text);
    for (at, _) in text.char_indices() {
        assert_eq!(read([&text[..at], &text[at..]]).0, text, "cut at {at}");
    }
    let chars: Vec<String> = text.chars().map(String::from).collect();
    assert_eq!(read(chars.iter().map(String::as_str)).0, text);
}

const OSLO: &str = r#"⟦weather {"city":"Oslo"}⟧"#;
const BOTH: &str = r#"⟦weather {"city":"Oslo"}⟧⟦clock {}⟧"#;

#[test]
fn hermes_and_qwen() {
    check(
        "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>",
        OSLO,
    );
    check(
        "Let me look.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>\n\
         <tool_call>\n{\"name\": \"clock\", \"arguments\": {}}\n</tool_call>\n",
        &format!("Let me look.\n{BOTH}"),
    );
    // A stop token takes the last tag along.
    check(
        "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n",
        OSLO,
    );
    check(
        "<tools>{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}</tools>",
        OSLO,
    );
    check("<tool_call>{\"name\": \"clock\"}</tool_call>", "⟦clock {}⟧");
    check(
        "<tool_call>{\"arguments\": {\"city\": \"a</tool_call>{[`<\"}, \"name\": \"weather\"}</tool_call>",
        r#"⟦weather {"city":"a</tool_call>{[`<"}⟧"#,
    );
}

#[test]
fn qwen_coder() {
    check(
        "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n</parameter>\n\
         <parameter=hourly>\nTrue\n</parameter>\n<parameter=tags>\n[\"a\"]\n</parameter>\n</function>\n</tool_call>",
        r#"⟦weather {"city":"Oslo","days":3,"hourly":true,"tags":["a"]}⟧"#,
    );
    check(
        "<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
        OSLO,
    );
    check(
        "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n\
         <function=clock>\n</function>\n</tool_call>",
        BOTH,
    );
}

#[test]
fn code_blocks_and_bare_json() {
    let block = "```json\n{\n  \"name\": \"weather\",\n  \"arguments\": {\n    \"city\": \"Oslo\"\n  }\n}\n```";
    check(block, OSLO);
    check(
        &format!("I look.\n\n{block}\n"),
        &format!("I look.\n\n{OSLO}"),
    );
    check(&format!("{block}\nDone."), &format!("{OSLO}\nDone."));
    check(
        "```\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n{\"name\": \"clock\", \"arguments\": {}}\n```",
        BOTH,
    );
    check(
        "```xml\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>\n```",
        OSLO,
    );
    check(
        r#"{"name": "weather", "arguments": {"city": "Oslo"}}"#,
        OSLO,
    );
    check(
        "Sure:\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n",
        &format!("Sure:\n{OSLO}"),
    );
    check(
        r#" [{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "clock", "arguments": {}}]"#,
        BOTH,
    );
    // As OpenAI's API has it, and a number in quotes.
    check(
        r#"{"type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\",\"days\":\"3\"}"}, "id": "1"}"#,
        r#"⟦weather {"city":"Oslo","days":3}⟧"#,
    );
}

#[test]
fn llama() {
    check(
        r#"{"name": "weather", "parameters": {"city": "Oslo"}}"#,
        OSLO,
    );
    check(
        r#"<|python_tag|>{"type": "function", "name": "weather", "parameters": {"city": "Oslo"}}; {"name": "clock", "parameters": {}}"#,
        BOTH,
    );
    check(r#"<|python_tag|>weather.call(city="Oslo")"#, OSLO);
    check(r#"<|python_tag|>weather.call(city="Oslo")<|eom_id|>"#, OSLO);
    check(r#"<function=weather>{"city": "Oslo"}</function>"#, OSLO);
    check(r#"[weather(city="Oslo"), clock()]"#, BOTH);
    check("<|python_start|>[weather(city='Oslo')]<|python_end|>", OSLO);
}

#[test]
fn mistral() {
    check(
        r#"[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Oslo"}, "id": "a1B2c3D4e"}]"#,
        OSLO,
    );
    check(
        r#"[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "clock", "arguments": {}}]"#,
        BOTH,
    );
    check(r#"[TOOL_CALLS]weather[ARGS]{"city": "Oslo"}"#, OSLO);
    check(
        r#"I look. [TOOL_CALLS]weather[CALL_ID]a1B2c3D4e[ARGS]{"city": "Oslo"}[TOOL_CALLS]clock[ARGS]{}"#,
        &format!("I look. {BOTH}"),
    );
    check(r#"[TOOL_CALLS]weather{"city": "Oslo"}"#, OSLO);
}

#[test]
fn deepseek() {
    check(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{\"city\": \"Oslo\"}\n```<｜tool▁call▁end｜>\n\
         <｜tool▁call▁begin｜>function<｜tool▁sep｜>clock\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        BOTH,
    );
    check(
        "Yes.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{\"city\": \"Oslo\"}<｜tool▁call▁end｜>\
         <｜tool▁call▁begin｜>clock<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        &format!("Yes.{BOTH}"),
    );
}

#[test]
fn gemma() {
    check("```tool_code\nweather(city=\"Oslo\")\n```", OSLO);
    check(
        "```tool_code\nprint(weather(city='Oslo'))\nclock()\n```",
        BOTH,
    );
    check(
        "```tool_code\nweather(city = 'it\\'s \"\\n\\\\', days=-3, hourly=True, tags=['a', \"\"\"b \"c\"\n\"\"\",],)\n```",
        r#"⟦weather {"city":"it's \"\n\\","days":-3,"hourly":true,"tags":["a","b \"c\"\n"]}⟧"#,
    );
}

#[test]
fn look_alikes_stay_text() {
    for text in [
        "Just words.",
        "  indented\n",
        "a < b, [1], {x} and `code`",
        "[x] done\n[ ] to do\n[weather](https://example.com)\n[1]: a note",
        "[we",
        "{\"users\": [{\"name\": \"weather\"}]}",
        "{\"name\": \"Alice\", \"arguments\": {\"city\": \"Oslo\"}}",
        "{\"name\": \"weather\", \"version\": 1}",
        "{\"name\": \"weather\"}",
        "{\"name\": \"clock\", \"arguments\": {\"zone\": \"Oslo\"}}",
        "{\"name\": \"weather\", \"arguments\": {\"days\": 3}}",
        "{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}} is how it is called.",
        "Write {\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}.",
        "{\"type\": \"object\", \"properties\": {}}",
        "{\"type\": \"function\", \"function\": {\"name\": \"clock\", \"description\": \"\", \"parameters\": {}}}",
        "{\n\"calls\": [\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n]\n}",
        "```json\n{\"name\": \"storm\", \"arguments\": {\"city\": \"Oslo\"}}\n```",
        "```json\n[1, 2, 3]\n```\nand more",
        "```python\nweather(city=\"Oslo\")\n```",
        "```js\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n```",
        "```tool_code\nimport os\n```",
        "```\nls\n```",
        "<tool_call>\nis a tag of Qwen.",
        "<tool_call>{\"name\": \"storm\", \"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": 7}}</tool_call>",
        "<tool_call>{\"name\": \"weather\", \"argum",
        "<function=main>",
        "<tools><hammer/></tools>",
        "<|python_tag|>import math",
        "[TOOL_CALLS]nothing",
        "<｜tool▁calls▁begin｜>",
        "天气 [很好] <b>",
    ] {
        check_text(text);
    }
}

#[test]
fn a_call_after_a_broken_one_is_read() {
    check(
        "<tool_call>{\"name\": \"weather\", oops}</tool_call>\n\
         <tool_call>{\"name\": \"clock\", \"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": \"weather\", oops}</tool_call>\n⟦clock {}⟧",
    );
    check(
        "```json\n[1]\n```\n```json\n{\"name\": \"clock\", \"arguments\": {}}\n```",
        "```json\n[1]\n```\n⟦clock {}⟧",
    );
}

/// How much is shown once so much has come.
#[track_caller]
fn check_shown(text: &str, shown: &str) {
    let (mut reader, mut out) = (reader(), Vec::new());
    for char in text.chars() {
        reader.push(&char.to_string(), &mut out);
    }
    let given: String = out
        .into_iter()
        .map(|piece| match piece {
            TextPiece::Text(text) => text,
            TextPiece::Call { call, .. } => format!("⟦{}⟧", call.tool),
        })
        .collect();
    assert_eq!(given, shown, "{text}");
}

#[test]
fn only_what_can_become_a_call_is_held_back() {
    check_shown("Words, all of them ", "Words, all of them ");
    check_shown("a < b", "a < b");
    check_shown("a <to", "a ");
    check_shown("a <tod", "a <tod");
    check_shown("Look:\n{\"na", "Look:\n");
    check_shown("Look:\n{\"users\"", "Look:\n{\"users\"");
    check_shown("{\"name\": \"wea", "");
    check_shown("{\"name\": \"wear", "{\"name\": \"wear");
    check_shown("```", "");
    check_shown("```rust", "```rust");
    check_shown("```json\n{\"b", "```json\n{\"b");
    check_shown("[wea", "");
    check_shown("[well", "[well");
    // Parsed again once it has grown enough.
    check_shown(
        "<tool_call>{\"name\": \"clock\"}</tool_call>\n\n\n\n\n\n",
        "⟦clock⟧",
    );
}

/// Quadratic time would be minutes for each of these.
#[test]
fn hostile_text_is_read_in_linear_time() {
    const BYTES: usize = 1 << 17;
    for unit in [
        "{",
        "{\n",
        "[\n",
        "<",
        "`",
        "\n",
        "```json\n{",
        "<tool_call>",
        "<tool_call>{\"name\":\"weather\",\"arguments\":{\"city\":\"",
        "<tool_call>[{\"name\":\"clock\"},",
        "<function=weather><parameter=city>",
        "[TOOL_CALLS]weather[ARGS]{\"a\":[",
        "[weather(city=\"",
        "[weather(tags=[[",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>",
        "{\"name\":\"weather\",\"arguments\":{\"city\":\"\n\"}}x\n",
    ] {
        let text = unit.repeat(BYTES / unit.len());
        for size in [1, BYTES] {
            let chars: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = chars.chunks(size).map(String::from_iter).collect();
            let (shown, _) = read(pieces.iter().map(String::as_str));
            assert_eq!(shown.len(), text.len(), "{unit:?} by {size}");
        }
    }
    let call = "<tool_call>{\"name\":\"clock\"}</tool_call>";
    let (shown, _) = read([call.repeat(BYTES / call.len()).as_str()]);
    assert_eq!(shown, "⟦clock {}⟧".repeat(BYTES / call.len()));
}

#[test]
fn a_call_without_end_is_text_after_a_while() {
    let long = format!("<function=weather><parameter=city>{}", "a".repeat(1 << 17));
    let (mut reader, mut out) = (reader(), Vec::new());
    reader.push(&long, &mut out);
    assert!(!out.is_empty(), "it is not held for ever");
    check_shown(&long[..1000], "");
}
