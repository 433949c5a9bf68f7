//! Documents in several files.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tenon_sources::openapi::RefreshSchedule;
use tenon_sources::{Network, SupervisedServer};
use tenon_tools::ToolSource;

use super::harness::{MemoryDocuments, OpenapiHarness, QUICK, at, settings, settings_in};
use super::http_server::{Reply, TestHttpServer, ok, redirect, status};
use crate::harness::sentences;
use crate::openapi::express::express;

/// A document whose operations are in these files, by their paths.
fn split(operations: &[(&str, String)]) -> Value {
    let paths = operations.iter().map(|(path, file)| {
        let item = json!({ "get": { "$ref": file } });
        ((*path).to_owned(), item)
    });
    let paths: serde_json::Map<String, Value> = paths.collect();
    json!({ "openapi": "3.1.0", "info": { "title": "Split", "version": "1" }, "paths": paths })
}

fn operation(id: &str, parameter: &str) -> Value {
    json!({ "operationId": id, "parameters": [{ "name": parameter, "in": "query" }] })
}

fn inputs(harness: &OpenapiHarness, tool: &str) -> Vec<String> {
    let tools = harness.server.tools();
    let found = tools.iter().find(|one| one.name == tool).unwrap();
    let schema = found.input_schema.value();
    let fields = schema["properties"].as_object().unwrap();
    fields.keys().cloned().collect()
}

fn skipped(harness: &OpenapiHarness) -> Vec<String> {
    let about = harness.server.status().document.unwrap();
    let skipped = about.skipped.iter();
    skipped
        .map(|one| format!("{} {}", one.operation, one.reason))
        .collect()
}

#[tokio::test]
async fn a_description_in_several_files_is_read_whole_from_express() {
    let peer = express();
    let documents = Arc::new(MemoryDocuments::default());
    let start = |url: &str| settings_in(at(url), Network::Anywhere, documents.clone());
    let harness = OpenapiHarness::ready(start(&format!("{}/api/openapi.yaml", peer.url))).await;
    assert_eq!(harness.names(), ["count", "echo", "packed", "raw"]);
    assert_eq!(
        inputs(&harness, "echo"),
        ["one", "two", "limit", "name", "friend"]
    );
    assert_eq!(
        skipped(&harness),
        [
            "GET /gone The operation is in another document (`/api/operations/gone.yml`), which could not be read: it answered 404 Not Found."
        ]
    );
    let input = json!({ "one": "a", "two": "b", "limit": 3, "name": "Rex" });
    let echo: Value = serde_json::from_str(&harness.text("echo", input).await).unwrap();
    assert_eq!(
        (&echo["params"], &echo["query"], &echo["body"]),
        (
            &json!({ "one": "a", "two": "b" }),
            &json!({ "limit": "3" }),
            &json!({ "name": "Rex" })
        )
    );
    // What a text is, what bytes are, and how an answer is packed.
    let input = json!({ "two": "b", "body": 5 });
    let count: Value = serde_json::from_str(&harness.text("count", input).await).unwrap();
    assert_eq!(count["body"], "5");
    let input = json!({ "two": "b", "body": "AP8=" });
    let raw: Value = serde_json::from_str(&harness.text("raw", input).await).unwrap();
    assert_eq!(raw["body"], json!({ "base64": "AP8=" }));
    for how in ["br", "deflate", "gzip"] {
        let packed = harness.text("packed", json!({ "how": how })).await;
        let packed: Value = serde_json::from_str(&packed).unwrap();
        assert_eq!(packed, json!({ "how": how, "text": "é".repeat(1000) }));
    }
    harness.server.stop().await;
    let url = peer.url.clone();
    drop(peer);
    // What is kept is whole, without the server that it came from.
    let mut harness =
        OpenapiHarness::starting(start(&format!("{url}/api/openapi.yaml")), QUICK).await;
    harness.until(|status| status.tools > 0).await;
    assert_eq!(
        inputs(&harness, "echo"),
        ["one", "two", "limit", "name", "friend"]
    );
}

#[tokio::test]
async fn files_are_read_from_the_site_of_the_document_and_no_other() {
    let other = TestHttpServer::start(|_| ok(operation("other", "q"))).await;
    let (there, led) = (other.url("/other.json"), other.url("/led.json"));
    let http_server = TestHttpServer::start(move |seen| match seen.path.as_str() {
        "/v1/openapi.json?k=1" => ok(split(&[
            ("/near", "parts/near.json".into()),
            ("/up", "../../up.json".into()),
            ("/other", there.clone()),
            ("/led", "led.json".into()),
        ])),
        "/v1/parts/near.json?k=1" => ok(operation("near", "a")),
        "/up.json?k=1" => ok(operation("up", "b")),
        "/v1/led.json?k=1" => redirect(302, &led),
        _ => status(404),
    })
    .await;
    let mut config = at(&http_server.url("/v1/openapi.json?k=1"));
    config.headers.insert("x-key".into(), "secret".into());
    let harness = OpenapiHarness::ready(settings(config)).await;
    assert_eq!(harness.names(), ["near", "up"]);
    assert_eq!(inputs(&harness, "up"), ["b"]);
    assert_eq!(other.seen.lock().unwrap().len(), 0);
    let seen = http_server.seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 4);
    assert!(seen.iter().all(|seen| seen.header("x-key") == "secret"));
    let skipped = skipped(&harness);
    assert!(skipped[0].contains("which is not read"), "{skipped:?}");
    assert!(skipped[1].contains("which is another site"), "{skipped:?}");
}

