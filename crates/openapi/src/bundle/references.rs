//! The references in a document that matter for requests.

use serde_json::{Map, Value};

/// How to interpret the keys of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// Keywords of OpenAPI or JSON Schema.
    Keywords,
    /// Names that the author chose.
    Names,
    /// The root of another file, which may be either.
    File,
}

/// Keywords whose members are named by the author.
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

/// Keywords below which nothing matters for a call, so that files with responses and examples
/// need not be read.
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
pub(super) fn each(value: &mut Value, keys: KeyKind, found: &mut dyn FnMut(&mut String)) {
    match value {
        Value::Array(list) => {
            for value in list {
                each(value, KeyKind::Keywords, found);
            }
        }
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get_mut("$ref") {
                found(reference);
            }
            let keys = if keys == KeyKind::File && is_of_keywords(object) {
                KeyKind::Keywords
            } else {
                keys
            };
            for (key, value) in object.iter_mut() {
                if !is_used(key, value, keys) {
                    continue;
                }
                let is_map = keys != KeyKind::Names && MAPS.contains(&key.as_str());
                let inside = if is_map && value.is_object() {
                    KeyKind::Names
                } else {
                    KeyKind::Keywords
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

fn is_used(key: &str, value: &Value, keys: KeyKind) -> bool {
    match keys {
        KeyKind::Names => true,
        KeyKind::Keywords => !UNUSED.contains(&key),
        // `responses` of an operation, by status code, or an object of that name.
        KeyKind::File => key != "responses" || !is_by_status(value),
    }
}

/// Whether a file is a schema, an operation or a parameter, and no list of such.
fn is_of_keywords(file: &Map<String, Value>) -> bool {
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
