//! Whatever a document is: an error or tools, soon.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use tenon_openapi::{document, parse};

/// In a debug build on a busy machine; a document here has some kilobytes.
const SOON: Duration = Duration::from_secs(5);

/// Words that mean something, where anything may stand.
const WORDS: [&str; 44] = [
    "openapi",
    "swagger",
    "paths",
    "/a",
    "/a/{b}",
    "get",
    "post",
    "parameters",
    "name",
    "in",
    "path",
    "query",
    "body",
    "formData",
    "schema",
    "content",
    "application/json",
    "multipart/form-data",
    "requestBody",
    "$ref",
    "#",
    "#/paths",
    "#/paths/~1a/get",
    "#/components/schemas/A",
    "components",
    "schemas",
    "A",
    "type",
    "object",
    "array",
    "properties",
    "items",
    "allOf",
    "oneOf",
    "enum",
    "required",
    "nullable",
    "pattern",
    "(",
    "servers",
    "url",
    "security",
    "additionalProperties",
    "3.0.0",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => proptest::sample::select(WORDS.as_slice()).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A document that uses most of what there is.
fn valid() -> Value {
    json!({
        "openapi": "3.0.3",
        "info": { "title": "T", "version": "1" },
        "servers": [{ "url": "https://{host}/v1", "variables": { "host": { "default": "a.example" } } }],
        "security": [{ "key": [] }],
        "paths": {
            "/a/{b}": {
                "parameters": [{ "name": "b", "in": "path", "required": true, "schema": { "type": "integer", "minimum": 1, "exclusiveMinimum": true } }],
                "get": {
                    "operationId": "read", "summary": "S", "description": "D", "deprecated": true,
                    "parameters": [
                        { "$ref": "#/components/parameters/Page" },
                        { "name": "q", "in": "query", "style": "deepObject", "schema": { "$ref": "#/components/schemas/A" } },
                        { "name": "j", "in": "query", "content": { "application/json": { "schema": { "type": "object" } } } },
                    ],
                },
                "put": { "requestBody": { "$ref": "#/components/requestBodies/B" } },
            },
            "/c": { "post": { "security": [], "requestBody": { "content": { "multipart/form-data": {
                "schema": { "type": "object", "required": ["f"], "properties": { "f": { "type": "string", "format": "binary" }, "l": { "type": "array", "items": { "type": "string" } } } },
                "encoding": { "l": { "style": "form", "explode": false, "contentType": "text/plain" } },
            } } } } },
            "/d": { "$ref": "#/components/pathItems/D" },
        },
        "components": {
            "parameters": { "Page": { "name": "page", "in": "header", "schema": { "type": "integer", "default": 1 } } },
            "requestBodies": { "B": { "required": true, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/C" } } } } },
            "pathItems": { "D": { "post": { "requestBody": { "content": { "text/plain": {} } } } } },
            "schemas": {
                "A": { "type": "object", "nullable": true, "required": ["x"], "additionalProperties": false, "properties": {
                    "x": { "type": "string", "enum": ["a", "b"], "pattern": "^[ab]$", "minLength": 1 },
                    "self": { "$ref": "#/components/schemas/A" },
                    "id": { "type": "string", "readOnly": true },
                } },
                "C": { "description": "C", "allOf": [{ "$ref": "#/components/schemas/A" }, { "type": "object", "properties": {
                    "one": { "oneOf": [{ "$ref": "#/components/schemas/A" }, { "type": "array", "items": [{}, { "type": "null" }] }], "discriminator": { "propertyName": "x" } },
                    "x": { "example": "a" },
                } }] },
            },
            "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "X-Key" } },
        },
    })
}

/// The same as Swagger 2.0.
fn swagger() -> Value {
    json!({
        "swagger": "2.0", "host": "a.example", "basePath": "/v1", "schemes": ["https"], "consumes": ["application/json"],
        "parameters": { "P": { "name": "p", "in": "query", "type": "array", "items": { "type": "string" }, "collectionFormat": "pipes" } },
        "definitions": { "A": { "type": "object", "properties": { "a": { "$ref": "#/definitions/A" }, "b": { "type": "string" } } } },
        "securityDefinitions": { "o": { "type": "oauth2", "flow": "application", "tokenUrl": "https://a.example/t", "scopes": { "s": "S" } } },
        "paths": {
            "/a": {
                "get": { "parameters": [{ "$ref": "#/parameters/P" }, { "name": "Authorization", "in": "header", "type": "string" }] },
                "post": { "parameters": [{ "name": "body", "in": "body", "required": true, "schema": { "$ref": "#/definitions/A" } }] },
                "put": { "consumes": ["multipart/form-data"], "parameters": [{ "name": "f", "in": "formData", "type": "file", "required": true }] },
            },
        },
    })
}

/// Puts something else where the choice falls.
fn mutate(document: &mut Value, choice: &Index, other: Value) {
    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(list) => list.iter().map(count).sum(),
            Value::Object(members) => members.values().map(count).sum(),
            _ => 0,
        }
    }
    fn node<'v>(value: &'v mut Value, number: &mut usize) -> Option<&'v mut Value> {
        if *number == 0 {
            return Some(value);
        }
        *number -= 1;
        match value {
            Value::Array(list) => list.iter_mut().find_map(|value| node(value, number)),
            Value::Object(members) => members.values_mut().find_map(|value| node(value, number)),
            _ => None,
        }
    }
    let mut number = choice.index(count(document));
    if let Some(place) = node(document, &mut number) {
        *place = other;
    }
}

