//! Who gets through the door: keys, and nobody with a cookie, from another site, or with a key that
//! was revoked.

use futures::StreamExt;
use serde_json::{Value, json};
use tenon_server::router::mcp_routes;

use super::{message, stateless};
use crate::people::Person;
use crate::server::{Server, answer};

#[tokio::test]
async fn the_door_opens_to_keys_alone() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let nobody = Person::nobody(&server);
    let metadata = "/.well-known/oauth-protected-resource";
    for route in mcp_routes() {
        for (who, stranger) in [("nobody", &nobody), ("a cookie", &ada)] {
            let response = stranger.request(route.method.as_str(), route.path);
            let response = response.send().await.unwrap();
            assert_eq!(response.status(), 401, "{route:?}, by {who}");
            let challenge = response.headers()["www-authenticate"].to_str().unwrap();
            let expected = format!(
                "Bearer resource_metadata=\"http://{}{metadata}/mcp\"",
                server.address
            );
            assert_eq!(challenge, expected, "{route:?}");
        }
    }
    for path in [metadata.to_owned(), format!("{metadata}/mcp")] {
        let (status, described) = nobody.get(&path).await;
        assert_eq!(status, 200);
        assert_eq!(
            described["resource"],
            format!("http://{}/mcp", server.address)
        );
    }
    let list = message("tools/list", json!({}));
    let read_only = ada.key("read").await;
    let (status, refused) = answer(
        stateless(read_only.request("POST", "/mcp"), &list)
            .send()
            .await
            .unwrap(),
    )
    .await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (403, &json!("key_reads_only"))
    );
    let uses = ada.key("use").await;
    for method in ["POST", "GET"] {
        let request = stateless(uses.request(method, "/mcp"), &list);
        let foreign = request.header("origin", "https://evil.example").send();
        assert_eq!(foreign.await.unwrap().status(), 403, "{method}");
    }
    let listed = stateless(uses.request("POST", "/mcp"), &list).send().await;
    let (status, listed) = answer(listed.unwrap()).await;
    assert_eq!(status, 200, "{listed}");
    assert!(listed.to_string().contains("builtin_calculate"), "{listed}");
}

#[tokio::test]
async fn a_session_is_of_one_key_and_ends_with_it() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let (key, other) = (ada.key("use").await, ada.key("use").await);
    let session = initialize(&key).await;
    let ping = |person: &Person<'_>| {
        let request = person
            .request("POST", "/mcp")
            .header("mcp-session-id", &session);
        let request = request.header("accept", "application/json, text/event-stream");
        request
            .json(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}))
            .send()
    };
    assert_eq!(ping(&key).await.unwrap().status(), 200);
    assert_eq!(ping(&other).await.unwrap().status(), 404, "another key");
    let stream = key
        .request("GET", "/mcp")
        .header("mcp-session-id", &session);
    let stream = stream
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status(), 200);
    let (_, keys) = ada.get("/api/keys").await;
    for key in keys.as_array().unwrap() {
        let path = format!("/api/keys/{}", key["id"].as_str().unwrap());
        assert_eq!(ada.send("DELETE", &path, None).await.0, 204);
    }
    // The stream ends by itself.
    let mut events = stream.bytes_stream();
    let ended = async { while events.next().await.is_some() {} };
    tokio::time::timeout(crate::server::TEST_TIMEOUT, ended)
        .await
        .unwrap();
    assert_eq!(ping(&key).await.unwrap().status(), 401);
}

async fn initialize(person: &Person<'_>) -> String {
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let begin: Value = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let request = person.request("POST", "/mcp").json(&begin);
    let request = request.header("accept", "application/json, text/event-stream");
    let response = request.send().await.unwrap();
    let session = response.headers()["mcp-session-id"].to_str().unwrap();
    session.to_owned()
}
