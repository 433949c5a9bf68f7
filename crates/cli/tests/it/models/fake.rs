//! A model server for the tests.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::KEY;

/// A model server that answers what it is told to, and remembers what it was asked.
#[derive(Clone, Default)]
pub(super) struct Fake {
    asked: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
}

impl Fake {
    /// Its address, with `/v1`.
    pub(super) async fn start(&self) -> String {
        let router = axum::Router::new()
            .route("/v1/models", get(Self::models))
            .route("/v1/chat/completions", post(Self::complete))
            .with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}/v1")
    }

    pub(super) fn asked(&self) -> Vec<(HeaderMap, Value)> {
        self.asked.lock().unwrap().clone()
    }

    async fn models(headers: HeaderMap) -> Response {
        if headers
            .get("authorization")
            .is_some_and(|key| key != &format!("Bearer {KEY}"))
        {
            let error =
                json!({"error": {"message": "Incorrect API key", "code": "invalid_api_key"}});
            return (StatusCode::UNAUTHORIZED, Json(error)).into_response();
        }
        let models = json!({"data": [
            {"id": "small", "max_model_len": 8192},
            {"id": "large/one"},
            {"id": "text-embedding-9"},
        ]});
        Json(models).into_response()
    }

    async fn complete(
        State(fake): State<Self>,
        headers: HeaderMap,
        Json(body): Json<Value>,
    ) -> Response {
        let text = body["messages"].to_string();
        let has_tools = body.get("tools").is_some();
        let is_constrained = body.get("response_format").is_some();
        let model = body["model"].as_str().unwrap_or_default().to_owned();
        fake.asked.lock().unwrap().push((headers, body));
        if model == "blind" && text.contains("image_url") {
            let said = "This model does not support image input";
            let error = json!({"error": {"message": said}});
            return (StatusCode::BAD_REQUEST, Json(error)).into_response();
        }
        let is_trial = text.contains("Open the door");
        let chunks = match model.as_str() {
            // Calls no tool, however it is asked.
            "dumb" => vec![say("Hello "), say("there.")],
            "writer" if is_trial && has_tools => vec![
                say("<tool_call>{\"name\": \"open_door\", "),
                say("\"arguments\": {\"number\": 7}}</tool_call>"),
            ],
            "weak" if is_trial && is_constrained => {
                vec![say(r#"{"tool":"open_door","arguments":{"number":7}}"#)]
            }
            "weak" => vec![say("Hello "), say("there.")],
            _ if is_trial && has_tools => vec![call("open_door", r#"{"number":7}"#)],
            _ => vec![say("Hello "), say("there.")],
        };
        let usage = json!({"choices": [], "usage": {
            "prompt_tokens": 1000, "completion_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 400},
        }});
        let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
        let frames = chunks.into_iter().chain([end, usage]);
        let mut stream: String = frames.map(|frame| format!("data: {frame}\n\n")).collect();
        stream.push_str("data: [DONE]\n\n");
        ([("content-type", "text/event-stream")], stream).into_response()
    }
}

pub(super) fn say(text: &str) -> Value {
    json!({"choices": [{"delta": {"content": text}}]})
}

fn call(tool: &str, arguments: &str) -> Value {
    json!({"choices": [{"delta": {"tool_calls": [
        {"index": 0, "id": "c1", "function": {"name": tool, "arguments": arguments}},
    ]}}]})
}
