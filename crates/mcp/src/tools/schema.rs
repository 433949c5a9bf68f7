//! A tool's input schema, made one that can be used: of an object, without circles a
//! validator would never leave.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use tenon_text as text;

use super::problem::{SchemaRepair, ToolDefect};

/// More is no description of arguments.
const MAX_SCHEMA_BYTES: usize = 512 * 1024;

/// How many steps a validator may take on the same value. Nobody nests more by hand.
const MAX_STEPS: usize = 64;

#[derive(Debug, PartialEq)]
pub(super) struct UsableSchema {
    pub(super) value: Value,
    pub(super) repair: Option<SchemaRepair>,
}

pub(super) fn make_usable(schema: Option<&Value>) -> Result<UsableSchema, ToolDefect> {
    let any = |repair: SchemaRepair| {
        Ok(UsableSchema {
            value: json!({ "type": "object" }),
            repair: Some(repair),
        })
    };
    let mut object = match schema {
        Some(Value::Object(object)) => object.clone(),
        None | Some(Value::Null) => return any(SchemaRepair::Missing),
        Some(Value::Bool(true)) => return any(SchemaRepair::True),
        Some(Value::Bool(false)) => return Err(ToolDefect::NoInputAllowed),
        Some(_) => return any(SchemaRepair::NoSchema),
    };
    match object.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        Some(Value::String(kind)) => return Err(ToolDefect::NotAnObject(text::line(kind, 20))),
        Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "object") => {
            return Err(ToolDefect::NeverAnObject);
        }
        // Arguments are an object in any case, so saying it changes nothing.
        _ => {
            object.insert("type".into(), "object".into());
        }
    }
    if Value::Object(object.clone()).to_string().len() > MAX_SCHEMA_BYTES {
        return any(SchemaRepair::TooLong);
    }
    let value = Value::Object(object);
    if is_circular(&value) {
        return any(SchemaRepair::Circular);
    }
    Ok(UsableSchema {
        value,
        repair: None,
    })
}

/// Whether a validator could go from schema to schema for ever without going deeper into
/// the value it validates.
fn is_circular(root: &Value) -> bool {
    // How many steps there are below each schema, as far as they are known.
    let mut depths: HashMap<*const Value, usize> = HashMap::new();
    let mut schemas = vec![root];
    let mut all = Vec::new();
    while let Some(schema) = schemas.pop() {
        match schema {
            Value::Object(object) => {
                all.push(schema);
                schemas.extend(object.values());
            }
            Value::Array(list) => schemas.extend(list),
            _ => {}
        }
    }
    all.into_iter().any(|schema| {
        let mut open = HashSet::new();
        depth(root, schema, &mut open, &mut depths).is_none()
    })
}

/// None: a circle, or so deep that it might as well be one.
fn depth<'a>(
    root: &'a Value,
    schema: &'a Value,
    open: &mut HashSet<*const Value>,
    known: &mut HashMap<*const Value, usize>,
) -> Option<usize> {
    let place: *const Value = schema;
    if let Some(depth) = known.get(&place) {
        return Some(*depth);
    }
    if open.len() >= MAX_STEPS || !open.insert(place) {
        return None;
    }
    let mut deepest = 0;
    if let Value::Object(object) = schema {
        for next in same_value_schemas(root, object) {
            deepest = deepest.max(1 + depth(root, next, open, known)?);
        }
    }
    open.remove(&place);
    known.insert(place, deepest);
    (deepest <= MAX_STEPS).then_some(deepest)
}

/// The schemas that apply to the same value as this one.
fn same_value_schemas<'a>(root: &'a Value, schema: &'a Map<String, Value>) -> Vec<&'a Value> {
    let mut next = Vec::new();
    for (key, value) in schema {
        match (key.as_str(), value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                let to = to.strip_prefix('#');
                next.extend(to.and_then(|to| root.pointer(&unescape(to))));
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => next.extend(schemas),
            ("not" | "if" | "then" | "else", schema) => next.push(schema),
            ("dependentSchemas", Value::Object(schemas)) => next.extend(schemas.values()),
            _ => {}
        }
    }
    next
}

/// A JSON pointer in a fragment is percent-encoded.
fn unescape(pointer: &str) -> Cow<'_, str> {
    percent_decode_str(pointer).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        let usable = make_usable(Some(&schema)).unwrap();
        assert_eq!(usable.value, expected, "{schema}");
        // An unchanged schema needs no note.
        let is_repaired = usable.repair.is_some();
        assert_eq!(
            is_repaired,
            expected == json!({ "type": "object" }) && schema != expected && schema != json!({}),
            "{schema}"
        );
    }

    #[test]
    fn what_is_said_is_kept_and_what_is_missing_added() {
        let any = json!({ "type": "object" });
        check(any.clone(), any.clone());
        check(json!({}), any.clone());
        check(json!(true), any.clone());
        check(json!("string"), any.clone());
        check(json!([]), any.clone());
        check(
            json!({ "properties": { "a": true } }),
            json!({ "properties": { "a": true }, "type": "object" }),
        );
        let choice =
            json!({ "type": "object", "oneOf": [{ "required": ["a"] }, { "required": ["b"] }] });
        check(choice.clone(), choice);
        check(
            json!({ "type": ["object", "null"], "title": "T" }),
            json!({ "type": "object", "title": "T" }),
        );
        let tree = json!({
            "type": "object",
            "$defs": { "node": { "type": "object", "properties": { "next": { "$ref": "#/$defs/node" } } } },
            "properties": { "root": { "$ref": "#/$defs/node" } },
        });
        check(tree.clone(), tree);
    }

    #[test]
    fn a_circle_a_validator_would_never_leave_is_cut() {
        let any = json!({ "type": "object" });
        check(json!({ "$ref": "#" }), any.clone());
        check(json!({ "allOf": [{ "$ref": "#" }] }), any.clone());
        check(
            json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/%24defs/a" } }, "properties": { "x": { "$ref": "#/$defs/a" } } }),
            any.clone(),
        );
        let mut defs = Map::new();
        for number in 0..5000 {
            defs.insert(
                format!("d{number}"),
                json!({ "$ref": format!("#/$defs/d{}", number + 1) }),
            );
        }
        check(json!({ "$defs": defs, "$ref": "#/$defs/d0" }), any);
    }

    #[test]
    fn what_is_no_object_cannot_be_called() {
        assert!(make_usable(Some(&json!({ "type": "array" }))).is_err());
        assert!(make_usable(Some(&json!({ "type": ["string", "null"] }))).is_err());
        assert!(make_usable(Some(&json!(false))).is_err());
        assert!(make_usable(None).unwrap().repair.is_some());
    }
}
