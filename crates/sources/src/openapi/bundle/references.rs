//! The references in a document that what is sent depends on.

use serde_json::{Map, Value};

/// What an object is, as far as that says what its keys are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// Its keys are words of the language.
    Words,
    /// Its keys are names that somebody gave.
    Names,
    /// The whole of another file, which may be either.
    File,
}

/// Words below which there are names.
const MAPS: [&str; 13] = [
    "paths",
    "pathItems",
    "properties",
    "patternProperties",
    "schemas",
    "definitions",
    "$defs",
    "parameters",
    "requestBodies",
    "securitySchemes",
    "headers",
    "content",
    "dependentSchemas",
];

/// Words below which nothing is of use for a call. Whole libraries of answers and examples
/// need not be read so.
const UNUSED: [&str; 13] = [
    "responses",
    "callbacks",
    "links",
    "webhooks",
    "example",
    "examples",
    "default",
    "enum",
    "const",
    "info",
    "tags",
    "x-codeSamples",
    "x-code-samples",
];

/// Calls `found` with each. As deep as the value, which is bounded.
pub(super) fn each(value: &mut Value, within: Within, found: &mut dyn FnMut(&mut String)) {
    match value {
        Value::Array(list) => {
            for value in list {
                each(value, Within::Words, found);
            }
        }
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get_mut("$ref") {
                found(reference);
            }
            let within = match within == Within::File && is_of_words(object) {
                true => Within::Words,
                false => within,
            };
            for (key, value) in object.iter_mut() {
                if !is_used(key, value, within) {
                    continue;
                }
                let is_map = within != Within::Names && MAPS.contains(&key.as_str());
                let inside = match is_map && value.is_object() {
                    true => Within::Names,
                    false => Within::Words,
                };
                each(value, inside, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// How many values there are in one.
pub(super) fn values(value: &Value) -> usize {
    let inside: usize = match value {
        Value::Array(list) => list.iter().map(values).sum(),
        Value::Object(object) => object.values().map(values).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    1 + inside
}

fn is_used(key: &str, value: &Value, within: Within) -> bool {
    match within {
        Within::Names => true,
        Within::Words => !UNUSED.contains(&key),
        // Of an operation, or of something that is called so.
        Within::File => key != "responses" || !is_by_status(value),
    }
}

/// Whether a file is a schema, an operation or a parameter, and no list of such.
fn is_of_words(file: &Map<String, Value>) -> bool {
    let is_text = |word: &str| file.get(word).is_some_and(Value::is_string);
    let is_list = |word: &str| file.get(word).is_some_and(Value::is_array);
    ["type", "operationId", "in"].into_iter().any(is_text)
        || ["allOf", "anyOf", "oneOf"].into_iter().any(is_list)
}

fn is_by_status(value: &Value) -> bool {
    let is_status =
        |key: &String| key == "default" || key.starts_with(|c: char| c.is_ascii_digit());
    value
        .as_object()
        .is_some_and(|object| object.keys().all(is_status))
}
