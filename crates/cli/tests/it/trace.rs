//! Looking into a turn: what was sent to the model, what it called, and how long all of it took.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tenon_app::config::Config;
use tenon_llm::scripted::ScriptStep;

use crate::people::Person;
use crate::server::Server;

const KEY: &str = "sk-trace-0123456789";
const PARAMETER_KEY: &str = "of-a-parameter-456";

/// A model server that is busy once, calls a tool, and then answers. It repeats the key in its
/// error.
#[derive(Clone, Default)]
struct BusyModel {
    requests: Arc<Mutex<usize>>,
}

impl BusyModel {
    async fn start(&self) -> String {
        let router = axum::Router::new()
            .route("/v1/{*rest}", post(Self::complete))
            .route("/v1", post(Self::complete))
            .with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}/v1")
    }

    async fn complete(
        State(model): State<Self>,
        headers: HeaderMap,
        Json(_): Json<Value>,
    ) -> Response {
        let authorization = headers["authorization"].to_str().unwrap().to_owned();
        let number = {
            let mut requests = model.requests.lock().unwrap();
            *requests += 1;
            *requests
        };
        let delta = match number {
            1 => {
                let error = json!({"error": {"message": format!("Busy, {authorization}")}});
                let headers = [("retry-after-ms", "20")];
                return (StatusCode::SERVICE_UNAVAILABLE, headers, Json(error)).into_response();
            }
            2 => json!({"tool_calls": [{"index": 0, "id": "c", "function": {
                "name": "builtin_calculate", "arguments": "{\"expression\": \"6*7\"}",
            }}]}),
            _ => json!({"content": "It is 42."}),
        };
        let frames = [
            json!({"choices": [{"delta": delta}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 10}}),
        ];
        let frames = frames.iter().map(|frame| format!("data: {frame}\n\n"));
        let stream: String = frames.chain(["data: [DONE]\n\n".to_owned()]).collect();
        ([("content-type", "text/event-stream")], stream).into_response()
    }
}

async fn add_model(server: &Server) {
    let new = json!({
        "provider": "openai", "baseUrl": BusyModel::default().start().await, "model": "m", "key": KEY,
        "parameters": {"extra": {"api_key": PARAMETER_KEY}},
        "prices": {"currency": "USD", "input": 2, "output": 10}, "isDefault": true,
    });
    let (status, added) = server.post("/api/models", new).await;
    assert_eq!(status, 201, "{added}");
}

async fn traced_turn(server: &Server) -> Value {
    let chat = server.new_chat().await;
    let frames = server.ask(&chat, "what is 6*7").await;
    let started = frames
        .iter()
        .find(|frame| frame["body"]["type"] == "turnStarted");
    let turn = started.unwrap()["body"]["turnId"].as_str().unwrap();
    let (status, trace) = server.get(&format!("/api/turns/{turn}/trace")).await;
    assert_eq!(status, 200, "{trace}");
    trace
}

