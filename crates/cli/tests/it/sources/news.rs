//! What pages hear about servers, and who hears it.

use serde_json::{Value, json};
use tenon_app::config::Config;

use super::fixtures::{delete, time};
use crate::people::Person;
use crate::server::{Page, Server};

async fn next_about(page: &mut Page, id: &str, passes: impl Fn(&Value) -> bool) -> Value {
    let is_it =
        |frame: &Value| frame["type"] == "source:state" && frame["sourceId"] == id && passes(frame);
    page.until(is_it).await.pop().unwrap()
}

#[tokio::test]
async fn a_page_hears_of_a_server_from_its_start_to_its_end() {
    let server = Server::with_config(Config::default()).await;
    let mut page = Page::open(&server).await;
    let (status, _) = server.post("/api/sources", time("clock")).await;
    assert_eq!(status, 201);
    let starting = next_about(&mut page, "mcp-clock", |_| true).await;
    assert_eq!(
        (&starting["state"], &starting["gone"]),
        (&json!("starting"), &json!(false))
    );
    let ready = next_about(&mut page, "mcp-clock", |frame| frame["state"] == "ready").await;
    assert_eq!(ready["tools"], 2);
    assert!(
        ready["revision"].as_u64() > starting["revision"].as_u64(),
        "{ready}"
    );
    server
        .patch("/api/sources/mcp-clock", json!({"enabled": false}))
        .await;
    next_about(&mut page, "mcp-clock", |frame| frame["state"] == "off").await;
    assert_eq!(delete(&server, "/api/sources/mcp-clock").await, 204);
    let gone = next_about(&mut page, "mcp-clock", |frame| frame["gone"] == true).await;
    assert_eq!(gone["tools"], 0);
}

#[tokio::test]
async fn nobody_hears_of_a_server_that_is_not_theirs_to_see() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let mut bobs = bob.socket().await.unwrap();
    let mut adas = ada.socket().await.unwrap();
    let own = json!({"kind": "mcp", "name": "own", "url": "https://own.invalid/mcp"});
    let (status, own) = bob.post("/api/sources", own).await;
    assert_eq!(status, 201, "{own}");
    let id = own["id"].as_str().unwrap();
    next_about(&mut bobs, id, |_| true).await;
    // What is everybody's comes later: had she heard of his, it would be before it.
    let shared = json!({"kind": "mcp", "name": "shared", "url": "https://shared.invalid/", "enabled": false});
    ada.post("/api/sources", shared).await;
    let heard = adas.until(|frame| frame["sourceId"] == "mcp-shared").await;
    assert_eq!(heard.len(), 1, "{heard:?}");
    next_about(&mut bobs, "mcp-shared", |frame| frame["state"] == "off").await;
}
