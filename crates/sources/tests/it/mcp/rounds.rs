//! Calls that take more than one question: tasks, visits and rounds of input.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tenon_domain::{ErrorKind, FormRequest};

use super::harness::McpHarness;
use super::raw_http_server::{Answer, RawHttpServer, Request, stateless, whole};
use super::recording_client::RecordingClient;

fn result(request: &Request, result: Value) -> Answer {
    let body = json!({ "jsonrpc": "2.0", "id": request.body["id"], "result": result });
    whole(200, "application/json", &body.to_string())
}

fn asks_for_a_name() -> Value {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let params = json!({ "mode": "form", "message": "Your name?", "requestedSchema": schema });
    json!({ "who": { "method": "elicitation/create", "params": params } })
}

fn says(text: &str) -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
}

#[tokio::test]
async fn a_task_of_the_stateless_era_is_asked_after_until_it_is_done() {
    let polls = AtomicUsize::new(0);
    let raw_http_server = RawHttpServer::start(move |request| {
        let task = |status: &str| json!({ "taskId": "t1", "status": status, "pollIntervalMs": 50, "statusMessage": "busy" });
        let with = |mut task: Value, name: &str, value: Value| {
            task["resultType"] = json!("complete");
            task[name] = value;
            task
        };
        match request.body["method"].as_str().unwrap() {
            "tools/call" => {
                let mut created = task("working");
                created["resultType"] = json!("task");
                result(request, created)
            }
            "tasks/get" => match polls.fetch_add(1, Ordering::Relaxed) {
                0 => result(request, with(task("working"), "x", json!(0))),
                1 => result(request, with(task("input_required"), "inputRequests", asks_for_a_name())),
                _ => result(request, with(task("completed"), "result", says("all done"))),
            },
            "tasks/update" => {
                let answer = &request.body["params"]["inputResponses"]["who"];
                assert_eq!(answer, &json!({ "action": "accept", "content": { "name": "Ada" } }));
                assert_eq!(request.headers["mcp-name"], "t1");
                result(request, json!({ "resultType": "complete" }))
            }
            _ => stateless(request),
        }
    })
    .await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    let person = RecordingClient::accepting(json!({ "name": "Ada" }));
    let answer = harness
        .call_as(&person.context(), "echo", json!({}))
        .await
        .unwrap();
    assert_eq!(answer.to_text(), "all done");
    assert_eq!(person.questions(), ["Your name?"]);
    assert!(!person.progress().is_empty());
}

#[tokio::test]
async fn a_task_nobody_waits_for_is_cancelled() {
    let raw_http_server = RawHttpServer::start(|request| match request.body["method"].as_str().unwrap() {
        "tools/call" => result(request, json!({ "resultType": "task", "taskId": "t1", "status": "working", "pollIntervalMs": 50 })),
        "tasks/get" => result(request, json!({ "resultType": "complete", "taskId": "t1", "status": "working", "pollIntervalMs": 50 })),
        "tasks/cancel" => result(request, json!({ "resultType": "complete" })),
        _ => stateless(request),
    })
    .await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    let call = harness.call("echo", json!({}));
    let dropped = tokio::time::timeout(std::time::Duration::from_millis(300), call).await;
    assert!(dropped.is_err());
    let cancelled = async {
        while !raw_http_server
            .seen()
            .iter()
            .any(|request| request.body["method"] == "tasks/cancel")
        {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let cancelled = tokio::time::timeout(std::time::Duration::from_secs(5), cancelled).await;
    cancelled.expect("the task should be cancelled by now");
}

#[tokio::test]
async fn whoever_has_to_visit_an_address_first_is_asked_to_and_the_call_is_made_again() {
    let calls = AtomicUsize::new(0);
    let raw_http_server = RawHttpServer::start(move |request| match request.body["method"].as_str().unwrap() {
        "tools/call" if calls.fetch_add(1, Ordering::Relaxed) == 0 => {
            let visit = json!({ "mode": "url", "message": "Log in there.", "url": "https://example.com/go", "elicitationId": "e" });
            let error = json!({ "code": -32042, "message": "Visit first.", "data": { "elicitations": [visit] } });
            let body = json!({ "jsonrpc": "2.0", "id": request.body["id"], "error": error });
            whole(200, "application/json", &body.to_string())
        }
        _ => stateless(request),
    })
    .await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    let person = RecordingClient::silent();
    let answer = harness
        .call_as(&person.context(), "echo", json!({}))
        .await
        .unwrap();
    assert_eq!(answer.to_text(), "here");
    let asked = person.asked.lock().unwrap().clone();
    let url = "https://example.com/go".to_owned();
    assert_eq!(asked[0].1, FormRequest::Visit { url });
}

#[tokio::test]
async fn a_server_that_never_has_enough_is_left() {
    let raw_http_server = RawHttpServer::start(|request| match request.body["method"].as_str().unwrap() {
        "tools/call" => result(request, json!({ "resultType": "input_required", "inputRequests": asks_for_a_name(), "requestState": "s" })),
        _ => stateless(request),
    })
    .await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    let person = RecordingClient::accepting(json!({ "name": "Ada" }));
    let error = harness
        .call_as(&person.context(), "echo", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "The server asked for more 10 times without coming to an end."
    );
    let seen = raw_http_server.seen();
    let again = seen
        .iter()
        .rev()
        .find(|request| request.body["method"] == "tools/call")
        .unwrap();
    assert_eq!(again.body["params"]["requestState"], "s");
}

#[tokio::test]
async fn a_tool_that_wants_a_model_of_ours_is_told_that_there_is_none() {
    let raw_http_server =
        RawHttpServer::start(|request| match request.body["method"].as_str().unwrap() {
            "tools/call" => {
                let wants = json!({ "a": { "method": "sampling/createMessage", "params": {} } });
                result(
                    request,
                    json!({ "resultType": "input_required", "inputRequests": wants }),
                )
            }
            _ => stateless(request),
        })
        .await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    let error = harness.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert_eq!(
        error.message,
        "The tool needs sampling/createMessage, which Tenon does not support."
    );
}
