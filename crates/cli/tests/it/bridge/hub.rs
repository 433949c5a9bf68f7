//! `/mcpo` of `tenon serve`: the tools of a user for clients of mcpo.

use serde_json::{Value, json};

use super::BridgeProcess;
use crate::listening::everything;
use crate::people::Person;
use crate::server::Server;
use crate::sources::fixtures::until;

#[tokio::test]
async fn the_hub_answers_as_an_mcpo_with_a_server_for_each_source() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let key = ada.key("use").await;
    let (status, main) = key.send("GET", "/mcpo/openapi.json", None).await;
    assert_eq!(status, 200);
    let description = main["info"]["description"].as_str().unwrap();
    let links = description.split("\u{ff1a}\n").nth(1).unwrap().lines();
    let links: Vec<&str> = links.map(str::trim).collect();
    assert!(links.contains(&"- [math](/mcpo/math/docs)"), "{links:?}");

    let (_, document) = key.send("GET", "/mcpo/math/openapi.json", None).await;
    assert_eq!(document["servers"], json!([{ "url": "/mcpo/math" }]));
    let operation = &document["paths"]["/calculate"]["post"];
    assert_eq!(operation["operationId"], "tool_calculate_post");
    assert_eq!(operation["security"], json!([{ "HTTPBearer": [] }]));

    let page = server
        .request("GET", "/mcpo/math/docs")
        .header("authorization", &key.shows.clone().unwrap().1);
    let page = page.send().await.unwrap();
    assert_eq!(page.status(), 200);
    let page = page.text().await.unwrap();
    assert!(
        page.contains(r#"data-document="/mcpo/math/openapi.json""#),
        "{page}"
    );

    let call = async |path: &str, body: Value| key.send("POST", path, Some(body)).await;
    let sum = json!({ "expression": "6*7" });
    let (status, answer) = call("/mcpo/math/calculate", sum.clone()).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer.to_string().contains("42"), "{answer}");
    let (status, missing) = call("/mcpo/math/calculate", json!({})).await;
    let expected = json!({ "detail": [{
        "type": "missing", "loc": ["body", "expression"], "msg": "Field required", "input": {},
    }] });
    assert_eq!((status, missing), (422, expected));
    let (status, failed) = call("/mcpo/math/calculate", json!({ "expression": "6*" })).await;
    assert_eq!(status, 422, "{failed}");
    assert!(failed["detail"][0]["msg"].is_string(), "{failed}");

    let unknown = json!({ "detail": "Not Found" });
    for path in [
        "/mcpo/math/nothing",
        "/mcpo/nobody/calculate",
        "/mcpo/nothing",
    ] {
        assert_eq!(
            call(path, json!({})).await,
            (404, unknown.clone()),
            "{path}"
        );
    }
    let stranger = server.anonymous("POST", "/mcpo/math/calculate").json(&sum);
    let stranger = stranger.send().await.unwrap();
    assert_eq!(stranger.status(), 401);
    assert_eq!(stranger.headers()["www-authenticate"], "Bearer");
    let said: Value = stranger.json().await.unwrap();
    assert!(said["detail"].is_string(), "{said}");
    let reader = ada.key("read").await;
    let refused = reader.send("POST", "/mcpo/math/calculate", Some(sum)).await;
    assert_eq!(refused.0, 403);
}

#[tokio::test]
async fn only_what_a_key_can_call_is_in_the_documents() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let key = ada.key("use").await;
    let paths = async || {
        let (_, document) = key.get("/mcpo/math/openapi.json").await;
        document["paths"].as_object().map(serde_json::Map::len)
    };
    let names_math = async || {
        let (_, main) = key.get("/mcpo/openapi.json").await;
        main["info"]["description"]
            .as_str()
            .unwrap()
            .contains("[math]")
    };
    assert_eq!((paths().await, names_math().await), (Some(1), true));
    for policy in ["ask", "deny"] {
        let tool = json!({ "toolId": "builtin_calculate", "policy": policy });
        let change = json!({ "layer": "organisation", "tools": [tool] });
        assert_eq!(ada.patch("/api/tools", change).await.0, 204);
        assert_eq!(
            (paths().await, names_math().await),
            (None, false),
            "{policy}"
        );
        let sum = json!({ "expression": "6*7" });
        let (status, refused) = key.post("/mcpo/math/calculate", sum).await;
        assert_eq!(status, 403, "{refused}");
    }
}

#[tokio::test]
async fn tools_of_an_mcp_server_answer_as_they_do_behind_the_bridge() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "everything": { "command": everything(), "args": ["stdio"] } });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &[]);
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let source = json!({
        "kind": "mcp", "name": "everything", "transport": "stdio",
        "command": everything(), "args": ["stdio"],
    });
    let (status, added) = ada.post("/api/sources", source).await;
    assert_eq!(status, 201, "{added}");
    let allow = json!([{ "sourceId": added["id"], "policy": "allow" }]);
    let allow = json!({ "layer": "organisation", "tools": [], "sources": allow });
    assert_eq!(ada.patch("/api/tools", allow).await.0, 204);
    let key = ada.key("use").await;
    until(|| async {
        let (status, document) = key.get("/mcpo/everything/openapi.json").await;
        if status == 200 { Ok(()) } else { Err(document) }
    })
    .await;
    for (tool, arguments) in [
        ("echo", json!({ "message": "hi" })),
        ("get-tiny-image", json!({})),
        ("get-structured-content", json!({ "location": "Chicago" })),
        (
            "get-resource-reference",
            json!({ "resourceType": "Text", "resourceId": 1 }),
        ),
        ("get-resource-links", json!({ "count": 2 })),
        ("get-sum", json!({ "a": 1, "b": "two" })),
    ] {
        let path = format!("/everything/{tool}");
        let behind_the_bridge = bridge.post(&path, arguments.clone()).await;
        let here = key.post(&format!("/mcpo{path}"), arguments).await;
        assert_eq!(
            without_times(here),
            without_times(behind_the_bridge),
            "{tool}"
        );
    }
}

/// The text of a resource says when it was read.
fn without_times((status, mut answer): (u16, Value)) -> (u16, Value) {
    if let Some(parts) = answer.as_array_mut() {
        for part in parts {
            if let Some(resource) = part.as_object_mut() {
                resource.remove("text");
            }
        }
    }
    (status, answer)
}
