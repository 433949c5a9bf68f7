//! A model server that knows the first prompts of the evaluation. Its models:
//!
//! - `able` calls tools natively, and nothing but that.
//! - `plain` is of a server that refuses tools and response formats, and calls in text.
//! - `stuck` answers the first prompt and never again.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

/// Its address, with `/v1`.
pub(super) async fn start() -> String {
    let models = json!({"data": [{"id": "able"}, {"id": "plain"}, {"id": "stuck"}]});
    let router = axum::Router::new()
        .route("/v1/models", get(async || Json(models)))
        .route("/v1/chat/completions", post(complete));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/v1")
}

async fn complete(Json(body): Json<Value>) -> Response {
    let (has_tools, is_constrained) = (
        body.get("tools").is_some(),
        body.get("response_format").is_some(),
    );
    let calls = calls_of(&body["messages"]);
    match body["model"].as_str().unwrap() {
        "plain" if has_tools => refuse("this model does not support tools"),
        "plain" if is_constrained => refuse("response_format is not known"),
        "stuck" if has_tools && !is_about_oslo(&body["messages"]) => std::future::pending().await,
        "plain" if !calls.is_empty() => {
            let written = calls.iter().map(|(name, arguments)| {
                let call = json!({"name": name, "arguments": arguments});
                format!("<tool_call>\n{call}\n</tool_call>")
            });
            stream(json!({"content": written.collect::<Vec<_>>().join("\n")}))
        }
        "able" | "stuck" if has_tools && !calls.is_empty() => {
            let calls = calls.iter().enumerate().map(|(index, (name, arguments))| {
                let function = json!({"name": name, "arguments": arguments.to_string()});
                json!({"index": index, "id": format!("c{index}"), "function": function})
            });
            stream(json!({"tool_calls": calls.collect::<Vec<_>>()}))
        }
        _ => stream(json!({"content": format!("Well: {}", results_of(&body["messages"]))})),
    }
}

fn is_about_oslo(messages: &Value) -> bool {
    messages.to_string().contains("in Oslo right now")
}

/// What the last message asks for: once it is about results, nothing.
fn calls_of(messages: &Value) -> Vec<(&'static str, Value)> {
    let last = messages.as_array().unwrap().last().unwrap();
    let text = last["content"].to_string();
    let is_result = last["role"] != "user" || text.contains("tool_response");
    let weather = |city: &str| ("get_weather", json!({"city": city}));
    if is_result {
        Vec::new()
    } else if text.contains("in Oslo right now") {
        vec![weather("Oslo")]
    } else if text.contains("250 US dollars") {
        let amount = json!({"amount": 250, "from": "USD", "to": "JPY"});
        vec![("convert_currency", amount)]
    } else if text.contains("Cairo and in Lima") {
        vec![weather("Cairo"), weather("Lima")]
    } else if text.contains("invoice from ACME") {
        vec![("search_files", json!({"query": "ACME invoice"}))]
    } else if text.contains("北京") {
        vec![weather("北京")]
    } else {
        Vec::new()
    }
}

/// What the tools said.
fn results_of(messages: &Value) -> String {
    let results = messages.as_array().unwrap().iter().filter(|message| {
        message["role"] == "tool" || message["content"].to_string().contains("<tool_response>")
    });
    results
        .map(|message| message["content"].to_string())
        .collect()
}

fn refuse(said: &str) -> Response {
    let error = json!({"error": {"message": said}});
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}

fn stream(delta: Value) -> Response {
    let said = json!({"choices": [{"delta": delta}]});
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let body = format!("data: {said}\n\ndata: {end}\n\ndata: [DONE]\n\n");
    ([("content-type", "text/event-stream")], body).into_response()
}
