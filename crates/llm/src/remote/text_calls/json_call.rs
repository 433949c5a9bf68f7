//! Calls as JSON: `{"name": …, "arguments": {…}}`, as most templates have it, one or a list of
//! them.

use serde_json::{Map, Value};

use super::callable_tools::{CallEvidence, CallableTools, ParsedCall};
use super::cursor::{TextCursor, Unparsed};

/// The names under which templates put the tool's name and its arguments.
const NAME_KEYS: [&str; 4] = ["name", "tool_name", "tool", "function"];
const ARGUMENTS_KEYS: [&str; 2] = ["arguments", "parameters"];

/// The only valid `type` of a call.
const FUNCTION_TYPE: &str = "function";

/// One or more objects or lists of them, with nothing but separators in between.
pub(super) fn parse(
    cursor: &mut TextCursor<'_>,
    tools: &CallableTools,
    evidence: CallEvidence,
) -> Result<Vec<ParsedCall>, Unparsed> {
    let mut calls = Vec::new();
    loop {
        cursor.peek()?;
        check_head(*cursor, tools).or_else(|unparsed| match unparsed {
            // That it is not whole yet is found out by the parser.
            Unparsed::Incomplete => Ok(()),
            Unparsed::Mismatch => Err(Unparsed::Mismatch),
        })?;
        match cursor.json()? {
            Value::Object(entry) => calls.push(call(entry, tools, evidence)?),
            Value::Array(entries) if !entries.is_empty() => {
                for entry in entries {
                    let Value::Object(entry) = entry else {
                        return Err(Unparsed::Mismatch);
                    };
                    calls.push(call(entry, tools, evidence)?);
                }
            }
            _ => return Err(Unparsed::Mismatch),
        }
        let mut ahead = *cursor;
        let is_separated = ahead.optional(";")?;
        let is_followed = ahead.peek_or_end()? == Some('{');
        if is_separated || is_followed {
            *cursor = ahead;
        }
        if !is_followed {
            return Ok(calls);
        }
    }
}

/// Judges by the first member, so that JSON of another kind is not held back to its end.
fn check_head(mut cursor: TextCursor<'_>, tools: &CallableTools) -> Result<(), Unparsed> {
    if cursor.peek()? == '[' {
        cursor.literal("[")?;
        cursor.skip_whitespace();
    }
    cursor.literal("{")?;
    let (key, is_whole) = string(&mut cursor)?;
    let mut keys = NAME_KEYS.iter().chain(&ARGUMENTS_KEYS).chain(&["type"]);
    if !keys.any(|known| is_or_becomes(known, key, is_whole)) {
        return Err(Unparsed::Mismatch);
    }
    cursor.skip_whitespace();
    cursor.literal(":")?;
    match (key, cursor.peek()?) {
        (FUNCTION_TYPE, '{') => check_head(cursor, tools),
        ("type", _) => {
            let (kind, is_whole) = string(&mut cursor)?;
            if is_or_becomes(FUNCTION_TYPE, kind, is_whole) {
                Ok(())
            } else {
                Err(Unparsed::Mismatch)
            }
        }
        (key, _) if NAME_KEYS.contains(&key) => {
            let (name, is_whole) = string(&mut cursor)?;
            tools.check_name(name, is_whole)
        }
        _ => Ok(()),
    }
}

fn is_or_becomes(known: &str, text: &str, is_whole: bool) -> bool {
    if is_whole {
        known == text
    } else {
        known.starts_with(text)
    }
}

/// A string as far as it is there. None of those that are looked for has an escape in it.
fn string<'a>(cursor: &mut TextCursor<'a>) -> Result<(&'a str, bool), Unparsed> {
    cursor.skip_whitespace();
    cursor.literal("\"")?;
    let (text, is_whole) = cursor.run(|char| char != '"');
    if is_whole {
        cursor.literal("\"")?;
    }
    Ok((text, is_whole))
}

fn call(
    entry: Map<String, Value>,
    tools: &CallableTools,
    evidence: CallEvidence,
) -> Result<ParsedCall, Unparsed> {
    let (name, arguments) = name_and_arguments(entry).ok_or(Unparsed::Mismatch)?;
    tools.call(&name, arguments, evidence)
}

/// None where there is anything else: a tool's description has the same names in it.
fn name_and_arguments(mut entry: Map<String, Value>) -> Option<(String, Option<Value>)> {
    entry.remove("id");
    if entry
        .remove("type")
        .is_some_and(|kind| kind != FUNCTION_TYPE)
    {
        return None;
    }
    if entry.len() == 1 && entry.get(FUNCTION_TYPE).is_some_and(Value::is_object) {
        let Some(Value::Object(inner)) = entry.remove(FUNCTION_TYPE) else {
            return None;
        };
        return name_and_arguments(inner);
    }
    let name = NAME_KEYS.iter().find_map(|key| entry.remove(*key))?;
    let arguments = ARGUMENTS_KEYS.iter().find_map(|key| entry.remove(*key));
    match name {
        Value::String(name) if entry.is_empty() => Some((name, arguments)),
        _ => None,
    }
}
