//! A chat's name, from a model that was added.

use serde_json::json;
use tenon_app::config::Config;

use super::add;
use super::fake::Fake;
use crate::server::{Page, Server};

#[tokio::test]
async fn a_model_that_was_added_names_the_chat() {
    let config = Config {
        local_models: Some(Vec::new()),
        model_titles: Some(true),
        ..Config::default()
    };
    let (server, fake) = (Server::with_config(config).await, Fake::default());
    let added = add(&server, &fake.start().await, "small").await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    let turn = json!({"text": "hi", "modelId": added["id"]});
    server.post(&format!("/api/chats/{chat}/turns"), turn).await;
    let frames = page
        .until(|frame| frame["body"]["type"] == "chatTitled" && frame["body"]["by"] == "model")
        .await;
    let title = frames.last().unwrap()["body"]["title"].clone();
    let (_, shown) = server.get(&format!("/api/chats/{chat}")).await;
    assert_eq!(shown["title"], title);
    let (_, body) = fake.asked().last().cloned().unwrap();
    assert!(body.get("tools").is_none(), "{body}");
}
