//! Calls as XML: `<function=name>` with one element for each parameter (Qwen-Coder) or JSON in it
//! (Llama 3).

use serde_json::{Map, Value};

use super::callable_tools::{CallEvidence, CallableTools, ParsedCall};
use super::cursor::{TextCursor, Unparsed};

pub(super) const OPENING: &str = "<function=";
const CLOSING: &str = "</function>";

pub(super) fn parse(
    cursor: &mut TextCursor<'_>,
    tools: &CallableTools,
) -> Result<ParsedCall, Unparsed> {
    cursor.literal(OPENING)?;
    let (name, is_whole) = cursor.run(|char| char != '>');
    tools.check_name(name, is_whole)?;
    cursor.literal(">")?;
    let arguments = if cursor.peek()? == '{' {
        let arguments = cursor.json()?;
        cursor.closing(CLOSING)?;
        arguments
    } else {
        Value::Object(parameters(cursor)?)
    };
    tools.call(name, Some(arguments), CallEvidence::Marks)
}

fn parameters(cursor: &mut TextCursor<'_>) -> Result<Map<String, Value>, Unparsed> {
    let mut parameters = Map::new();
    loop {
        match cursor.closing(CLOSING) {
            Ok(()) => return Ok(parameters),
            Err(Unparsed::Incomplete) => return Err(Unparsed::Incomplete),
            Err(Unparsed::Mismatch) => {}
        }
        cursor.literal("<parameter=")?;
        let (name, _) = cursor.run(|char| !matches!(char, '>' | '\n'));
        cursor.literal(">")?;
        let value = cursor.until("</parameter>")?;
        // The template puts a new line before and after it.
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        parameters.insert(name.to_owned(), Value::from(value));
    }
}
