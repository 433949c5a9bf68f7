//! FastAPI, which says what is wrong with what it does not understand.

use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};
use tenon_domain::{Content, SHOWN_PAGE, SourceCredential};
use tenon_openapi::operation::{
    BodyInput, BodyKind, Operation, ParameterLocation, SecurityScheme, SecuritySchemeKind,
};

use super::made::{ApiFixture, file, operation, post, secured, usual};
use crate::peer::{Peer, installed, ours};

pub fn fastapi() -> Peer {
    let mut command = Command::new(installed("venv-fastapi/bin/python"));
    command.arg(ours("openapi/fast.py"));
    Peer::start(command)
}

fn get(path: &str, location: ParameterLocation, names: &[&str]) -> Operation {
    let parameters = names.iter().map(|name| usual(name, location));
    operation(Method::GET, path, parameters.collect())
}

#[tokio::test]
async fn fastapi_reads_parameters_as_they_were_meant() {
    let peer = fastapi();
    let api = ApiFixture::open(&peer.url);

    let path = get(
        "/path/{text}/{number}/{flag}",
        ParameterLocation::Path,
        &["text", "number", "flag"],
    );
    for text in [
        "plain",
        "a b?c#d;e=f&g+h",
        "100%",
        "%2e%2e",
        "名.json",
        "...",
    ] {
        let input = json!({ "text": text, "number": 1.0, "flag": true });
        assert_eq!(api.value(&path, input.clone()).await, input);
    }
    let below = get("/below/{rest}", ParameterLocation::Path, &["rest"]);
    let input = json!({ "rest": "a/b/../c" });
    assert_eq!(api.value(&below, input.clone()).await, input);

    let names = ["text", "number", "ratio", "flag", "many", "counts"];
    let query = get("/query", ParameterLocation::Query, &names);
    let full = json!({
        "text": "a b&c=d#é+%20", "number": 9223372036854775807i64, "ratio": 1.5e-7, "flag": false,
        "many": ["x,y", "", "&"], "counts": [1, 2],
    });
    assert_eq!(api.value(&query, full.clone()).await, full);
    let empty = json!({ "text": null, "number": null, "ratio": null, "flag": null, "many": [], "counts": [] });
    assert_eq!(api.value(&query, json!({})).await, empty);
    assert_eq!(api.value(&query, empty.clone()).await, empty);

    let header = get(
        "/header",
        ParameterLocation::Header,
        &["x-text", "x-number"],
    );
    let input = json!({ "x-text": "a, b; c=\"d\"", "x-number": 7 });
    assert_eq!(api.value(&header, input.clone()).await, input);

    let cookie = get("/cookie", ParameterLocation::Cookie, &["session", "other"]);
    let input = json!({ "session": "to/ken+==", "other": 7 });
    assert_eq!(api.value(&cookie, input.clone()).await, input);

    let error = api
        .call(&query, json!({ "number": "x", "counts": [1, "y"] }))
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "HTTP 422 Unprocessable Entity: the input does not fit. \
         query.number: Input should be a valid integer, unable to parse string as an integer; \
         query.counts.1: Input should be a valid integer, unable to parse string as an integer"
    );
}

#[tokio::test]
async fn fastapi_reads_every_kind_of_body() {
    let peer = fastapi();
    let api = ApiFixture::open(&peer.url);

    let mut merged = post("/json/{name}", "application/json", BodyKind::Json);
    merged.parameters = vec![
        usual("name", ParameterLocation::Path),
        usual("dry", ParameterLocation::Query),
    ];
    merged.body.as_mut().unwrap().input =
        BodyInput::Merged(vec![("name_body".into(), "name".into())]);
    let input = json!({
        "name": "p", "dry": true, "name_body": "b", "count": 3, "tags": ["é"], "inner": { "a": 1, "b": [0.5] },
    });
    let item = json!({ "name": "b", "count": 3, "tags": ["é"], "inner": { "a": 1, "b": [0.5] } });
    let expected = json!({ "path": "p", "dry": true, "item": item });
    assert_eq!(api.value(&merged, input).await, expected);

    let mut optional = post("/optional", "application/json", BodyKind::Json);
    optional.body.as_mut().unwrap().required = false;
    assert_eq!(
        api.value(&optional, json!({})).await,
        json!({ "item": null })
    );

    let form = post(
        "/form",
        "application/x-www-form-urlencoded",
        BodyKind::Form(vec![]),
    );
    let body = json!({ "name": "a b+c&d=é%20", "count": 7, "tags": ["x", "y z"] });
    assert_eq!(api.value(&form, json!({ "body": body })).await, body);

    let fields = vec![file("file"), file("more")];
    let upload = post(
        "/upload",
        "multipart/form-data",
        BodyKind::Multipart(fields),
    );
    let body = json!({ "file": "iVBORw0KGgo=", "note": "é\r\n", "more": ["AAE=", "data:text/csv;name=a.csv;base64,YQ=="] });
    assert_eq!(
        api.value(&upload, json!({ "body": body })).await,
        json!({
            "file": { "name": "file.png", "type": "image/png", "data": "iVBORw0KGgo=" },
            "note": "é\r\n",
            "more": [
                { "name": "more", "type": "application/octet-stream", "data": "AAE=" },
                { "name": "a.csv", "type": "text/csv", "data": "YQ==" },
            ],
        })
    );

    let text = post("/text", "text/plain", BodyKind::Text);
    assert_eq!(
        api.value(&text, json!({ "body": "é" })).await,
        json!({ "type": "text/plain; charset=utf-8", "data": "w6k=" })
    );
    let bytes = post("/bytes", "application/octet-stream", BodyKind::Bytes);
    assert_eq!(
        api.value(&bytes, json!({ "body": "/wAB" })).await,
        json!({ "type": "application/octet-stream", "data": "/wAB" })
    );
}

