//! `/api/openapi.json`: what others make of it.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::peer::{installed, ours};
use crate::people::Person;
use crate::server::{Server, TEST_TIMEOUT};

#[tokio::test]
async fn the_document_is_valid_and_tenon_itself_can_call_through_it() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    // Nobody needs an account to read it.
    let (status, document) = Person::nobody(&server).get("/api/openapi.json").await;
    assert_eq!(status, 200);

    let mut validator = tokio::process::Command::new(installed("venv/bin/python"));
    validator
        .arg(ours("openapi/validate.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut validator = validator.kill_on_drop(true).spawn().unwrap();
    let mut stdin = validator.stdin.take().unwrap();
    stdin
        .write_all(document.to_string().as_bytes())
        .await
        .unwrap();
    drop(stdin);
    let output = tokio::time::timeout(TEST_TIMEOUT * 2, validator.wait_with_output());
    let output = output.await.unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "valid");

    let url = format!("http://{}", server.address);
    let (_, shown) = ada.key("full").await.shows.unwrap();
    let source = json!({
        "kind": "openapi", "name": "self", "url": format!("{url}/api/openapi.json"),
        "headers": {"Authorization": shown},
    });
    let (status, added) = ada.post("/api/sources", source).await;
    assert_eq!(status, 201, "{added}");
    let tools = listed(&ada).await;
    let operations = document["paths"].as_object().unwrap().values();
    let operations: usize = operations.map(|path| path.as_object().unwrap().len()).sum();
    // All but those that are no call: WebSocket.
    assert!(
        tools.len() + 1 >= operations,
        "{} of {operations}",
        tools.len()
    );
    let call = async |operation: &str, arguments: Value| {
        let is_it = |id: &&String| id.ends_with(operation);
        let id = tools.iter().find(is_it).expect(operation);
        let path = format!("/api/tools/{id}/call");
        let (status, answer) = ada.post(&path, json!({ "arguments": arguments })).await;
        assert_eq!(status, 200, "{answer}");
        answer
    };
    let made = call("postChats", json!({"title": "Made by a tool"})).await;
    assert!(made.to_string().contains("Made by a tool"), "{made}");
    let found = call("getChats", json!({"limit": 1})).await;
    assert!(found.to_string().contains("Made by a tool"), "{found}");
}

/// The ids of the tools of that source, once it is ready.
async fn listed(ada: &Person<'_>) -> Vec<String> {
    let deadline = tokio::time::Instant::now() + TEST_TIMEOUT;
    loop {
        let (_, tools) = ada.get("/api/tools").await;
        let ids = tools.as_array().unwrap().iter();
        let ids = ids.filter_map(|tool| tool["toolId"].as_str().map(str::to_owned));
        let ids: Vec<String> = ids.filter(|id| id.contains("self")).collect();
        if !ids.is_empty() {
            return ids;
        }
        assert!(tokio::time::Instant::now() < deadline, "it never came up");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}
