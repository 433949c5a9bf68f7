use serde_json::{Value, json};
use url::Url;

use super::*;
use crate::parse::parse;

fn at() -> Url {
    Url::parse("https://h.example/spec/openapi.yaml").unwrap()
}

/// A bundle of a document and the files of a site, and which were asked for.
fn bundle(document: Value, files: &[(&str, Value)]) -> (Bundle, Vec<String>) {
    let mut bundle = Bundle::new(document, at(), BundleScope::Origin);
    let mut asked = Vec::new();
    loop {
        let wanted = bundle.wanted();
        if wanted.is_empty() {
            return (bundle, asked);
        }
        for url in wanted {
            asked.push(url.to_string());
            let file = files.iter().find(|(path, _)| *path == url.path());
            let file = file.map(|(_, file)| file.clone());
            bundle.add(
                &url,
                file.ok_or(FileError::Read("answered 404 Not Found.".to_owned())),
            );
        }
    }
}

#[test]
fn operations_parameters_and_schemas_are_read_from_other_files() {
    let document = json!({
        "openapi": "3.0.0",
        "paths": {
            "/droplets": { "post": { "$ref": "resources/droplets/create.yml" } },
            "/images": { "$ref": "./resources/images.yml#/~1images" },
        },
        "components": { "schemas": { "Name": { "type": "string", "minLength": 2 } } },
    });
    let files = [
        (
            "/spec/resources/droplets/create.yml",
            json!({
                "operationId": "create",
                "parameters": [{ "$ref": "../../shared/parameters.yml#/limit" }],
                "requestBody": { "content": { "application/json": { "schema": { "$ref": "models/droplet.yml" } } } },
                "responses": { "200": { "$ref": "responses/big.yml" } },
                "x-codeSamples": [{ "$ref": "examples/curl.yml" }],
            }),
        ),
        (
            "/spec/resources/droplets/models/droplet.yml",
            json!({ "type": "object", "properties": {
                "name": { "$ref": "../../../openapi.yaml#/components/schemas/Name" },
                "size": { "$ref": "#/x-sizes/one" },
                "examples": { "$ref": "example.yml" },
            }, "x-sizes": { "one": { "type": "integer" } } }),
        ),
        (
            "/spec/resources/droplets/models/example.yml",
            json!({ "type": "boolean", "examples": { "a": { "$ref": "never.yml" } } }),
        ),
        (
            "/spec/shared/parameters.yml",
            json!({ "limit": { "name": "limit", "in": "query", "schema": { "type": "integer" } } }),
        ),
        (
            "/spec/resources/images.yml",
            json!({ "/images": { "get": { "operationId": "images" } } }),
        ),
    ];
    let (bundle, asked) = bundle(document, &files);
    assert_eq!(asked.len(), 5, "{asked:?}");
    assert!(bundle.is_complete() && !bundle.is_unchanged());
    let parsed = parse(&bundle.into_document()).unwrap();
    assert_eq!((parsed.skipped, parsed.notes), (vec![], vec![]));
    let names: Vec<&str> = parsed
        .operations
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["create", "images"]);
    assert_eq!(
        parsed.operations[0].input_schema.value()["properties"],
        json!({
            "limit": { "type": "integer" },
            "name": { "type": "string", "minLength": 2 },
            "size": { "type": "integer" },
            "examples": { "type": "boolean" },
        })
    );
}

#[test]
fn what_cannot_be_read_is_left_out_and_said() {
    let document = json!({
        "openapi": "3.0.0",
        "paths": {
            "/gone": { "get": { "$ref": "gone%20x.yml" } },
            "/there": { "get": { "$ref": "there.yml#/nothing" } },
            "/other": { "get": { "$ref": "https://other.example/a.yml" } },
            "/name": { "get": { "$ref": "Name" } },
        },
    });
    let (bundle, asked) = bundle(document, &[("/spec/there.yml", json!({}))]);
    assert_eq!(
        asked,
        [
            "https://h.example/spec/gone%20x.yml",
            "https://h.example/spec/there.yml"
        ]
    );
    assert!(!bundle.is_complete());
    let parsed = parse(&bundle.into_document()).unwrap();
    let skipped: Vec<String> = parsed
        .skipped
        .iter()
        .map(|one| one.reason.to_string())
        .collect();
    assert_eq!(
        skipped,
        [
            "The operation is in another document (`/spec/gone%20x.yml`), which could not be read: answered 404 Not Found.",
            "The operation refers to `/spec/there.yml#/nothing`, which does not exist.",
            "The operation is in another document (`https://other.example/a.yml`), which is not read.",
            "The operation is in another document (`Name`), which is not read.",
        ]
    );
}

#[test]
fn files_that_refer_to_each_other_without_end_are_read_once() {
    let document = json!({
        "openapi": "3.0.0",
        "paths": { "/a": { "post": { "requestBody": { "content": { "application/json": { "schema": { "$ref": "a.yml" } } } } } } },
    });
    let circle =
        |other: &str| json!({ "type": "object", "properties": { "next": { "$ref": other } } });
    let (bundle, asked) = bundle(
        document,
        &[
            ("/spec/a.yml", circle("b.yml")),
            ("/spec/b.yml", circle("a.yml")),
        ],
    );
    assert_eq!(asked.len(), 2);
    let parsed = parse(&bundle.into_document()).unwrap();
    assert_eq!(parsed.operations.len(), 1);
}

