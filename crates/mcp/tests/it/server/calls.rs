//! Calls within a session.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{EventReader, TestClient, call, json_of, request, text_of};

#[tokio::test]
async fn a_plain_call_is_answered_with_json() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let response = client.post(&call(7, "echo", json!({ "text": "hi" }))).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    let expected = json!({
        "jsonrpc": "2.0",
        "id": 7,
        "result": { "content": [{ "type": "text", "text": "hi" }] },
    });
    assert_eq!(json_of(response).await, (StatusCode::OK, expected));
}

#[tokio::test]
async fn progress_comes_before_the_result_on_a_stream() {
    let client = TestClient::new().initialize("2025-06-18").await;
    let params = json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": "t" } });
    let response = client
        .post(&request(json!("a"), "tools/call", params))
        .await;
    let events = EventReader::new(response).collect().await;
    let (result, progress) = events.split_last().unwrap();
    let progress: Vec<&Value> = progress.iter().map(|event| &event["params"]).collect();
    let expected =
        [0, 50, 100].map(|done| json!({ "progressToken": "t", "progress": done, "total": 100 }));
    assert_eq!(progress, expected.iter().collect::<Vec<_>>());
    assert_eq!(
        (&result["id"], text_of(result)),
        (&json!("a"), "Done.".to_owned())
    );
}

#[tokio::test]
async fn a_client_that_takes_no_stream_gets_the_result_alone() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let client = client.with("accept", "application/json");
    let (status, response) = client.call("test_tool_with_logging", json!({})).await;
    assert_eq!(
        (status, text_of(&response)),
        (StatusCode::OK, "Logged.".to_owned())
    );
    // Nobody can be asked without a stream.
    let (_, response) = client.call("test_streaming_elicitation", json!({})).await;
    assert_eq!(response["error"]["message"], "The client is gone.");
}

#[tokio::test]
async fn a_person_is_asked_in_the_middle_of_a_call() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let response = client
        .post(&call(1, "test_streaming_elicitation", json!({})))
        .await;
    let mut events = EventReader::new(response);
    let priming = events.next().await.unwrap();
    assert_eq!(
        (priming.id.as_deref(), priming.data),
        (Some("1-0"), json!(""))
    );
    let question = events.next().await.unwrap().data;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "What is your name?");
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
    assert_eq!(client.post(&answer).await.status(), StatusCode::ACCEPTED);
    let result = events.next().await.unwrap().data;
    assert_eq!(text_of(&result), "Hello, \"Ada\"!");
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_stream_that_was_lost_goes_on_where_it_ended() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let response = client
        .post(&call(1, "test_streaming_elicitation", json!({})))
        .await;
    let mut events = EventReader::new(response);
    events.next().await.unwrap();
    let question = events.next().await.unwrap();
    drop(events);
    let back = client.clone().with("last-event-id", &question.id.unwrap());
    let mut events = EventReader::new(back.send(Method::GET, "").await);
    let answer =
        json!({ "jsonrpc": "2.0", "id": question.data["id"], "result": { "action": "decline" } });
    client.post(&answer).await;
    assert_eq!(text_of(&events.next().await.unwrap().data), "Hello, null!");
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn only_what_is_serious_enough_is_logged() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let level = request(json!(1), "logging/setLevel", json!({ "level": "warning" }));
    let (_, response) = json_of(client.post(&level).await).await;
    assert_eq!(response["result"], json!({}));
    // The tool logs at a lower level, so that there is nothing to stream.
    let response = client.post(&call(2, "test_logging_tool", json!({}))).await;
    assert_eq!(response.headers()["content-type"], "application/json");
}

#[tokio::test]
async fn unknown_tools_methods_and_cursors_are_refused() {
    let client = TestClient::new().initialize("2025-11-25").await;
    for (method, params, code) in [
        ("tools/call", json!({ "name": "nothing" }), -32602),
        ("tools/call", json!({}), -32602),
        (
            "tools/call",
            json!({ "name": "echo", "arguments": [1] }),
            -32602,
        ),
        ("tools/list", json!({ "cursor": "nowhere" }), -32602),
        ("tools/list", json!({ "cursor": 5 }), -32602),
        ("resources/read", json!({ "uri": "test://nothing" }), -32002),
        ("prompts/get", json!({ "name": "nothing" }), -32602),
        ("server/discover", json!({}), -32601),
        ("no/such/method", json!({}), -32601),
    ] {
        let (_, response) = json_of(client.post(&request(json!(1), method, params)).await).await;
        assert_eq!(response["error"]["code"], code, "{method}: {response}");
        assert_eq!(response["id"], 1);
    }
}
