//! A client chooses the id of its turn, so that sending twice is one turn.

use serde_json::json;
use tenon_llm::scripted::ScriptStep;

use crate::people::Person;
use crate::server::{Page, Server};

const ID: &str = "0198c6a0-5b1e-7cc3-9d2f-3e4a5b6c7d8e";

#[tokio::test]
async fn a_message_that_is_sent_twice_is_one_turn() {
    let server = Server::scripted([vec![ScriptStep::text("hello"), ScriptStep::stop()]]).await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    let turns = format!("/api/chats/{chat}/turns");
    let send = async |id: &str, text: &str| {
        let body = json!({"text": text, "turnId": id});
        server.post(&turns, body).await
    };
    // However a UUID is written, it is the same one.
    for id in [ID, &ID.to_uppercase(), &ID.replace('-', "")] {
        let (status, started) = send(id, "go").await;
        assert_eq!((status, started), (202, json!({"turnId": ID})));
    }
    page.until_finished().await;
    assert_eq!(send(ID, "go").await.0, 202);
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(messages.as_array().unwrap().len(), 2, "{messages}");

    let (status, refused) = send(ID, "something else").await;
    assert_eq!(status, 409);
    assert_eq!(refused["error"]["code"], "turn_id_taken");
    let elsewhere = server.new_chat().await;
    let body = json!({"text": "go", "turnId": ID});
    let (status, refused) = server
        .post(&format!("/api/chats/{elsewhere}/turns"), body)
        .await;
    assert_eq!(status, 409);
    assert_eq!(refused["error"]["code"], "turn_id_taken");

    let nil = "00000000-0000-0000-0000-000000000000";
    for invalid in ["", "1", "a\u{0}b", "../turns", &ID[1..], nil] {
        let (status, refused) = send(invalid, "go").await;
        assert_eq!(status, 400, "{invalid}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("has to be a UUID"), "{message}");
    }
}

#[tokio::test]
async fn a_message_that_is_sent_again_is_the_same_turn_when_its_model_has_gone() {
    let server = Server::start().await;
    let person = Person::alone(&server);
    let model =
        json!({"baseUrl": "http://127.0.0.1:9/v1", "model": "tide-1", "provider": "openai"});
    let (status, model) = person.post("/api/models", model).await;
    assert_eq!(status, 201, "{model}");
    let chat = server.new_chat().await;
    let send = async |text: &str| {
        let body = json!({"text": text, "turnId": ID, "modelId": model["id"]});
        server.post(&format!("/api/chats/{chat}/turns"), body).await
    };
    let first = send("go").await;
    assert_eq!(first, (202, json!({"turnId": ID})));
    server.settle(&chat).await;
    let path = format!("/api/models/{}", model["id"].as_str().unwrap());
    assert_eq!(person.delete(&path).await, 204);
    assert_eq!(send("go").await, first);
    let (status, refused) = send("something else").await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (409, &json!("turn_id_taken"))
    );
    let another = json!({"text": "go", "modelId": model["id"]});
    let (status, refused) = server
        .post(&format!("/api/chats/{chat}/turns"), another)
        .await;
    assert!((400..500).contains(&status), "{status} {refused}");
}
