//! The real servers that tests add, and waiting for what they do.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_domain::SourceId;
use tenon_store::Store;

use crate::server::Server;

/// Programs of Python and node need a few seconds on a busy machine.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A program that `make test-setup` installs.
pub fn installed(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("target/peers").join(path);
    assert!(path.exists(), "{path:?}: `make test-setup` installs it");
    path.to_str().unwrap().to_owned()
}

/// Nine tools and a file.
pub fn memory(name: &str, file: &Path) -> Value {
    json!({
        "kind": "mcp", "name": name,
        "command": installed("mcp/node_modules/.bin/mcp-server-memory"),
        "env": {"MEMORY_FILE_PATH": file},
    })
}

/// Two tools, and of the newest era.
pub fn time(name: &str) -> Value {
    json!({
        "kind": "mcp", "name": name,
        "command": installed("venv-mcp/bin/mcp-server-time"),
        "args": ["--local-timezone=UTC"],
    })
}

/// It tells its environment to whoever asks: `get-env`.
pub fn everything(name: &str, env: Value) -> Value {
    json!({
        "kind": "mcp", "name": name,
        "command": installed("mcp/node_modules/.bin/mcp-server-everything"),
        "args": ["stdio"],
        "env": env,
    })
}

pub async fn until<T, F: Future<Output = Result<T, Value>>>(look: impl Fn() -> F) -> T {
    let started = Instant::now();
    loop {
        match look().await {
            Ok(found) => return found,
            Err(seen) if started.elapsed() > TEST_TIMEOUT => panic!("in vain: {seen:#}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Waits until what a source of a data folder offers is in the store.
pub async fn until_stored(data: &TempDir, source: &str) {
    let store = Store::open_file(&data.path().join("tenon.db"))
        .await
        .unwrap();
    let source = SourceId::new(source);
    until(|| async {
        let tools = store.source_tools(&source).await.unwrap();
        tools.map(drop).ok_or(json!(source))
    })
    .await;
}

/// A source, once it passes.
pub async fn source(server: &Server, id: &str, passes: impl Fn(&Value) -> bool) -> Value {
    let path = format!("/api/sources/{id}");
    until(|| async {
        let (_, source) = server.get(&path).await;
        if passes(&source) {
            Ok(source)
        } else {
            Err(source)
        }
    })
    .await
}

pub async fn ready(server: &Server, id: &str) -> Value {
    source(server, id, |source| source["state"] == "ready").await
}

/// The ids of the tools that begin like this.
pub async fn tools(server: &Server, prefix: &str) -> Vec<String> {
    let (_, tools) = server.get("/api/tools").await;
    ids(&tools, prefix)
}

pub fn ids(tools: &Value, prefix: &str) -> Vec<String> {
    let ids = tools.as_array().unwrap().iter();
    let ids = ids.map(|tool| tool["toolId"].as_str().unwrap().to_owned());
    ids.filter(|id| id.starts_with(prefix)).collect()
}

pub async fn delete(server: &Server, path: &str) -> u16 {
    let sent = server.request("DELETE", path).send().await;
    sent.unwrap().status().as_u16()
}

/// Whether a process still is one. One that nobody waited for is none.
pub fn is_alive(pid: u64) -> bool {
    let stat = PathBuf::from(format!("/proc/{pid}/stat"));
    let Ok(stat) = std::fs::read_to_string(stat) else {
        return false;
    };
    let state = stat.rsplit(") ").next().unwrap_or_default();
    !state.starts_with('Z')
}

/// The text of what a call gave.
pub fn text(answer: &Value) -> String {
    assert_eq!(answer["ok"], true, "{answer}");
    answer["content"].to_string()
}
