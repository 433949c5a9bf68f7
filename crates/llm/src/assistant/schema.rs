//! A tool's JSON Schema as a list of parameters.
//!
//! Schemas come from outside: what is missing, of the wrong type or nested
//! beyond reason is read as the most harmless thing, never an error.

use serde_json::Value;
use tenon_domain::search::words;

/// Deep enough for real tools; a schema that is deeper is not read from a sentence anyway.
const DEPTH: usize = 4;
const MOST_PARAMETERS: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) shape: Shape,
    pub(super) hint: Hint,
    pub(super) required: bool,
    pub(super) default: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Text,
    Number,
    Integer,
    Boolean,
    OneOf(Vec<Value>),
    List(Box<Parameter>),
    Object(Vec<Parameter>),
}

/// What a parameter is about, as far as its name and format tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    Url,
    Path,
    Expression,
    Place,
    /// A span of time, counted in this many milliseconds.
    Duration(u32),
    Count,
    Moment,
    Id,
    Email,
    Query,
    Title,
    Content,
    Other,
}

/// The parameters of a tool: required ones first, in the author's order.
pub(super) fn parameters(schema: &Value) -> Vec<Parameter> {
    object_parameters(schema, DEPTH)
}

fn object_parameters(schema: &Value, depth: usize) -> Vec<Parameter> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| {
            names
                .iter()
                .filter_map(Value::as_str)
                .take(MOST_PARAMETERS)
                .collect()
        })
        .unwrap_or_default();
    let mut parameters: Vec<Parameter> = Vec::new();
    for name in &required {
        if parameters.iter().all(|known| known.name != *name) {
            let schema = properties
                .and_then(|map| map.get(*name))
                .unwrap_or(&Value::Null);
            parameters.push(parameter(name, schema, depth, true));
        }
    }
    for (name, schema) in properties.into_iter().flatten() {
        if parameters.len() < MOST_PARAMETERS && !required.contains(&name.as_str()) {
            parameters.push(parameter(name, schema, depth, false));
        }
    }
    parameters
}

fn parameter(name: &str, schema: &Value, depth: usize, required: bool) -> Parameter {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
    let description = text("description").trim().to_owned();
    Parameter {
        name: name.to_owned(),
        shape: shape(name, schema, depth),
        hint: hint(name, text("format"), &description),
        description,
        required,
        default: schema
            .get("default")
            .filter(|value| !value.is_null())
            .cloned(),
    }
}

fn shape(name: &str, schema: &Value, depth: usize) -> Shape {
    if let Some(value) = schema.get("const") {
        return Shape::OneOf(vec![value.clone()]);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let simple = |value: &&Value| value.is_string() || value.is_number() || value.is_boolean();
        return Shape::OneOf(
            values
                .iter()
                .filter(simple)
                .take(MOST_PARAMETERS)
                .cloned()
                .collect(),
        );
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null"),
        _ => None,
    };
    match kind {
        Some("number") => Shape::Number,
        Some("integer") => Shape::Integer,
        Some("boolean") => Shape::Boolean,
        Some("array") if depth > 0 => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            Shape::List(Box::new(parameter(name, items, depth - 1, true)))
        }
        Some("object") if depth > 0 => Shape::Object(object_parameters(schema, depth - 1)),
        Some(_) => Shape::Text,
        None => shape_of_choice(name, schema, depth),
    }
}

/// A schema without a type: the first of its alternatives that is not null, or its properties.
fn shape_of_choice(name: &str, schema: &Value, depth: usize) -> Shape {
    if depth == 0 {
        return Shape::Text;
    }
    let alternatives = ["anyOf", "oneOf", "allOf"]
        .iter()
        .find_map(|key| schema.get(*key)?.as_array());
    if let Some(alternatives) = alternatives {
        let constants: Vec<Value> = alternatives
            .iter()
            .filter_map(|one| one.get("const"))
            .cloned()
            .collect();
        if constants.len() > 1 && constants.len() == alternatives.len() {
            return Shape::OneOf(constants);
        }
        let is_null = |one: &&Value| one.get("type").and_then(Value::as_str) == Some("null");
        let first = alternatives.iter().find(|one| !is_null(one));
        return first.map_or(Shape::Text, |one| shape(name, one, depth - 1));
    }
    if schema.get("properties").is_some_and(Value::is_object) {
        return Shape::Object(object_parameters(schema, depth - 1));
    }
    Shape::Text
}

