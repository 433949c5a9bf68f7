//! What operations and documents become.

use serde_json::{Value, json};

use super::{only, whole};
use crate::note::OperationError;
use crate::operation::{BodyKind, FormField, ParameterStyle, Serialization, SkippedOperation};
use crate::parse::{MAX_OPERATIONS, parse};

#[test]
fn each_place_has_its_own_way_to_write() {
    let check = |place: &str, more: Value, style, explode| {
        let mut parameter =
            json!({ "name": "p", "in": place, "schema": { "type": "array", "items": {} } });
        parameter
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let operation = only(
            json!({ "openapi": "3.1.0", "paths": { "/{p}": { "get": { "parameters": [parameter] } } } }),
        );
        let found = operation
            .parameters
            .iter()
            .find(|p| p.name == "p" && format!("{:?}", p.location).to_lowercase() == place);
        assert_eq!(
            found.unwrap().serialization,
            Serialization::Styled {
                style,
                explode,
                reserved: false
            },
            "{place} {more}"
        );
    };
    check("path", json!({}), ParameterStyle::Simple, false);
    check(
        "path",
        json!({ "style": "label", "explode": true }),
        ParameterStyle::Label,
        true,
    );
    check(
        "path",
        json!({ "style": "matrix" }),
        ParameterStyle::Matrix,
        false,
    );
    check(
        "path",
        json!({ "style": "form" }),
        ParameterStyle::Simple,
        false,
    );
    check("query", json!({}), ParameterStyle::Form, true);
    check(
        "query",
        json!({ "explode": false }),
        ParameterStyle::Form,
        false,
    );
    check(
        "query",
        json!({ "style": "pipeDelimited" }),
        ParameterStyle::PipeDelimited,
        false,
    );
    check(
        "query",
        json!({ "style": "spaceDelimited", "explode": false }),
        ParameterStyle::SpaceDelimited,
        false,
    );
    check(
        "query",
        json!({ "style": "simple" }),
        ParameterStyle::Form,
        true,
    );
    check("header", json!({}), ParameterStyle::Simple, false);
    check("cookie", json!({}), ParameterStyle::Form, true);
}

#[test]
fn swagger_2_is_read_as_well() {
    let parsed = whole(json!({
        "swagger": "2.0", "host": "a.example", "basePath": "/v1", "schemes": ["https"],
        "consumes": ["application/json"],
        "securityDefinitions": { "key": { "type": "apiKey", "in": "header", "name": "Authorization" } },
        "security": [{ "key": [] }],
        "parameters": { "Limit": { "name": "limit", "in": "query", "type": "integer", "default": 5 } },
        "definitions": { "Pet": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } } },
        "paths": {
            "/pets": {
                "get": { "operationId": "list", "parameters": [
                    { "$ref": "#/parameters/Limit" },
                    { "name": "tags", "in": "query", "type": "array", "items": { "type": "string" }, "collectionFormat": "pipes", "required": true },
                    { "name": "Authorization", "in": "header", "type": "string", "required": true },
                ] },
                "post": { "operationId": "make", "parameters": [{ "name": "body", "in": "body", "required": true, "schema": { "$ref": "#/definitions/Pet" } }] },
            },
            "/upload": { "post": { "operationId": "upload", "security": [], "consumes": ["multipart/form-data"], "parameters": [
                { "name": "file", "in": "formData", "type": "file", "required": true },
                { "name": "tags", "in": "formData", "type": "array", "items": { "type": "string" }, "collectionFormat": "multi" },
            ] } },
        },
    }));
    assert_eq!(parsed.skipped, []);
    let [list, make, upload] = parsed.operations.as_slice() else {
        panic!("three operations");
    };
    assert_eq!(list.servers, ["https://a.example/v1"]);
    assert_eq!(list.security.len(), 1);
    assert_eq!(
        list.input_schema.value(),
        json!({
            "type": "object",
            "properties": {
                "limit": { "type": "integer", "default": 5 },
                "tags": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["tags"],
            "additionalProperties": false,
        })
    );
    assert_eq!(
        list.parameters[1].serialization,
        Serialization::Styled {
            style: ParameterStyle::PipeDelimited,
            explode: false,
            reserved: false
        }
    );
    assert_eq!(
        make.input_schema.value(),
        json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] })
    );
    assert_eq!(
        make.body.as_ref().map(|body| body.media_type.as_str()),
        Some("application/json")
    );
    let body = upload.body.as_ref().unwrap();
    let form = Serialization::Styled {
        style: ParameterStyle::Form,
        explode: true,
        reserved: false,
    };
    assert_eq!(
        body.kind,
        BodyKind::Multipart(vec![
            FormField {
                name: "file".into(),
                serialization: None,
                is_file: true,
                media_type: None
            },
            FormField {
                name: "tags".into(),
                serialization: Some(form),
                is_file: false,
                media_type: None
            },
        ])
    );
    assert_eq!(
        upload.input_schema.value()["properties"]["file"]["contentEncoding"],
        "base64"
    );
    assert_eq!(upload.security, Vec::<Vec<_>>::new());
}

