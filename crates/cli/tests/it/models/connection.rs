//! What a step costs in connections.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::routing::post;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::fake::say;
use crate::server::{Server, TEST_TIMEOUT};

#[tokio::test]
async fn a_connection_is_used_again_for_the_next_step() {
    use axum::serve::ListenerExt;
    use std::sync::atomic::{AtomicUsize, Ordering};

    let _ = rustls::crypto::ring::default_provider().install_default();
    let opened = Arc::new(AtomicUsize::new(0));
    let count = opened.clone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let listener = listener.tap_io(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    // The last bytes come a moment after the last word.
    let answer = || async {
        let words = format!("data: {}\n\ndata: [DONE]\n\n", say("Hello"));
        let pieces = stream::iter([words, "\n".to_owned()]).then(|piece| async {
            if piece == "\n" {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            Ok::<_, std::convert::Infallible>(piece)
        });
        axum::body::Body::from_stream(pieces)
    };
    let router = axum::Router::new().fallback(answer);
    tokio::spawn(async move { axum::serve(listener, router).await });

    let provider = tenon_llm::connect(tenon_llm::Remote {
        name: "Fake".into(),
        format: tenon_domain::WireFormat::Openai,
        base_url: url,
        key: None,
        model: "m".into(),
        parameters: serde_json::Map::new(),
        tools: tenon_domain::ToolUse::Native,
        context_tokens: None,
        tool_budget: None,
        reports_progress: false,
    });
    for _ in 0..3 {
        let request = tenon_llm::ModelRequest {
            messages: vec![tenon_domain::Message::user("hi")],
            ..tenon_llm::ModelRequest::default()
        };
        tenon_llm::complete(&*provider, request).await.unwrap();
        // A tool runs for a while.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(opened.load(Ordering::Relaxed), 1);
}

/// What a server does for one request. Dropped, the request is over for it.
struct Slot(Arc<Notify>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_frees_the_slot_of_the_models_server() {
    let (begun, freed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begins, frees) = (begun.clone(), freed.clone());
    let complete = move |Json(body): Json<Value>| {
        let (begun, slot) = (begins.clone(), Slot(frees.clone()));
        async move {
            begun.notify_one();
            if body["messages"].to_string().contains("long prompt") {
                std::future::pending::<()>().await;
            }
            let words = format!("data: {}\n\n", say("Hello"));
            let begin = stream::iter([Ok::<_, Infallible>(words)]);
            let rest = stream::once(async move {
                let _slot = slot;
                std::future::pending().await
            });
            Body::from_stream(begin.chain(rest))
        }
    };
    let router = axum::Router::new().route("/v1/chat/completions", post(complete));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });

    let server = Server::start().await;
    let added = super::add(&server, &url, "m").await;
    for prompt in ["a long prompt, still being read", "hi"] {
        let message = json!({"role": "user", "content": prompt});
        let body = json!({"model": added["id"], "messages": [message], "stream": true});
        let request = server.request("POST", "/v1/chat/completions").json(&body);
        let response = request.send().await.unwrap();
        timeout(TEST_TIMEOUT, begun.notified()).await.unwrap();
        drop(response);
        let waited = timeout(TEST_TIMEOUT, freed.notified()).await;
        assert!(waited.is_ok(), "{prompt}");
    }
}
