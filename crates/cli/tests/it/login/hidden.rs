//! What was granted is seen by nobody.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use super::{guarded, visit};
use crate::program::Served;

/// Everything that lies in a folder, as bytes.
fn all_of(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes.extend(all_of(&path))
        } else {
            bytes.extend(std::fs::read(path).unwrap_or_default())
        }
    }
    bytes
}

#[tokio::test]
async fn no_token_is_in_an_answer_a_log_or_the_database() {
    let authority = guarded::start().await;
    authority.behave(|ways| ways.gives_secrets = true);
    let data = tempfile::tempdir().unwrap();
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let served = Served::start_with(&data, |serve| {
        let file = File::create(&log).unwrap();
        serve.env("TENON_LOG", "trace").stderr(Stdio::from(file))
    });
    let new = json!({"kind": "mcp", "name": "guarded", "url": authority.server()});
    let added = served.post("/api/sources", new).await;
    let id = added["id"].as_str().unwrap();
    let path = format!("/api/sources/{id}");
    served
        .until(&path, |source| source["login"] == "needed")
        .await;
    let start = served.post(&format!("{path}/login"), json!({})).await;
    let url = start["url"].as_str().unwrap();
    let back = visit(url).await;
    let page = served.client.get(format!("{}{back}", served.address));
    let page = page.send().await.unwrap().text().await.unwrap();
    served
        .until(&path, |source| source["state"] == "ready")
        .await;
    authority.forget_access();
    let call = format!("/api/tools/mcp_guarded_{}/call", guarded::TOOL);
    let called = served.post(&call, json!({"arguments": {}})).await;
    assert_eq!(called["ok"], true, "{called}");

    let mut seen = page.into_bytes();
    seen.extend(url.as_bytes());
    for path in [
        "/api/sources",
        &path,
        &format!("{path}/logs"),
        "/api/audit",
        "/api/tools",
    ] {
        seen.extend(served.get(path).await.to_string().into_bytes());
    }
    seen.extend(all_of(data.path()));
    let written = std::fs::read(&log).unwrap();
    assert!(written.len() > 1000, "the log says something");
    seen.extend(written);
    let seen = String::from_utf8_lossy(&seen);
    let given = authority.book().secrets.clone();
    assert!(given.len() >= 5, "{given:?}");
    for secret in given {
        assert!(!seen.contains(&secret), "{secret} can be seen");
    }
}
