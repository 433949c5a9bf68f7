//! A tool's JSON Schema, made fit for a provider.
//!
//! Schemas come from outside, and one that a provider does not like makes it
//! refuse the whole request, with all the other tools in it. So what goes out is
//! written anew: references are inlined, many ways of saying a thing become one,
//! and only words that every provider knows survive. Whatever cannot be output
//! that way is left away: the model is told a little less, and its calls are
//! checked against the original all the same. A schema of which nothing can be
//! made costs its own tool and no other.
//!
//! The way: `translate` says it in few words, `merge` makes one object of the
//! root's alternatives, `tidy` completes what is half output, and what comes out
//! is measured. Compiling twice gives the same as compiling once.
//!
//! Deliberately absent: anything fetched, and a second look at whether the words
//! that stay agree with each other.

mod keyword;
mod merge;
mod normalize;
mod pattern;
mod reference;
mod translate;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use tenon_domain::coded_errors;
use tenon_domain::text::shorten;

use translate::Translator;

/// The JSON Schema features that a wire format supports for tool inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// The longest description of a tool, in characters.
    pub max_description: usize,
    /// The longest description of anything in its schema.
    pub max_parameter_description: usize,
    pub property_names: PropertyNames,
    pub patterns: Patterns,
    /// The largest `maxLength`, `maxItems` and the like; a larger one is left away.
    pub max_count: u64,
    pub detail: Detail,
}

/// How much a model is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    Full,
    /// For small models: what each description begins with, no titles, no empty defaults, and not
    /// that there are no further properties.
    Compact,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyNames {
    Any,
    /// `[a-zA-Z0-9_.-]{1,64}`; anything else makes the provider refuse the request.
    Plain,
}

/// Which `pattern` expressions are sent; others are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patterns {
    /// Only syntax that all regex engines share.
    Plain,
    /// Of these, what can be made a grammar of: `^…$`, and no `\d`, `\w`, `\s`.
    Anchored,
}

impl Dialect {
    /// Spoken by llama.cpp as well, and by all that is built on it (Ollama, LM
    /// Studio). That makes one grammar of all tools and refuses the request if
    /// it cannot: for a pattern without anchors, and for counts that multiply
    /// to 2,000, each item counting about three times.
    pub const OPENAI: Self = Self {
        max_description: 1024,
        max_parameter_description: 1024,
        property_names: PropertyNames::Any,
        patterns: Patterns::Anchored,
        max_count: 500,
        detail: Detail::Full,
    };
    pub const ANTHROPIC: Self = Self {
        max_description: 4096,
        max_parameter_description: 4096,
        property_names: PropertyNames::Plain,
        patterns: Patterns::Plain,
        max_count: u64::MAX,
        detail: Detail::Full,
    };

    pub const fn compact(self) -> Self {
        Self {
            max_description: MAX_COMPACT_DESCRIPTION,
            max_parameter_description: MAX_COMPACT_PARAMETER,
            detail: Detail::Compact,
            ..self
        }
    }
}

/// In characters, of a tool and of one of its parameters. A sentence that is longer ends with its
/// last clause within that.
const MAX_COMPACT_DESCRIPTION: usize = 100;
const MAX_COMPACT_PARAMETER: usize = 60;

/// The schema as a provider takes it: `{"type": "object", "properties": {…}, …}`.
///
/// The error's text is for people.
pub fn compile(schema: &Value, dialect: Dialect) -> Result<Value, SchemaError> {
    if !is_within(schema, MAX_DEPTH) {
        return Err(SchemaError::TooDeep);
    }
    attempt(schema, dialect, MAX_REFERENCE_REPEATS).or_else(|error| match error {
        // Perhaps it is only the repeating that is too much.
        SchemaError::TooLarge | SchemaError::TooDeep => attempt(schema, dialect, 1),
        other => Err(other),
    })
}

/// A tool's description as every provider takes it.
pub(crate) fn describe(text: &str, dialect: Dialect) -> String {
    readable(text, dialect.max_description, dialect.detail)
}

/// Short enough, and without the control characters that some providers refuse. Lines and tabs
/// stay.
fn readable(text: &str, max_chars: usize, detail: Detail) -> String {
    let scanned = max_scanned_chars(max_chars);
    let text = match detail {
        Detail::Full => text,
        Detail::Compact => first_clauses(first_sentence(text.trim_start(), scanned), max_chars),
    };
    let readable: String = text
        .chars()
        .take(scanned)
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect();
    if readable.chars().nth(max_chars).is_none() {
        return readable;
    }
    // The provider counts the ellipsis too.
    shorten(&readable, max_chars.saturating_sub(1)).into_owned()
}

/// A sentence that is too long, up to the last of its clauses that fits; all of it where it has
/// none.
fn first_clauses(sentence: &str, max_chars: usize) -> &str {
    if sentence.chars().nth(max_chars).is_none() {
        return sentence;
    }
    let clauses = sentence
        .char_indices()
        .take(max_chars)
        .filter(|(at, c)| match c {
            '，' | '；' | '：' => true,
            ',' | ';' | ':' => sentence[at + 1..].starts_with(' '),
            _ => false,
        });
    clauses.last().map_or(sentence, |(end, _)| &sentence[..end])
}

