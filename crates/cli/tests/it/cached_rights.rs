//! Rights are read from memory, and what takes them away counts with the next request.

use serde_json::{Value, json};

use crate::people::Person;
use crate::server::Server;

const CALL: &str = "/api/tools/builtin_calculate/call";

async fn call(program: &Person<'_>) -> (u16, Value) {
    let (status, answer) = program
        .post(CALL, json!({"arguments": {"expression": "6*7"}}))
        .await;
    (status, answer["ok"].clone())
}

#[tokio::test]
async fn what_is_taken_back_counts_with_the_next_request() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let (adas, bobs) = (ada.key("full").await, bob.key("use").await);
    // Twice: the second one is from memory.
    for _ in 0..2 {
        assert_eq!(call(&adas).await, (200, json!(true)));
        assert_eq!(call(&bobs).await, (200, json!(true)));
        assert_eq!(bob.get("/api/auth/me").await.0, 200);
        assert_eq!(adas.get("/api/users").await.0, 200);
    }

    let policy = |policy: Value| json!({"layer": "organisation", "tools": [{"toolId": "builtin_calculate", "policy": policy}]});
    assert_eq!(ada.patch("/api/tools", policy(json!("deny"))).await.0, 204);
    assert_eq!(call(&bobs).await, (200, json!(false)));
    assert_eq!(ada.patch("/api/tools", policy(Value::Null)).await.0, 204);
    assert_eq!(call(&bobs).await, (200, json!(true)));

    // An admin, and no longer one.
    let path = format!("/api/users/{}", bob.id);
    assert_eq!(bob.get("/api/users").await.0, 403);
    assert_eq!(ada.patch(&path, json!({"role": "admin"})).await.0, 200);
    assert_eq!(bob.get("/api/users").await.0, 200);
    assert_eq!(ada.patch(&path, json!({"role": "user"})).await.0, 200);
    assert_eq!(bob.get("/api/users").await.0, 403);

    assert_eq!(ada.patch(&path, json!({"disabled": true})).await.0, 200);
    assert_eq!(call(&bobs).await.0, 401);
    assert_eq!(bob.get("/api/auth/me").await.0, 401);
    assert_eq!(ada.patch(&path, json!({"disabled": false})).await.0, 200);
    assert_eq!(call(&bobs).await, (200, json!(true)));

    let (_, keys) = ada.get("/api/keys").await;
    let path = format!("/api/keys/{}", keys[0]["id"].as_str().unwrap());
    assert_eq!(ada.delete(&path).await, 204);
    assert_eq!(call(&adas).await.0, 401);

    // A wrong key stays wrong, and a log-in ends with log-out.
    assert_eq!(ada.get("/api/auth/me").await.0, 200);
    assert_eq!(ada.post("/api/auth/logout", json!({})).await.0, 204);
    assert_eq!(ada.get("/api/auth/me").await.0, 401);
}

#[tokio::test]
async fn calls_are_in_the_log_when_somebody_looks() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let program = ada.key("use").await;
    for _ in 0..3 {
        assert_eq!(call(&program).await, (200, json!(true)));
    }
    let (_, noted) = ada.get("/api/audit?action=tool.called").await;
    assert_eq!(noted.as_array().unwrap().len(), 3, "{noted}");
}
