//! Merges two schemas into one for a provider: the outer one overrides.
//!
//! Not shared with the OpenAPI reader, which must notice contradictions: inputs are checked
//! against its result. Here the model only reads it, and there has to be one object in the end.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// Both at once: properties and requirements of both, and where they disagree
/// it is `over` that counts.
pub(super) fn merge(base: Map<String, Value>, mut over: Map<String, Value>) -> Map<String, Value> {
    for (keyword, value) in base {
        let both = match (keyword.as_str(), over.remove(&keyword), value) {
            ("properties", Some(Value::Object(over)), Value::Object(base)) => {
                Value::Object(merge_properties(base, over))
            }
            ("required", Some(Value::Array(mut over)), Value::Array(base)) => {
                over.extend(base);
                Value::Array(over)
            }
            (_, Some(over), _) => over,
            (_, None, base) => base,
        };
        over.insert(keyword, both);
    }
    over
}

fn merge_properties(base: Map<String, Value>, mut over: Map<String, Value>) -> Map<String, Value> {
    for (name, schema) in base {
        let both = match (schema, over.remove(&name)) {
            (Value::Object(base), Some(Value::Object(over))) => Value::Object(merge(base, over)),
            (_, Some(over)) => over,
            (base, None) => base,
        };
        over.insert(name, both);
    }
    over
}

/// A root: one object with properties. `None` if it can be no object.
pub(super) fn into_object(mut schema: Map<String, Value>) -> Option<Map<String, Value>> {
    if !may_be_object(schema.get("type")) {
        return None;
    }
    if let Some(Value::Array(branches)) = schema.remove("anyOf") {
        let objects: Vec<_> = branches
            .into_iter()
            .filter_map(|branch| match branch {
                Value::Object(branch) => into_object(branch),
                _ => None,
            })
            .collect();
        schema = merge(union(objects)?, schema);
    }
    let mut object = Map::from_iter([("type".into(), json!("object"))]);
    for keyword in [
        "title",
        "description",
        "properties",
        "required",
        "additionalProperties",
    ] {
        if let Some(value) = schema.remove(keyword) {
            object.insert(keyword.into(), value);
        }
    }
    Some(object)
}

fn may_be_object(kind: Option<&Value>) -> bool {
    match kind {
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(name) => name == "object",
        None => true,
    }
}

/// One object that takes what any of these takes. `None` of none.
fn union(mut objects: Vec<Map<String, Value>>) -> Option<Map<String, Value>> {
    if objects.len() < 2 {
        return objects.pop();
    }
    let mut union = Map::new();
    if let Some(required) = required_by_all(&objects) {
        union.insert("required".into(), required);
    }
    let is_closed = |object: &Map<String, Value>| {
        object.get("additionalProperties") == Some(&Value::Bool(false))
    };
    if objects.iter().all(is_closed) {
        union.insert("additionalProperties".into(), Value::Bool(false));
    }
    // Every form that a property has, in the order of the objects.
    let mut forms: Map<String, Value> = Map::new();
    for mut object in objects {
        if let Some(Value::Object(properties)) = object.remove("properties") {
            for (name, form) in properties {
                add_form(&mut forms, name, form);
            }
        }
    }
    for schema in forms.values_mut() {
        *schema = json!({"anyOf": schema.take()});
    }
    union.insert("properties".into(), Value::Object(forms));
    Some(union)
}

/// A property of one form ends up as that form: `tidy` takes an `anyOf` of one away.
fn add_form(forms: &mut Map<String, Value>, name: String, form: Value) {
    match forms.entry(name).or_insert_with(|| json!([])) {
        Value::Array(known) => known.push(form),
        other => *other = form,
    }
}

fn required_by_all(objects: &[Map<String, Value>]) -> Option<Value> {
    let required = |object: &Map<String, Value>| -> HashSet<Value> {
        match object.get("required") {
            Some(Value::Array(names)) => names.iter().cloned().collect(),
            _ => HashSet::new(),
        }
    };
    let (first, others) = objects.split_first()?;
    let others: Vec<HashSet<Value>> = others.iter().map(required).collect();
    let mut names = first.get("required")?.as_array()?.clone();
    names.retain(|name| others.iter().all(|other| other.contains(name)));
    Some(Value::Array(names))
}