#[test]
fn names_hints_and_words_of_operations() {
    let parsed = whole(json!({
        "openapi": "3.2.0", "info": { "title": "T", "version": 1.5 }, "servers": [{ "url": "/v1" }],
        "paths": {
            "/a": {
                "get": { "operationId": " list ", "description": "D", "deprecated": true },
                "delete": { "operationId": "list" },
                "query": { "summary": "S" },
                "additionalOperations": { "COPY": {} },
                "x-get": {},
                "servers": [{ "url": "/v2" }],
            },
            "x-extra": { "get": {} },
            "/b": { "$ref": "#/components/pathItems/B" },
        },
        "components": { "pathItems": { "B": { "put": { "servers": [{ "url": "/v3" }] } } } },
    }));
    let seen: Vec<_> = parsed
        .operations
        .iter()
        .map(|o| {
            (
                o.method.as_str(),
                o.name.as_str(),
                o.description.as_str(),
                o.servers[0].as_str(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("GET", "list", "D", "/v2"),
            ("DELETE", "list_2", "DELETE /a", "/v2"),
            ("QUERY", "query_a", "S", "/v2"),
            ("COPY", "copy_a", "COPY /a", "/v2"),
            ("PUT", "put_b", "PUT /b", "/v3"),
        ]
    );
    let hints: Vec<_> = parsed
        .operations
        .iter()
        .map(|o| (o.is_safe(), o.is_idempotent(), o.deprecated))
        .collect();
    assert_eq!(
        hints,
        [
            (true, true, true),
            (false, true, false),
            (true, true, false),
            (false, false, false),
            (false, true, false),
        ]
    );
    assert_eq!(
        (parsed.title.as_str(), parsed.version.as_str()),
        ("T", "1.5")
    );
}

#[test]
fn what_is_broken_is_skipped_and_says_why() {
    let parsed = whole(json!({
        "openapi": "3.0.0",
        "paths": {
            "/a": { "get": [], "post": { "$ref": "other.json#/a/post" }, "put": { "parameters": [{ "name": "x", "required": true }] } },
            "/b": "nothing",
            "/c": { "$ref": "c.yaml" },
            "/d": { "post": { "requestBody": { "$ref": "#/components/requestBodies/Gone" } }, "get": {} },
        },
    }));
    let skipped = |place: &str, why: &str| (place.to_owned(), why.to_owned());
    let found = parsed.skipped.into_iter();
    let found: Vec<_> = found
        .map(|skipped| (skipped.operation, skipped.reason.to_string()))
        .collect();
    assert_eq!(
        found,
        [
            skipped("GET /a", "`#/paths/~1a/get` is not an object."),
            skipped(
                "POST /a",
                "The operation is in another document (`other.json#/a/post`), which is not read."
            ),
            skipped(
                "PUT /a",
                "One of its parameters (in `#/paths/~1a`) has no `name` or no `in`."
            ),
            skipped("/b", "`#/paths/~1b` is not an object."),
            skipped(
                "/c",
                "Its path item is in another document (`c.yaml`), which is not read."
            ),
            skipped(
                "POST /d",
                "Its request body refers to `#/components/requestBodies/Gone`, which does not exist."
            ),
        ]
    );
    assert_eq!(parsed.operations.len(), 1);
}

#[test]
fn a_header_that_leaves_no_choice_is_sent_and_not_asked_for() {
    let check = |parameters: Value, expected: &[(&str, &str)]| {
        let operation = only(json!({
            "openapi": "3.1.0", "paths": { "/a": { "get": { "parameters": parameters } } },
        }));
        let headers = operation.headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        assert_eq!(headers, expected);
        assert_eq!(operation.input_schema.value()["properties"], json!({}));
    };
    let header = |name: &str, required: bool, schema: Value| json!([{ "name": name, "in": "header", "required": required, "schema": schema }]);
    check(
        header(
            "Accept",
            true,
            json!({ "enum": ["application/vnd.a+json"] }),
        ),
        &[("accept", "application/vnd.a+json")],
    );
    check(
        header("content-type", true, json!({ "const": "application/json" })),
        &[("content-type", "application/json")],
    );
    check(
        header(
            "Accept",
            true,
            json!({ "type": "string", "enum": ["a/b", "c/d"], "default": "c/d" }),
        ),
        &[("accept", "c/d")],
    );
    check(
        header("Accept", true, json!({ "enum": ["a/b", "c/d"] })),
        &[],
    );
    check(
        header("Accept", true, json!({ "enum": ["a/b\nX: y"] })),
        &[],
    );
    check(header("Accept", false, json!({ "enum": ["a/b"] })), &[]);
    let swagger = only(json!({
        "swagger": "2.0",
        "paths": { "/a": { "get": { "parameters": [
            { "name": "Accept", "in": "header", "required": true, "type": "string", "default": "text/csv" },
        ] } } },
    }));
    assert_eq!(swagger.headers[0].1, "text/csv");
}

#[test]
fn what_is_no_document_is_told() {
    let check = |document: Value, expected: &str| {
        let said = parse(&document)
            .map(|_| String::new())
            .unwrap_or_else(|wrong| wrong.to_string());
        assert_eq!(said, expected, "{document}");
    };
    let neither = "The document is not an OpenAPI description: `#` has neither `openapi` nor `swagger` nor `paths`.";
    check(
        json!([]),
        "The document is not an OpenAPI description: `#` is not an object.",
    );
    check(json!({}), neither);
    check(json!({ "paths": [] }), neither);
    check(
        json!({ "openapi": "3.0.0", "paths": [] }),
        "The document is not an OpenAPI description: `#/paths` is not an object.",
    );
    check(
        json!({ "swaggerVersion": "1.2", "apis": [] }),
        "The document is Swagger 1.2: only 2.0 and OpenAPI 3 are read.",
    );
    check(json!({ "openapi": "3.1.0" }), "");
    check(json!({ "paths": {} }), "");
}

#[test]
fn operations_beyond_the_last_are_counted() {
    let mut paths = serde_json::Map::new();
    for number in 0..MAX_OPERATIONS + 5 {
        paths.insert(format!("/{number}"), json!({ "get": {} }));
    }
    let parsed = whole(json!({ "openapi": "3.0.0", "paths": paths }));
    assert_eq!(parsed.operations.len(), MAX_OPERATIONS);
    let last = SkippedOperation {
        operation: String::new(),
        reason: OperationError::TooManyOperations {
            count: 5,
            max: MAX_OPERATIONS,
        },
    };
    assert_eq!(parsed.skipped, [last]);
}
