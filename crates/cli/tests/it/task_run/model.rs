//! A model that does what its task says: a line `call NAME JSON` is a call, and after the last one
//! it says that nothing is left to do. It also is the web and the search service of the tasks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::Barrier;

#[derive(Clone)]
pub(super) struct ScriptedModel {
    /// With `/v1`.
    pub(super) url: String,
    state: Arc<ModelState>,
}

struct ModelState {
    /// How many calls of each task were made.
    steps: Mutex<HashMap<String, usize>>,
    requests: Mutex<Vec<Value>>,
    /// For tasks that say `together`: none goes on before both have begun.
    together: Barrier,
}

impl ScriptedModel {
    pub(super) async fn start() -> Self {
        let state = Arc::new(ModelState {
            steps: Mutex::default(),
            requests: Mutex::default(),
            together: Barrier::new(2),
        });
        let page = "<html><body><h1>Mortise</h1><p>and tenon</p></body></html>";
        let router = axum::Router::new()
            .route(
                "/v1/models",
                get(|| async {
                    Json(json!({"data": [{"id": "scripted", "max_model_len": 128_000}]}))
                }),
            )
            .route("/v1/chat/completions", post(Self::complete))
            .route("/page", get(move || async move { Html(page) }))
            .route("/search", post(search))
            .with_state(state.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let url = format!("http://{address}/v1");
        Self { url, state }
    }

    pub(super) fn site(&self) -> &str {
        self.url.strip_suffix("/v1").unwrap()
    }

    pub(super) fn requests(&self) -> Vec<Value> {
        self.state.requests.lock().unwrap().clone()
    }

    async fn complete(State(state): State<Arc<ModelState>>, Json(body): Json<Value>) -> Response {
        let messages = body["messages"].as_array().unwrap();
        let user = messages.iter().find(|message| message["role"] == "user");
        let task = user.unwrap()["content"].as_str().unwrap().to_owned();
        let step = {
            let mut steps = state.steps.lock().unwrap();
            let step = steps.entry(task.clone()).or_default();
            *step += 1;
            *step - 1
        };
        if step == 0 && task.contains("together") {
            state.together.wait().await;
        }
        let calls: Vec<&str> = task
            .lines()
            .filter_map(|line| line.trim().strip_prefix("call "))
            .collect();
        let message = if task.starts_with("Summarise this page") {
            json!({"content": format!("SUMMARY of {} characters", task.len())})
        } else if let Some((name, input)) = calls.get(step).and_then(|call| call.split_once(' ')) {
            let input = input.replace("$SHORTUUID", &shortuuid(messages));
            json!({"tool_calls": [{
                "index": 0, "id": format!("call_{step}"), "type": "function",
                "function": {"name": name, "arguments": input},
            }]})
        } else {
            json!({"content": "Nothing left to do."})
        };
        let is_streamed = body["stream"] == true;
        state.requests.lock().unwrap().push(body);
        let finish = if message.get("tool_calls").is_some() {
            "tool_calls"
        } else {
            "stop"
        };
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12});
        if !is_streamed {
            let mut message = message;
            message["role"] = json!("assistant");
            let choice = json!({"index": 0, "message": message, "finish_reason": finish});
            return Json(json!({
                "id": "c", "object": "chat.completion", "created": 0, "model": "scripted",
                "choices": [choice], "usage": usage,
            }))
            .into_response();
        }
        let frames = [
            json!({"choices": [{"index": 0, "delta": message}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}),
            json!({"choices": [], "usage": usage}),
        ];
        let mut stream: String = frames.map(|frame| format!("data: {frame}\n\n")).concat();
        stream.push_str("data: [DONE]\n\n");
        ([("content-type", "text/event-stream")], stream).into_response()
    }
}

/// The id of the last output that was too long to show.
fn shortuuid(messages: &[Value]) -> String {
    let texts = messages.iter().rev();
    let mut texts = texts.filter_map(|message| message["content"].as_str());
    let note = texts.find_map(|text| text.rsplit_once("shortuuid \""));
    let id = note.and_then(|(_, id)| id.split('"').next());
    id.unwrap_or_default().to_owned()
}

async fn search(headers: HeaderMap, Json(body): Json<Value>) -> Json<Value> {
    assert_eq!(headers["x-api-key"], "serper-key");
    Json(json!({"organic": [{
        "title": format!("About {}", body["q"].as_str().unwrap()),
        "link": "https://example.org/joint",
        "snippet": "A joint.",
    }]}))
}
