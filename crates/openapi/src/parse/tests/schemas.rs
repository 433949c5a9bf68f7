//! What schemas become.

use serde_json::{Value, json};

use super::only;
use crate::operation::Operation;

/// One operation with a body of this schema, and these components beside it.
fn with_body(version: &str, schema: Value, components: Value) -> Operation {
    only(json!({
        "openapi": version,
        "paths": { "/x": { "post": { "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": { "type": "object", "properties": { "a": schema } } } },
        } } } },
        "components": { "schemas": components },
    }))
}

/// What one schema becomes, as a field of a body.
#[track_caller]
fn check_in(version: &str, schema: Value, components: Value, expected: Value) {
    let operation = with_body(version, schema, components);
    let made = &operation.input_schema.value()["properties"]["a"];
    assert_eq!(*made, expected, "\n{made:#}");
}

#[track_caller]
fn check(schema: Value, expected: Value) {
    check_in("3.0.3", schema, json!({}), expected);
}

#[test]
fn what_json_schema_says_too_is_kept() {
    for same in [
        json!({ "type": "string", "enum": ["a", "b"], "default": "a", "title": "T", "description": "D" }),
        json!({ "type": "string", "format": "date-time", "pattern": "^\\d+$", "minLength": 1, "maxLength": 9 }),
        json!({ "type": "array", "minItems": 1, "uniqueItems": true, "items": { "type": "integer", "format": "int32" } }),
        json!({ "type": "object", "properties": { "b": { "type": "number", "multipleOf": 0.5 } }, "required": ["b"] }),
        json!({ "type": "object", "additionalProperties": false, "properties": { "b": {} } }),
        json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        json!({ "anyOf": [{ "type": "string" }, { "const": 5 }] }),
        json!({ "type": "integer", "minimum": 0, "exclusiveMaximum": 10 }),
        json!({ "type": ["string", "null"], "examples": ["x"] }),
    ] {
        check_in("3.1.0", same.clone(), json!({}), same);
    }
}

#[test]
fn what_json_schema_says_otherwise_is_translated() {
    check(
        json!({ "type": "string", "example": "x" }),
        json!({ "type": "string", "examples": ["x"] }),
    );
    check(
        json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false }),
        json!({ "type": "integer", "maximum": 9, "exclusiveMinimum": 1 }),
    );
    check(
        json!({ "type": "array", "items": [{ "type": "string" }, { "type": "integer" }] }),
        json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }] }),
    );
    check(
        json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }], "discriminator": { "propertyName": "kind", "mapping": { "a": "#/x" } } }),
        json!({ "description": "The field `kind` says which: `a`.", "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
    );
    check(
        json!({ "type": "string", "xml": { "name": "x" }, "externalDocs": {}, "x-y": 1, "writeOnly": true }),
        json!({ "type": "string" }),
    );
    check(
        json!({ "properties": { "b": {} } }),
        json!({ "type": "object", "properties": { "b": {} } }),
    );
    check(
        json!({ "type": "string", "enum": [1, 2.5, "a"] }),
        json!({ "type": "string", "enum": ["1", "2.5", "a"] }),
    );
    check(
        json!({ "type": "integer", "enum": ["1", "2"] }),
        json!({ "type": "integer", "enum": [1, 2] }),
    );
    check(json!({ "type": "int" }), json!({ "type": "integer" }));
    check(json!({ "pattern": "/^a$/" }), json!({ "pattern": "^a$" }));
}

