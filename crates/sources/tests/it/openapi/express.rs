//! Express with its usual parsers, and openapi-enforcer, which reads every style.

use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};
use tenon_openapi::operation::{BodyKind, ParameterLocation, ParameterStyle, Serialization};

use super::made::{ApiFixture, file, operation, parameter, post, usual};
use crate::peer::{Peer, installed, ours};

pub fn express() -> Peer {
    let mut command = Command::new("node");
    command
        .arg(ours("openapi/express/app.mjs"))
        .arg(installed("openapi-express"));
    Peer::start(command)
}

/// "/styles/path/simple/false/array/{color}": what stands in its location for tests.
fn described(path: &str) -> (ParameterLocation, ParameterStyle, bool, &str) {
    let mut pieces = path.split('/').skip(2);
    let location = match pieces.next().unwrap() {
        "path" => ParameterLocation::Path,
        "query" => ParameterLocation::Query,
        "header" => ParameterLocation::Header,
        "cookie" => ParameterLocation::Cookie,
        other => panic!("{other}"),
    };
    let style = match pieces.next().unwrap() {
        "simple" => ParameterStyle::Simple,
        "label" => ParameterStyle::Label,
        "matrix" => ParameterStyle::Matrix,
        "form" => ParameterStyle::Form,
        "spaceDelimited" => ParameterStyle::SpaceDelimited,
        "pipeDelimited" => ParameterStyle::PipeDelimited,
        "deepObject" => ParameterStyle::DeepObject,
        other => panic!("{other}"),
    };
    let explode = pieces.next().unwrap() == "true";
    (location, style, explode, pieces.next().unwrap())
}

