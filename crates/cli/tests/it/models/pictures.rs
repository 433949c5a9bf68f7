//! A model that turns out to see no pictures.

use serde_json::json;

use super::fake::Fake;
use super::{add, send};
use crate::attachments::{PIXEL, send_message, upload};
use crate::server::Server;

#[tokio::test]
async fn a_model_that_refuses_pictures_is_known_for_it_and_goes_on_without_them() {
    let (server, fake) = (Server::start().await, Fake::default());
    let url = fake.start().await;
    let added = add(&server, &url, "blind").await;
    assert_eq!(added["seesImages"], json!(null));
    let path = format!("/api/models/{}", added["id"].as_str().unwrap());
    send(&server, "PATCH", &path, json!({"isDefault": true})).await;

    let chat = server.new_chat().await;
    let (_, pixel) = upload(&server, "pixel.png", PIXEL).await;
    let shows = json!({"text": "What is it?", "fileIds": [pixel["id"]]});
    send_message(&server, &chat, shows).await;
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let outcome = &messages[0]["outcome"];
    assert!(
        outcome.to_string().contains("model_without_images"),
        "{messages}"
    );
    let (_, model) = server.get(&path).await;
    assert_eq!(model["seesImages"], false);
    let (_, models) = server.get("/api/models").await;
    let seen: Vec<_> = models
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["seesImages"])
        .collect();
    // The built-in one as well.
    assert_eq!(seen, [&json!(false), &json!(false)]);

    // An estimate counts the picture as what it is told of it.
    let query = json!({"chatId": chat, "text": "Never mind."});
    let (status, context) = server.post("/api/context", query).await;
    assert_eq!(status, 200, "{context}");
    assert!(
        context["historyTokens"].as_u64().unwrap() < 200,
        "{context}"
    );

    send_message(&server, &chat, json!({"text": "Never mind."})).await;
    let asked = fake.asked();
    let told = asked.last().unwrap().1["messages"].to_string();
    assert!(told.contains("[picture: pixel.png]"), "{told}");
    assert!(told.contains("Never mind."), "{told}");
    assert!(!told.contains("image_url"), "{told}");
}