#[tokio::test]
async fn fastapi_knows_who_asks() {
    let key = |location, name: &str| SecuritySchemeKind::ApiKey {
        location,
        name: name.into(),
    };
    let client = SecuritySchemeKind::ClientCredentials {
        token_url: "/token".into(),
        scopes: vec!["read".into()],
    };
    let schemes = [
        ("bearer", SecuritySchemeKind::Bearer),
        ("basic", SecuritySchemeKind::Basic),
        ("header", key(ParameterLocation::Header, "X-Key")),
        ("query", key(ParameterLocation::Query, "key")),
        ("cookie", key(ParameterLocation::Cookie, "key")),
        ("client", client),
    ];
    let schemes = schemes.map(|(name, kind)| SecurityScheme {
        name: name.into(),
        kind,
        description: String::new(),
    });
    let stored = |value: &str| SourceCredential::Key {
        value: value.into(),
    };
    let basic = SourceCredential::Basic {
        user: "ada".into(),
        password: "p@:ss".into(),
    };
    let client = SourceCredential::Client {
        id: "tenon".into(),
        secret: "s3cret".into(),
        token_url: None,
        scopes: None,
    };
    let held = [
        ("bearer", stored("t0ken")),
        ("basic", basic),
        ("header", stored("k/=")),
        ("query", stored("k&/=+é")),
        ("cookie", stored("k/=")),
        ("client", client),
    ];
    let held = held.map(|(name, held)| (name.to_owned(), held));

    let peer = fastapi();
    let open = ApiFixture::with(&peer.url, &schemes, Default::default());
    let api = ApiFixture::with(&peer.url, &schemes, held.into());
    let check = async |scheme: &str, expected: Value| {
        let operation = secured(&format!("/secure/{scheme}"), scheme);
        assert_eq!(api.value(&operation, json!({})).await, expected);
        let error = open.call(&operation, json!({})).await.unwrap_err().message;
        let missing = format!("Nothing is stored for `{scheme}`");
        assert!(
            error.starts_with("HTTP 40") && error.contains(&missing),
            "{error}"
        );
    };
    check("bearer", json!({ "scheme": "Bearer", "token": "t0ken" })).await;
    check("basic", json!({ "user": "ada", "password": "p@:ss" })).await;
    check("header", json!({ "key": "k/=" })).await;
    check("query", json!({ "key": "k&/=+é" })).await;
    check("cookie", json!({ "key": "k/=" })).await;
    check("client", json!({ "given": 1 })).await;

    // Kept, and fetched again where it is no longer good.
    let client = secured("/secure/client", "client");
    assert_eq!(api.value(&client, json!({})).await, json!({ "given": 1 }));
    let forget = operation(Method::POST, "/forget", vec![]);
    api.call(&forget, json!({})).await.unwrap();
    assert_eq!(api.value(&client, json!({})).await, json!({ "given": 3 }));
}

#[tokio::test]
async fn answers_are_what_they_are() {
    let peer = fastapi();
    let api = ApiFixture::open(&peer.url);
    let answer =
        async |method, path: &str| api.call(&operation(method, path, vec![]), json!({})).await;

    let picture = answer(Method::GET, "/answer/picture").await.unwrap();
    let [Content::Image { media_type, data }] = &picture.content[..] else {
        panic!("{picture:?}");
    };
    assert_eq!(media_type, "image/png");
    assert!(data.starts_with("iVBORw0KGgo"), "{data}");

    let file = answer(Method::GET, "/answer/file").await.unwrap();
    let expected = Content::File {
        media_type: "application/zip".into(),
        name: Some("名.zip".into()),
        data: "UEsDBA==".into(),
    };
    assert_eq!(file.content, [expected]);

    let page = answer(Method::GET, "/answer/page/report").await.unwrap();
    let [
        Content::Text { text },
        Content::File {
            media_type, name, ..
        },
    ] = &page.content[..]
    else {
        panic!("{page:?}");
    };
    assert!(
        text.ends_with("# Rain in Tokyo\n\nMillimetres a month. **Not counted yet.**"),
        "{text}"
    );
    assert_eq!(media_type, SHOWN_PAGE);
    assert_eq!(name.as_deref(), Some("report.html"));
    let source = answer(Method::GET, "/answer/page/report?shown=false").await;
    assert!(source.unwrap().to_text().starts_with("<!doctype html>"));

    let text = answer(Method::GET, "/answer/text").await.unwrap();
    assert_eq!(text.to_text(), "é");
    let nothing = answer(Method::DELETE, "/answer/nothing").await.unwrap();
    assert_eq!(nothing.to_text(), "HTTP 204, no content.");
    let broken = answer(Method::GET, "/answer/broken").await.unwrap_err();
    assert_eq!(
        broken.message,
        "HTTP 503 Service Unavailable: closed. Try again in 7 seconds."
    );
    let missing = answer(Method::GET, "/nowhere").await.unwrap_err();
    assert_eq!(missing.message, "HTTP 404 Not Found: Not Found");
    let wrong = answer(Method::GET, "/form").await.unwrap_err();
    assert_eq!(
        wrong.message,
        "HTTP 405 Method Not Allowed: Method Not Allowed"
    );
}
