//! OpenAPI servers as sources: a real FastAPI app, and documents that people give.

use std::process::Command;

use serde_json::{Value, json};

use super::fixtures::{self, ids, ready, until};
use crate::peer::{Peer, installed, ours};
use crate::people::Person;
use crate::server::Server;

fn fastapi() -> Peer {
    let mut command = Command::new(installed("venv-fastapi/bin/python"));
    command.arg(ours("openapi/fast.py"));
    Peer::start(command)
}

/// A small document about an app that says back what it read.
fn echo(url: &str) -> Value {
    let text = json!({"name": "text", "in": "query", "schema": {"type": "string"}});
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Small", "version": "1"},
        "servers": [{"url": url}],
        "paths": {
            "/query": {
                "get": {"operationId": "ask", "summary": "Ask", "parameters": [text]},
            },
            "/header": {"get": {"operationId": "old", "deprecated": true}},
            "/odd": {"get": {"operationId": "odd", "parameters": [{"$ref": "other.yaml#/x", "required": true}]}},
        },
    })
}

#[tokio::test]
async fn an_app_is_added_by_its_address_and_stays_listed_without_it() {
    let peer = fastapi();
    let server = Server::start().await;
    let new = json!({"kind": "openapi", "name": "fast", "url": peer.url});
    let (status, preview) = server.post("/api/sources/preview", new.clone()).await;
    assert_eq!(status, 200, "{preview}");
    assert_eq!(preview["title"], "Echo", "{preview}");
    assert_eq!(preview["skipped"], json!([]), "{preview}");
    let count = preview["tools"].as_array().unwrap().len();
    assert!(count > 15, "{count}");
    let (_, sources) = server.get("/api/sources").await;
    assert_eq!(sources, json!([]), "a preview adds nothing");

    let (status, added) = server.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    assert_eq!(added["id"], "api-fast");
    let source = ready(&server, "api-fast").await;
    assert_eq!(source["tools"], count, "{source}");
    assert_eq!(source["reach"]["transport"], "openapi");
    let (_, tools) = server.get("/api/tools").await;
    let found = ids(&tools, "api_fast_");
    assert_eq!(found.len(), count);
    let query = found
        .iter()
        .find(|id| id.contains("query_query_get"))
        .unwrap();
    let call = format!("/api/tools/{query}/call");
    let (_, answer) = server
        .post(&call, json!({"arguments": {"text": "你好 & co"}}))
        .await;
    assert_eq!(answer["structured"]["text"], "你好 & co", "{answer}");

    let (status, change) = server
        .post("/api/sources/api-fast/refresh", json!({}))
        .await;
    assert_eq!(status, 200, "{change}");
    assert_eq!(change, json!({"added": [], "removed": [], "changed": []}));
    drop(peer);
    let (status, why) = server
        .post("/api/sources/api-fast/refresh", json!({}))
        .await;
    assert_eq!(status, 502, "{why}");
    let is_degraded = |source: &Value| source["state"] == "degraded";
    let source = fixtures::source(&server, "api-fast", is_degraded).await;
    assert_eq!(source["tools"], count, "{source}");
    assert_eq!(
        fixtures::delete(&server, "/api/sources/api-fast").await,
        204
    );
    let (_, tools) = server.get("/api/tools").await;
    assert!(ids(&tools, "api_fast_").is_empty());
    let kept = server
        .app
        .store
        .source_documents(&tenon_domain::SourceId::new("api-fast"))
        .await;
    assert_eq!(kept.unwrap(), []);
}

