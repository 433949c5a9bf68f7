//! What parameters and bodies become.

use serde_json::{Value, json};

use super::only;
use crate::operation::{
    BodyInput, BodyKind, FormField, ParameterLocation, ParameterStyle, Serialization,
};

#[test]
fn parameters_and_body_become_one_input() {
    let operation = only(json!({
        "openapi": "3.0.0",
        "paths": { "/pets/{id}": {
            "parameters": [
                { "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } },
                { "name": "q", "in": "query", "description": "Old.", "schema": { "type": "string" } },
            ],
            "put": {
                "summary": "Change a pet",
                "parameters": [
                    { "name": "q", "in": "query", "description": "New.", "schema": { "type": "string", "description": "Inner." } },
                    { "name": "id", "in": "query", "schema": { "type": "string" } },
                    { "$ref": "#/components/parameters/Page" },
                    { "name": "Accept", "in": "header", "schema": { "type": "string" } },
                    { "name": "filter[name]", "in": "query", "style": "deepObject", "explode": true, "schema": { "type": "object" } },
                    { "name": "json", "in": "query", "content": { "application/json": { "schema": { "type": "object" } } } },
                ],
                "requestBody": { "$ref": "#/components/requestBodies/Pet" },
            },
        } },
        "components": {
            "parameters": { "Page": { "name": "X-Page", "in": "header", "required": true, "schema": { "type": "integer" } } },
            "requestBodies": { "Pet": { "required": true, "content": {
                "application/xml": { "schema": {} },
                "application/json": { "schema": { "type": "object", "required": ["id", "name"], "properties": { "id": { "type": "string" }, "name": { "type": "string" } } } },
            } } },
        },
    }));
    assert_eq!(operation.name, "put_pets_by_id");
    assert_eq!(operation.title.as_deref(), Some("Change a pet"));
    assert_eq!(
        operation.input_schema.value(),
        json!({
            "type": "object",
            "properties": {
                "id": { "type": "integer" },
                "q": { "type": "string", "description": "New." },
                "query_id": { "type": "string" },
                "filter_name": { "type": "object" },
                "json": { "type": "object" },
                "X-Page": { "type": "integer" },
                "body_id": { "type": "string" },
                "name": { "type": "string" },
            },
            "required": ["id", "X-Page", "body_id", "name"],
        })
    );
    let places: Vec<_> = operation
        .parameters
        .iter()
        .map(|p| (p.input.as_str(), p.name.as_str(), p.location))
        .collect();
    assert_eq!(
        places,
        [
            ("id", "id", ParameterLocation::Path),
            ("q", "q", ParameterLocation::Query),
            ("query_id", "id", ParameterLocation::Query),
            ("filter_name", "filter[name]", ParameterLocation::Query),
            ("json", "json", ParameterLocation::Query),
            ("X-Page", "X-Page", ParameterLocation::Header),
        ]
    );
    assert_eq!(
        operation.parameters[3].serialization,
        Serialization::Styled {
            style: ParameterStyle::DeepObject,
            explode: true,
            reserved: false
        }
    );
    assert_eq!(
        operation.parameters[4].serialization,
        Serialization::Media("application/json".into())
    );
    let body = operation.body.unwrap();
    assert_eq!(
        (body.media_type.as_str(), body.kind, body.required),
        ("application/json", BodyKind::Json, true)
    );
    assert_eq!(
        body.input,
        BodyInput::Merged(vec![
            ("body_id".into(), "id".into()),
            ("name".into(), "name".into())
        ])
    );
}

#[test]
fn bodies_that_are_no_objects_stand_as_one_field() {
    let check = |media_type: &str, schema: Value, kind: BodyKind, expected: Value| {
        let operation = only(
            json!({ "openapi": "3.0.0", "paths": { "/x/{body}": { "post": { "requestBody": {
            "required": true, "description": "All.", "content": { media_type: { "schema": schema } },
        } } } } }),
        );
        let body = operation.body.unwrap();
        assert_eq!((body.media_type.as_str(), &body.kind), (media_type, &kind));
        assert_eq!(body.input, BodyInput::Whole("request_body".into()));
        let schema = operation.input_schema.value();
        let made = &schema["properties"]["request_body"];
        assert_eq!(*made, expected, "\n{made:#}");
        assert_eq!(schema["required"], json!(["body", "request_body"]));
    };
    check(
        "application/json",
        json!({ "type": "array", "items": { "type": "string" } }),
        BodyKind::Json,
        json!({ "type": "array", "description": "All.", "items": { "type": "string" } }),
    );
    check(
        "application/merge-patch+json",
        json!({ "type": "object", "additionalProperties": true }),
        BodyKind::Json,
        json!({ "type": "object", "description": "All." }),
    );
    check(
        "application/json",
        json!({ "oneOf": [{ "type": "object", "properties": { "a": {} } }, { "type": "array" }] }),
        BodyKind::Json,
        json!({ "description": "All.", "anyOf": [{ "type": "object", "properties": { "a": {} } }, { "type": "array" }] }),
    );
    check(
        "text/plain",
        json!({ "type": "string" }),
        BodyKind::Text,
        json!({ "type": "string", "description": "All." }),
    );
    check(
        "application/xml",
        json!({ "type": "object", "properties": { "a": {} } }),
        BodyKind::Text,
        json!({ "description": "All. As `application/xml`.", "type": "string" }),
    );
    for (kind, made) in [
        (json!("integer"), json!("integer")),
        (json!("boolean"), json!("boolean")),
        (json!(["number", "string"]), json!(["number", "string"])),
    ] {
        check(
            "text/plain",
            json!({ "type": kind }),
            BodyKind::Text,
            json!({ "type": made, "description": "All." }),
        );
    }
    check(
        "text/plain",
        json!({ "type": ["integer", "array"] }),
        BodyKind::Text,
        json!({ "description": "All. As `text/plain`.", "type": "string" }),
    );
    let bytes = json!({ "description": "All. The content of a file, as base64.", "type": "string", "contentEncoding": "base64" });
    for media_type in [
        "application/octet-stream",
        "image/png",
        "*/*",
        "application/*",
    ] {
        for format in ["byte", "binary", "base64"] {
            check(
                media_type,
                json!({ "type": "string", "format": format }),
                BodyKind::Bytes,
                bytes.clone(),
            );
        }
    }
    check(
        "application/json",
        json!({ "type": "string", "format": "byte" }),
        BodyKind::Json,
        json!({ "type": "string", "format": "byte", "description": "All." }),
    );
    check(
        "application/octet-stream",
        json!({ "type": "string", "format": "binary" }),
        BodyKind::Bytes,
        json!({ "description": "All. The content of a file, as base64.", "type": "string", "contentEncoding": "base64" }),
    );
}

#[test]
fn fields_of_forms_say_how_they_are_sent() {
    let operation = only(
        json!({ "openapi": "3.0.0", "paths": { "/x": { "post": { "requestBody": { "content": {
        "multipart/form-data": {
            "schema": { "type": "object", "required": ["file"], "properties": {
                "file": { "type": "string", "format": "binary", "description": "F" },
                "files": { "type": "array", "items": { "type": "string", "format": "binary" } },
                "picture": { "type": "string", "contentMediaType": "image/png" },
                "note": { "type": "string" },
                "meta": { "type": "object" },
            } },
            "encoding": { "meta": { "contentType": "application/json" }, "files": { "contentType": "image/png, image/jpeg" } },
        },
    } } } } } }),
    );
    let file = json!({ "type": "string", "contentEncoding": "base64", "description": "The content of a file, as base64." });
    let schema = operation.input_schema.value();
    assert_eq!(
        schema["properties"],
        json!({
            "file": { "description": "F. The content of a file, as base64.", "type": "string", "contentEncoding": "base64" },
            "files": { "type": "array", "items": file },
            "picture": file,
            "note": { "type": "string" },
            "meta": { "type": "object" },
        })
    );
    assert_eq!(schema["required"], json!(["file"]));
    let field = |name: &str, is_file, media_type: Option<&str>| FormField {
        name: name.into(),
        serialization: None,
        is_file,
        media_type: media_type.map(str::to_owned),
    };
    assert_eq!(
        operation.body.unwrap().kind,
        BodyKind::Multipart(vec![
            field("file", true, None),
            field("files", true, Some("image/png")),
            field("picture", true, Some("image/png")),
            field("meta", false, Some("application/json")),
        ])
    );

    let operation = only(
        json!({ "openapi": "3.0.0", "paths": { "/x": { "post": { "requestBody": { "content": {
        "application/x-www-form-urlencoded": {
            "schema": { "type": "object", "properties": { "expand": { "type": "array", "items": {} }, "b": {}, "c": { "type": "object" } } },
            "encoding": { "expand": { "style": "deepObject", "explode": true }, "c": { "contentType": "application/json" } },
        },
    } } } } } }),
    );
    let field = |name: &str, serialization| FormField {
        name: name.into(),
        serialization: Some(serialization),
        is_file: false,
        media_type: None,
    };
    assert_eq!(
        operation.body.unwrap().kind,
        BodyKind::Form(vec![
            field(
                "expand",
                Serialization::Styled {
                    style: ParameterStyle::DeepObject,
                    explode: true,
                    reserved: false
                }
            ),
            field("c", Serialization::Media("application/json".into())),
        ])
    );
}
