//! Pages that tools want shown: kept, framed, shared and taken along.

use std::process::Command;

use serde_json::{Value, json};
use tenon_domain::{CallId, SHOWN_PAGE, UserId};
use tenon_llm::scripted::ScriptStep;
use tenon_store::{Blob, LOCAL};

use crate::peer::{Peer, installed, ours};
use crate::people::Person;
use crate::server::{Server, answer};
use crate::sources::fixtures::until;

const TOOL: &str = "api_weather_rain";

fn fastapi() -> Peer {
    let mut command = Command::new(installed("venv-fastapi/bin/python"));
    command.arg(ours("openapi/fast.py"));
    Peer::start(command)
}

/// One tool that gives a page.
fn document(url: &str) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Weather", "version": "1"},
        "servers": [{"url": url}],
        "paths": {"/answer/page/report": {"get": {"operationId": "rain"}}},
    })
}

/// Ada asks for a page, in a chat of hers: its id, and what the tool gave.
async fn asked(ada: &Person<'_>, peer: &Peer) -> (String, Value) {
    let new = json!({"kind": "openapi", "name": "weather", "document": document(&peer.url)});
    let (status, source) = ada.post("/api/sources", new).await;
    assert_eq!(status, 201, "{source}");
    until(|| async {
        let (_, tools) = ada.get("/api/tools").await;
        if tools.to_string().contains(TOOL) {
            Ok(())
        } else {
            Err(tools)
        }
    })
    .await;
    let (_, chat) = ada.post("/api/chats", json!({})).await;
    let chat = chat["id"].as_str().unwrap().to_owned();
    let path = format!("/api/chats/{chat}");
    let mut page = ada.socket().await.unwrap();
    page.subscribe(&chat, 0).await;
    let said = json!({"text": "rain"});
    let (status, started) = ada.post(&format!("{path}/turns"), said).await;
    assert_eq!(status, 202, "{started}");
    page.until_finished().await;
    let (_, messages) = ada.get(&format!("{path}/messages")).await;
    let output = messages[1]["toolCalls"][0]["output"]["content"].clone();
    assert!(output.is_array(), "{messages:#}");
    (chat, output)
}

fn script() -> Vec<Vec<ScriptStep>> {
    vec![
        vec![ScriptStep::call(0, TOOL, &json!({})), ScriptStep::stop()],
        vec![ScriptStep::text("There it is."), ScriptStep::stop()],
    ]
}

#[tokio::test]
async fn a_page_is_shown_to_its_owner_in_a_frame_and_nowhere_else() {
    let peer = fastapi();
    let server = Server::with_accounts(script()).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let (chat, output) = asked(&ada, &peer).await;
    let told = output[0]["text"].as_str().unwrap();
    assert!(told.contains("Millimetres a month."), "{told}");
    assert_eq!(output[1]["type"], "blob", "{output}");
    assert_eq!(output[1]["mediaType"], SHOWN_PAGE);
    assert_eq!(output[1]["name"], "report.html");
    let blob = output[1]["blobId"].as_str().unwrap();
    let path = format!("/api/blobs/{blob}/frame");

    let framed = ada.request("GET", &path).header("sec-fetch-dest", "iframe");
    let framed = framed.send().await.unwrap();
    assert_eq!(framed.status(), 200);
    let header = |name: &str| framed.headers()[name].to_str().unwrap();
    assert_eq!(
        header("content-security-policy"),
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; \
         style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; \
         connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
    );
    assert_eq!(header("content-type"), "text/html; charset=utf-8");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("x-frame-options"), "SAMEORIGIN");
    assert_eq!(header("referrer-policy"), "no-referrer");
    assert_eq!(header("x-dns-prefetch-control"), "off");
    assert_eq!(header("connection-allowlist"), "()");
    let all = framed.headers().get_all("content-security-policy").iter();
    assert_eq!(all.count(), 1, "another policy would only confuse");
    let html = framed.text().await.unwrap();
    assert!(html.starts_with("<!doctype html>"), "{html}");
    assert!(html.contains("iframe:height"), "{html}");

    // On its own it would be a page under our address.
    let alone = ada
        .request("GET", &path)
        .header("sec-fetch-dest", "document");
    assert_eq!(answer(alone.send().await.unwrap()).await.0, 403);
    let source = ada.request("GET", &format!("/api/blobs/{blob}"));
    let source = source.send().await.unwrap();
    assert_eq!(
        source.headers()["content-type"],
        "text/plain; charset=utf-8"
    );

    assert_eq!(bob.get(&path).await.0, 404);
    assert_eq!(Person::nobody(&server).get(&path).await.0, 401);
    assert_eq!(ada.get("/api/blobs/nothing/frame").await.0, 404);
    assert_eq!(ada.delete(&format!("/api/chats/{chat}")).await, 204);
    assert_eq!(ada.get(&path).await.0, 404);
}

#[tokio::test]
async fn what_is_not_marked_to_be_shown_is_not_shown() {
    let server = Server::scripted([]).await;
    let (owner, by) = (UserId::new(LOCAL), CallId::new("c"));
    for media_type in [
        "text/html",
        "text/html; charset=utf-8",
        "text/plain",
        "image/svg+xml",
        "",
    ] {
        let blob = Blob {
            media_type: media_type.into(),
            data: b"<script>".to_vec(),
        };
        let id = server.app.store.put_blob(&owner, &by, blob).await.unwrap();
        let (status, body) = server.get(&format!("/api/blobs/{id}/frame")).await;
        assert_eq!(status, 404, "{media_type}: {body}");
    }
}

#[tokio::test]
async fn of_a_page_in_a_shared_or_imported_chat_it_is_said_that_there_was_one() {
    let peer = fastapi();
    let server = Server::with_accounts(script()).await;
    let ada = Person::set_up(&server, "Ada").await;
    let (chat, output) = asked(&ada, &peer).await;
    let blob = output[1]["blobId"].as_str().unwrap();

    let path = format!("/api/chats/{chat}/share");
    let call = |shared: &Value| shared["turns"][0]["messages"][1]["toolCalls"][0].clone();
    let (_, share) = ada.post(&path, json!({})).await;
    let shared = format!("/api/shared/{}", share["token"].as_str().unwrap());
    let (_, read) = Person::nobody(&server).get(&shared).await;
    assert_eq!(call(&read).get("output"), None, "{read:#}");
    ada.post(&path, json!({"withTools": true})).await;
    let (_, read) = Person::nobody(&server).get(&shared).await;
    let mut expected = output.clone();
    expected[1]["blobId"] = json!("");
    assert_eq!(call(&read)["output"]["content"], expected);
    assert!(!read.to_string().contains(blob), "{read:#}");

    let (_, file) = ada
        .get(&format!("/api/chats/{chat}/export?format=json"))
        .await;
    let (status, imported) = ada.post("/api/chats/import", file).await;
    assert_eq!(status, 201, "{imported}");
    let copy = imported["id"].as_str().unwrap();
    let (_, messages) = ada.get(&format!("/api/chats/{copy}/messages")).await;
    let content = &messages[1]["toolCalls"][0]["output"]["content"];
    assert_eq!(content[0], output[0]);
    let bytes = &output[1]["bytes"];
    assert_eq!(
        content[1]["text"],
        format!(
            "[The page of {bytes} bytes that was shown here did not come along with this chat]"
        )
    );
}
