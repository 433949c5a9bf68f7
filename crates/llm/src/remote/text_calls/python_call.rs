//! Calls as Python: `name(a=1, b="x")`, one or a list of them (Gemma, Llama 4).

use serde_json::{Map, Number, Value};

use super::callable_tools::{CallEvidence, CallableTools, ParsedCall};
use super::cursor::{TextCursor, Unparsed};

/// Values inside values: as deep as JSON is read.
const MAX_DEPTH: usize = 64;

/// `[name(…), name(…)]`
pub(super) fn parse_list(
    cursor: &mut TextCursor<'_>,
    tools: &CallableTools,
    evidence: CallEvidence,
) -> Result<Vec<ParsedCall>, Unparsed> {
    cursor.literal("[")?;
    let mut calls = Vec::new();
    loop {
        cursor.peek()?;
        calls.push(parse(cursor, tools, evidence)?);
        if cursor.peek()? == ']' {
            cursor.literal("]")?;
            return Ok(calls);
        }
        cursor.literal(",")?;
    }
}

/// `name(key=value, …)`, or `name.call(…)` as Llama 3 writes the tools it was built with.
pub(super) fn parse(
    cursor: &mut TextCursor<'_>,
    tools: &CallableTools,
    evidence: CallEvidence,
) -> Result<ParsedCall, Unparsed> {
    let (name, is_whole) = cursor.run(|char| char.is_alphanumeric() || "_-.".contains(char));
    if !is_whole {
        // The last part may be the method.
        let base = name.rsplit_once('.').map_or(name, |(base, _)| base);
        tools.check_name(base, false)?;
        return Err(Unparsed::Incomplete);
    }
    let name = name.strip_suffix(".call").unwrap_or(name);
    tools.check_name(name, true)?;
    cursor.literal("(")?;
    let mut arguments = Map::new();
    while cursor.peek()? != ')' {
        let (key, _) = cursor.run(|char| char.is_alphanumeric() || char == '_');
        cursor.peek()?;
        cursor.literal("=")?;
        cursor.peek()?;
        let value = value(cursor, MAX_DEPTH)?;
        arguments.insert(key.to_owned(), value);
        if cursor.peek()? != ')' {
            cursor.literal(",")?;
        }
    }
    cursor.literal(")")?;
    tools.call(name, Some(Value::Object(arguments)), evidence)
}

fn value(cursor: &mut TextCursor<'_>, depth: usize) -> Result<Value, Unparsed> {
    let deeper = depth.checked_sub(1).ok_or(Unparsed::Mismatch)?;
    match cursor.peek()? {
        '"' | '\'' => string(cursor).map(Value::String),
        '[' => list(cursor, deeper),
        '{' => dict(cursor, deeper),
        _ => word(cursor),
    }
}

fn list(cursor: &mut TextCursor<'_>, depth: usize) -> Result<Value, Unparsed> {
    cursor.literal("[")?;
    let mut items = Vec::new();
    while cursor.peek()? != ']' {
        items.push(value(cursor, depth)?);
        if cursor.peek()? != ']' {
            cursor.literal(",")?;
        }
    }
    cursor.literal("]")?;
    Ok(Value::Array(items))
}

fn dict(cursor: &mut TextCursor<'_>, depth: usize) -> Result<Value, Unparsed> {
    cursor.literal("{")?;
    let mut members = Map::new();
    while cursor.peek()? != '}' {
        let key = string(cursor)?;
        cursor.peek()?;
        cursor.literal(":")?;
        members.insert(key, value(cursor, depth)?);
        if cursor.peek()? != '}' {
            cursor.literal(",")?;
        }
    }
    cursor.literal("}")?;
    Ok(Value::Object(members))
}

/// In single or double quotes, three of them where it has several lines.
fn string(cursor: &mut TextCursor<'_>) -> Result<String, Unparsed> {
    let quotes = ["\"\"\"", "'''", "\"", "'"];
    let quote = quotes
        .into_iter()
        .find(|quote| cursor.literal(quote).is_ok())
        .ok_or(Unparsed::Mismatch)?;
    let mut text = String::new();
    loop {
        let (plain, _) = cursor.run(|char| char != '\\' && !quote.starts_with(char));
        text.push_str(plain);
        match cursor.literal(quote) {
            Ok(()) => return Ok(text),
            Err(Unparsed::Incomplete) => return Err(Unparsed::Incomplete),
            Err(Unparsed::Mismatch) => text.push_str(&escaped(cursor)?),
        }
    }
}

/// What an escape stands for, or the single quote inside a string with three of them.
fn escaped(cursor: &mut TextCursor<'_>) -> Result<String, Unparsed> {
    let mut chars = cursor.rest().chars();
    let first = chars.next().ok_or(Unparsed::Incomplete)?;
    if first != '\\' {
        cursor.run_chars(1);
        return Ok(first.to_string());
    }
    let char = chars.next().ok_or(Unparsed::Incomplete)?;
    cursor.run_chars(2);
    Ok(match char {
        'n' => "\n".into(),
        't' => "\t".into(),
        'r' => "\r".into(),
        '\n' => String::new(),
        '\\' | '\'' | '"' => char.into(),
        other => format!("\\{other}"),
    })
}

/// A number, or one of the three constants.
fn word(cursor: &mut TextCursor<'_>) -> Result<Value, Unparsed> {
    let (word, is_whole) = cursor.run(|char| char.is_alphanumeric() || "+-._".contains(char));
    if !is_whole {
        return Err(Unparsed::Incomplete);
    }
    match word {
        "True" | "true" => Ok(Value::Bool(true)),
        "False" | "false" => Ok(Value::Bool(false)),
        "None" | "null" => Ok(Value::Null),
        number => {
            let whole = number.parse::<i64>().map(Number::from).ok();
            let number = whole.or_else(|| Number::from_f64(number.parse().ok()?));
            number.map(Value::Number).ok_or(Unparsed::Mismatch)
        }
    }
}
