//! Single keywords: what was meant, in the words that every provider knows.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::Dialect;
use super::normalize::implied_type;
use super::reference::is_schema;

/// The words that need no looking around.
pub(super) fn plain_keywords(
    keywords: &Map<String, Value>,
    dialect: Dialect,
) -> Map<String, Value> {
    let mut output = Map::new();
    let mut say = |keyword: &str, value: Option<Value>| {
        if let Some(value) = value {
            output.insert(keyword.into(), value);
        }
    };
    say("type", types(keywords.get("type")));
    for keyword in ["minLength", "maxLength", "minItems", "maxItems"] {
        let fits = |v: &&Value| v.as_u64().is_some_and(|v| v <= dialect.max_count);
        say(keyword, keywords.get(keyword).filter(fits).cloned());
    }
    let unique = keywords.get("uniqueItems").filter(|v| v.is_boolean());
    say("uniqueItems", unique.cloned());
    let step = keywords.get("multipleOf");
    let step = step.filter(|v| v.as_f64().is_some_and(|v| v > 0.0));
    say("multipleOf", step.cloned());
    let format = keywords.get("format");
    say("format", format.filter(|v| is_known_format(v)).cloned());
    let allowed = |v: &&Value| v.as_str().is_some_and(|v| dialect.patterns.allow(v));
    say("pattern", keywords.get("pattern").filter(allowed).cloned());
    for (bound, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        let number = keywords.get(bound).filter(|v| v.is_number()).cloned();
        match keywords.get(exclusive) {
            // Once, this was not a number but output what the other number means.
            Some(Value::Bool(true)) => say(exclusive, number),
            Some(other @ Value::Number(_)) => {
                say(exclusive, Some(other.clone()));
                say(bound, number);
            }
            _ => say(bound, number),
        }
    }
    output
}

fn is_known_format(format: &Value) -> bool {
    matches!(
        format.as_str(),
        Some(
            "date-time"
                | "date"
                | "time"
                | "duration"
                | "email"
                | "hostname"
                | "ipv4"
                | "ipv6"
                | "uuid"
                | "uri"
        )
    )
}

pub(super) fn types(kind: Option<&Value>) -> Option<Value> {
    let mut known: Vec<&str> = Vec::new();
    let names = match kind? {
        Value::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    for name in names.iter().take(MAX_TYPES).filter_map(type_name) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    match known.as_slice() {
        [] => None,
        [name] => Some(json!(name)),
        names => Some(json!(names)),
    }
}

/// There are seven types, and a few more ways to write them.
const MAX_TYPES: usize = 50;

/// The seven types, by the names that JSON Schema and other languages have for them.
fn type_name(name: &Value) -> Option<&'static str> {
    const NAMES: [(&str, &[&str]); 7] = [
        ("string", &["string", "str"]),
        ("integer", &["integer", "int", "long"]),
        ("number", &["number", "float", "double"]),
        ("boolean", &["boolean", "bool"]),
        ("object", &["object", "dict"]),
        ("array", &["array", "list"]),
        ("null", &["null", "none"]),
    ];
    let name = name.as_str()?;
    let is_named = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let known = NAMES.iter().find(|(_, names)| is_named(names));
    known.map(|(kind, _)| *kind)
}

/// `oneOf` asks the same of a model as `anyOf` does. Both at once cannot be output.
pub(super) fn alternatives(keywords: &Map<String, Value>) -> Vec<&Value> {
    let any: Vec<&Value> = schemas(keywords, "anyOf").collect();
    if any.is_empty() {
        schemas(keywords, "oneOf").collect()
    } else {
        any
    }
}

pub(super) fn schemas<'a>(
    keywords: &'a Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = &'a Value> + use<'a> {
    let list = keywords.get(keyword).and_then(Value::as_array);
    list.into_iter().flatten().filter(|entry| is_schema(entry))
}

/// The schema of properties that are not listed. Names that follow a pattern
/// are such, to a provider that knows no patterns.
pub(super) fn other_properties(keywords: &Map<String, Value>) -> Option<&Value> {
    let others = keywords
        .get("additionalProperties")
        .filter(|v| is_schema(v));
    let patterns = keywords.get("patternProperties").and_then(Value::as_object);
    match (others, patterns) {
        (None | Some(Value::Bool(false)), Some(patterns)) if !patterns.is_empty() => {
            let mut schemas = patterns.values().filter(|schema| is_schema(schema));
            schemas.next().filter(|_| patterns.len() == 1)
        }
        (others, _) => others,
    }
}

pub(super) fn accept_null(output: &mut Map<String, Value>) {
    if let Some(kind) = implied_type(output) {
        output.insert("type".into(), json!(kind));
    }
    let null = json!("null");
    match output.get_mut("type") {
        Some(Value::Array(names)) if names.contains(&null) => {}
        Some(Value::Array(names)) => names.push(null.clone()),
        Some(name) if *name != null => *name = json!([name, "null"]),
        Some(_) | None => {}
    }
    if let Some(Value::Array(values)) = output.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let takes_null = |branch: &Value| match branch.get("type") {
        Some(Value::Array(names)) => names.contains(&null),
        kind => kind == Some(&null),
    };
    if let Some(Value::Array(branches)) = output.get_mut("anyOf")
        && !branches.iter().any(takes_null)
    {
        branches.push(json!({"type": "null"}));
    }
}

pub(super) fn is_filled(values: &Value) -> bool {
    values.as_array().is_some_and(|values| !values.is_empty())
}

pub(super) fn distinct(values: &Value) -> Value {
    let mut known = HashSet::new();
    let values = values.as_array().into_iter().flatten();
    values
        .filter(|value| known.insert(*value))
        .cloned()
        .collect()
}
