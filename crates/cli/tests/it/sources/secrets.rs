//! What is given to a server reaches that server, and nobody else.

use serde_json::{Value, json};

use super::fixtures::{delete, everything, ready, source, text};
use crate::server::{Server, answer};

const SECRETS: [&str; 5] = [
    "sk-env-1",
    "sk-header-2",
    "sk-query-3",
    "sk-user-4",
    "sk-kept-5",
];

async fn put(server: &Server, name: &str, body: Value) -> (u16, Value) {
    let request = server.request("PUT", &format!("/api/secrets/{name}"));
    answer(request.json(&body).send().await.unwrap()).await
}

#[tokio::test]
async fn no_secret_is_in_any_answer_log_or_table() {
    let server = Server::start().await;
    let program = everything("all", json!({"KEY": "sk-env-1", "NAME": "${KEPT}"}));
    let remote = json!({
        "kind": "mcp", "name": "far", "enabled": false,
        "url": "https://sk-user-4@far.invalid/mcp?key=sk-query-3&n=${KEPT}",
        "headers": {"Authorization": "Bearer sk-header-2", "X-Name": "${KEPT}"},
    });
    assert_eq!(
        put(&server, "KEPT", json!({"value": "sk-kept-5"})).await.0,
        204
    );
    let mut told = Vec::new();
    for new in [program, remote] {
        let (status, added) = server.post("/api/sources", new).await;
        assert_eq!(status, 201, "{added}");
        told.push(added);
    }
    ready(&server, "mcp-all").await;
    let far = "/api/sources/mcp-far";
    let (_, shown) = server.get(far).await;
    assert_eq!(
        shown["reach"],
        json!({
            "transport": "http",
            "url": "https://***@far.invalid/mcp?key=***&n=${KEPT}",
            "headers": {"Authorization": null, "X-Name": "${KEPT}"},
            "toolTimeoutsMs": {},
        })
    );
    // Sent back as it was shown, it means what is kept.
    let same = json!({"url": shown["reach"]["url"], "headers": shown["reach"]["headers"]});
    told.push(server.patch(far, same).await.1);
    let (status, refused) = server
        .patch(far, json!({"url": "https://evil.invalid/"}))
        .await;
    assert_eq!(status, 400, "{refused}");
    for path in [
        "/api/sources",
        far,
        "/api/sources/mcp-all",
        "/api/sources/mcp-all/logs",
        "/api/secrets",
        "/api/audit",
        "/api/tools",
    ] {
        told.push(server.get(path).await.1);
    }
    for answer in &told {
        for secret in SECRETS {
            assert!(!answer.to_string().contains(secret), "{secret} in {answer}");
        }
    }
    // The program has it all the same.
    let (_, env) = server
        .post("/api/tools/mcp_all_get-env/call", json!({"arguments": {}}))
        .await;
    let env = text(&env);
    assert!(
        env.contains("sk-env-1") && env.contains("sk-kept-5"),
        "{env}"
    );
    assert!(!env.contains("sk-header-2"));

    // Nothing of it lies in the data folder in the clear.
    server.app.sources.close().await;
    for entry in std::fs::read_dir(server.data()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            for secret in SECRETS {
                let found = bytes
                    .windows(secret.len())
                    .any(|bytes| bytes == secret.as_bytes());
                assert!(!found, "{secret} in {path:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_secret_that_is_set_or_changed_reaches_the_server_at_once() {
    let server = Server::start().await;
    let new = everything("all", json!({"KEY": "${LATER}"}));
    assert_eq!(server.post("/api/sources", new).await.0, 201);
    let failed = source(&server, "mcp-all", |source| source["state"] != "starting").await;
    assert!(
        failed["why"]["message"]
            .as_str()
            .unwrap()
            .contains("${LATER}"),
        "{failed}"
    );
    assert_eq!(failed["unset"], json!(["LATER"]));
    for value in ["sk-first", "sk-second"] {
        assert_eq!(put(&server, "LATER", json!({"value": value})).await.0, 204);
        super::fixtures::until(|| async {
            let path = "/api/tools/mcp_all_get-env/call";
            let (_, env) = server.post(path, json!({"arguments": {}})).await;
            let has = env["ok"] == true && env.to_string().contains(value);
            has.then_some(()).ok_or(env)
        })
        .await;
    }
    let (_, secrets) = server.get("/api/secrets").await;
    assert_eq!(
        (&secrets[0]["name"], &secrets[0]["mine"]),
        (&json!("LATER"), &json!(false))
    );
    assert_eq!(delete(&server, "/api/secrets/LATER").await, 204);
    let failed = source(&server, "mcp-all", |source| source["state"] != "ready").await;
    assert_ne!(failed["state"], "ready", "{failed}");
    server.app.sources.close().await;
}

#[tokio::test]
async fn a_name_that_could_never_be_meant_is_refused() {
    let server = Server::start().await;
    for name in ["user.KEY", "1KEY", "a b"] {
        let (status, refused) = put(&server, name, json!({"value": "v"})).await;
        assert_eq!(status, 400, "{name} {refused}");
    }
    let (_, refused) = put(&server, "user.KEY", json!({"value": "v", "mine": true})).await;
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("leave `user.` out of the name"), "{why}");
    assert_eq!(
        put(&server, "_user.KEY", json!({"value": "v"})).await.0,
        204
    );
}