#[tokio::test]
async fn a_document_that_is_given_is_kept_until_its_server_is_removed() {
    let peer = fastapi();
    let server = Server::start().await;
    let new = |document: Value| json!({"kind": "openapi", "name": "small", "document": document});
    let check = async |document: Value, words: &str| {
        let (status, refused) = server.post("/api/sources", new(document)).await;
        assert_eq!(status, 400, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    };
    check(json!("openapi: 3.1.0\npaths: [\n"), "line").await;
    check(json!({"hello": "world"}), "OpenAPI").await;
    check(json!(7), "`document`").await;

    let (status, added) = server.post("/api/sources", new(echo(&peer.url))).await;
    assert_eq!(status, 201, "{added}");
    let source = ready(&server, "api-small").await;
    assert_eq!(
        source["document"]["skipped"][0]["place"], "GET /odd",
        "{source}"
    );
    let (_, tools) = server.get("/api/tools").await;
    let enabled = |name: &str| {
        let all = tools.as_array().unwrap();
        let tool = all.iter().find(|tool| tool["toolName"] == name);
        tool.unwrap_or_else(|| panic!("{name}"))["enabled"].clone()
    };
    assert_eq!(
        (enabled("ask"), enabled("old")),
        (json!(true), json!(false))
    );
    let call = "/api/tools/api_small_ask/call";
    let (_, answer) = server.post(call, json!({"arguments": {"text": "a"}})).await;
    assert_eq!(answer["structured"]["text"], "a", "{answer}");

    // Somewhere else from now on, where nobody is.
    let (status, moved) = server
        .patch(
            "/api/sources/api-small",
            json!({"baseUrl": "http://127.0.0.1:9"}),
        )
        .await;
    assert_eq!(status, 200, "{moved}");
    ready(&server, "api-small").await;
    let (_, answer) = server.post(call, json!({"arguments": {"text": "a"}})).await;
    assert_eq!(answer["ok"], false, "{answer}");

    let kept = async || {
        let counted = server.app.store.count_documents().await;
        counted.unwrap()
    };
    assert_eq!(kept().await, 1);
    assert_eq!(
        fixtures::delete(&server, "/api/sources/api-small").await,
        204
    );
    assert_eq!(kept().await, 0);
}

#[tokio::test]
async fn what_gets_us_in_is_kept_and_not_shown() {
    let server = Server::start().await;
    let new = json!({
        "kind": "openapi", "name": "closed", "url": "http://127.0.0.1:9/openapi.json",
        "headers": {"X-Key": "hidden-one"},
        "credentials": {
            "basic": {"type": "basic", "user": "ada", "password": "hidden-two"},
            "key": {"type": "key", "value": "hidden-three"},
        },
    });
    let (status, added) = server.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    let shown = added.to_string();
    assert!(!shown.contains("hidden"), "{shown}");
    assert_eq!(
        added["reach"]["credentials"],
        json!({"basic": "basic", "key": "key"})
    );
    let path = "/api/sources/api-closed";
    let kept = json!({"credentials": {"key": null}, "headers": {"X-Key": null}});
    let (status, changed) = server.patch(path, kept).await;
    assert_eq!(status, 200, "{changed}");
    assert_eq!(changed["reach"]["credentials"], json!({"key": "key"}));
    let elsewhere = json!({"url": "http://127.0.0.1:10/openapi.json"});
    let (status, refused) = server.patch(path, elsewhere).await;
    assert_eq!(status, 400, "{refused}");
    let rows = server.app.store.sources().await.unwrap();
    assert!(!rows[0].sealed_config.contains("hidden"));
}

#[tokio::test]
async fn what_is_no_admins_leads_nowhere_inside() {
    let peer = fastapi();
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let new = json!({"kind": "openapi", "name": "fast", "url": peer.url});
    let (status, refused) = bob.post("/api/sources/preview", new.clone()).await;
    assert_eq!(status, 400, "{refused}");
    let (status, added) = bob.post("/api/sources", new.clone()).await;
    assert_eq!(status, 201, "{added}");
    assert_eq!(added["mine"], true);
    let failed = until(|| async {
        let (_, source) = bob
            .get(&format!("/api/sources/{}", added["id"].as_str().unwrap()))
            .await;
        let has_failed = source["state"] == "failed";
        has_failed.then_some(source.clone()).ok_or(source)
    })
    .await;
    assert!(
        failed["why"]["message"]
            .as_str()
            .unwrap()
            .contains("private"),
        "{failed}"
    );
    // A document may lead there as well.
    let given = json!({"kind": "openapi", "name": "given", "document": echo(&peer.url)});
    let (status, added) = bob.post("/api/sources", given).await;
    assert_eq!(status, 201, "{added}");
    until(|| async {
        let (_, tools) = bob.get("/api/tools").await;
        let found = ids(&tools, "api_given_ask");
        (found.len() == 1).then_some(()).ok_or(tools)
    })
    .await;
    let call = json!({"arguments": {"text": "a"}});
    let (_, answer) = bob.post("/api/tools/api_given_ask/call", call).await;
    assert_eq!(answer["error"]["kind"], "denied", "{answer}");
    // An admin's may.
    let (status, preview) = ada.post("/api/sources/preview", new).await;
    assert_eq!(status, 200, "{preview}");
}

#[tokio::test]
async fn what_is_refused_leaves_no_document_behind() {
    let server = Server::start().await;
    let kept = async || {
        let counted = server.app.store.count_documents().await;
        counted.unwrap()
    };
    let titled = |title: &str| {
        let mut document = echo("https://a.example");
        document["info"]["title"] = json!(title);
        document
    };
    let new = |title: &str| json!({"kind": "openapi", "name": "one", "document": titled(title)});
    let (status, added) = server.post("/api/sources", new("First")).await;
    assert_eq!(status, 201, "{added}");
    assert_eq!(kept().await, 1);

    let (status, refused) = server.post("/api/sources", new("Second")).await;
    assert_eq!(status, 409, "{refused}");
    assert_eq!(kept().await, 1, "the name is taken");
    // The one that is there has the same document, and goes on with it.
    let (status, refused) = server.post("/api/sources", new("First")).await;
    assert_eq!(status, 409, "{refused}");
    assert_eq!(
        kept().await,
        1,
        "the name is taken, and the document is another's"
    );

    let path = "/api/sources/api-one";
    let change = json!({"document": titled("Third"), "command": "npx"});
    let (status, refused) = server.patch(path, change).await;
    assert_eq!(status, 400, "{refused}");
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(said.contains("`command` is for MCP servers"), "{said}");
    assert_eq!(kept().await, 1, "nothing was changed");
    let change = json!({"document": titled("Third")});
    let (status, changed) = server.patch(path, change).await;
    assert_eq!(status, 200, "{changed}");
    assert_eq!(kept().await, 1, "it takes the place of the first");
    ready(&server, "api-one").await;
}

#[tokio::test]
async fn who_may_not_restart_a_server_does_not_have_it_read_again() {
    let peer = fastapi();
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let new = json!({"kind": "openapi", "name": "fast", "url": peer.url});
    let (status, added) = ada.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    // Here everybody has a connection of their own.
    let own = json!({
        "kind": "openapi", "name": "own", "url": peer.url, "headers": {"X-Key": "${user.KEY}"},
    });
    let (status, added) = ada.post("/api/sources", own).await;
    assert_eq!(status, 201, "{added}");
    let refresh = async |person: &Person<'_>, id: &str| {
        let path = format!("/api/sources/{id}/refresh");
        person.post(&path, json!({})).await.0
    };
    let ready = async |person: &Person<'_>, id: &str| {
        until(|| async {
            let (_, source) = person.get(&format!("/api/sources/{id}")).await;
            let is_ready = source["state"] == "ready";
            is_ready.then_some(()).ok_or(source)
        })
        .await;
    };
    ready(&ada, "api-fast").await;
    assert_eq!(refresh(&ada, "api-fast").await, 200);
    assert_eq!(refresh(&bob, "api-fast").await, 403);
    assert_eq!(refresh(&bob, "api-own").await, 409);
    let mine = json!({"value": "k", "mine": true});
    let (status, _) = bob.send("PUT", "/api/secrets/KEY", Some(mine)).await;
    assert_eq!(status, 204);
    ready(&bob, "api-own").await;
    assert_eq!(refresh(&bob, "api-own").await, 200);
    // It is his alone: she looks after it, but it does not run for her.
    assert_eq!(refresh(&ada, "api-own").await, 409);
}

