//! A tool's JSON Schema as a list of parameters.
//!
//! Schemas come from outside: what is missing, of the wrong type or nested beyond reason is
//! read as the most harmless thing, never an error.

use std::collections::HashSet;

use serde_json::Value;
use tenon_domain::search::words;

use crate::vocabulary::has_word;

/// Deep enough for real tools; a deeper schema is not read from a sentence anyway.
const MAX_DEPTH: usize = 4;
const MAX_PARAMETERS: usize = 64;
/// The part of a description that may say what a parameter is about.
const MAX_DESCRIPTION_BYTES: usize = 120;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolParameter {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) value_type: ParameterType,
    pub(crate) role: ParameterRole,
    pub(crate) required: bool,
    /// What it is if nothing is said, also where it can be nothing else.
    pub(crate) default: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ParameterType {
    Text,
    Number,
    Integer,
    Boolean,
    OneOf(Vec<Value>),
    List(Box<ParameterType>),
    Object,
}

/// What a parameter is about, as far as its name and format tell. The order is that of their
/// forms, the most telling first: a path is surer than a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ParameterRole {
    Url,
    Path,
    Time,
    /// A span of time, counted in this many milliseconds.
    Duration(u32),
    Id,
    Expression,
    Place,
    Query,
    Title,
    Content,
    Other,
}

impl ParameterRole {
    /// The words of a name that tell its role.
    const WORDS: [(Self, &str); 13] = [
        (Self::Url, "url uri link href website"),
        (Self::Path, "path file files filename dir directory folder"),
        (Self::Expression, "expression expr formula equation"),
        (
            Self::Place,
            "timezone tz zone city location place country room",
        ),
        (Self::Duration(1), "ms millis milliseconds"),
        (Self::Duration(1_000), "seconds secs duration delay timeout"),
        (Self::Duration(60_000), "minutes mins"),
        (Self::Duration(3_600_000), "hours"),
        (Self::Time, "date time day datetime when since until"),
        (Self::Id, "id ids uuid key hash"),
        (Self::Query, "query q search pattern keyword term question"),
        (Self::Title, "title name subject heading"),
        (Self::Content, "content body text message data note summary"),
    ];

    fn of_word(word: &str) -> Option<Self> {
        let mut roles = Self::WORDS.iter();
        let found = roles.find(|(_, words)| has_word(words, word));
        found.map(|(role, _)| *role)
    }
}

impl ToolParameter {
    fn new(name: &str, schema: &Value, required: bool) -> Self {
        let text = |key: &str| schema[key].as_str().unwrap_or_default();
        let description = text("description").trim().to_owned();
        let value_type = type_of(schema, MAX_DEPTH);
        let default = match &value_type {
            ParameterType::OneOf(values) if values.len() == 1 => values.first(),
            _ => schema.get("default").filter(|value| !value.is_null()),
        };
        Self {
            name: name.to_owned(),
            default: default.cloned(),
            value_type,
            role: role_of(name, text("format"), &description),
            description,
            required,
        }
    }

    /// Whether any words at all could be meant.
    pub(crate) fn is_free_text(&self) -> bool {
        self.is_text() && self.role >= ParameterRole::Query
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(
            self.value_type,
            ParameterType::Text | ParameterType::List(_)
        )
    }
}

/// The parameters of a tool: required ones first, in the author's order.
pub(crate) fn parameters(schema: &Value) -> Vec<ToolParameter> {
    let required = list(schema, "required").filter_map(Value::as_str);
    let required: Vec<&str> = required.take(MAX_PARAMETERS).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flat_map(|map| map.keys());
    let names = required.iter().copied().chain(names.map(String::as_str));
    let mut seen = HashSet::new();
    let names = names.filter(|name| seen.insert(*name)).take(MAX_PARAMETERS);
    let parameters = names.map(|name| {
        ToolParameter::new(name, &schema["properties"][name], required.contains(&name))
    });
    parameters.collect()
}