/// Up to the end of the first sentence or line. What only looks like an end ("e.g. Paris", "J.
/// Doe", "+ ! mod") is none.
fn first_sentence(text: &str, max_chars: usize) -> &str {
    let mut before = [' '; 2];
    for (at, char) in text.char_indices().take(max_chars) {
        let end = at + char.len_utf8();
        let is_end = match char {
            '\n' => return &text[..at],
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                let is_abbreviation = matches!(before[0], ' ' | '.' | '(');
                let is_sign = before[1] == ' ';
                let is_last = text[end..].starts_with(char::is_whitespace);
                is_last && !is_abbreviation && !is_sign
            }
            _ => false,
        };
        if is_end {
            return &text[..end];
        }
        before = [before[1], char];
    }
    text
}

/// How much of a text is read to find that many characters worth keeping: a
/// text may be megabytes long and be asked for again by every reference.
fn max_scanned_chars(max_chars: usize) -> usize {
    max_chars.saturating_mul(4)
}

/// Deeper than any tool's input that a model could fill in, and shallow enough
/// for every stack and every JSON parser on the way.
const MAX_DEPTH: usize = 100;

/// Schemas within the schema, references inlined. The largest real ones have some hundreds.
const MAX_NODES: usize = 5_000;

/// Of the compiled schema, as text. It is paid for with every step of every turn.
const MAX_BYTES: usize = 100 * 1024;

/// How often a schema that contains itself is written out within itself, where there is room.
const MAX_REFERENCE_REPEATS: usize = 2;

coded_errors! {
    /// Why no schema can be made, as the second half of "… was left out: ".
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum SchemaError {
        TooLarge = "schema_too_large" => "its input schema is too large",
        TooDeep = "schema_too_deep" => "its input schema is nested too deep",
        Recursive = "schema_recursive" => "its input schema refers to itself endlessly",
        DanglingReference { reference } = "schema_dangling_reference" => "its input schema refers to `{reference}`, which does not exist",
        RemoteReference { reference } = "schema_remote_reference" => "its input schema refers to `{reference}`, which is not part of it",
        NotASchema = "schema_none" => "its input schema is not a JSON Schema",
        NotAnObject = "schema_not_object" => "its input is not an object",
        PropertyName { name } = "schema_property_name" => "the model's provider refuses the name of its property `{name}`: only A-Z, a-z, 0-9, `_`, `.` and `-` are allowed, at most 64 of them",
        Serialize { why } = "schema_unwritable" => "its input schema cannot be written: {why}",
    }
}

fn attempt(schema: &Value, dialect: Dialect, repeats: usize) -> Result<Value, SchemaError> {
    let output = match schema {
        Value::Null => Map::new(),
        Value::Bool(_) | Value::Object(_) => Translator::new(schema, dialect, repeats)
            .root()?
            .ok_or(SchemaError::NotAnObject)?,
        Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(SchemaError::NotASchema);
        }
    };
    let object = merge::into_object(output).ok_or(SchemaError::NotAnObject)?;
    let compiled = normalize::normalize(Value::Object(object));
    measure(&compiled, dialect)?;
    Ok(compiled)
}

/// Completing adds a little, so the bounds hold for what comes out as well.
fn measure(compiled: &Value, dialect: Dialect) -> Result<(), SchemaError> {
    if !is_within(compiled, MAX_DEPTH) {
        return Err(SchemaError::TooDeep);
    }
    let mut nodes = 0;
    inspect(compiled, dialect, &mut nodes)?;
    if nodes > MAX_NODES || compiled.to_string().len() > MAX_BYTES {
        return Err(SchemaError::TooLarge);
    }
    Ok(())
}

/// Counts the schemas and reads the names in what was compiled.
fn inspect(compiled: &Value, dialect: Dialect, nodes: &mut usize) -> Result<(), SchemaError> {
    *nodes += 1;
    let Value::Object(keywords) = compiled else {
        return Ok(());
    };
    if let Some(Value::Object(properties)) = keywords.get("properties") {
        for (name, schema) in properties {
            if !dialect.property_names.allow(name) {
                return Err(SchemaError::PropertyName {
                    name: shorten(name, MAX_QUOTE_CHARS).as_ref().into(),
                });
            }
            inspect(schema, dialect, nodes)?;
        }
    }
    if let Some(Value::Array(branches)) = keywords.get("anyOf") {
        for branch in branches {
            inspect(branch, dialect, nodes)?;
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(schema) = keywords.get(keyword) {
            inspect(schema, dialect, nodes)?;
        }
    }
    Ok(())
}

/// Names and references are quoted to a person, who needs only their beginning.
const MAX_QUOTE_CHARS: usize = 80;

impl Patterns {
    fn allow(self, pattern: &str) -> bool {
        match self {
            Self::Plain => pattern::is_plain(pattern),
            Self::Anchored => pattern::is_plain(pattern) && pattern::is_anchored(pattern),
        }
    }
}

impl PropertyNames {
    fn allow(self, name: &str) -> bool {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        match self {
            Self::Any => true,
            Self::Plain => (1..=64).contains(&name.len()) && name.bytes().all(is_plain),
        }
    }
}

/// Whether a value is nested at most that many levels deep. Whoever asks this
/// first may walk, copy and drop the value without fear for the stack.
fn is_within(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Array(items) => items.iter().all(|item| is_within(item, below)),
        Value::Object(entries) => entries.values().all(|entry| is_within(entry, below)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}
