//! The schema of a tool as a component of a document.
//!
//! The schema stays as its author wrote it. Its references are rewritten, since `#` is the whole
//! document now, and properties get the titles and descriptions that mcpo gives them, where they
//! have none.

use serde_json::{Map, Value, json};
use tenon_domain::InputSchema;

use super::names;

/// A component, if the schema has properties. Without any, a tool takes no body.
pub(super) fn component(name: &str, schema: &InputSchema) -> Option<Value> {
    let Value::Object(mut schema) = schema.value() else {
        return None;
    };
    let has_properties = matches!(schema.get("properties"), Some(Value::Object(properties)) if !properties.is_empty());
    if !has_properties {
        return None;
    }
    // A base address of its own would give every reference in it another meaning.
    schema.remove("$schema");
    schema.remove("$id");
    schema.entry("type").or_insert(json!("object"));
    schema.insert("title".to_owned(), json!(name));
    let mut schema = Value::Object(schema);
    rewrite_references(&mut schema, &format!("#/components/schemas/{name}"));
    describe_properties(&mut schema);
    Some(schema)
}

/// Keywords whose values are data, in which a `$ref` is no reference.
const DATA_KEYWORDS: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// Keywords whose members are named by the author of the schema.
const NAMED_SCHEMAS: [&str; 4] = ["$defs", "definitions", "patternProperties", "properties"];

fn rewrite_references(schema: &mut Value, base: &str) {
    match schema {
        Value::Object(members) => {
            for (keyword, member) in members {
                match member {
                    Value::String(reference) if keyword == "$ref" => rewrite(reference, base),
                    Value::Object(named) if NAMED_SCHEMAS.contains(&keyword.as_str()) => {
                        named
                            .values_mut()
                            .for_each(|schema| rewrite_references(schema, base));
                    }
                    _ if DATA_KEYWORDS.contains(&keyword.as_str()) => {}
                    other => rewrite_references(other, base),
                }
            }
        }
        Value::Array(schemas) => schemas
            .iter_mut()
            .for_each(|schema| rewrite_references(schema, base)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn rewrite(reference: &mut String, base: &str) {
    if let Some(pointer) = reference.strip_prefix('#')
        && (pointer.is_empty() || pointer.starts_with('/'))
    {
        *reference = format!("{base}{pointer}");
    }
}

fn describe_properties(schema: &mut Value) {
    let Value::Object(members) = schema else {
        return;
    };
    for (keyword, member) in members {
        match (keyword.as_str(), member) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    describe(name, property);
                    describe_properties(property);
                }
            }
            ("items" | "additionalProperties", item) => describe_properties(item),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(describe_properties);
            }
            ("$defs" | "definitions", Value::Object(schemas)) => {
                schemas.values_mut().for_each(describe_properties);
            }
            _ => {}
        }
    }
}

fn describe(name: &str, property: &mut Value) {
    let Value::Object(property) = property else {
        return;
    };
    // Many readers ignore keywords beside `$ref`, and some refuse them.
    if !property.contains_key("$ref") {
        insert_missing(property, "title", || names::title(name));
        insert_missing(property, "description", String::new);
    }
}

fn insert_missing(into: &mut Map<String, Value>, key: &str, value: impl FnOnce() -> String) {
    if !into.contains_key(key) {
        into.insert(key.to_owned(), Value::String(value()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_kept_whole() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "unit_name": { "enum": ["c", "f"], "default": { "$ref": "#/no/reference" } },
                "at": { "$ref": "#/$defs/Place" },
                "many": { "type": "array", "maxItems": 3, "items": { "properties": { "x": { "minimum": 1, "title": "Own" } } } },
                "again": { "$ref": "#" },
            },
            "required": ["at"],
            "$defs": { "Place": { "properties": { "$ref": { "type": "string", "format": "uri" } } } },
        });
        let written = component("t_form_model", &schema.into()).unwrap();
        let expected = json!({
            "type": "object",
            "properties": {
                "unit_name": { "enum": ["c", "f"], "default": { "$ref": "#/no/reference" }, "title": "Unit Name", "description": "" },
                "at": { "$ref": "#/components/schemas/t_form_model/$defs/Place" },
                "many": {
                    "type": "array", "maxItems": 3, "title": "Many", "description": "",
                    "items": { "properties": { "x": { "minimum": 1, "title": "Own", "description": "" } } },
                },
                "again": { "$ref": "#/components/schemas/t_form_model" },
            },
            "required": ["at"],
            "$defs": {
                "Place": { "properties": { "$ref": { "type": "string", "format": "uri", "title": "$Ref", "description": "" } } },
            },
            "title": "t_form_model",
        });
        assert_eq!(written, expected);
    }

    #[test]
    fn what_takes_nothing_has_no_model() {
        for schema in [
            json!({}),
            json!({ "type": "object", "properties": {} }),
            json!(true),
        ] {
            assert_eq!(component("t_form_model", &schema.into()), None);
        }
    }
}