#[test]
fn no_more_files_are_read_than_anybody_has() {
    let paths = (0..MAX_FILES + 10).map(|number| {
        let operation = json!({ "get": { "$ref": format!("{number}.yml") } });
        (format!("/{number}"), operation)
    });
    let paths: serde_json::Map<String, Value> = paths.collect();
    let (bundle, asked) = bundle(json!({ "openapi": "3.0.0", "paths": paths }), &[]);
    assert_eq!(asked.len(), MAX_FILES);
    assert_eq!(bundle.unread.len(), MAX_FILES + 10);
}

#[test]
fn files_cannot_have_more_values_together_than_one_document() {
    let document = json!({ "openapi": "3.0.0", "paths": {
        "/a": { "get": { "$ref": "a.yml" } }, "/b": { "get": { "$ref": "b.yml" } },
        "/c": { "get": { "$ref": "c.yml" } },
    } });
    let large = || json!({ "operationId": "x", "x": vec![0; MAX_VALUES / 2] });
    let files = [
        ("/spec/a.yml", large()),
        ("/spec/b.yml", large()),
        ("/spec/c.yml", json!({ "operationId": "c" })),
    ];
    let (bundle, _) = bundle(document, &files);
    assert_eq!(
        bundle.unread,
        *json!({ "/spec/b.yml": "all files together have too many values" })
            .as_object()
            .unwrap()
    );
    assert_eq!(bundle.files.len(), 2);
}

#[test]
fn texts_that_refer_to_files_are_seen_without_reading_them() {
    let check =
        |text: &str, expected| assert_eq!(may_have_files(text.as_bytes()), expected, "{text}");
    check("{}", false);
    check(r##"{"$ref": "#/a", "$reg": "x", "$": "$"}"##, false);
    check(r#"{"$ref":"a.json"}"#, true);
    check("a:\n  $ref: '#/x'\nb:\n  $ref:\n    ./b.yml\n", true);
    check("$ref", false);
}

mod in_a_folder {
    use std::fs;

    use super::super::folder::bundled;
    use super::*;

    const DOCUMENT: &str = r#"{"openapi": "3.0.0", "paths": {
        "/a": {"get": {"$ref": "parts/a b.yml"}},
        "/up": {"get": {"$ref": "../secret.yml"}},
        "/link": {"get": {"$ref": "link.yml"}},
        "/near": {"get": {"$ref": "near.yml"}},
        "/absolute": {"get": {"$ref": "/etc/hostname"}},
        "/folder": {"get": {"$ref": "./parts"}},
        "/broken": {"get": {"$ref": "broken.yml"}}
    }}"#;

    #[test]
    fn files_below_it_are_read_and_no_others() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("api");
        fs::create_dir_all(folder.join("parts")).unwrap();
        let operation = "operationId: found\nparameters: [{$ref: '../p.yml'}]\n";
        fs::write(folder.join("parts/a b.yml"), operation).unwrap();
        fs::write(folder.join("p.yml"), "{name: q, in: query}").unwrap();
        fs::write(folder.join("broken.yml"), "a: [").unwrap();
        fs::write(outside.path().join("secret.yml"), "operationId: secret").unwrap();
        let link = std::os::unix::fs::symlink::<&str, _>;
        link("../secret.yml", folder.join("link.yml")).unwrap();
        link("parts/a b.yml", folder.join("near.yml")).unwrap();
        let file = folder.join("openapi.json");
        let text = bundled(&file, DOCUMENT.to_owned());
        assert!(!text.contains("\"secret\""), "{text}");
        let parsed = parse(&serde_json::from_str(&text).unwrap()).unwrap();
        let read: Vec<_> = parsed
            .operations
            .iter()
            .map(|one| (one.path.as_str(), one.parameters.len()))
            .collect();
        assert_eq!(read, [("/a", 1), ("/near", 0)]);
        let skipped: Vec<&str> = parsed
            .skipped
            .iter()
            .map(|one| one.operation.as_str())
            .collect();
        assert_eq!(
            skipped,
            [
                "GET /up",
                "GET /link",
                "GET /absolute",
                "GET /folder",
                "GET /broken"
            ]
        );
    }

    #[test]
    fn what_is_no_document_or_has_no_files_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        for text in [
            "{}",
            r#"{"mcpServers": {"a": {"$ref": "b.yml"}}}"#,
            r##"{"openapi": "3.0.0", "paths": {"/a": {"$ref": "#/b"}}}"##,
            r#"{"openapi": "3.0.0", "paths": {"/a": {"$ref": "https://h.example/b.yml"}}}"#,
        ] {
            let file = folder.path().join("openapi.json");
            assert_eq!(bundled(&file, text.to_owned()), text);
        }
    }
}