#[tokio::test]
async fn everybodys_secret_is_not_taken_where_one_person_says() {
    let server = Server::start().await;
    let client = |id: &str, secret: &str| json!({"type": "client", "id": id, "secret": secret, "tokenUrl": "https://${user.HOST}/"});
    let new = |client: Value| {
        json!({
            "kind": "openapi", "name": "led", "mine": false,
            "url": "http://127.0.0.1:9/openapi.json", "credentials": {"one": client},
        })
    };
    let given = new(client("${user.ID}", "hidden"));
    let (status, refused) = server.post("/api/sources", given).await;
    assert_eq!(status, 400, "{refused}");
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(said.contains("`credentials`"), "{said}");
    let own = new(client("${user.ID}", "${user.KEY}"));
    let (status, added) = server.post("/api/sources", own).await;
    assert_eq!(status, 201, "{added}");
}

#[tokio::test]
async fn what_another_address_said_is_not_listed_and_does_not_pile_up() {
    let one = fastapi();
    let server = Server::start().await;
    let new = json!({"kind": "openapi", "name": "fast", "url": one.url});
    let (status, added) = server.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    ready(&server, "api-fast").await;
    let kept = async || server.app.store.count_documents().await.unwrap();
    until(|| async {
        let count = kept().await;
        (count == 1).then_some(()).ok_or(json!(count))
    })
    .await;
    // Nobody is there, and what was said elsewhere is not its own.
    let change = json!({"url": "http://127.0.0.1:9/openapi.json"});
    let (status, changed) = server.patch("/api/sources/api-fast", change).await;
    assert_eq!(status, 200, "{changed}");
    let has_failed = |source: &Value| source["state"] == "failed";
    let source = fixtures::source(&server, "api-fast", has_failed).await;
    assert_eq!(source["tools"], 0, "{source}");
    let (status, back) = server
        .patch("/api/sources/api-fast", json!({"url": one.url}))
        .await;
    assert_eq!(status, 200, "{back}");
    ready(&server, "api-fast").await;
    until(|| async {
        let count = kept().await;
        (count == 1).then_some(()).ok_or(json!(count))
    })
    .await;
}

