//! The forms of a call, as published chat templates define them.

use super::callable_tools::{CallEvidence, CallableTools, ParsedCall};
use super::cursor::{TextCursor, Unparsed};
use super::{json_call, python_call, xml_call};

/// How a call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallForm {
    /// JSON or XML between tags: Hermes, Qwen.
    Tags {
        open: &'static str,
        close: &'static str,
    },
    /// `<function=name>…</function>` without tags around it: Llama 3, Qwen-Coder.
    Function,
    /// JSON or Python after a mark: Llama 3 and 4.
    Python {
        open: &'static str,
        close: &'static str,
    },
    /// A mark, then a list, or a name and its arguments: Mistral.
    Mistral,
    DeepSeek,
    /// A block of code: JSON, or what Gemma calls `tool_code`.
    CodeBlock,
    /// JSON, or a list of calls in Python, that begins a line.
    Bare,
}

/// What begins at some place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallOpening {
    Form(CallForm),
    /// Too little of it is there to tell.
    Undecided,
    None,
}

/// No form begins with another character.
pub(super) const OPENING_CHARS: [char; 4] = ['<', '[', '{', '`'];

pub(super) const CODE_FENCE: &str = "```";

const MISTRAL_MARK: &str = "[TOOL_CALLS]";

const DEEPSEEK_CALLS: [&str; 2] = ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"];
const DEEPSEEK_CALL: [&str; 2] = ["<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"];
const DEEPSEEK_SEPARATOR: &str = "<｜tool▁sep｜>";

/// Small models confuse the tags of calls with those around the list of tools.
const TAGS: [[&str; 2]; 4] = [
    ["<tool_call>", "</tool_call>"],
    ["<tools>", "</tools>"],
    ["<tool>", "</tool>"],
    ["<function_call>", "</function_call>"],
];

const PYTHON_MARKS: [[&str; 2]; 2] = [
    ["<|python_tag|>", "<|eom_id|>"],
    ["<|python_start|>", "<|python_end|>"],
];

/// The languages that a block with a call in it is said to be in.
const JSON_BLOCKS: [&str; 5] = ["", "json", "xml", "tool_call", "tool_calls"];
const PYTHON_BLOCK: &str = "tool_code";

/// The form that begins with the text. `is_line`: it begins a line.
pub(super) fn opening(text: &str, is_line: bool) -> CallOpening {
    let tags = TAGS.map(|[open, close]| (open, CallForm::Tags { open, close }));
    let python = PYTHON_MARKS.map(|[open, close]| (open, CallForm::Python { open, close }));
    let marks = [
        (xml_call::OPENING, CallForm::Function),
        (MISTRAL_MARK, CallForm::Mistral),
        (DEEPSEEK_CALLS[0], CallForm::DeepSeek),
    ];
    let blocks = [
        (CODE_FENCE, CallForm::CodeBlock),
        ("{", CallForm::Bare),
        ("[", CallForm::Bare),
    ];
    let blocks = blocks.into_iter().filter(|_| is_line);
    let mut is_undecided = false;
    for (mark, form) in tags.into_iter().chain(python).chain(marks).chain(blocks) {
        if text.starts_with(mark) {
            // A bracket alone may be the first of a mark.
            let is_settled = !is_undecided || form != CallForm::Bare;
            return if is_settled {
                CallOpening::Form(form)
            } else {
                CallOpening::Undecided
            };
        }
        is_undecided |= mark.starts_with(text);
    }
    if is_undecided {
        CallOpening::Undecided
    } else {
        CallOpening::None
    }
}

impl CallForm {
    /// The calls that the text begins with.
    pub(super) fn parse(
        self,
        cursor: &mut TextCursor<'_>,
        tools: &CallableTools,
    ) -> Result<Vec<ParsedCall>, Unparsed> {
        match self {
            Self::Tags { open, close } => {
                cursor.literal(open)?;
                let calls = tagged(cursor, tools)?;
                cursor.closing(close)?;
                Ok(calls)
            }
            Self::Function => {
                let call = xml_call::parse(cursor, tools)?;
                // Qwen-Coder forgets the opening tag.
                cursor.optional(TAGS[0][1])?;
                Ok(vec![call])
            }
            Self::Python { open, close } => {
                cursor.literal(open)?;
                let calls = match cursor.peek()? {
                    '{' => json_call::parse(cursor, tools, CallEvidence::Marks),
                    '[' => list(cursor, tools, CallEvidence::Marks),
                    _ => python_call::parse(cursor, tools, CallEvidence::Marks)
                        .map(|call| vec![call]),
                }?;
                cursor.optional(close)?;
                Ok(calls)
            }
            Self::Mistral => mistral(cursor, tools),
            Self::DeepSeek => deepseek(cursor, tools),
            Self::CodeBlock => code_block(cursor, tools),
            Self::Bare => {
                let calls = match cursor.peek()? {
                    '[' => list(cursor, tools, CallEvidence::Shape),
                    _ => json_call::parse(cursor, tools, CallEvidence::Shape),
                }?;
                // Words that follow on the same line are about it.
                cursor.end_of_line()?;
                Ok(calls)
            }
        }
    }
}

fn tagged(cursor: &mut TextCursor<'_>, tools: &CallableTools) -> Result<Vec<ParsedCall>, Unparsed> {
    if cursor.peek()? != '<' {
        return json_call::parse(cursor, tools, CallEvidence::Marks);
    }
    let mut calls = vec![xml_call::parse(cursor, tools)?];
    while cursor.peek_or_end()? == Some('<') {
        match xml_call::parse(cursor, tools) {
            Ok(call) => calls.push(call),
            // The tag that closes.
            Err(Unparsed::Mismatch) => break,
            Err(Unparsed::Incomplete) => return Err(Unparsed::Incomplete),
        }
    }
    Ok(calls)
}

