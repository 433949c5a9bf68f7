//! The whole road with a framework's own document: document, tool, request, answer.

use serde_json::{Value, json};
use tenon_domain::SourceCredential;
use tenon_openapi::operation::{Operation, ParsedDocument};
use tenon_openapi::{document, parse};

use super::fastapi::fastapi;
use super::made::{ApiFixture, client};

fn find<'a>(parsed: &'a ParsedDocument, path: &str) -> &'a Operation {
    let mut operations = parsed.operations.iter();
    let found = operations.find(|operation| operation.path == path);
    found.unwrap_or_else(|| panic!("{path}: {:?}", parsed.skipped))
}

#[tokio::test]
async fn what_fastapi_describes_can_be_called() {
    let peer = fastapi();
    let address = format!("{}/openapi.json", peer.url);
    let bytes = client().get(address).send().await.unwrap();
    let bytes = bytes.bytes().await.unwrap();
    let parsed = parse::parse(&document::read(&bytes).unwrap()).unwrap();
    assert_eq!((parsed.title.as_str(), parsed.skipped.len()), ("Echo", 0));
    assert_eq!(parsed.operations.len(), 23);

    let key = |value: &str| SourceCredential::Key {
        value: value.into(),
    };
    let basic = SourceCredential::Basic {
        user: "ada".into(),
        password: "pass".into(),
    };
    let account = SourceCredential::Client {
        id: "tenon".into(),
        secret: "s3cret".into(),
        token_url: None,
        scopes: None,
    };
    let held = [
        ("HTTPBearer", key("t")),
        ("HTTPBasic", basic),
        ("APIKeyHeader", key("h")),
        ("APIKeyQuery", key("q")),
        ("APIKeyCookie", key("c")),
        ("Client", account),
    ];
    let held = held.map(|(name, held)| (name.to_owned(), held));
    let api = ApiFixture::with(&peer.url, &parsed.schemes, held.into());

    let check = async |path: &str, input: Value, expected: Value| {
        let answer = api.value(find(&parsed, path), input).await;
        assert_eq!(answer, expected, "{path}");
    };
    let same = json!({ "text": "a b?#é", "number": 1.0, "flag": true });
    check("/path/{text}/{number}/{flag}", same.clone(), same).await;
    let full = json!({
        "text": "a b&c", "number": 7, "ratio": 1.5, "flag": false, "many": ["x,y", "&"], "counts": [1, 2],
    });
    check("/query", full.clone(), full).await;
    let same = json!({ "x-text": "a, b", "x-number": 7 });
    check("/header", same.clone(), same).await;
    let same = json!({ "session": "to/ken==", "other": 7 });
    check("/cookie", same.clone(), same).await;

    let inner = json!({ "a": 1, "b": [0.5] });
    check(
        "/json/{name}",
        json!({ "name": "p", "dry": true, "body_name": "b", "count": 3, "inner": inner }),
        json!({ "path": "p", "dry": true, "item": { "name": "b", "count": 3, "tags": [], "inner": inner } }),
    )
    .await;
    check("/optional", json!({}), json!({ "item": null })).await;
    let same = json!({ "name": "a b+c&d=é", "count": 7, "tags": ["x", "y z"] });
    check("/form", same.clone(), same).await;
    check(
        "/upload",
        json!({ "file": "iVBORw0KGgo=", "note": "é", "more": ["AAE="] }),
        json!({
            "file": { "name": "file.png", "type": "image/png", "data": "iVBORw0KGgo=" },
            "note": "é",
            "more": [{ "name": "more", "type": "application/octet-stream", "data": "AAE=" }],
        }),
    )
    .await;
    check(
        "/text",
        json!({ "body": "é" }),
        json!({ "type": "text/plain; charset=utf-8", "data": "w6k=" }),
    )
    .await;
    check(
        "/bytes",
        json!({ "body": "/wAB" }),
        json!({ "type": "application/octet-stream", "data": "/wAB" }),
    )
    .await;

    check(
        "/secure/bearer",
        json!({}),
        json!({ "scheme": "Bearer", "token": "t" }),
    )
    .await;
    check(
        "/secure/basic",
        json!({}),
        json!({ "user": "ada", "password": "pass" }),
    )
    .await;
    check("/secure/header", json!({}), json!({ "key": "h" })).await;
    check("/secure/query", json!({}), json!({ "key": "q" })).await;
    check("/secure/cookie", json!({}), json!({ "key": "c" })).await;
    check("/secure/client", json!({}), json!({ "given": 1 })).await;

    let nothing = api.call(find(&parsed, "/answer/nothing"), json!({})).await;
    assert_eq!(nothing.unwrap().to_text(), "HTTP 204, no content.");
}
