//! Folders, instructions and parameters of chats, temporary chats.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_llm::scripted::{ScriptStep, Scripted};

use crate::server::{Server, answer};

fn says(words: &str) -> Vec<ScriptStep> {
    vec![ScriptStep::text(words), ScriptStep::stop()]
}

async fn put(server: &Server, path: &str, body: Value) -> (u16, Value) {
    let request = server.request("PUT", path).json(&body);
    answer(request.send().await.unwrap()).await
}

#[tokio::test]
async fn instructions_of_the_person_the_folder_and_the_chat_follow_each_other() {
    let model = Arc::new(Scripted::new(["one", "two"].map(says)));
    let server = Server::with_model(model.clone()).await;
    let mine = json!({"instructions": " Call me Ada. "});
    assert_eq!(put(&server, "/api/me/instructions", mine).await.0, 200);
    let folder = json!({"name": "Tides", "instructions": "Use metres."});
    let (status, folder) = server.post("/api/folders", folder).await;
    assert_eq!(status, 201, "{folder}");
    let new = json!({"folderId": folder["id"]});
    let (_, chat) = server.post("/api/chats", new).await;
    assert_eq!(chat["folderId"], folder["id"]);
    let chat = chat["id"].as_str().unwrap();
    let settings = json!({
        "instructions": "Be brief.",
        "parameters": {"temperature": 0.2, "maxTokens": 100, "effort": "low"},
    });
    let path = format!("/api/chats/{chat}/settings");
    assert_eq!(
        put(&server, &path, settings.clone()).await,
        (200, settings.clone())
    );
    assert_eq!(server.get(&path).await, (200, settings));
    server.ask(chat, "How high?").await;
    let asked = &model.requests()[0];
    let expected = "\n\nInstructions of the user:\nCall me Ada.\n\n\
                    Instructions for this project:\nUse metres.\n\n\
                    Instructions for this conversation:\nBe brief.";
    assert!(asked.system.ends_with(expected), "{}", asked.system);
    assert_eq!(asked.options.temperature, Some(0.2));
    assert_eq!(asked.options.sampling["reasoning_effort"], "low");

    // Without its folder a chat is told the rest.
    let id = folder["id"].as_str().unwrap();
    let path = format!("/api/folders/{id}");
    let gone = server.request("DELETE", &path).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    let (_, shown) = server.get(&format!("/api/chats/{chat}")).await;
    assert_eq!(shown["folderId"], Value::Null);
    server.ask(chat, "And now?").await;
    let system = &model.requests()[1].system;
    assert!(!system.contains("Use metres."), "{system}");
}

#[tokio::test]
async fn chats_are_listed_by_folder_and_what_is_wrong_is_said_at_its_field() {
    let server = Server::start().await;
    let (_, folder) = server.post("/api/folders", json!({"name": "Work"})).await;
    let id = folder["id"].as_str().unwrap();
    let (_, inside) = server.post("/api/chats", json!({"folderId": id})).await;
    let outside = server.new_chat().await;
    let ids = async |path: String| {
        let (_, chats) = server.get(&path).await;
        let chats = chats.as_array().unwrap().clone();
        let ids: Vec<String> = chats
            .iter()
            .map(|chat| chat["id"].as_str().unwrap().to_owned())
            .collect();
        ids
    };
    let inside = inside["id"].as_str().unwrap();
    assert_eq!(ids(format!("/api/chats?folder={id}")).await, [inside]);
    assert_eq!(ids("/api/chats".into()).await.len(), 2);
    let moved = json!({"folderId": id});
    let (status, _) = server.patch(&format!("/api/chats/{outside}"), moved).await;
    assert_eq!(status, 200);
    assert_eq!(ids(format!("/api/chats?folder={id}")).await.len(), 2);
    let out = json!({"folderId": null});
    server.patch(&format!("/api/chats/{outside}"), out).await;
    assert_eq!(ids(format!("/api/chats?folder={id}")).await, [inside]);

    for (body, field) in [
        (json!({"name": ""}), "name"),
        (json!({"name": "a\nb"}), "name"),
        (
            json!({"name": "x", "instructions": "y".repeat(8_001)}),
            "instructions",
        ),
    ] {
        let (status, error) = server.post("/api/folders", body).await;
        assert_eq!((status, &error["error"]["field"]), (400, &json!(field)));
    }
    let hot = json!({"parameters": {"temperature": 9}});
    let (status, error) = put(&server, &format!("/api/chats/{inside}/settings"), hot).await;
    assert_eq!(status, 400, "{error}");
}

#[tokio::test]
async fn a_temporary_chat_is_in_no_list_until_it_is_kept() {
    let server = Server::start().await;
    let (_, chat) = server.post("/api/chats", json!({"temporary": true})).await;
    assert_eq!(chat["temporary"], true);
    let id = chat["id"].as_str().unwrap();
    server.ask(id, "What is 6*7? zanzibar").await;
    assert_eq!(server.get("/api/chats").await.1, json!([]));
    assert_eq!(server.get("/api/search?q=zanzibar").await.1, json!([]));
    server
        .patch(&format!("/api/chats/{id}"), json!({"temporary": false}))
        .await;
    assert_eq!(server.get("/api/chats").await.1[0]["id"], id);
    let (_, hits) = server.get("/api/search?q=zanzibar").await;
    assert_eq!(hits[0]["chatId"], id, "{hits}");
}

#[tokio::test]
async fn what_a_message_would_send_is_known_before_it_is_sent() {
    let server = Server::start().await;
    let (status, context) = server.post("/api/context", json!({"text": "hello"})).await;
    assert_eq!(status, 200, "{context}");
    let tools = context["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("builtin_calculate")), "{context}");
    assert!(context["toolTokens"].as_u64().unwrap() > 100);
    let before = context["historyTokens"].as_u64().unwrap();
    let chat = server.new_chat().await;
    server.ask(&chat, "What is 6*7?").await;
    let query = json!({"chatId": chat, "text": "hello"});
    let (_, context) = server.post("/api/context", query).await;
    assert!(
        context["historyTokens"].as_u64().unwrap() > before,
        "{context}"
    );
}