/// A list of objects or of calls in Python.
fn list(
    cursor: &mut TextCursor<'_>,
    tools: &CallableTools,
    evidence: CallEvidence,
) -> Result<Vec<ParsedCall>, Unparsed> {
    let mut ahead = *cursor;
    ahead.literal("[")?;
    if ahead.peek()? == '{' {
        json_call::parse(cursor, tools, evidence)
    } else {
        python_call::parse_list(cursor, tools, evidence)
    }
}

/// `[{…}]`, `name[ARGS]{…}`, `name[CALL_ID]…[ARGS]{…}` or `name{…}`
fn mistral(
    cursor: &mut TextCursor<'_>,
    tools: &CallableTools,
) -> Result<Vec<ParsedCall>, Unparsed> {
    cursor.literal(MISTRAL_MARK)?;
    if matches!(cursor.peek()?, '[' | '{') {
        return json_call::parse(cursor, tools, CallEvidence::Marks);
    }
    let (name, is_whole) = cursor.run(|char| !matches!(char, '[' | '{' | ' ' | '\n'));
    tools.check_name(name, is_whole)?;
    if cursor.optional("[CALL_ID]")? {
        cursor.run(|char| char.is_ascii_alphanumeric());
    }
    cursor.optional("[ARGS]")?;
    cursor.peek()?;
    let arguments = cursor.json()?;
    let call = tools.call(name, Some(arguments), CallEvidence::Marks)?;
    Ok(vec![call])
}

/// Calls as of version 3.1, `name<sep>{…}`, or before it, ``function<sep>name ```json {…} ``` ``.
fn deepseek(
    cursor: &mut TextCursor<'_>,
    tools: &CallableTools,
) -> Result<Vec<ParsedCall>, Unparsed> {
    cursor.literal(DEEPSEEK_CALLS[0])?;
    let mut calls = Vec::new();
    loop {
        cursor.peek()?;
        cursor.literal(DEEPSEEK_CALL[0])?;
        let is_block = cursor.literal("function<") == Ok(());
        let (name, arguments) = if is_block {
            cursor.literal(&DEEPSEEK_SEPARATOR[1..])?;
            let (name, is_whole) = cursor.run(|char| char != '\n');
            tools.check_name(name, is_whole)?;
            cursor.peek()?;
            cursor.literal("```json")?;
            cursor.peek()?;
            let arguments = cursor.json()?;
            cursor.closing(CODE_FENCE)?;
            (name, arguments)
        } else {
            let (name, is_whole) = cursor.run(|char| char != '<');
            if !is_whole && "function".starts_with(name) {
                return Err(Unparsed::Incomplete);
            }
            tools.check_name(name, is_whole)?;
            cursor.literal(DEEPSEEK_SEPARATOR)?;
            cursor.peek()?;
            (name, cursor.json()?)
        };
        calls.push(tools.call(name, Some(arguments), CallEvidence::Marks)?);
        cursor.closing(DEEPSEEK_CALL[1])?;
        match cursor.closing(DEEPSEEK_CALLS[1]) {
            Err(Unparsed::Mismatch) => {}
            closed => return closed.map(|()| calls),
        }
    }
}

fn code_block(
    cursor: &mut TextCursor<'_>,
    tools: &CallableTools,
) -> Result<Vec<ParsedCall>, Unparsed> {
    cursor.literal(CODE_FENCE)?;
    let (language, is_whole) = cursor.run(|char| char.is_alphanumeric() || char == '_');
    if !is_whole {
        let mut languages = JSON_BLOCKS.iter().chain([&PYTHON_BLOCK]);
        let can_become = languages.any(|known| known.starts_with(language));
        return Err(if can_become {
            Unparsed::Incomplete
        } else {
            Unparsed::Mismatch
        });
    }
    let evidence = if language.starts_with("tool_") {
        CallEvidence::Marks
    } else {
        CallEvidence::Shape
    };
    if language != PYTHON_BLOCK && !JSON_BLOCKS.contains(&language) {
        return Err(Unparsed::Mismatch);
    }
    let calls = match cursor.peek()? {
        '{' => json_call::parse(cursor, tools, evidence),
        '[' => list(cursor, tools, evidence),
        '<' => {
            cursor.optional(TAGS[0][0])?;
            let calls = tagged(cursor, tools)?;
            cursor.optional(TAGS[0][1])?;
            Ok(calls)
        }
        _ if language == PYTHON_BLOCK => tool_code(cursor, tools),
        _ => Err(Unparsed::Mismatch),
    }?;
    cursor.closing(CODE_FENCE)?;
    Ok(calls)
}

/// Calls, one on each line; Gemma often wraps them in `print`.
fn tool_code(
    cursor: &mut TextCursor<'_>,
    tools: &CallableTools,
) -> Result<Vec<ParsedCall>, Unparsed> {
    let mut calls = Vec::new();
    loop {
        let is_printed = cursor.optional("print(")?;
        cursor.peek()?;
        calls.push(python_call::parse(cursor, tools, CallEvidence::Marks)?);
        if is_printed {
            cursor.peek()?;
            cursor.literal(")")?;
        }
        if matches!(cursor.peek_or_end()?, None | Some('`')) {
            return Ok(calls);
        }
    }
}
