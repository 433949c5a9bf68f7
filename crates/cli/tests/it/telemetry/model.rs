//! A model that calls a tool once, and remembers the headers it was asked with.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

pub const MODEL: &str = "tracer-1";

/// What its server calls the model that answers.
pub const ANSWERED_BY: &str = "tracer-1-2026";

#[derive(Clone, Default)]
struct ModelState {
    tool: String,
    input: Value,
    traceparents: Arc<Mutex<Vec<String>>>,
}

pub struct ToolCallingModel {
    pub base_url: String,
    state: ModelState,
}

impl ToolCallingModel {
    /// Calls `tool` with `input`, then says that it has done so.
    pub async fn start(tool: &str, input: Value) -> Self {
        let state = ModelState {
            tool: tool.to_owned(),
            input,
            traceparents: Arc::default(),
        };
        let router = Router::new()
            .route("/v1/models", get(models))
            .route("/v1/chat/completions", post(complete))
            .with_state(state.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            base_url: format!("http://{address}/v1"),
            state,
        }
    }

    /// Of the requests so far.
    pub fn traceparents(&self) -> Vec<String> {
        self.state.traceparents.lock().unwrap().clone()
    }
}

async fn models() -> Response {
    axum::Json(json!({"object": "list", "data": [{"id": MODEL}]})).into_response()
}

async fn complete(
    State(state): State<ModelState>,
    headers: HeaderMap,
    axum::Json(request): axum::Json<Value>,
) -> Response {
    let messages = request["messages"].as_array().unwrap();
    let is_answered = messages.iter().any(|message| message["role"] == "tool");
    let has_tools = !request["tools"].is_null();
    if has_tools {
        let traceparent = headers
            .get("traceparent")
            .map(|value| value.to_str().unwrap());
        let mut traceparents = state.traceparents.lock().unwrap();
        traceparents.push(traceparent.unwrap_or_default().to_owned());
    }
    let (delta, reason) = if is_answered || !has_tools {
        (
            json!({"role": "assistant", "content": "It was said back."}),
            "stop",
        )
    } else {
        let call = json!({"index": 0, "id": "call_7", "type": "function", "function": {
            "name": state.tool, "arguments": state.input.to_string(),
        }});
        (
            json!({"role": "assistant", "tool_calls": [call]}),
            "tool_calls",
        )
    };
    let chunk = |choice: Value, usage: Value| {
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": ANSWERED_BY,
            "choices": [choice], "usage": usage,
        });
        format!("data: {chunk}\n\n")
    };
    let usage = json!({"prompt_tokens": 120, "completion_tokens": 9, "total_tokens": 129});
    let body = chunk(json!({"index": 0, "delta": delta}), Value::Null)
        + &chunk(
            json!({"index": 0, "delta": {}, "finish_reason": reason}),
            usage,
        )
        + "data: [DONE]\n\n";
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}