#[tokio::test]
async fn a_document_that_came_to_nothing_is_swept_away() {
    let server = Server::start().await;
    let new = json!({"kind": "openapi", "name": "one", "document": echo("https://a.example")});
    let (status, added) = server.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    let store = &server.app.store;
    let document = tenon_store::StoredDocument {
        name: String::new(),
        url: String::new(),
        address: String::new(),
        body: b"{}".to_vec(),
        etag: None,
        last_modified: None,
        fetched_at: 0,
    };
    let lost = tenon_domain::SourceId::new("given-lost");
    let names = [String::new()];
    let keeping = store.put_source_documents(&lost, vec![document], &names);
    keeping.await.unwrap();
    assert_eq!(store.count_documents().await.unwrap(), 2);
    server.app.sources.sweep_documents().await.unwrap();
    assert_eq!(store.count_documents().await.unwrap(), 1);
}

#[tokio::test]
async fn a_document_that_does_not_say_where_its_server_is_is_told_of() {
    let server = Server::start().await;
    let mut document = echo("https://a.example");
    document.as_object_mut().unwrap().remove("servers");
    let new = |base: Option<&str>| {
        let mut new = json!({"kind": "openapi", "name": "lost", "document": document});
        if let Some(base) = base {
            new["baseUrl"] = json!(base);
        }
        new
    };
    let says = |told: &Value| told.to_string().contains("where its server is");
    let (status, preview) = server.post("/api/sources/preview", new(None)).await;
    assert_eq!(status, 200, "{preview}");
    assert!(says(&preview["notes"]), "{preview}");
    let placed = new(Some("https://b.example"));
    let (_, preview) = server.post("/api/sources/preview", placed).await;
    assert_eq!(preview["notes"], json!([]), "{preview}");
    let (status, added) = server.post("/api/sources", new(None)).await;
    assert_eq!(status, 201, "{added}");
    let source = ready(&server, "api-lost").await;
    assert!(says(&source["problems"]), "{source}");
    let change = json!({"baseUrl": "https://b.example"});
    let (status, changed) = server.patch("/api/sources/api-lost", change).await;
    assert_eq!(status, 200, "{changed}");
    let is_placed = |source: &Value| source["state"] == "ready" && source["problems"] == json!([]);
    fixtures::source(&server, "api-lost", is_placed).await;
}