fn values(location: ParameterLocation, kind: &str) -> Vec<Value> {
    match kind {
        // The peer does not decode cookies, and ends them at a `=`.
        "string" if location == ParameterLocation::Cookie => {
            vec![json!("blue"), json!("a/b&c#?+"), json!("12")]
        }
        // It decodes queries twice: no `%` here.
        "string" => vec![json!("blue"), json!("a b&c=d;e/f?g#h+i'\"[]"), json!("12")],
        "number" => vec![json!(-1.5), json!(0), json!(9007199254740991u64)],
        "boolean" => vec![json!(true), json!(false)],
        // It decodes first and splits then: what it splits by must not be in them.
        "array" => vec![
            json!(["blue", "black", "brown"]),
            json!(["a/b&c", "d#f"]),
            json!(["one"]),
        ],
        "object" => vec![
            json!({ "R": 100, "G": 200 }),
            json!({ "R": 1, "B": "b/#?" }),
        ],
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn every_style_is_read_as_it_was_meant() {
    let peer = express();
    let api = ApiFixture::open(&peer.url);
    let listed = api
        .value(&operation(Method::GET, "/styles", vec![]), json!({}))
        .await;
    let (mut read, mut wrong) = (0, Vec::new());
    for path in listed.as_array().unwrap() {
        let path = path.as_str().unwrap();
        let (location, style, explode, kind) = described(path);
        let (name, section) = match location {
            ParameterLocation::Path => ("color", "path"),
            ParameterLocation::Query => ("color", "query"),
            ParameterLocation::Header => ("x-color", "header"),
            ParameterLocation::Cookie => ("color", "cookie"),
        };
        let operation = operation(
            Method::GET,
            path,
            vec![parameter(name, location, style, explode)],
        );
        for value in values(location, kind) {
            let answer = api.value(&operation, json!({ name: value })).await;
            let found = &answer[section][name];
            if *found != value {
                wrong.push(format!("{path} {value}: {found}"));
            }
            read += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!((listed.as_array().unwrap().len(), read), (64, 167));
}

#[tokio::test]
async fn express_reads_what_was_meant() {
    let peer = express();
    let api = ApiFixture::open(&peer.url);
    let style = |style, explode| parameter("color", ParameterLocation::Query, style, explode);
    let path = || {
        vec![
            usual("one", ParameterLocation::Path),
            usual("two", ParameterLocation::Path),
        ]
    };
    let query = async |parameter, value: Value| {
        let parameters = path().into_iter().chain([parameter]).collect();
        let echo = operation(Method::GET, "/echo/{one}/{two}", parameters);
        let input = json!({ "one": "a/b ü", "two": "..%2e?#", "color": value });
        let answer = api.value(&echo, input).await;
        assert_eq!(
            answer["params"],
            json!({ "one": "a/b ü", "two": "..%2e?#" })
        );
        answer["query"].clone()
    };
    let found = query(style(ParameterStyle::Form, true), json!(["a", "你&"])).await;
    assert_eq!(found, json!({ "color": ["a", "你&"] }));
    let found = query(
        style(ParameterStyle::Form, true),
        json!({ "R": 1, "a[b]": true }),
    )
    .await;
    assert_eq!(found, json!({ "R": "1", "a": { "b": "true" } }));
    let found = query(
        style(ParameterStyle::PipeDelimited, false),
        json!(["a", "b"]),
    )
    .await;
    assert_eq!(found, json!({ "color": "a|b" }));
    let found = query(
        style(ParameterStyle::TabDelimited, false),
        json!(["a", "b"]),
    )
    .await;
    assert_eq!(found, json!({ "color": "a\tb" }));
    // Deeper than any specification says, as qs reads it.
    let deep = json!({ "a": { "b": { "c": "1" } }, "l": ["x"], "o": [{ "k": "1" }, { "k": "2" }], "&=": "[]" });
    let found = query(style(ParameterStyle::DeepObject, true), deep.clone()).await;
    assert_eq!(found, json!({ "color": deep }));
    let found = query(style(ParameterStyle::DeepObject, true), json!(["x", "y"])).await;
    assert_eq!(found, json!({ "color": ["x", "y"] }));
    let mut json_parameter = style(ParameterStyle::Form, true);
    json_parameter.serialization = Serialization::Media("application/json".into());
    let found = query(json_parameter, json!({ "a": [1, "é"] })).await;
    assert_eq!(found, json!({ "color": "{\"a\":[1,\"é\"]}" }));

    let parameters = path().into_iter().chain([
        usual("session", ParameterLocation::Cookie),
        usual("more", ParameterLocation::Cookie),
        usual("x-color", ParameterLocation::Header),
    ]);
    let echo = operation(Method::GET, "/echo/{one}/{two}", parameters.collect());
    let input =
        json!({ "one": 1, "two": true, "session": "a;b=%20 ü", "more": 7, "x-color": ["a", "b"] });
    let answer = api.value(&echo, input).await;
    assert_eq!(
        answer["cookies"],
        json!({ "session": "a;b=%20 ü", "more": "7" })
    );
    assert_eq!(answer["header"], json!("a,b"));
}

#[tokio::test]
async fn express_reads_every_kind_of_body() {
    let peer = express();
    let api = ApiFixture::open(&peer.url);
    let sent = async |media_type: &str, kind, value: Value| {
        let operation = post("/echo/a/b", media_type, kind);
        api.value(&operation, json!({ "body": value })).await["body"].clone()
    };
    let value = json!({ "a": [1.5, null, "é"], "b": {} });
    assert_eq!(
        sent("application/json", BodyKind::Json, value.clone()).await,
        value
    );
    assert_eq!(
        sent("application/vnd.a+json", BodyKind::Json, json!([])).await,
        json!([])
    );
    let form = json!({ "name": "a b+c&d=é", "tags": ["x", "y"], "none": null });
    assert_eq!(
        sent(
            "application/x-www-form-urlencoded",
            BodyKind::Form(vec![]),
            form
        )
        .await,
        json!({ "name": "a b+c&d=é", "tags": ["x", "y"] })
    );
    assert_eq!(
        sent("text/plain", BodyKind::Text, json!("é\n")).await,
        json!("é\n")
    );
    assert_eq!(
        sent("application/octet-stream", BodyKind::Bytes, json!("/wAB")).await,
        json!({ "base64": "/wAB" })
    );

    let upload = post(
        "/upload",
        "multipart/form-data",
        BodyKind::Multipart(vec![file("file")]),
    );
    let body = json!({
        "name": "é\r\n--x", "tags": ["x", "y"], "object": { "a": 1 },
        "file": ["data:text/csv;name=a%20%C3%A9.csv;base64,YSxiCg==", "iVBORw0KGgo="],
    });
    let answer = api.value(&upload, json!({ "body": body })).await;
    assert_eq!(
        answer,
        json!({
            "body": { "name": "é\r\n--x", "tags": ["x", "y"], "object": "{\"a\":1}" },
            "files": [
                { "field": "file", "name": "a é.csv", "type": "text/csv", "data": "YSxiCg==" },
                { "field": "file", "name": "file.png", "type": "image/png", "data": "iVBORw0KGgo=" },
            ],
        })
    );
}
