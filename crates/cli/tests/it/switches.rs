//! Which tools are on, and who says so.

use serde_json::{Value, json};
use tenon_llm::scripted::ScriptStep;

use crate::server::Server;

const CALCULATE: &str = "builtin_calculate";

async fn tool(server: &Server, query: &str) -> Value {
    let (status, tools) = server.get(&format!("/api/tools{query}")).await;
    assert_eq!(status, 200, "{tools}");
    let tools = tools.as_array().unwrap();
    let found = tools.iter().find(|tool| tool["toolId"] == CALCULATE);
    let tool = found.unwrap();
    json!([
        tool["enabled"],
        tool["enabledBy"],
        tool["policy"],
        tool["policyBy"]
    ])
}

#[tokio::test]
async fn switches_are_layered_kept_and_taken_back() {
    let server = Server::start().await;
    let chat = server.new_chat().await;
    let in_chat = format!("?chatId={chat}");
    let set = async |body: Value| {
        let (status, answer) = server.patch("/api/tools", body).await;
        assert_eq!(status, 204, "{answer}");
    };
    assert_eq!(tool(&server, "").await, json!([true, null, "allow", null]));
    set(json!({"layer": "organisation", "tools": [{"toolId": CALCULATE, "enabled": false}]})).await;
    assert_eq!(
        tool(&server, "").await,
        json!([false, "organisation", "allow", null])
    );
    set(json!({"layer": "user", "tools": [{"toolId": CALCULATE, "enabled": true, "policy": "ask"}]}))
        .await;
    assert_eq!(
        tool(&server, &in_chat).await,
        json!([true, "user", "ask", "user"])
    );
    let off_here = json!([{"toolId": CALCULATE, "enabled": false}]);
    set(json!({"layer": "chat", "chatId": chat, "tools": off_here})).await;
    assert_eq!(
        tool(&server, &in_chat).await,
        json!([false, "chat", "ask", "user"])
    );
    assert_eq!(
        tool(&server, "").await,
        json!([true, "user", "ask", "user"])
    );
    // A field that is left out stays; null takes back.
    set(json!({"layer": "user", "tools": [{"toolId": CALCULATE, "enabled": null}]})).await;
    assert_eq!(
        tool(&server, "").await,
        json!([false, "organisation", "ask", "user"])
    );
}

#[tokio::test]
async fn what_cannot_be_set_is_refused_in_words() {
    let server = Server::start().await;
    let check = async |body: Value, status: u16, words: &str| {
        let (refused, answer) = server.patch("/api/tools", body).await;
        assert_eq!(refused, status, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    };
    let tools = json!([{"toolId": CALCULATE, "enabled": false}]);
    let with = |layer: &str, chat: Value| json!({"layer": layer, "chatId": chat, "tools": tools});
    check(with("chat", json!("nothing")), 404, "no such chat").await;
    check(with("chat", json!("a\u{0}b")), 404, "no such chat").await;
    check(with("chat", Value::Null), 400, "`chatId`").await;
    check(with("expert", Value::Null), 400, "`expertId`").await;
    check(with("planet", Value::Null), 400, "planet").await;
    for id in ["", "a b", &"x".repeat(65), "a\u{0}"] {
        let odd = json!({"layer": "user", "tools": [{"toolId": id, "enabled": true}]});
        check(odd, 400, "cannot be the id of a tool").await;
    }
    let many: Vec<Value> = (0..2001)
        .map(|number| json!({"toolId": format!("t{number}"), "enabled": false}))
        .collect();
    check(json!({"layer": "user", "tools": many}), 400, "At most 2000").await;
    // As many as that are taken, even of tools that are away.
    let (status, _) = server
        .patch(
            "/api/tools",
            json!({"layer": "user", "tools": many[..2000]}),
        )
        .await;
    assert_eq!(status, 204);
    let (status, _) = server.get("/api/tools?chatId=nothing").await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn a_tool_that_is_off_is_not_there_for_the_model() {
    let calculates = vec![
        ScriptStep::call(0, CALCULATE, &json!({"expression": "6*7"})),
        ScriptStep::stop(),
    ];
    let server = Server::scripted([
        calculates,
        vec![ScriptStep::text("No."), ScriptStep::stop()],
    ])
    .await;
    let chat = server.new_chat().await;
    let off = json!([{"toolId": CALCULATE, "enabled": false}]);
    let (status, _) = server
        .patch(
            "/api/tools",
            json!({"layer": "chat", "chatId": chat, "tools": off}),
        )
        .await;
    assert_eq!(status, 204);
    server.ask(&chat, "what is 6*7?").await;
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let call = &messages[1]["toolCalls"][0];
    assert_eq!(call["error"]["kind"], "unknown_tool", "{call}");
}

#[tokio::test]
async fn what_is_denied_nobody_calls_by_hand() {
    let server = Server::start().await;
    let check = async |layer: &str, policy: Value, error: Value| {
        let tools = json!([{"toolId": CALCULATE, "policy": policy}]);
        let body = json!({"layer": layer, "tools": tools});
        assert_eq!(server.patch("/api/tools", body).await.0, 204);
        let path = format!("/api/tools/{CALCULATE}/call");
        let sum = json!({"arguments": {"expression": "6*7"}});
        let (status, answer) = server.post(&path, sum).await;
        assert_eq!(status, 200);
        assert_eq!(answer["error"]["kind"], error, "{layer} {policy}: {answer}");
    };
    check("user", json!("deny"), json!("denied")).await;
    check("user", json!("ask"), Value::Null).await;
    check("organisation", json!("ask"), Value::Null).await;
    check("organisation", json!("deny"), json!("denied")).await;
    check("user", json!("allow"), json!("denied")).await;
    check("organisation", Value::Null, Value::Null).await;

    // What is set for everybody is noted, and only that.
    let (_, noted) = server.get("/api/audit?action=tools.changed").await;
    let noted = noted.as_array().unwrap().iter();
    let noted: Vec<&Value> = noted.map(|entry| &entry["detail"]["tools"][0]).collect();
    let policies = [json!(null), json!("deny"), json!("ask")];
    let expected = policies.map(|policy| json!({"toolId": CALCULATE, "policy": policy}));
    assert_eq!(noted, expected.iter().collect::<Vec<_>>());
}