#[test]
fn null_of_3_0_is_null_of_3_1() {
    check(
        json!({ "type": "string", "nullable": true }),
        json!({ "type": ["string", "null"] }),
    );
    check(
        json!({ "type": "string", "enum": ["a"], "nullable": true }),
        json!({ "type": ["string", "null"], "enum": ["a", null] }),
    );
    check(
        json!({ "nullable": true, "description": "D", "oneOf": [{ "type": "string" }, { "type": "integer" }] }),
        json!({ "description": "D", "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "null" }] }),
    );
    let components = json!({
        "B": { "type": "object", "properties": { "b": { "type": "string" } } },
        "C": { "oneOf": [{ "type": "string" }], "type": "string" },
        "N": { "type": "string", "nullable": true },
    });
    let nullable =
        json!({ "type": ["object", "null"], "properties": { "b": { "type": "string" } } });
    for schema in [
        json!({ "nullable": true, "allOf": [{ "$ref": "#/components/schemas/B" }] }),
        json!({ "nullable": true, "$ref": "#/components/schemas/B" }),
    ] {
        check_in("3.0.3", schema, components.clone(), nullable.clone());
    }
    check_in(
        "3.0.3",
        json!({ "nullable": true, "allOf": [{ "$ref": "#/components/schemas/C" }] }),
        components.clone(),
        json!({ "anyOf": [{ "type": "string", "anyOf": [{ "type": "string" }] }, { "type": "null" }] }),
    );
    check_in(
        "3.0.3",
        json!({ "description": "D", "allOf": [{ "$ref": "#/components/schemas/N" }] }),
        components,
        json!({ "type": ["string", "null"], "description": "D" }),
    );
}

#[test]
fn illegal_values_are_dropped() {
    check(
        json!({
            "type": "any", "required": true, "pattern": "(", "minLength": -1, "maxLength": "9", "enum": "a",
            "items": 5, "properties": [], "format": 7, "title": {}, "description": null, "multipleOf": 0, "uniqueItems": "yes",
            "anyOf": {}, "allOf": 3, "additionalProperties": "no", "minimum": "x", "exclusiveMinimum": true, "examples": {},
        }),
        json!({}),
    );
    check(json!({ "type": ["string", "any"] }), json!({}));
    check(
        json!({ "type": "array", "minItems": 2.0, "enum": [] }),
        json!({ "type": "array", "minItems": 2 }),
    );
    check(
        json!({ "type": "object", "required": ["b", "b", 5], "properties": { "b": "string", "c": false } }),
        json!({ "type": "object", "properties": { "b": {} }, "required": ["b"] }),
    );
}

#[test]
fn what_only_the_server_writes_is_not_asked_for() {
    check_in(
        "3.0.3",
        json!({
            "type": "object", "required": ["id", "name", "made"],
            "properties": { "id": { "type": "string", "readOnly": true }, "name": { "type": "string" }, "made": { "$ref": "#/components/schemas/Made" } },
        }),
        json!({ "Made": { "type": "string", "readOnly": true } }),
        json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] }),
    );
}

#[test]
fn all_of_is_one_object() {
    let components = json!({
        "A": { "type": "object", "description": "A", "required": ["x"], "properties": { "x": { "type": "number" } } },
        "B": { "allOf": [{ "$ref": "#/components/schemas/A" }, { "properties": { "y": { "type": "string" } }, "required": ["y", "x"] }] },
    });
    check_in(
        "3.0.3",
        json!({ "allOf": [{ "$ref": "#/components/schemas/B" }, { "properties": { "x": { "type": "integer", "minimum": 1 } } }] }),
        components,
        json!({
            "type": "object", "description": "A",
            "properties": { "x": { "type": "integer", "minimum": 1 }, "y": { "type": "string" } },
            "required": ["x", "y"],
        }),
    );
    // What cannot be said by one stays apart.
    check(
        json!({ "type": "string", "allOf": [{ "pattern": "^a" }, { "pattern": "b$" }, { "maxLength": 5 }, { "maxLength": 3 }] }),
        json!({ "type": "string", "pattern": "^a", "maxLength": 3, "allOf": [{ "pattern": "b$" }] }),
    );
    check(
        json!({ "anyOf": [{ "type": "string" }], "allOf": [{ "anyOf": [{ "maxLength": 3 }] }] }),
        json!({ "anyOf": [{ "type": "string" }], "allOf": [{ "anyOf": [{ "maxLength": 3 }] }] }),
    );
    // Neither of two may forbid the other's fields.
    check(
        json!({ "allOf": [
            { "type": "object", "additionalProperties": false, "properties": { "x": {} } },
            { "type": "object", "additionalProperties": false, "properties": { "y": {} } },
        ] }),
        json!({ "type": "object", "properties": { "x": {}, "y": {} } }),
    );
}

#[test]
fn circles_are_cut() {
    let node = json!({
        "type": "object", "description": "A node.",
        "properties": {
            "next": { "$ref": "#/components/schemas/Node" },
            "children": { "type": "array", "items": { "$ref": "#/components/schemas/Node" } },
        },
    });
    let again = json!({ "type": "object", "description": "The same again as what it is in: its fields are not repeated here." });
    let expected = json!({
        "type": "object", "description": "A node.",
        "properties": { "next": again, "children": { "type": "array", "items": again } },
    });
    check_in(
        "3.1.0",
        json!({ "$ref": "#/components/schemas/Node" }),
        json!({ "Node": node }),
        expected,
    );
    for circle in [
        json!({ "A": { "$ref": "#/components/schemas/A" } }),
        json!({ "A": { "allOf": [{ "$ref": "#/components/schemas/A" }] } }),
        json!({ "A": { "$ref": "#/components/schemas/B" }, "B": { "$ref": "#/components/schemas/A" } }),
    ] {
        check_in(
            "3.0.3",
            json!({ "$ref": "#/components/schemas/A" }),
            circle,
            json!({}),
        );
    }
}

