//! What a stolen log-in cannot do: make a key without the password, or outlive
//! a new one by a key.

use serde_json::{Value, json};

use crate::aged::age_log_ins;
use crate::people::{PASSWORD, Person};
use crate::server::Server;

fn code(answer: &(u16, Value)) -> (u16, &str) {
    let code = answer.1["error"]["code"].as_str();
    (answer.0, code.unwrap_or_default())
}

#[tokio::test]
async fn a_new_password_ends_the_keys_unless_they_are_to_stay() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let key = ada.key("full").await;
    let mut program = key.socket().await.unwrap();
    let change = |from: &str, to: &str, more: Value| {
        let mut body = json!({"currentPassword": from, "password": to});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        ada.send("PATCH", "/api/auth/me", Some(body))
    };
    let changed = change(PASSWORD, "another one", json!({"keepKeys": true})).await;
    assert_eq!(changed.0, 200, "{changed:?}");
    assert_eq!(key.get("/api/auth/me").await.0, 200);

    let changed = change("another one", PASSWORD, json!({})).await;
    assert_eq!(changed.0, 200, "{changed:?}");
    assert_eq!(program.closed().await, 4401);
    assert_eq!(key.get("/api/auth/me").await.0, 401);
    assert_eq!(ada.get("/api/keys").await, (200, json!([])));
    let (_, log) = ada.get("/api/audit?action=user.changed").await;
    assert_eq!(log[0]["detail"]["keys"], 1, "{log:#}");
    // Nothing but a password ends them.
    let key = ada.key("full").await;
    ada.patch("/api/auth/me", json!({"name": "Ada L."})).await;
    assert_eq!(key.get("/api/auth/me").await.0, 200);
}

#[tokio::test]
async fn logging_out_everywhere_ends_the_keys_unless_they_are_to_stay() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let key = ada.key("full").await;
    let out = "/api/auth/logout-everywhere";
    assert_eq!(ada.post(out, json!({"keepKeys": true})).await.0, 204);
    assert_eq!(key.get("/api/auth/me").await.0, 200);

    // Without a word about them, as from a script of before.
    let ada = Person::log_in(&server, "Ada").await;
    let mut program = key.socket().await.unwrap();
    assert_eq!(ada.send("POST", out, None).await.0, 204);
    assert_eq!(program.closed().await, 4401);
    assert_eq!(key.get("/api/auth/me").await.0, 401);
    let ada = Person::log_in(&server, "Ada").await;
    let refused = ada.post(out, json!({"keepKeys": "yes"})).await;
    assert_eq!(code(&refused), (400, "body_invalid"));
}

#[tokio::test]
async fn an_admin_who_sets_a_password_ends_the_keys_too() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let path = format!("/api/users/{}", bob.id);
    let (hers, his) = (ada.key("full").await, bob.key("full").await);
    let kept = json!({"password": PASSWORD, "keepKeys": true});
    assert_eq!(ada.patch(&path, kept).await.0, 200);
    assert_eq!(his.get("/api/auth/me").await.0, 200);
    let mut program = his.socket().await.unwrap();
    assert_eq!(ada.patch(&path, json!({"name": "B"})).await.0, 200);
    assert_eq!(his.get("/api/auth/me").await.0, 200);
    let reset = json!({"password": PASSWORD});
    assert_eq!(ada.patch(&path, reset).await.0, 200);
    assert_eq!(program.closed().await, 4401);
    assert_eq!(his.get("/api/auth/me").await.0, 401);
    assert_eq!(hers.get("/api/auth/me").await.0, 200);
}

#[tokio::test]
async fn making_a_key_asks_for_the_password_once_the_log_in_is_old() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let make = |password: Option<&str>| {
        let mut body = json!({"name": "ci"});
        if let Some(password) = password {
            body["password"] = password.into();
        }
        ada.send("POST", "/api/keys", Some(body))
    };
    // A script that has just logged in shows its password once.
    assert_eq!(make(None).await.0, 201);
    // Where one is sent, it counts.
    assert_eq!(code(&make(Some("no")).await), (403, "wrong_password"));

    age_log_ins(&server).await;
    assert_eq!(code(&make(None).await), (403, "password_needed"));
    assert_eq!(code(&make(Some("")).await), (403, "password_needed"));
    assert_eq!(make(Some(PASSWORD)).await.0, 201);
    for _ in 0..5 {
        assert_eq!(code(&make(Some("no")).await), (403, "wrong_password"));
    }
    assert_eq!(code(&make(Some(PASSWORD)).await), (429, "too_many"));
    assert_eq!(code(&make(None).await), (403, "password_needed"));
    let (_, keys) = ada.get("/api/keys").await;
    assert_eq!(keys.as_array().unwrap().len(), 2, "{keys}");
}
