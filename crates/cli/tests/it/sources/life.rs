//! The life of a server: it comes, works, changes, ends and is back.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_app::app::open_vault;
use tenon_app::auth::CurrentUser;
use tenon_app::config::Config;
use tenon_app::sources::Sources;
use tenon_bus::Bus;
use tenon_sources::CallRoutes;

use super::fixtures::{delete, is_alive, memory, ready, source, time, tools, until};
use crate::server::Server;

#[tokio::test]
async fn a_server_is_added_called_changed_restarted_and_removed() {
    let server = Server::start().await;
    let file = server.data().join("memory.jsonl");

    // The answer does not wait for it.
    let (status, added) = server.post("/api/sources", memory("memory", &file)).await;
    assert_eq!(status, 201, "{added}");
    assert_eq!(
        (&added["id"], &added["name"], &added["title"]),
        (&json!("mcp-memory"), &json!("memory"), &json!("memory"))
    );
    assert_eq!(added["origin"], json!({"kind": "added"}));
    assert_eq!(
        (&added["mine"], &added["editable"]),
        (&json!(false), &json!(true))
    );
    assert_ne!(added["state"], "ready");
    let path = "/api/sources/mcp-memory";
    let up = ready(&server, "mcp-memory").await;
    assert_eq!((&up["tools"], &up["stale"]), (&json!(9), &json!(false)));
    until(|| async {
        let ids = tools(&server, "mcp_memory_").await;
        (ids.len() == 9).then_some(()).ok_or(json!(ids))
    })
    .await;

    // Its tools are tools like others.
    let entity = json!({"name": "Ada", "entityType": "person", "observations": ["counts"]});
    let call = json!({"arguments": {"entities": [entity]}});
    let (_, created) = server
        .post("/api/tools/mcp_memory_create_entities/call", call)
        .await;
    assert_eq!(created["ok"], true, "{created}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("Ada"));

    // Other words, the same process.
    let words = json!({"title": "What is known", "timeoutMs": 9000, "toolTimeoutsMs": {"read_graph": 5000}});
    let (status, renamed) = server.patch(path, words).await;
    assert_eq!(status, 200, "{renamed}");
    assert_eq!(
        (&renamed["title"], &renamed["state"]),
        (&json!("What is known"), &json!("ready"))
    );
    assert_eq!(renamed["reach"]["timeoutMs"], 9000);
    assert_eq!(renamed["pid"], up["pid"]);
    let (_, listed) = server.get("/api/tools").await;
    let graph = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["toolId"] == "mcp_memory_read_graph");
    let name = &graph.unwrap()["displayName"];
    assert!(
        name.as_str().unwrap().starts_with("What is known/"),
        "{name}"
    );

    // Other settings, another process; what it offers is listed all the while.
    let elsewhere = server.data().join("other.jsonl");
    let moved = json!({"env": {"MEMORY_FILE_PATH": elsewhere}});
    let (status, moved) = server.patch(path, moved).await;
    assert_eq!((status, &moved["tools"]), (200, &json!(9)), "{moved}");
    assert_eq!(tools(&server, "mcp_memory_").await.len(), 9);
    ready(&server, "mcp-memory").await;
    let (_, graph) = server
        .post(
            "/api/tools/mcp_memory_read_graph/call",
            json!({"arguments": {}}),
        )
        .await;
    assert!(
        graph["ok"] == true && !graph.to_string().contains("Ada"),
        "{graph}"
    );
    gone(&up).await;

    // Off: nothing of it is offered, and nothing of it runs.
    let before = ready(&server, "mcp-memory").await;
    let (_, off) = server.patch(path, json!({"enabled": false})).await;
    assert_eq!(
        (&off["state"], &off["enabled"]),
        (&json!("off"), &json!(false))
    );
    assert!(tools(&server, "mcp_memory_").await.is_empty());
    gone(&before).await;
    let (status, refused) = server.post(&format!("{path}/restart"), json!({})).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (409, &json!("source_off"))
    );
    server.patch(path, json!({"enabled": true})).await;
    let up = ready(&server, "mcp-memory").await;

    let (status, _) = server.post(&format!("{path}/restart"), json!({})).await;
    assert_eq!(status, 200);
    let again = source(&server, "mcp-memory", |source| {
        source["state"] == "ready" && source["pid"] != up["pid"]
    })
    .await;
    let (status, lines) = server.get(&format!("{path}/logs")).await;
    assert_eq!(status, 200);
    assert!(
        lines.as_array().is_some_and(|lines| !lines.is_empty()),
        "{lines}"
    );

    // Removed, it is gone when that is answered: tools, process and row.
    assert_eq!(delete(&server, path).await, 204);
    assert!(tools(&server, "mcp_memory_").await.is_empty());
    assert!(!is_alive(again["pid"].as_u64().unwrap()));
    assert_eq!(server.get(path).await.0, 404);
    assert_eq!(server.get("/api/sources").await.1, json!([]));
    assert_eq!(delete(&server, path).await, 404);

    // Added again, its tools have the ids they had.
    server.post("/api/sources", memory("memory", &file)).await;
    ready(&server, "mcp-memory").await;
    until(|| async {
        let ids = tools(&server, "mcp_memory_read_graph").await;
        (ids == ["mcp_memory_read_graph"])
            .then_some(())
            .ok_or(json!(ids))
    })
    .await;
    server.app.sources.close().await;

    let (_, audit) = server.get("/api/audit?action=source").await;
    let actions: Vec<&str> = audit
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|entry| entry["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        actions,
        [
            "source.added",
            "source.changed",
            "source.changed",
            "source.changed",
            "source.changed",
            "source.restarted",
            "source.removed",
            "source.added"
        ]
    );
}