#[tokio::test]
async fn a_file_that_changes_is_noticed_though_the_document_does_not() {
    let parameter = Arc::new(Mutex::new("a"));
    let now = parameter.clone();
    let http_server = TestHttpServer::start(move |seen| match seen.path.as_str() {
        "/openapi.json" => match seen.header("if-none-match") {
            "\"1\"" => status(304),
            _ => {
                let document = split(&[("/x", "x.json".into())]);
                Reply::Whole(200, vec![("etag", "\"1\"".into())], document.to_string())
            }
        },
        _ => ok(operation("x", *now.lock().unwrap())),
    })
    .await;
    let mut harness = OpenapiHarness::ready(settings(at(&http_server.url("/openapi.json")))).await;
    assert_eq!(inputs(&harness, "x"), ["a"]);
    assert!(harness.server.refresh().await.unwrap().is_empty());
    *parameter.lock().unwrap() = "b";
    let change = harness.server.refresh().await.unwrap();
    assert_eq!(change.changed, ["x"]);
    harness.until(|_| true).await;
    assert_eq!(inputs(&harness, "x"), ["b"]);
}

#[tokio::test]
async fn files_that_do_not_come_cost_their_operations_alone_and_are_asked_for_again() {
    let is_well = Arc::new(AtomicBool::new(false));
    let now = is_well.clone();
    let http_server = TestHttpServer::start(move |seen| match seen.path.as_str() {
        "/openapi.json" => ok(split(&[
            ("/good", "good.json".into()),
            ("/slow", "slow.json".into()),
            ("/endless", "endless.json".into()),
            ("/broken", "broken.json".into()),
        ])),
        "/good.json" => ok(operation("good", "q")),
        "/slow.json" if now.load(Ordering::SeqCst) => ok(operation("slow", "q")),
        "/slow.json" => Reply::Silence,
        "/endless.json" => Reply::Endless,
        _ => ok("{\"a\": "),
    })
    .await;
    let pace = RefreshSchedule {
        fetch_timeout: Duration::from_secs(2),
        ..QUICK
    };
    let mut harness =
        OpenapiHarness::starting(settings(at(&http_server.url("/openapi.json"))), pace).await;
    harness.until(|status| status.tools > 0).await;
    assert_eq!(harness.names(), ["good"]);
    let why = skipped(&harness).join("\n");
    for part in [
        "GET /slow",
        "not sent in time",
        "GET /endless",
        "larger than",
        "not valid JSON",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    is_well.store(true, Ordering::SeqCst);
    harness.server.refresh().await.unwrap();
    harness.until(|status| status.tools == 2).await;
    assert_eq!(harness.names(), ["good", "slow"]);
}

#[tokio::test]
async fn what_tools_go_without_is_a_problem_that_people_see() {
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "T", "version": "1" },
        "paths": { "/x": { "get": { "operationId": "x", "parameters": [
            { "$ref": "https://schemas.example/p.yaml#/limit" },
            { "name": "q", "in": "query", "schema": { "$ref": "https://schemas.example/q.yaml" } },
        ] } } },
    });
    let http_server = TestHttpServer::start(move |_| ok(&document)).await;
    let harness = OpenapiHarness::ready(settings(at(&http_server.url("/openapi.json")))).await;
    assert_eq!(inputs(&harness, "x"), ["q"]);
    let expected = [
        "GET /x has a parameter that is left out: it is in another document (`https://schemas.example/p.yaml#/limit`), which is not read.",
        "The schema of a part of an input is not known: it is in another document (`https://schemas.example/q.yaml`), which is not read.",
    ];
    assert_eq!(sentences(&harness.server.status().problems), expected);
    // Also when nothing has changed.
    harness.server.refresh().await.unwrap();
    assert_eq!(sentences(&harness.server.status().problems), expected);
}

#[tokio::test]
async fn requests_that_go_to_another_host_are_told() {
    let document = |server: &str| {
        json!({
            "openapi": "3.1.0", "info": { "title": "T", "version": "1" }, "servers": [{ "url": server }],
            "paths": { "/x": { "get": { "operationId": "x" } } },
        })
    };
    for (server, base_url, is_told) in [
        ("https://api.example/v1", None, true),
        (
            "https://api.example/v1",
            Some("https://mine.example"),
            false,
        ),
        ("/v1", None, false),
        ("http://127.0.0.1:9/v1", None, false),
        ("http://localhost:9/v1", None, false),
    ] {
        let document = document(server);
        let http_server = TestHttpServer::start(move |_| ok(&document)).await;
        let mut config = at(&http_server.url("/openapi.json"));
        config.base_url = base_url.map(str::to_owned);
        let harness = OpenapiHarness::ready(settings(config)).await;
        let told = "Requests go to api.example, as the document says; the document is from 127.0.0.1. Enter a base address if they are to go elsewhere.";
        let expected: &[&str] = if is_told { &[told] } else { &[] };
        assert_eq!(
            sentences(&harness.server.status().problems),
            expected,
            "{server} {base_url:?}"
        );
    }
}
