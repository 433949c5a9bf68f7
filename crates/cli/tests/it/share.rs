//! Links to chats, for whoever has them.

use serde_json::{Value, json};
use tenon_llm::scripted::ScriptStep;

use crate::chats::delete;
use crate::people::Person;
use crate::server::{Page, Server};

async fn server() -> Server {
    Server::scripted([
        vec![
            ScriptStep::Say(tenon_llm::ModelDelta::Thinking("hidden".into())),
            ScriptStep::text("I shall count."),
            ScriptStep::call(0, "builtin_calculate", &json!({"expression": "6*7"})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("42"), ScriptStep::stop()],
        vec![ScriptStep::text("Later."), ScriptStep::stop()],
    ])
    .await
}

fn texts(shared: &Value) -> Vec<&str> {
    let turns = shared["turns"].as_array().unwrap().iter();
    let messages = turns.flat_map(|turn| turn["messages"].as_array().unwrap());
    let parts = messages.flat_map(|message| message["parts"].as_array().unwrap());
    parts.filter_map(|part| part["text"].as_str()).collect()
}

#[tokio::test]
async fn a_link_shows_one_branch_up_to_when_it_was_made() {
    let server = server().await;
    let chat = server.new_chat().await;
    let path = format!("/api/chats/{chat}/share");
    assert_eq!(server.get(&path).await, (200, Value::Null));
    assert_eq!(
        server.post(&path, json!({})).await.0,
        400,
        "nothing was said"
    );

    server.ask(&chat, "count").await;
    let (status, share) = server.post(&path, json!({})).await;
    assert_eq!(status, 200);
    let token = share["token"].as_str().unwrap();
    assert!(token.len() >= 22, "{token}");
    let shared = format!("/api/shared/{token}");
    server.ask(&chat, "and now?").await;
    let chat_path = format!("/api/chats/{chat}");
    server.patch(&chat_path, json!({"title": "later"})).await;
    let (status, read) = server.get(&shared).await;
    assert_eq!((status, &read["title"]), (200, &json!("count")));
    assert_eq!(texts(&read), ["count", "I shall count.", "42"]);
    let calls = &read["turns"][0]["messages"][1]["toolCalls"];
    assert_eq!(calls[0]["displayName"], "Math/Calculate");
    for secret in ["hidden", "6*7", "expression", "blobId", &chat] {
        assert!(!read.to_string().contains(secret), "{secret}: {read:#}");
    }

    // Made again it is the same link, and shows all there is.
    assert_eq!(server.get(&path).await.1["behind"], true);
    let (_, renewed) = server.post(&path, json!({"withTools": true})).await;
    assert_eq!(renewed["token"], *token);
    assert_eq!(renewed["behind"], false);
    let (_, read) = server.get(&shared).await;
    assert_eq!(texts(&read).last(), Some(&"Later."));
    let call = &read["turns"][0]["messages"][1]["toolCalls"][0];
    assert_eq!(call["input"], json!({"expression": "6*7"}));
    assert_eq!(call["output"]["content"][0]["text"], "42");
    assert!(!read.to_string().contains("hidden"), "{read:#}");

    let (_, own) = server.get("/api/shares").await;
    assert_eq!(own[0]["chatId"], *chat);
    assert_eq!(
        (&own[0]["title"], &own[0]["token"]),
        (&json!("later"), &json!(token))
    );
    assert_eq!(read["title"], "later");
}

#[tokio::test]
async fn a_link_that_is_gone_is_like_one_that_never_was() {
    let server = server().await;
    let chat = server.new_chat().await;
    server.ask(&chat, "count").await;
    let path = format!("/api/chats/{chat}/share");
    let (_, share) = server.post(&path, json!({})).await;
    let shared = format!("/api/shared/{}", share["token"].as_str().unwrap());
    let never = server.get("/api/shared/never").await;
    assert_eq!(never.0, 404);

    let chat_path = format!("/api/chats/{chat}");
    assert_eq!(delete(&server, &chat_path).await, 204);
    assert_eq!(server.get(&shared).await, never, "the chat was deleted");
    assert_eq!(server.get("/api/shares").await.1, json!([]));
    server
        .post(&format!("{chat_path}/restore"), json!({}))
        .await;
    assert_eq!(server.get(&shared).await.0, 200);

    assert_eq!(delete(&server, &path).await, 204);
    assert_eq!(
        delete(&server, &path).await,
        204,
        "that it is gone already is no mistake"
    );
    assert_eq!(server.get(&shared).await, never, "it was taken back");
    let (_, again) = server.post(&path, json!({})).await;
    assert_ne!(again["token"], share["token"], "the old link stays dead");
    let (_, noted) = server.get("/api/audit?action=share.").await;
    let noted = noted.as_array().unwrap().iter();
    let noted: Vec<&Value> = noted.map(|entry| &entry["action"]).collect();
    assert_eq!(noted, ["share.made", "share.revoked", "share.made"]);
}

#[tokio::test]
async fn a_link_ends_before_what_still_runs_and_hides_why_something_broke_off() {
    let server = Server::scripted([
        vec![
            ScriptStep::text("So"),
            ScriptStep::Fail("10.0.0.7 hung up".into()),
        ],
        vec![ScriptStep::text("Never"), ScriptStep::Hang],
    ])
    .await;
    let chat = server.new_chat().await;
    let path = format!("/api/chats/{chat}/share");
    server.ask(&chat, "first").await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    server.say(&chat, "second").await;
    page.until(|frame| frame["type"] == "delta" && frame["text"] == "Never")
        .await;
    let (status, share) = server.post(&path, json!({})).await;
    assert_eq!((status, &share["behind"]), (200, &json!(true)));
    let shared = format!("/api/shared/{}", share["token"].as_str().unwrap());
    let (_, read) = server.get(&shared).await;
    assert_eq!(texts(&read), ["first", "So"]);
    let outcome = json!({
        "kind": "interrupted",
        "code": "answer_broke_off",
        "message": "The answer broke off.",
        "params": {},
    });
    assert_eq!(read["turns"][0]["outcome"], outcome);
}

#[tokio::test]
async fn the_links_of_a_disabled_user_lead_nowhere() {
    let server = Server::with_accounts([vec![ScriptStep::text("Hi."), ScriptStep::stop()]]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let (chat, _) = bob.ask("hello").await;
    let (_, share) = bob
        .post(&format!("/api/chats/{chat}/share"), json!({}))
        .await;
    let shared = format!("/api/shared/{}", share["token"].as_str().unwrap());
    let account = format!("/api/users/{}", bob.id);
    for (disabled, status) in [(false, 200), (true, 404), (false, 200)] {
        ada.patch(&account, json!({"disabled": disabled})).await;
        assert_eq!(server.get(&shared).await.0, status, "disabled: {disabled}");
    }
}