#[tokio::test]
async fn servers_are_back_with_tenon_and_listed_before_they_are_up() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    std::fs::write(&gate, "").unwrap();
    let first = Server::in_folder(folder.path(), Config::default()).await;
    let mut new = time("clock");
    // It waits at its gate.
    let script = "while [ ! -e \"$GATE\" ]; do sleep 0.05; done; exec \"$0\" \"$@\"";
    let program = new["command"].take();
    new["command"] = json!("sh");
    new["args"] = json!(["-c", script, program, "--local-timezone=UTC"]);
    new["env"] = json!({"GATE": gate});
    let (status, added) = first.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    ready(&first, "mcp-clock").await;
    until(|| async {
        let kept = first
            .app
            .store
            .source_tools(&tenon_domain::SourceId::new("mcp-clock"))
            .await;
        kept.unwrap().map(drop).ok_or(Value::Null)
    })
    .await;
    first.app.sources.close().await;
    std::fs::remove_file(&gate).unwrap();

    let second = Server::in_folder(folder.path(), Config::default()).await;
    let clock = until(|| async {
        let (status, source) = second.get("/api/sources/mcp-clock").await;
        (status == 200).then_some(source.clone()).ok_or(source)
    })
    .await;
    assert_eq!(
        (&clock["state"], &clock["stale"]),
        (&json!("starting"), &json!(true)),
        "{clock}"
    );
    assert_eq!(
        tools(&second, "mcp_clock_").await,
        ["mcp_clock_convert_time", "mcp_clock_get_current_time"]
    );
    std::fs::write(&gate, "").unwrap();
    let clock = ready(&second, "mcp-clock").await;
    assert_eq!(clock["stale"], false);
    let call = json!({"arguments": {"timezone": "Asia/Tokyo"}});
    let (_, told) = second
        .post("/api/tools/mcp_clock_get_current_time/call", call)
        .await;
    assert_eq!(told["ok"], true, "{told}");
    second.app.sources.close().await;
}

#[tokio::test]
async fn one_that_was_added_is_answered_with_before_it_is_seen_to() {
    let server = Server::start().await;
    let store = server.app.store.clone();
    let vault = open_vault(server.data(), &Config::default()).unwrap();
    let user = CurrentUser::of_shell(&store).await.unwrap();
    // Nobody looks after these.
    let sources = Sources::new(
        store,
        Arc::new(vault),
        server.app.registry.clone(),
        CallRoutes::new(Bus::alone()),
    );
    let new = json!({"kind": "mcp", "name": "far", "url": "https://far.invalid/mcp"});
    let added = sources.add(&user, serde_json::from_value(new).unwrap());
    let added = serde_json::to_value(added.await.unwrap()).unwrap();
    assert_eq!(
        (&added["id"], &added["state"]),
        (&json!("mcp-far"), &json!("starting")),
        "{added}"
    );
}

#[tokio::test]
async fn one_that_cannot_start_says_why_and_others_do_not_suffer() {
    let server = Server::start().await;
    let broken = json!({"kind": "mcp", "name": "broken", "command": "/no/such/program"});
    assert_eq!(server.post("/api/sources", broken).await.0, 201);
    assert_eq!(server.post("/api/sources", time("clock")).await.0, 201);
    ready(&server, "mcp-clock").await;
    let failed = source(&server, "mcp-broken", |source| {
        source["state"] != "starting"
    })
    .await;
    assert!(
        failed["why"]["message"]
            .as_str()
            .is_some_and(|why| !why.is_empty()),
        "{failed}"
    );
    assert_eq!(tools(&server, "mcp_clock_").await.len(), 2);
    assert_eq!(delete(&server, "/api/sources/mcp-broken").await, 204);
    server.app.sources.close().await;
}

/// Its process has ended, or will in a moment.
async fn gone(source: &Value) {
    let pid = source["pid"].as_u64().unwrap();
    until(|| async { (!is_alive(pid)).then_some(()).ok_or(json!(pid)) }).await;
}
