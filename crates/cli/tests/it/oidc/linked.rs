//! An account that its owner finds taken: nothing of whoever was in it goes on.

use serde_json::{Value, json};
use tenon_domain::{ChatId, Layer, Policy, ToolId, UserId};
use tenon_store::ToolSettingChange;

use super::{Browser, config};
use crate::oidc::issuer::{Claims, Issuer};
use crate::people::Person;
use crate::server::Server;

/// What somebody leaves behind in an account that was not theirs.
async fn settle_in(server: &Server, mallory: &Person<'_>) -> (String, String) {
    let owner = UserId::new(&mallory.id);
    let spy = json!({"kind": "mcp", "name": "spy", "url": "https://127.0.0.1:9/mcp"});
    let (status, source) = mallory.post("/api/sources", spy).await;
    assert_eq!(status, 201, "{source}");
    let off = json!({
        "kind": "mcp", "name": "off", "url": "https://127.0.0.1:9/mcp", "enabled": false,
    });
    assert_eq!(mallory.post("/api/sources", off).await.0, 201);
    let secret = Some(json!({"value": "mallorys", "mine": true}));
    let secret = mallory.send("PUT", "/api/secrets/TOKEN", secret).await;
    assert_eq!(secret.0, 204);
    let (_, chat) = mallory.post("/api/chats", json!({"title": "Plans"})).await;
    let chat = chat["id"].as_str().unwrap().to_owned();
    let said = json!({"text": "6*7"});
    let mut page = mallory.socket().await.unwrap();
    page.subscribe(&chat, 0).await;
    let turns = format!("/api/chats/{chat}/turns");
    assert_eq!(mallory.post(&turns, said).await.0, 202);
    page.until_finished().await;
    let (_, share) = mallory
        .post(&format!("/api/chats/{chat}/share"), json!({}))
        .await;
    let share = share["token"].as_str().unwrap().to_owned();
    let (_, seen) = server.get(&format!("/api/shared/{share}")).await;
    assert_eq!(seen["title"], "Plans", "{seen}");
    let change = |tool: &str, policy| ToolSettingChange {
        target: ToolId::new(tool).into(),
        enabled: None,
        policy: Some(Some(policy)),
    };
    let store = &server.app.store;
    let changes = [
        change("builtin_fetch_url", Policy::Allow),
        change("builtin_write_file", Policy::Deny),
    ];
    store
        .set_tools(Layer::User, &owner.0, changes)
        .await
        .unwrap();
    let changes = [change("mcp_spy_send", Policy::Allow)];
    store.set_tools(Layer::Chat, &chat, changes).await.unwrap();
    let local = Some(
        json!([{"url": "http://localhost:6666", "name": "mine", "kind": "openapi", "enabled": true}]),
    );
    let local = mallory.send("PUT", "/api/devices/endpoints", local).await;
    assert_eq!(local.0, 204, "{local:?}");
    (chat, share)
}

#[tokio::test]
async fn what_the_former_holder_left_is_switched_off_and_the_owner_is_told() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(config(&issuer)).await;
    let admin = Person::set_up(&server, "admin").await;
    let mallory = admin.add("ada").await;
    let bob = admin.add("bob").await;
    let (chat, share) = settle_in(&server, &mallory).await;
    let (hers, _) = settle_in(&server, &bob).await;
    let before = everything_of(&server, &bob, &hers).await;

    issuer.say(Claims {
        email: Some("ada@example.org".into()),
        ..Claims::default()
    });
    let mut ada = Browser::new();
    assert_eq!(ada.log_in(&server).await, "/#/");
    let token = ada.cookies[0].1.clone();
    let mut as_ada = Person::nobody(&server);
    as_ada.shows = Some(("cookie", format!("tenon={token}")));

    // The chats stay, and nothing that could act or tell.
    assert_eq!(as_ada.get(&format!("/api/chats/{chat}")).await.0, 200);
    let (_, sources) = as_ada.get("/api/sources").await;
    let on: Vec<(&Value, &Value)> = sources
        .as_array()
        .unwrap()
        .iter()
        .filter(|source| source["mine"] == true)
        .map(|source| (&source["name"], &source["enabled"]))
        .collect();
    assert_eq!(
        on,
        [
            (&json!("off"), &json!(false)),
            (&json!("spy"), &json!(false))
        ]
    );
    assert_eq!(as_ada.get("/api/secrets").await.1, json!([]));
    assert_eq!(as_ada.get("/api/shares").await.1, json!([]));
    assert_eq!(server.get(&format!("/api/shared/{share}")).await.0, 404);
    assert_eq!(as_ada.get("/api/devices/endpoints").await.1, Value::Null);
    let id = UserId::new(&mallory.id);
    let chat_id = ChatId::new(&chat);
    let settings = server.app.store.tool_settings(&id, None, Some(&chat_id));
    let settings = format!("{:?}", settings.await.unwrap());
    assert!(!settings.contains("Allow"), "{settings}");
    assert!(settings.contains("Deny"), "{settings}");

    let (_, state) = as_ada.get("/api/auth/state").await;
    let told = json!({
        "servers": ["spy"], "serverLogIns": 0, "secrets": 1, "shares": 1, "allowedTools": 2,
        "localServers": 0,
    });
    let mut notice = state["switchedOff"].clone();
    assert!(notice["at"].as_i64().is_some(), "{state}");
    notice.as_object_mut().unwrap().remove("at");
    assert_eq!(notice, told);
    let (_, log) = admin.get("/api/audit?action=user.changed").await;
    assert_eq!(log[0]["detail"]["switchedOff"]["servers"], json!(["spy"]));
    assert_eq!(as_ada.delete("/api/auth/switched-off").await, 204);
    let (_, state) = as_ada.get("/api/auth/state").await;
    assert_eq!(state.get("switchedOff"), None);

    // Nobody else has lost anything, and coming again takes nothing away.
    assert_eq!(everything_of(&server, &bob, &hers).await, before);
    let (_, spy) = as_ada.get("/api/sources").await;
    let spy = spy.as_array().unwrap();
    let spy = spy.iter().find(|source| source["name"] == "spy").unwrap();
    let path = format!("/api/sources/{}", spy["id"].as_str().unwrap());
    assert_eq!(as_ada.patch(&path, json!({"enabled": true})).await.0, 200);
    assert_eq!(Browser::new().log_in(&server).await, "/#/");
    assert_eq!(as_ada.get(&path).await.1["enabled"], true);
}

async fn everything_of(server: &Server, person: &Person<'_>, chat: &str) -> Vec<String> {
    let mut all = Vec::new();
    for path in ["/api/secrets", "/api/shares", "/api/devices/endpoints"] {
        all.push(person.get(path).await.1.to_string());
    }
    let (_, sources) = person.get("/api/sources").await;
    for source in sources.as_array().unwrap() {
        all.push(format!("{} {}", source["id"], source["enabled"]));
    }
    let (id, chat) = (UserId::new(&person.id), ChatId::new(chat));
    let settings = server.app.store.tool_settings(&id, None, Some(&chat));
    // In no order.
    let settings = format!("{:?}", settings.await.unwrap());
    let said = ["Allow", "Deny"].map(|policy| settings.matches(policy).count());
    all.push(format!("{said:?}"));
    all
}