#[test]
fn components_that_fan_out_are_read_in_bounded_time() {
    let next = |level: usize| json!({ "$ref": format!("#/components/schemas/d{}", level + 1) });
    for keyword in ["allOf", "anyOf", "oneOf", "properties"] {
        let mut components = serde_json::Map::new();
        for level in 0..30 {
            let next = next(level);
            let four = match keyword {
                "properties" => json!({ "a": next, "b": next, "c": next, "d": next }),
                _ => json!([next, next, next, next]),
            };
            components.insert(format!("d{level}"), json!({ keyword: four }));
        }
        components.insert("d30".into(), json!({}));
        let began = std::time::Instant::now();
        let operation = with_body("3.1.0", next(0), components.into());
        let length = operation.input_schema.as_str().len();
        assert!(length < 160 * 1024, "{keyword}: {length}");
        let took = began.elapsed();
        assert!(
            took < std::time::Duration::from_secs(20),
            "{keyword}: {took:?}"
        );
    }
}

#[test]
fn what_is_elsewhere_in_a_schema_is_said() {
    check(
        json!({ "$ref": "other.yaml#/Pet" }),
        json!({ "description": "What it is like is said in another document: `other.yaml#/Pet`." }),
    );
    check(
        json!({ "type": "array", "items": { "$ref": "#/components/schemas/Gone" } }),
        json!({ "type": "array", "items": { "description": "The document does not say what it is like." } }),
    );
}

#[test]
fn long_schemas_lose_their_depth_first() {
    let mut components = serde_json::Map::new();
    for number in 0..40 {
        let mut fields = serde_json::Map::new();
        for field in 0..30 {
            fields.insert(
                format!("field_{field}"),
                json!({ "description": "d".repeat(200), "allOf": [{ "$ref": format!("#/components/schemas/C{}", (number + field + 1) % 40) }] }),
            );
        }
        components.insert(
            format!("C{number}"),
            json!({ "type": "object", "properties": fields }),
        );
    }
    let operation = with_body(
        "3.0.3",
        json!({ "$ref": "#/components/schemas/C0" }),
        components.into(),
    );
    let schema = operation.input_schema.value();
    let length = schema.to_string().len();
    assert!((32 * 1024..160 * 1024).contains(&length), "{length}");
    let fields = &schema["properties"]["a"]["properties"];
    assert_eq!(fields.as_object().map(|fields| fields.len()), Some(30));
    assert_eq!(fields["field_29"]["description"], "d".repeat(200));
}

#[test]
fn long_schemas_lose_what_is_optional_first() {
    let text = |length| json!({ "type": "string", "description": "d".repeat(length) });
    let mut forms = Vec::new();
    for number in 0..58 {
        forms.push(json!({
            "type": "object", "title": format!("Form {number}"), "required": ["type"],
            "properties": { "type": { "type": "string", "enum": [format!("form{number}")] }, "more": text(300) },
        }));
    }
    let mut fields = serde_json::Map::new();
    for number in 0..40 {
        let inside: serde_json::Map<String, Value> = (0..30)
            .map(|field| (format!("field_{field}"), text(100)))
            .collect();
        let object = json!({ "type": "object", "properties": inside });
        fields.insert(format!("option_{number}"), object);
    }
    fields.insert("paymentMethod".into(), json!({ "oneOf": forms }));
    let operation = only(json!({
        "openapi": "3.0.3",
        "paths": { "/x": { "post": { "requestBody": { "required": true, "content": { "application/json": {
            "schema": { "type": "object", "required": ["paymentMethod"], "properties": fields },
        } } } } } },
    }));
    let schema = operation.input_schema.value();
    let length = schema.to_string().len();
    assert!(length < 160 * 1024, "{length}");
    let forms = schema["properties"]["paymentMethod"]["anyOf"].as_array();
    let forms = forms.expect("the forms are there");
    assert_eq!(forms.len(), 58);
    assert_eq!(forms[57]["properties"]["type"]["enum"], json!(["form57"]));
    assert_eq!(forms[57]["properties"]["more"]["type"], "string");
    let options = schema["properties"].as_object().unwrap();
    assert_eq!(options.len(), 41);
    assert!(options.keys().next_back().unwrap() == "paymentMethod");
}

#[test]
fn a_long_enumeration_is_told_in_words() {
    let many: Vec<String> = (0..5000).map(|number| format!("v{number}")).collect();
    let operation = with_body(
        "3.0.3",
        json!({ "type": "string", "enum": many }),
        json!({}),
    );
    let made = &operation.input_schema.value()["properties"]["a"];
    assert_eq!(made["type"], "string");
    let said = made["description"].as_str().unwrap();
    assert!(
        said.starts_with("One of 5000 values, such as \"v0\", \"v1\""),
        "{said}"
    );
    assert_eq!(made.get("enum"), None);
}
