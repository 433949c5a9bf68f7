//! Completes a translated schema, so that providers have nothing to guess.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::merge::merge;

pub(super) fn normalize(schema: Value) -> Value {
    let Value::Object(mut keywords) = schema else {
        return schema;
    };
    normalize_children(&mut keywords);
    let mut keywords = without_lone_branch(keywords);
    if let Some(kind) = implied_type(&keywords) {
        keywords.insert("type".into(), json!(kind));
    }
    if may_be("object", &keywords) {
        keywords.entry("properties").or_insert_with(|| json!({}));
    }
    if may_be("array", &keywords) {
        keywords.entry("items").or_insert_with(|| json!({}));
    }
    normalize_required(&mut keywords);
    Value::Object(keywords)
}

/// The type that a schema without `type` implies. None if `anyOf` or `enum` already say it.
pub(super) fn implied_type(keywords: &Map<String, Value>) -> Option<&'static str> {
    if ["type", "anyOf", "enum"]
        .iter()
        .any(|k| keywords.contains_key(*k))
    {
        None
    } else if keywords.contains_key("properties") {
        Some("object")
    } else if keywords.contains_key("items") {
        Some("array")
    } else {
        None
    }
}

fn normalize_children(keywords: &mut Map<String, Value>) {
    for keyword in ["items", "additionalProperties"] {
        if let Some(schema) = keywords.get_mut(keyword) {
            *schema = normalize(schema.take());
        }
    }
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        for schema in properties.values_mut() {
            *schema = normalize(schema.take());
        }
    }
    if let Some(Value::Array(branches)) = keywords.get_mut("anyOf") {
        let mut known = HashSet::new();
        *branches = std::mem::take(branches)
            .into_iter()
            .map(normalize)
            .filter(|branch| known.insert(branch.clone()))
            .collect();
    }
}

/// Merges an `anyOf` with a single branch into its parent.
fn without_lone_branch(mut keywords: Map<String, Value>) -> Map<String, Value> {
    match keywords.remove("anyOf") {
        Some(Value::Array(mut branches)) if branches.len() == 1 => match branches.pop() {
            Some(Value::Object(branch)) => merge(branch, keywords),
            _ => keywords,
        },
        Some(branches) => {
            keywords.insert("anyOf".into(), branches);
            keywords
        }
        None => keywords,
    }
}

fn may_be(kind: &str, keywords: &Map<String, Value>) -> bool {
    match keywords.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        Some(name) => name == kind,
        None => false,
    }
}

/// Only what exists can be required, and only once.
fn normalize_required(keywords: &mut Map<String, Value>) {
    let Some(Value::Array(mut names)) = keywords.remove("required") else {
        return;
    };
    if let Some(Value::Object(properties)) = keywords.get("properties") {
        let mut known = HashSet::new();
        names.retain(|name| {
            name.as_str()
                .is_some_and(|name| properties.contains_key(name))
                && known.insert(name.clone())
        });
        if !names.is_empty() {
            keywords.insert("required".into(), Value::Array(names));
        }
    }
}