fn hint(name: &str, format: &str, description: &str) -> Hint {
    match format {
        "uri" | "url" | "iri" | "uri-reference" => return Hint::Url,
        "date" | "date-time" | "time" => return Hint::Moment,
        "email" => return Hint::Email,
        "uuid" => return Hint::Id,
        _ => {}
    }
    let name_words = words(name);
    // The last word is the noun: "file_content" is a content. "name" leaves it
    // to the word before: a "file_name" is a file.
    for (at, word) in name_words.iter().enumerate().rev() {
        let vague = matches!(
            word.as_str(),
            "name" | "value" | "text" | "string" | "input"
        );
        if vague && at > 0 && !matches!(hint_of(&name_words[at - 1]), None | Some(Hint::Title)) {
            continue;
        }
        if let Some(hint) = hint_of(word) {
            return hint;
        }
    }
    let described = &description[..description.floor_char_boundary(120)];
    let first = words(described)
        .iter()
        .find_map(|word| match word.as_str() {
            "url" | "path" | "timezone" | "city" | "expression" => hint_of(word),
            _ => None,
        });
    first.unwrap_or(Hint::Other)
}

fn hint_of(word: &str) -> Option<Hint> {
    Some(match word {
        "url" | "uri" | "link" | "href" | "website" => Hint::Url,
        "path" | "paths" | "file" | "files" | "filename" | "filepath" | "dir" | "directory"
        | "folder" | "source" | "destination" => Hint::Path,
        "expression" | "expr" | "formula" | "equation" => Hint::Expression,
        "timezone" | "tz" | "zone" | "city" | "location" | "place" | "country" | "region"
        | "address" | "room" | "town" | "station" => Hint::Place,
        "ms" | "millis" | "milliseconds" => Hint::Duration(1),
        "seconds" | "secs" | "duration" | "delay" | "timeout" => Hint::Duration(1_000),
        "minutes" | "mins" => Hint::Duration(60_000),
        "hours" => Hint::Duration(3_600_000),
        "limit" | "count" | "max" | "maximum" | "size" | "top" | "offset" | "page" | "number" => {
            Hint::Count
        }
        "date" | "time" | "day" | "datetime" | "when" | "since" | "until" => Hint::Moment,
        "id" | "ids" | "uuid" | "key" | "hash" => Hint::Id,
        "email" | "recipient" => Hint::Email,
        "query" | "q" | "search" | "pattern" | "keyword" | "keywords" | "term" | "question"
        | "prompt" | "regex" => Hint::Query,
        "title" | "name" | "subject" | "heading" => Hint::Title,
        "content" | "contents" | "body" | "text" | "message" | "data" | "note" | "description"
        | "summary" | "markdown" | "comment" | "value" | "input" => Hint::Content,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_and_a_format_tell_what_is_meant() {
        let check = |name: &str, expected: Hint| assert_eq!(hint(name, "", ""), expected, "{name}");
        check("path", Hint::Path);
        check("file_name", Hint::Path);
        check("fileContent", Hint::Content);
        check("timeZone", Hint::Place);
        check("cityName", Hint::Place);
        check("blob_id", Hint::Id);
        check("name", Hint::Title);
        check("timeout_ms", Hint::Duration(1));
        check("colour", Hint::Other);
        assert_eq!(hint("target", "uri", ""), Hint::Url);
        assert_eq!(hint("target", "", "The URL to open."), Hint::Url);
    }

    #[test]
    fn every_way_to_write_a_type_is_read() {
        let check = |schema: Value, expected: Shape| {
            assert_eq!(shape("x", &schema, 3), expected, "{schema}")
        };
        check(json!({"type": "integer"}), Shape::Integer);
        check(json!({"type": ["null", "number"]}), Shape::Number);
        check(
            json!({"anyOf": [{"type": "null"}, {"type": "boolean"}]}),
            Shape::Boolean,
        );
        check(
            json!({"enum": ["on", null, "off"]}),
            Shape::OneOf(vec![json!("on"), json!("off")]),
        );
        check(
            json!({"oneOf": [{"const": 1}, {"const": 2}]}),
            Shape::OneOf(vec![json!(1), json!(2)]),
        );
        check(json!({}), Shape::Text);
        check(json!(true), Shape::Text);
        check(
            json!({"type": 7, "enum": "no", "properties": []}),
            Shape::Text,
        );
    }

    #[test]
    fn required_parameters_come_first_even_undescribed() {
        let schema = json!({"properties": {"a": {}, "b": {}}, "required": ["b", "c", "b", 5]});
        let names: Vec<String> = parameters(&schema)
            .into_iter()
            .map(|one| one.name)
            .collect();
        assert_eq!(names, ["b", "c", "a"]);
    }
}
