//! How much a model reads at once, asked of servers that say it each at its own place.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tenon_domain::{ToolUse, WireFormat};
use tenon_llm::{Remote, ServerFacts};

use super::fake::say;
use crate::server::Server;

/// What a server answers at a path.
type Pages = Vec<(&'static str, Value)>;

/// A server on this machine.
#[derive(Clone)]
struct LocalServer {
    pages: Arc<Mutex<Pages>>,
    /// Bodies of chat completions.
    asked: Arc<Mutex<Vec<Value>>>,
}

impl LocalServer {
    /// Its address, with `/v1`.
    async fn start(pages: Pages) -> (Self, String) {
        let server = Self {
            pages: Arc::new(Mutex::new(pages)),
            asked: Arc::default(),
        };
        let router = axum::Router::new()
            .fallback(Self::answer)
            .with_state(server.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        (server, format!("http://{address}/v1"))
    }

    async fn answer(State(server): State<Self>, request: Request) -> Response {
        let path = request.uri().path().to_owned();
        let body = axum::body::to_bytes(request.into_body(), 1 << 20).await;
        let body = serde_json::from_slice(&body.unwrap()).unwrap_or(Value::Null);
        if path == "/v1/chat/completions" {
            server.asked.lock().unwrap().push(body);
            let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
            let stream = format!("data: {}\n\ndata: {end}\n\ndata: [DONE]\n\n", say("Yes."));
            return ([("content-type", "text/event-stream")], stream).into_response();
        }
        let pages = server.pages.lock().unwrap();
        match pages.iter().find(|(place, _)| *place == path) {
            Some((_, page)) => Json(page.clone()).into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        }
    }
}

fn remote(base_url: &str) -> Remote {
    Remote {
        name: "Local".into(),
        format: WireFormat::Openai,
        base_url: base_url.into(),
        key: None,
        model: "qwen:1b".into(),
        parameters: serde_json::Map::new(),
        tools: ToolUse::Native,
        context_tokens: None,
        tool_budget: None,
        reports_progress: false,
    }
}

fn list(more: &Value) -> (&'static str, Value) {
    let mut model = json!({"id": "qwen:1b", "object": "model"});
    let fields = more.as_object().cloned().unwrap();
    model.as_object_mut().unwrap().extend(fields);
    ("/v1/models", json!({"object": "list", "data": [model]}))
}

fn llama_cpp(context: u64) -> Pages {
    let props =
        json!({"default_generation_settings": {"n_ctx": context, "params": {}}, "total_slots": 1});
    let trained = json!({"meta": {"n_ctx_train": 32768, "n_params": 1543714304}});
    vec![("/props", props), list(&trained)]
}

fn ollama(parameters: &str, running: Value) -> Pages {
    let info = json!({"general.architecture": "qwen2", "qwen2.context_length": 32768, "qwen2.block_count": 28});
    let shown = json!({"license": "…", "parameters": parameters, "model_info": info});
    vec![
        ("/api/show", shown),
        ("/api/ps", json!({ "models": running })),
        list(&json!({"owned_by": "library"})),
    ]
}

fn lm_studio(more: &Value) -> Pages {
    let (_, mut models) = list(more);
    models["data"][0]["max_context_length"] = json!(32768);
    vec![("/api/v0/models", models), list(&json!({}))]
}

#[tokio::test]
async fn each_kind_of_server_says_how_much_it_reads() {
    let server = Server::start().await;
    let running = json!([{"name": "other"}, {"model": "qwen:1b", "context_length": 16384}]);
    let num_ctx = "stop \"<|im_end|>\"\nnum_ctx                        8192";
    let busy = json!({"error": "Unexpected endpoint or method. (GET /props)"});
    let mut with_other_pages =
        lm_studio(&json!({"state": "loaded", "loaded_context_length": 4096}));
    with_other_pages.push(("/props", busy));
    for (pages, expected, reports_progress) in [
        (llama_cpp(2048), Some(2048), true),
        (ollama(num_ctx, json!([])), Some(8192), false),
        (ollama("", json!([])), Some(4096), false),
        (ollama(num_ctx, running), Some(16384), false),
        (with_other_pages, Some(4096), false),
        (
            lm_studio(&json!({"state": "not-loaded"})),
            Some(32768),
            false,
        ),
        (
            vec![list(&json!({"max_model_len": 40960}))],
            Some(40960),
            false,
        ),
        (vec![list(&json!({}))], None, false),
    ] {
        let shown = format!("{pages:?}");
        let (_, url) = LocalServer::start(pages).await;
        let facts = ServerFacts::read(&remote(&url)).await;
        let expected_facts = expected.map(|context| ServerFacts {
            context_tokens: Some(context),
            reports_progress,
        });
        assert_eq!(facts, expected_facts, "{shown}");
        // And so it is offered.
        let wish = json!({ "baseUrl": url });
        let (_, offer) = server.post("/api/models/discover", wish).await;
        assert_eq!(
            offer["models"][0]["contextTokens"].as_u64(),
            expected,
            "{shown}: {offer}"
        );
    }
}

#[tokio::test]
async fn a_chat_is_cut_to_what_the_server_reads_now() {
    let (local, url) = LocalServer::start(llama_cpp(4096)).await;
    let server = Server::start().await;
    let new = json!({"provider": "openai", "baseUrl": url, "model": "qwen:1b"});
    let (status, added) = server.post("/api/models", new).await;
    assert_eq!(status, 201, "{added}");
    let call =
        json!({"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}});
    let long = "tool output ".repeat(4_000);
    let body = json!({"model": added["id"], "tool_ids": [], "max_tokens": 100, "messages": [
        {"role": "user", "content": "read it"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": long},
        {"role": "assistant", "content": "I have."},
        {"role": "user", "content": "thanks"},
    ]});
    let (status, answer) = server.post("/v1/chat/completions", body).await;
    assert_eq!(status, 200, "{answer}");
    let asked = local.asked.lock().unwrap().clone();
    let told = asked[0]["messages"].to_string();
    assert!(told.len() < 4 * 4096, "{}", told.len());
    assert_eq!(asked[0]["return_progress"], true);
    assert_eq!(asked[0]["max_tokens"], 100);
}
