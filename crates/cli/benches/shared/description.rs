//! A large OpenAPI document, like those of big public services.

use serde_json::{Map, Value, json};

/// A description with so many operations, and components that refer to each other,
/// filled with answers to a size. Answers are most of any real one.
pub fn description(bytes: usize, operations: usize) -> Value {
    let components = operations / 5;
    let each = bytes / operations;
    let reference = |number: usize| json!({ "$ref": format!("#/components/schemas/Thing{}", number % components) });
    let schemas: Map<String, Value> = (0..components)
        .map(|number| {
            let mut fields = Map::new();
            for field in 0..12 {
                let description = format!("Field {field} of thing {number}, as somebody would describe it.");
                fields.insert(
                    format!("field_{field}"),
                    json!({ "type": "string", "maxLength": 200, "description": description, "example": "x" }),
                );
            }
            fields.insert("kind".into(), json!({ "type": "string", "enum": ["one", "other", "neither"], "nullable": true }));
            fields.insert("parts".into(), json!({ "type": "array", "items": reference(number * 7 + 1) }));
            fields.insert("parent".into(), reference(number / 2));
            let thing = json!({ "type": "object", "properties": fields, "required": ["field_0", "kind"] });
            (format!("Thing{number}"), thing)
        })
        .collect();
    let mut document = json!({
        "openapi": "3.0.3",
        "info": { "title": "Things", "version": "1" },
        "servers": [{ "url": "https://things.example/v1" }],
        "paths": {},
        "components": { "schemas": schemas },
    });
    // What is missing to the size goes into examples of answers.
    let filling = each.saturating_sub(document.to_string().len() / operations + 900);
    let examples: Vec<Value> = (0..filling / 64)
        .map(|number| json!({ "id": number, "name": "somebody or something", "ok": true }))
        .collect();
    let paths: Map<String, Value> = (0..operations)
        .map(|number| {
            let parameters = json!([
                { "name": "id", "in": "path", "required": true, "schema": { "type": "integer", "minimum": 1 } },
                { "name": "page", "in": "query", "description": "The page.", "schema": { "type": "integer", "default": 1 } },
                { "name": "filter", "in": "query", "style": "deepObject", "schema": { "type": "object", "additionalProperties": { "type": "string" } } },
            ]);
            let operation = json!({
                "operationId": format!("changeThing{number}"),
                "summary": "Change a thing",
                "description": "Changes a thing, as somebody would describe it in a sentence or two.",
                "parameters": parameters,
                "requestBody": { "required": true, "content": { "application/json": { "schema": reference(number) } } },
                "responses": { "200": { "description": "Done.", "content": { "application/json": { "schema": reference(number), "example": examples } } } },
            });
            (format!("/things{number}/{{id}}"), json!({ "post": operation }))
        })
        .collect();
    if let Some(empty) = document.get_mut("paths") {
        *empty = Value::Object(paths);
    }
    document
}