fn list<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = &'s Value> {
    let list = schema.get(key).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn type_of(schema: &Value, depth: usize) -> ParameterType {
    if let Some(value) = schema.get("const") {
        return ParameterType::OneOf(vec![value.clone()]);
    }
    if schema["enum"].is_array() {
        let is_simple = |one: &&Value| one.is_string() || one.is_number() || one.is_boolean();
        let values = list(schema, "enum").filter(is_simple).take(MAX_PARAMETERS);
        return ParameterType::OneOf(values.cloned().collect());
    }
    let mut types = list(schema, "type").filter_map(Value::as_str);
    let single = schema["type"].as_str();
    match single.or_else(|| types.find(|one| *one != "null")) {
        Some("number") => ParameterType::Number,
        Some("integer") => ParameterType::Integer,
        Some("boolean") => ParameterType::Boolean,
        Some("object") => ParameterType::Object,
        _ if depth == 0 => ParameterType::Text,
        Some("array") => ParameterType::List(Box::new(type_of(&schema["items"], depth - 1))),
        Some(_) => ParameterType::Text,
        None => {
            let mut keys = ["anyOf", "oneOf", "allOf"].into_iter();
            let key = keys.find(|key| schema[key].is_array()).unwrap_or_default();
            let types = list(schema, key).filter(|one| one["type"] != "null");
            let types = types.map(|one| type_of(one, depth - 1));
            types.reduce(either).unwrap_or(ParameterType::Text)
        }
    }
}

/// Alternatives that are values are one list of values; of others the first counts.
fn either(first: ParameterType, second: ParameterType) -> ParameterType {
    match (first, second) {
        (ParameterType::OneOf(values), ParameterType::OneOf(others)) => {
            ParameterType::OneOf([values, others].concat())
        }
        (first, _) => first,
    }
}

fn role_of(name: &str, format: &str, description: &str) -> ParameterRole {
    match format {
        "uri" | "url" | "iri" | "uri-reference" => return ParameterRole::Url,
        "date" | "date-time" | "time" => return ParameterRole::Time,
        "uuid" => return ParameterRole::Id,
        _ => {}
    }
    // The last word is the noun: "file_content" is a content. A vague one leaves it to the
    // word before: a "file_name" is a file.
    let is_vague = |word: &String| has_word("name value text string input", word);
    let (vague, telling): (Vec<_>, Vec<_>) = words(name).into_iter().rev().partition(is_vague);
    let description = &description[..description.floor_char_boundary(MAX_DESCRIPTION_BYTES)];
    let mut described = words(description);
    described.retain(|word| has_word("url path timezone city expression", word));
    let mut words = telling.iter().chain(&vague).chain(&described);
    let role = words.find_map(|word| ParameterRole::of_word(word));
    role.unwrap_or(ParameterRole::Other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_and_a_format_tell_what_is_meant() {
        let check = |name: &str, expected: ParameterRole| {
            assert_eq!(role_of(name, "", ""), expected, "{name}")
        };
        check("path", ParameterRole::Path);
        check("file_name", ParameterRole::Path);
        check("fileContent", ParameterRole::Content);
        check("timeZone", ParameterRole::Place);
        check("cityName", ParameterRole::Place);
        check("blob_id", ParameterRole::Id);
        check("name", ParameterRole::Title);
        check("timeout_ms", ParameterRole::Duration(1));
        check("colour", ParameterRole::Other);
        assert_eq!(role_of("target", "uri", ""), ParameterRole::Url);
        assert_eq!(
            role_of("target", "", "The URL to open."),
            ParameterRole::Url
        );
    }

    #[test]
    fn every_way_to_write_a_type_is_read() {
        let check = |schema: Value, expected: ParameterType| {
            assert_eq!(type_of(&schema, 3), expected, "{schema}")
        };
        check(json!({"type": "integer"}), ParameterType::Integer);
        check(json!({"type": ["null", "number"]}), ParameterType::Number);
        check(
            json!({"anyOf": [{"type": "null"}, {"type": "boolean"}]}),
            ParameterType::Boolean,
        );
        check(
            json!({"enum": ["on", null, "off"]}),
            ParameterType::OneOf(vec![json!("on"), json!("off")]),
        );
        check(
            json!({"oneOf": [{"const": 1}, {"const": 2}]}),
            ParameterType::OneOf(vec![json!(1), json!(2)]),
        );
        check(json!({}), ParameterType::Text);
        check(json!(true), ParameterType::Text);
        check(
            json!({"type": 7, "enum": "no", "properties": []}),
            ParameterType::Text,
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
