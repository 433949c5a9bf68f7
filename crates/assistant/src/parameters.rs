//! A tool's JSON Schema as a list of parameters.
//!
//! Schemas come from outside: what is missing, of the wrong type or nested beyond reason is
//! read as the most harmless thing, never an error.

use serde_json::Value;
use tenon_domain::search::words;

/// Deep enough for real tools; a deeper schema is not read from a sentence anyway.
const MAX_DEPTH: usize = 4;
const MAX_PARAMETERS: usize = 64;
/// The part of a description that may say what a parameter is about.
const MAX_DESCRIPTION_BYTES: usize = 120;

const ROLES: &str = include_str!("vocabulary/roles.txt");

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolParameter {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) value_type: ParameterType,
    pub(crate) role: ParameterRole,
    pub(crate) required: bool,
    pub(crate) default: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ParameterType {
    Text,
    Number,
    Integer,
    Boolean,
    OneOf(Vec<Value>),
    List(Box<ToolParameter>),
    Object(Vec<ToolParameter>),
}

/// What a parameter is about, as far as its name and format tell. The order is that of their
/// forms, the most telling first: a path is surer than a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ParameterRole {
    Url,
    Path,
    Expression,
    Time,
    /// A span of time, counted in this many milliseconds.
    Duration(u32),
    Count,
    Id,
    Place,
    Query,
    Title,
    Content,
    Other,
}

impl ToolParameter {
    /// Whether any words at all could be meant.
    pub(crate) fn is_free_text(&self) -> bool {
        let is_text = matches!(
            self.value_type,
            ParameterType::Text | ParameterType::List(_)
        );
        is_text && self.role >= ParameterRole::Query
    }
}

/// The parameters of a tool: required ones first, in the author's order.
pub(crate) fn parameters(schema: &Value) -> Vec<ToolParameter> {
    object_parameters(schema, MAX_DEPTH)
}

fn object_parameters(schema: &Value, depth: usize) -> Vec<ToolParameter> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let optional = properties
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str());
    let optional = optional.filter(|name| !required.contains(name));
    let mut parameters: Vec<ToolParameter> = Vec::new();
    for name in required
        .iter()
        .copied()
        .take(MAX_PARAMETERS)
        .chain(optional)
    {
        if parameters.len() == MAX_PARAMETERS {
            break;
        }
        if parameters.iter().all(|known| known.name != name) {
            let schema = properties.and_then(|properties| properties.get(name));
            let schema = schema.unwrap_or(&Value::Null);
            parameters.push(parameter(name, schema, depth, required.contains(&name)));
        }
    }
    parameters
}

fn parameter(name: &str, schema: &Value, depth: usize, required: bool) -> ToolParameter {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
    let description = text("description").trim().to_owned();
    ToolParameter {
        name: name.to_owned(),
        value_type: type_of(name, schema, depth),
        role: role_of(name, text("format"), &description),
        description,
        required,
        default: schema
            .get("default")
            .filter(|value| !value.is_null())
            .cloned(),
    }
}

fn type_of(name: &str, schema: &Value, depth: usize) -> ParameterType {
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    if let Some(value) = schema.get("const") {
        return ParameterType::OneOf(vec![value.clone()]);
    }
    if let Some(values) = list("enum") {
        let is_simple =
            |value: &&Value| !value.is_null() && !value.is_array() && !value.is_object();
        let values = values.iter().filter(is_simple).take(MAX_PARAMETERS);
        return ParameterType::OneOf(values.cloned().collect());
    }
    let names = list("type").into_iter().flatten().filter_map(Value::as_str);
    let single = schema.get("type").and_then(Value::as_str);
    match single.or_else(|| { names }.find(|kind| *kind != "null")) {
        Some("number") => ParameterType::Number,
        Some("integer") => ParameterType::Integer,
        Some("boolean") => ParameterType::Boolean,
        _ if depth == 0 => ParameterType::Text,
        Some("array") => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            ParameterType::List(Box::new(parameter(name, items, depth - 1, true)))
        }
        Some("object") => ParameterType::Object(object_parameters(schema, depth - 1)),
        Some(_) => ParameterType::Text,
        None => match ["anyOf", "oneOf", "allOf"].iter().find_map(|key| list(key)) {
            Some(alternatives) => type_of_alternatives(name, alternatives, depth),
            None if schema.get("properties").is_some_and(Value::is_object) => {
                ParameterType::Object(object_parameters(schema, depth - 1))
            }
            None => ParameterType::Text,
        },
    }
}

/// One of several constants, or the first alternative that is not null.
fn type_of_alternatives(name: &str, alternatives: &[Value], depth: usize) -> ParameterType {
    let constants = alternatives.iter().filter_map(|one| one.get("const"));
    let constants: Vec<Value> = constants.cloned().collect();
    if constants.len() > 1 && constants.len() == alternatives.len() {
        return ParameterType::OneOf(constants);
    }
    let is_null = |one: &&Value| one.get("type").and_then(Value::as_str) == Some("null");
    let first = alternatives.iter().find(|one| !is_null(one));
    first.map_or(ParameterType::Text, |one| type_of(name, one, depth - 1))
}

/// What a parameter is about, by its name alone.
pub(crate) fn role_of_name(name: &str) -> ParameterRole {
    role_of(name, "", "")
}

fn role_of(name: &str, format: &str, description: &str) -> ParameterRole {
    match format {
        "uri" | "url" | "iri" | "uri-reference" => return ParameterRole::Url,
        "date" | "date-time" | "time" => return ParameterRole::Time,
        "uuid" => return ParameterRole::Id,
        _ => {}
    }
    let name = words(name);
    // The last word is the noun: "file_content" is a content. A vague one leaves it to the
    // word before: a "file_name" is a file.
    let is_vague = |word: &str| matches!(word, "name" | "value" | "text" | "string" | "input");
    for (at, word) in name.iter().enumerate().rev() {
        let before = at
            .checked_sub(1)
            .and_then(|before| role_of_word(&name[before]));
        if is_vague(word) && before.is_some_and(|role| role != ParameterRole::Title) {
            continue;
        }
        if let Some(role) = role_of_word(word) {
            return role;
        }
    }
    let description = &description[..description.floor_char_boundary(MAX_DESCRIPTION_BYTES)];
    let telling = ["url", "path", "timezone", "city", "expression"];
    let mut described = words(description).into_iter();
    let role = described.find(|word| telling.contains(&word.as_str()));
    role.and_then(|word| role_of_word(&word))
        .unwrap_or(ParameterRole::Other)
}

fn role_of_word(word: &str) -> Option<ParameterRole> {
    let mut lines = ROLES.lines().filter_map(|line| line.split_once(": "));
    let (role, _) = lines.find(|(_, words)| words.split(' ').any(|one| one == word))?;
    Some(match role {
        "url" => ParameterRole::Url,
        "path" => ParameterRole::Path,
        "expression" => ParameterRole::Expression,
        "place" => ParameterRole::Place,
        "milliseconds" => ParameterRole::Duration(1),
        "seconds" => ParameterRole::Duration(1_000),
        "minutes" => ParameterRole::Duration(60_000),
        "hours" => ParameterRole::Duration(3_600_000),
        "count" => ParameterRole::Count,
        "time" => ParameterRole::Time,
        "id" => ParameterRole::Id,
        "query" => ParameterRole::Query,
        "title" => ParameterRole::Title,
        "content" => ParameterRole::Content,
        _ => return None,
    })
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
            assert_eq!(type_of("x", &schema, 3), expected, "{schema}")
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