#[tokio::test]
async fn a_turn_tells_its_attempts_its_calls_and_what_they_took() {
    let server = Server::start().await;
    add_model(&server).await;
    let trace = traced_turn(&server).await;
    assert_eq!(trace["outcome"]["kind"], "done", "{trace:#}");
    assert_eq!(trace["usage"]["inputTokens"], 2000);
    assert!(trace.get("now").is_none(), "it is over");
    let calls = trace["modelCalls"].as_array().unwrap();
    let facts: Vec<_> = calls
        .iter()
        .map(|call| (&call["attempt"], &call["status"], &call["stop"]))
        .collect();
    let (end, tool_calls) = (json!("end"), json!("tool_calls"));
    assert_eq!(
        facts,
        [
            (&json!(1), &json!(503), &Value::Null),
            (&json!(2), &json!(200), &tool_calls),
            (&json!(1), &json!(200), &end),
        ],
        "{trace:#}"
    );
    assert_eq!(calls[0]["waitMs"], 20);
    assert!(calls[0]["error"]["code"].is_string());
    assert!(calls[1]["firstTokenMs"].as_u64() <= calls[1]["durationMs"].as_u64());
    assert_eq!(calls[1]["usage"]["inputTokens"], 1000);
    assert_eq!(calls[1]["cost"], json!({"currency": "USD", "micros": 2100}));
    assert_eq!(calls[1]["calls"], json!(["builtin_calculate"]));
    assert_eq!(calls[2]["output"], "It is 42.");

    // One after the other, within the turn.
    let tool = &trace["toolCalls"][0];
    let times = [
        &trace["startedAt"],
        &calls[0]["startedAt"],
        &calls[1]["startedAt"],
        &tool["requestedAt"],
        &tool["startedAt"],
        &tool["endedAt"],
        &trace["endedAt"],
    ];
    let times: Vec<i64> = times.iter().map(|time| time.as_i64().unwrap()).collect();
    // Instants and the clock differ by some milliseconds.
    assert!(
        times.windows(2).all(|pair| pair[0] <= pair[1] + 5),
        "{times:?}"
    );
    assert_eq!(tool["status"], "done");
    assert_eq!(tool["input"], r#"{"expression":"6*7"}"#);
    assert!(tool["output"].as_str().unwrap().contains("42"));
    assert!(tool["outputBytes"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn no_key_is_in_a_trace_wherever_it_was() {
    let server = Server::start().await;
    add_model(&server).await;
    let trace = traced_turn(&server).await;
    let mut seen = trace.to_string();
    for call in trace["modelCalls"].as_array().unwrap() {
        assert_eq!(call["hasRequest"], true);
        let path = format!("/api/model-calls/{}", call["id"].as_str().unwrap());
        let (status, request) = server.get(&path).await;
        assert_eq!(status, 200);
        let body = &request["request"];
        assert_eq!(body["extra"]["api_key"], "•••", "{request:#}");
        assert!(body["tools"].as_array().unwrap().len() > 3, "{request:#}");
        let question = body["messages"][1]["content"].to_string();
        assert!(question.contains("6*7"), "{request:#}");
        seen.push_str(&request.to_string());
    }
    assert!(seen.contains("Busy"), "what came back is there: {seen}");
    for secret in [KEY, PARAMETER_KEY] {
        assert!(!seen.contains(secret), "{secret}: {seen}");
    }
}

#[tokio::test]
async fn an_operator_can_have_no_request_kept() {
    let config = Config {
        local_models: Some(Vec::new()),
        keep_model_requests: Some(false),
        ..Config::default()
    };
    let server = Server::with_config(config).await;
    add_model(&server).await;
    let trace = traced_turn(&server).await;
    let call = &trace["modelCalls"][1];
    assert_eq!(call["hasRequest"], false);
    assert_eq!(call["usage"]["inputTokens"], 1000);
    let path = format!("/api/model-calls/{}", call["id"].as_str().unwrap());
    let (status, request) = server.get(&path).await;
    assert_eq!((status, request), (200, json!({"id": call["id"]})));
}

#[tokio::test]
async fn calls_of_a_tool_are_listed_whoever_made_them_and_counted_for_admins() {
    let sum = || ScriptStep::call(0, "builtin_calculate", &json!({"expression": "6*7"}));
    let server = Server::with_accounts([
        vec![sum(), ScriptStep::stop()],
        vec![ScriptStep::text("42"), ScriptStep::stop()],
    ])
    .await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let (chat, turn) = bob.ask("what is 6*7").await;
    let key = bob.key("use").await;
    let call = "/api/tools/builtin_calculate/call";
    let wrong = json!({"arguments": {"expression": "6*"}});
    key.post(call, wrong).await;

    let path = "/api/calls?toolId=builtin_calculate";
    let (status, calls) = bob.get(path).await;
    assert_eq!(status, 200, "{calls}");
    let calls = calls.as_array().unwrap();
    assert_eq!(calls.len(), 2, "{calls:#?}");
    assert_eq!(calls[0]["status"], "failed");
    assert!(calls[0]["door"].as_str().unwrap().starts_with("key:"));
    assert!(calls[0]["durationMs"].is_u64());
    assert_eq!(calls[1]["status"], "done");
    assert_eq!(calls[1]["chatId"], chat);
    assert_eq!(calls[1]["turnId"], turn);
    assert_eq!(ada.get(path).await.1, json!([]), "they are Bob's");

    let (status, stats) = ada.get("/api/stats?range=24h").await;
    assert_eq!(status, 200, "{stats}");
    assert_eq!(
        (&stats["calls"]["calls"], &stats["calls"]["errors"]),
        (&json!(2), &json!(1))
    );
    assert!(stats["calls"]["p95Ms"].is_u64());
    assert_eq!(stats["tools"][0]["displayName"], "Math/Calculate");
    assert_eq!(stats["sources"][0]["title"], "Math");
    assert_eq!(stats["people"][0]["name"], "Bob");
    assert_eq!(stats["people"][0]["usage"]["answers"], 1);
    let over_time = stats["overTime"].as_array().unwrap();
    assert_eq!(over_time.len(), 24);
    assert_eq!(over_time[23]["calls"], 2, "{stats:#}");
    assert_eq!(ada.get("/api/stats?range=1y").await.0, 400);
}
