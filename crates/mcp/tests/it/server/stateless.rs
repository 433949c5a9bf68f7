//! Requests that stand alone: 2026-07-28. What the conformance suite checks is not checked here again.

use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{EventReader, TestClient, json_of, request, text_of};

const VERSION: &str = "2026-07-28";

/// A request with all it has to say about itself.
fn stateless(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    request(json!(id), method, params)
}

async fn post(client: &TestClient, method: &str, params: Value) -> (StatusCode, Value) {
    let name = params["name"].as_str().map(str::to_owned);
    let mut client = client
        .clone()
        .with("mcp-protocol-version", VERSION)
        .with("mcp-method", method);
    if let Some(name) = name {
        client = client.with("mcp-name", &name);
    }
    json_of(client.post(&stateless(1, method, params)).await).await
}

async fn call(client: &TestClient, tool: &str, more: Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": {} });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    post(client, "tools/call", params).await.1
}

#[tokio::test]
async fn a_call_says_who_answered_and_that_it_is_complete() {
    let response = call(&TestClient::new(), "test_simple_text", json!({})).await;
    let info = json!({ "name": "fixture", "version": "1.0.0", "title": "Fixture" });
    let expected = json!({
        "content": [{ "type": "text", "text": "This is a simple text response for testing." }],
        "resultType": "complete",
        "_meta": { "io.modelcontextprotocol/serverInfo": info },
    });
    assert_eq!(response["result"], expected);
}

#[tokio::test]
async fn a_call_waits_for_the_answer_of_its_caller_alone() {
    let client = TestClient::new();
    let tool = "test_input_required_result_multi_round";
    let accept =
        |key: &str, content: Value| json!({ key: { "action": "accept", "content": content } });

    let asked = call(&client, tool, json!({})).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required");
    let state = &asked["requestState"];
    let answers = accept("step1", json!({ "name": "Ada" }));
    let answered = json!({ "requestState": state, "inputResponses": answers });

    let stranger = client.clone().called_by("eve");
    let refused = call(&stranger, tool, answered.clone()).await;
    assert_eq!(refused["error"]["code"], -32602);
    let refused = call(
        &client,
        "test_input_required_result_elicitation",
        answered.clone(),
    )
    .await;
    assert_eq!(
        refused["error"]["code"], -32602,
        "it belongs to another tool"
    );

    // Whoever forgets the answer is asked again.
    let forgotten = json!({ "requestState": state, "inputResponses": {} });
    let again = call(&client, tool, forgotten).await["result"].clone();
    assert_eq!(again["inputRequests"], asked["inputRequests"]);
    let used = call(&client, tool, answered).await;
    assert_eq!(used["error"]["code"], -32602, "a state is good once");

    let answers = accept("step1", json!({ "name": "Ada" }));
    let answered = json!({ "requestState": again["requestState"], "inputResponses": answers });
    let asked = call(&client, tool, answered).await["result"].clone();
    let answers = accept("step2", json!({ "color": "blue" }));
    let answered = json!({ "requestState": asked["requestState"], "inputResponses": answers });
    let done = call(&client, tool, answered).await;
    assert_eq!(text_of(&done), r#"{"name":"Ada"} {"color":"blue"}"#);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_client_never_answers_is_given_up() {
    let client = TestClient::new();
    let tool = "test_streaming_elicitation";
    let asked = call(&client, tool, json!({})).await["result"].clone();
    tokio::time::sleep(Duration::from_secs(601)).await;
    let answered = json!({ "requestState": asked["requestState"], "inputResponses": {} });
    assert_eq!(call(&client, tool, answered).await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_subscriber_hears_of_what_it_asked_for() {
    let client = TestClient::new();
    let notifications = json!({
        "promptsListChanged": true,
        "resourceSubscriptions": ["test://watched-resource"],
    });
    let listen = stateless(
        7,
        "subscriptions/listen",
        json!({ "notifications": notifications }),
    );
    let listener = client
        .clone()
        .with("mcp-protocol-version", VERSION)
        .with("mcp-method", "subscriptions/listen");
    let mut events = EventReader::new(listener.post(&listen).await);
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": 7 });
    let acknowledged = events.next().await.unwrap().data;
    assert_eq!(
        acknowledged["params"],
        json!({ "_meta": meta, "notifications": notifications })
    );
    for kind in ["tool", "prompt", "resource"] {
        call(&client, &format!("test_trigger_{kind}_change"), json!({})).await;
    }
    let prompts = events.next().await.unwrap().data;
    assert_eq!(prompts["method"], "notifications/prompts/list_changed");
    assert_eq!(prompts["params"], json!({ "_meta": meta }));
    let resource = events.next().await.unwrap().data;
    assert_eq!(
        resource["params"],
        json!({ "uri": "test://watched-resource", "_meta": meta })
    );
}

#[tokio::test]
async fn versions_and_headers_that_do_not_fit_are_refused() {
    let client = TestClient::new().with("mcp-method", "tools/list");
    let list = stateless(1, "tools/list", json!({}));
    let (status, response) = json_of(client.post(&list).await).await;
    assert_eq!(
        (status, &response["error"]["code"]),
        (StatusCode::BAD_REQUEST, &json!(-32020))
    );
    let client = client.with("mcp-protocol-version", "2027-01-01");
    let mut list = list;
    list["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2027-01-01");
    let (status, response) = json_of(client.post(&list).await).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(response["error"]["code"], -32022);
    assert_eq!(
        response["error"]["data"],
        json!({ "supported": [VERSION], "requested": "2027-01-01" })
    );
}
