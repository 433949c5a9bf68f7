//! What stands elsewhere, in the document or not.

use serde_json::json;

use super::{only, whole};
use crate::operation::ParsedDocument;

fn told(parsed: &ParsedDocument) -> Vec<String> {
    parsed.notes.iter().map(ToString::to_string).collect()
}

#[test]
fn an_operation_may_stand_elsewhere_in_the_document() {
    let operation = only(json!({
        "openapi": "3.0.0",
        "paths": { "/a": { "post": { "$ref": "#/x-operations/a" } } },
        "x-operations": { "a": { "operationId": "make", "parameters": [{ "name": "q", "in": "query" }] } },
    }));
    assert_eq!(operation.name, "make");
    assert_eq!(operation.parameters.len(), 1);
}

#[test]
fn an_optional_parameter_that_cannot_be_read_costs_no_operation() {
    let elsewhere =
        || json!({ "$ref": "https://schemas.example/features.yaml#/components/parameters/limit" });
    let parsed = whole(json!({
        "openapi": "3.0.0",
        "paths": {
            "/items/{id}": { "get": { "parameters": [
                elsewhere(),
                { "$ref": "https://schemas.example/features.yaml#/components/parameters/id" },
                { "name": "q", "in": "query" },
            ] } },
            "/items": { "get": { "parameters": [elsewhere(), { "name": "x" }] } },
            "/needed": { "get": { "parameters": [{ "$ref": "#/gone", "required": true }] } },
            "/odd": { "get": { "parameters": [{ "name": "x", "in": "mind", "required": true }] } },
        },
    }));
    let read: Vec<(&str, Vec<&str>)> = parsed
        .operations
        .iter()
        .map(|read| {
            let inputs = read.parameters.iter().map(|one| one.input.as_str());
            (read.path.as_str(), inputs.collect())
        })
        .collect();
    assert_eq!(read, [("/items/{id}", vec!["id", "q"]), ("/items", vec![])]);
    let skipped: Vec<&str> = parsed
        .skipped
        .iter()
        .map(|one| one.operation.as_str())
        .collect();
    assert_eq!(skipped, ["GET /needed", "GET /odd"]);
    assert_eq!(
        told(&parsed),
        [
            "2 operations, such as GET /items/{id}, have a parameter that is left out: it is in another document (`https://schemas.example/features.yaml#/components/parameters/limit`), which is not read.",
            "GET /items/{id} has a parameter that is left out: it is in another document (`https://schemas.example/features.yaml#/components/parameters/id`), which is not read.",
            "GET /items has a parameter that is left out: it has no `name` or no `in`.",
        ]
    );
}

#[test]
fn a_schema_in_another_file_is_told_to_people_as_well() {
    let parsed = whole(json!({
        "openapi": "3.1.0",
        "paths": { "/a": { "post": { "requestBody": { "content": { "application/json": { "schema": {
            "type": "object",
            "properties": { "a": { "$ref": "a.yaml" }, "b": { "type": "array", "items": { "$ref": "b.yaml#/B" } } },
        } } } } } } },
    }));
    assert_eq!(parsed.operations.len(), 1);
    assert_eq!(
        told(&parsed),
        [
            "The schemas of 2 parts of inputs are not known: they are in other documents, which are not read, such as `a.yaml`."
        ]
    );
}
