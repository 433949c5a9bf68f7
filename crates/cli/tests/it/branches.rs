//! Editing what was said, saying it again, and going back.

use serde_json::{Value, json};
use tenon_llm::scripted::ScriptStep;

use crate::server::{Page, Server};

async fn shown(server: &Server, chat: &str) -> String {
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let messages = messages.as_array().unwrap();
    let texts: Vec<&str> = messages
        .iter()
        .map(|message| message["text"].as_str().unwrap())
        .collect();
    texts.join(" | ")
}

#[tokio::test]
async fn a_message_is_edited_said_again_and_the_old_branch_stays() {
    let answers = (1..=4).map(|number| {
        vec![
            ScriptStep::text(&format!("answer {number}")),
            ScriptStep::stop(),
        ]
    });
    let server = Server::scripted(answers).await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    let turns = format!("/api/chats/{chat}/turns");
    let first = server.say(&chat, "a").await;
    page.until_finished().await;
    let second = server.say(&chat, "b").await;
    page.until_finished().await;

    let (status, edited) = server
        .post(&turns, json!({"text": "c", "replaces": second}))
        .await;
    assert_eq!(status, 202, "{edited}");
    let frames = page.until_finished().await;
    let started = frames
        .iter()
        .find(|frame| frame["body"]["type"] == "turnStarted");
    assert_eq!(started.unwrap()["body"]["branch"], json!({"after": first}));
    assert_eq!(shown(&server, &chat).await, "a | answer 1 | c | answer 3");

    let (status, _) = server.post(&turns, json!({"replaces": first})).await;
    assert_eq!(status, 202);
    page.until_finished().await;
    assert_eq!(shown(&server, &chat).await, "a | answer 4");

    let choose = async |turn: &Value| {
        let path = format!("/api/chats/{chat}/branch");
        server.post(&path, json!({"turnId": turn})).await.0
    };
    assert_eq!(choose(&json!(second)).await, 204);
    assert_eq!(shown(&server, &chat).await, "a | answer 1 | b | answer 2");
    page.until(|frame| frame["body"]["type"] == "branchChosen")
        .await;
    assert_eq!(choose(&json!(first)).await, 204);
    assert_eq!(shown(&server, &chat).await, "a | answer 1 | c | answer 3");

    assert_eq!(choose(&json!("nothing")).await, 404);
    assert_eq!(choose(&json!("a\u{0}b")).await, 404);
    let (status, _) = server
        .post(&turns, json!({"text": "x", "replaces": "a\u{0}b"}))
        .await;
    assert_eq!(status, 404);
    let (status, _) = server.post(&turns, json!({})).await;
    assert_eq!(status, 400);
    let elsewhere = server.new_chat().await;
    let (status, _) = server
        .post(
            &format!("/api/chats/{elsewhere}/turns"),
            json!({"text": "x", "replaces": first}),
        )
        .await;
    assert_eq!(status, 404);
}