fn check(document: &Value) -> Result<(), TestCaseError> {
    let started = Instant::now();
    let parsed = parse::parse(document);
    let took = started.elapsed();
    prop_assert!(took < SOON, "{took:?}");
    let Ok(parsed) = parsed else {
        return Ok(());
    };
    for operation in &parsed.operations {
        let schema = &operation.input_schema.value();
        let compiled = jsonschema::draft202012::new(schema);
        prop_assert!(compiled.is_ok(), "{:?}\n{schema:#}", compiled.err());
        prop_assert!(!operation.servers.is_empty());
    }
    Ok(())
}

/// `TORTURE_CASES` instead of the few that every run tries.
fn cases() -> u32 {
    let wanted = std::env::var("TORTURE_CASES").ok();
    wanted.and_then(|cases| cases.parse().ok()).unwrap_or(64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn any_value_is_an_error_or_tools(document in anything()) {
        check(&document)?;
    }

    #[test]
    fn anything_below_paths_and_components_is_skipped_or_a_tool(
        item in anything(), schema in anything(), is_new in any::<bool>()
    ) {
        let version = if is_new { "3.1.0" } else { "3.0.0" };
        check(&json!({
            "openapi": version,
            "paths": { "/a": item, "/b": { "post": { "requestBody": { "content": { "application/json": { "schema": schema } } } } } },
            "components": { "schemas": { "A": schema } },
        }))?;
    }

    #[test]
    fn a_document_with_a_few_wrong_places_is_an_error_or_tools(
        changes in proptest::collection::vec((any::<Index>(), anything()), 1..6), is_swagger in any::<bool>()
    ) {
        let mut document = if is_swagger { swagger() } else { valid() };
        for (choice, other) in changes {
            mutate(&mut document, &choice, other);
        }
        check(&document)?;
    }

    #[test]
    fn any_bytes_are_an_error_or_a_value(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in any::<String>()) {
        let _ = document::read(&bytes);
        let _ = document::read(text.as_bytes());
    }
}

#[test]
fn the_documents_that_are_mutated_are_valid() {
    for (document, tools) in [(valid(), 4), (swagger(), 3)] {
        let parsed = parse::parse(&document).unwrap();
        assert_eq!((parsed.operations.len(), parsed.skipped.len()), (tools, 0));
    }
}

/// Each in its own way more work than it looks.
#[test]
fn hostile_documents_take_no_longer_than_large_ones() {
    let named = |count: usize, make: &dyn Fn(usize) -> Value| -> Map<String, Value> {
        (0..count)
            .map(|number| (format!("n{number}"), make(number)))
            .collect()
    };
    let at = |number: usize| json!({ "$ref": format!("#/components/schemas/n{number}") });
    let body = |schema: Value| json!({ "post": { "requestBody": { "content": { "application/json": { "schema": schema } } } } });
    let document = |operations: usize, schemas: Map<String, Value>| {
        let paths: Map<String, Value> = (0..operations)
            .map(|number| (format!("/{number}"), body(at(0))))
            .collect();
        json!({ "openapi": "3.0.0", "paths": paths, "components": { "schemas": schemas } })
    };
    let everybody = Value::Object(named(200, &at));
    let all: Vec<Value> = (0..200).map(at).collect();
    for (name, document) in [
        (
            "all refer to all",
            document(
                40,
                named(
                    40,
                    &|_| json!({ "type": "object", "properties": everybody }),
                ),
            ),
        ),
        (
            "all of all",
            document(40, named(200, &|_| json!({ "allOf": all }))),
        ),
        (
            "one of all",
            document(40, named(200, &|_| json!({ "oneOf": all }))),
        ),
        (
            "a long chain",
            document(40, named(5000, &|number| at(number + 1))),
        ),
        (
            "deep nests",
            document(
                40,
                named(
                    100,
                    &|number| json!({ "items": { "items": { "items": at(number + 1) } } }),
                ),
            ),
        ),
        (
            "many fields",
            document(
                40,
                named(
                    1,
                    &|_| json!({ "type": "object", "properties": named(20_000, &|_| json!({ "type": "string" })) }),
                ),
            ),
        ),
        (
            "dear patterns",
            document(
                1,
                named(
                    1,
                    &|_| json!({ "properties": named(2000, &|number| json!({ "pattern": format!("(\\w{{1,{}}})+", 100 + number) })) }),
                ),
            ),
        ),
        ("the same name", {
            let list: Vec<Value> = (0..900)
                .map(|number| json!({ "in": "query", "name": "é".repeat(number + 1) }))
                .collect();
            json!({ "openapi": "3.0.0", "paths": { "/a": { "parameters": list, "get": {}, "put": {} } } })
        }),
    ] {
        let started = Instant::now();
        let parsed = parse::parse(&document).unwrap();
        let took = started.elapsed();
        // Ten times what it takes in a debug build on a busy machine.
        assert!(took < Duration::from_secs(40), "{name}: {took:?}");
        let longest = parsed
            .operations
            .iter()
            .map(|o| o.input_schema.as_str().len())
            .max();
        assert!(longest.unwrap() < 256 * 1024, "{name}: {longest:?}");
    }
}
