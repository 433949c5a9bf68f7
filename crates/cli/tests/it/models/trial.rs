//! Models that are tried.

use serde_json::{Value, json};

use super::add;
use super::fake::Fake;
use crate::server::Server;

/// The frames of a test, to its end.
async fn test(server: &Server, id: &str) -> Vec<Value> {
    let path = format!("/api/models/{id}/test");
    let response = server.request("POST", &path).send().await.unwrap();
    let body = response.text().await.unwrap();
    let frames = body.lines().filter_map(|line| line.strip_prefix("data: "));
    frames
        .map(|frame| serde_json::from_str(frame).unwrap())
        .collect()
}

#[tokio::test]
async fn a_test_sees_how_tools_are_called_and_auto_goes_by_it() {
    let (server, fake) = (Server::start().await, Fake::default());
    let url = fake.start().await;
    for (model, tools, is_in_text) in [
        ("small", "native", false),
        ("writer", "native", true),
        ("weak", "constrained", false),
        // A test takes no tools away.
        ("dumb", "none", false),
    ] {
        let added = add(&server, &url, model).await;
        let id = added["id"].as_str().unwrap();
        let frames = test(&server, id).await;
        let words: String = frames
            .iter()
            .filter_map(|frame| frame["text"].as_str())
            .collect();
        assert_eq!(words, "Hello there.");
        let last = frames.last().unwrap();
        assert_eq!(
            (&last["ok"], &last["tools"], &last["isInText"]),
            (&json!(true), &json!(tools), &json!(is_in_text)),
            "{model}"
        );
        let (_, seen) = server.get(&format!("/api/models/{id}")).await;
        assert_eq!(seen["toolsSeen"], tools);

        let chat = server.new_chat().await;
        let turn = json!({"text": "hi", "modelId": id});
        server.post(&format!("/api/chats/{chat}/turns"), turn).await;
        server.settle(&chat).await;
        let (_, body) = fake.asked().last().cloned().unwrap();
        assert_eq!(
            body.get("tools").is_some(),
            tools != "constrained",
            "{model}"
        );
        assert_eq!(
            body.get("response_format").is_some(),
            tools == "constrained",
            "{model}"
        );
    }
}

#[tokio::test]
async fn a_model_deleted_while_it_is_tried_stays_deleted() {
    let (server, fake) = (Server::start().await, Fake::default());
    let added = add(&server, &fake.start().await, "small").await;
    let id = added["id"].as_str().unwrap();
    let mut stream = server
        .request("POST", &format!("/api/models/{id}/test"))
        .send()
        .await
        .unwrap();
    stream.chunk().await.unwrap();
    let path = format!("/api/models/{id}");
    let gone = server.request("DELETE", &path).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    while stream.chunk().await.unwrap().is_some() {}
    let (status, _) = server.get(&path).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn a_test_of_a_dead_server_says_so() {
    let server = Server::start().await;
    let added = add(&server, "http://127.0.0.1:1/v1", "small").await;
    let frames = test(&server, added["id"].as_str().unwrap()).await;
    let last = frames.last().unwrap();
    assert_eq!(last["ok"], false);
    let message = last["error"]["message"].as_str().unwrap();
    assert!(message.contains("Check that the server runs"), "{message}");
    let missing = server
        .request("POST", "/api/models/none/test")
        .send()
        .await
        .unwrap();
    assert_eq!(missing.status(), 404);
}
