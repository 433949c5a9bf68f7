//! OpenAPI servers out of the configuration people have: the connections of Open WebUI in the
//! environment, the settings file and the paste box, and whole documents.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::peer::{Peer, installed, ours};
use crate::people::Person;
use crate::program::{Served, run, stdout, tenon};
use crate::server::Server;
use crate::sources::fixtures::{ids, ready, until};

/// Two servers behind a real mcpo that wants a key.
fn mcpo(folder: &Path) -> Peer {
    let servers = json!({"mcpServers": {
        "time": {
            "command": installed("venv-mcp/bin/mcp-server-time"),
            "args": ["--local-timezone=UTC"],
        },
        "memory": {
            "command": installed("mcp/node_modules/.bin/mcp-server-memory"),
            "env": {"MEMORY_FILE_PATH": folder.join("memory.jsonl")},
        },
    }});
    let config = folder.join("mcpo.json");
    std::fs::write(&config, servers.to_string()).unwrap();
    let mut command = Command::new(installed("venv-mcpo/bin/python"));
    command
        .arg(installed("venv-mcpo/bin/mcpo"))
        .args(["--host", "127.0.0.1", "--port", "0"])
        .args(["--api-key", "top-secret", "--strict-auth", "--config"])
        .arg(config);
    Peer::start(command)
}

fn fastapi() -> Peer {
    let mut command = Command::new(installed("venv-fastapi/bin/python"));
    command.arg(ours("openapi/fast.py"));
    Peer::start(command)
}

/// About a server that says back what it read.
fn document(url: &str) -> Value {
    let text = json!({"name": "text", "in": "query", "schema": {"type": "string"}});
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Small API", "version": "1"},
        "servers": [{"url": url}],
        "paths": {"/query": {"get": {"operationId": "ask", "parameters": [text]}}},
    })
}

fn by_id<'a>(sources: &'a Value, id: &str) -> &'a Value {
    let mut all = sources.as_array().unwrap().iter();
    let found = all.find(|source| source["id"] == id);
    found.unwrap_or_else(|| panic!("no {id} in {sources:#}"))
}

#[tokio::test]
async fn the_connections_of_open_webui_are_tools_when_tenon_starts() {
    let data = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let mcpo = mcpo(elsewhere.path());
    let connections = json!([
        {
            "url": mcpo.url, "path": "openapi.json", "type": "openapi", "auth_type": "bearer",
            "key": "top-secret", "config": {"enable": true}, "info": {"id": "mcpo", "name": "All tools"},
        },
        {"url": "nowhere", "type": "openapi", "info": {"id": "broken"}},
    ])
    .to_string();
    let settings = elsewhere.path().join("tenon.toml");
    let more = format!(
        "[[tool_servers]]\nurl = \"{0}/time\"\nkey = \"${{MCPO_KEY}}\"\ninfo = {{ id = \"clock\" }}\n\
         [[tool_servers]]\nurl = \"{0}/time\"\nkey = \"guess\"\ninfo = {{ id = \"mcpo\" }}\n",
        mcpo.url
    );
    std::fs::write(&settings, more).unwrap();
    let with = |command: &mut Command| {
        command
            .env("TOOL_SERVER_CONNECTIONS", &connections)
            .env("TENON_CONFIG", &settings)
            .env("MCPO_KEY", "top-secret");
    };
    let served = Served::start_with(&data, |serve| {
        with(serve);
        serve
    });
    let tools = served
        .until("/api/tools", |tools| {
            ids(tools, "api_mcpo_").len() == 11 && ids(tools, "api_clock_").len() == 2
        })
        .await;
    let time = ids(&tools, "api_mcpo_time_");
    let now = time.iter().find(|id| id.contains("get_current_time"));
    let call = format!("/api/tools/{}/call", now.unwrap());
    let utc = json!({"arguments": {"timezone": "Asia/Tokyo"}});
    let called = served.post(&call, utc).await;
    assert_eq!(called["structured"]["timezone"], "Asia/Tokyo", "{called:#}");

    let refused = |sources: &Value| by_id(sources, "file-mcpo-2")["state"] == "failed";
    let sources = served.until("/api/sources", refused).await;
    let source = by_id(&sources, "file-mcpo");
    assert_eq!(source["state"], "ready", "{source:#}");
    assert_eq!(source["title"], "All tools");
    assert_eq!(
        source["origin"],
        json!({"kind": "file", "file": "TOOL_SERVER_CONNECTIONS"})
    );
    assert_eq!(source["editable"], false);
    assert!(!sources.to_string().contains("top-secret"), "{sources:#}");
    let clock = by_id(&sources, "file-clock");
    assert_eq!(
        clock["origin"],
        json!({"kind": "file", "file": "tenon.toml"})
    );
    let broken = by_id(&sources, "file-broken");
    assert_eq!(broken["state"], "failed", "{broken:#}");
    let why = broken["why"]["message"].as_str().unwrap();
    assert!(why.starts_with("Its `url` is not an address"), "{why}");
    let why = by_id(&sources, "file-mcpo-2")["why"]["message"]
        .as_str()
        .unwrap();
    assert!(why.contains("requires a key"), "{why}");

    let mut list = tenon(&data, &["sources", "list"]);
    with(&mut list);
    let listed = stdout(&list.output().unwrap());
    let line = |id: &str| {
        let line = listed.lines().find(|line| line.starts_with(id));
        line.unwrap_or_else(|| panic!("no {id} in {listed}"))
            .to_owned()
    };
    assert!(
        line("file-mcpo ").contains("All tools, 11 tools"),
        "{listed}"
    );
    assert!(
        line("file-broken").contains("failed: Its `url`"),
        "{listed}"
    );
    // Whoever names none is told of those that run.
    assert!(stdout(&run(&data, &["sources", "list"])).contains("mcpo"));
    drop(served);
    assert!(!stdout(&run(&data, &["sources", "list"])).contains("mcpo"));
}

#[tokio::test]
async fn connections_that_cannot_be_read_keep_nobody_from_starting() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start_with(&data, |serve| {
        serve.env("TOOL_SERVER_CONNECTIONS", "[{\"url\": ")
    });
    let sources = served.get("/api/sources").await;
    assert_eq!(sources[0]["state"], "failed", "{sources:#}");
    let why = sources[0]["why"]["message"].as_str().unwrap();
    assert!(
        why.starts_with("TOOL_SERVER_CONNECTIONS cannot be read. Line 1"),
        "{why}"
    );
}

#[tokio::test]
async fn a_document_and_an_address_are_imported_from_a_shell() {
    let peer = fastapi();
    let data = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("small.json");
    std::fs::write(&file, document(&peer.url).to_string()).unwrap();
    let file = file.to_str().unwrap();
    let import = |arguments: &[&str]| {
        let mut command = tenon(&data, &["import"]);
        stdout(&command.args(arguments).output().unwrap())
    };
    let told = import(&[file, "--preview"]);
    assert_eq!(told, "would be added  small  a document\n");
    assert_eq!(stdout(&run(&data, &["sources", "list"])), "");
    assert_eq!(import(&[file]), "added           small  a document\n");
    assert_eq!(import(&[file]), "there already   small  a document\n");
    let told = import(&[&peer.url]);
    // Many servers may be on one machine.
    let site = peer.url.trim_start_matches("http://");
    let name = site.replace(['.', ':'], "-");
    assert!(
        told.starts_with(&format!("added           {name}  {}/\n", peer.url)),
        "{told}"
    );

    let call = ["tools", "call", "api_small_ask", r#"{"text": "你好"}"#];
    let called = stdout(&run(&data, &call));
    assert!(called.contains("你好"), "{called}");
    let listed = stdout(&run(&data, &["sources", "list"]));
    let line = |id: &str| {
        let line = listed.lines().find(|line| line.starts_with(id));
        line.unwrap_or_else(|| panic!("no {id} in {listed}"))
    };
    assert!(line("api-small ").contains(" Small API, 1 tool, "));
    assert!(line(&format!("api-{name} ")).contains(&format!(" {site}, ")));

    let mut broken = document(&peer.url);
    broken["paths"] = json!([]);
    let file = elsewhere.path().join("broken.json");
    std::fs::write(&file, broken.to_string()).unwrap();
    let refused = run(&data, &["import", file.to_str().unwrap()]);
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stdout);
    assert!(told.contains("refused         broken"), "{told}");
}

#[tokio::test]
async fn a_document_in_several_files_is_imported_from_a_shell() {
    let peer = fastapi();
    let data = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().join("api");
    std::fs::create_dir_all(folder.join("parts")).unwrap();
    let mut whole = document(&peer.url);
    let ask = whole["paths"]["/query"]["get"].take();
    whole["paths"]["/query"]["get"] = json!({"$ref": "parts/ask.json"});
    whole["paths"]["/secret"] = json!({"get": {"$ref": "../secret.json"}});
    let file = folder.join("split.json");
    std::fs::write(&file, whole.to_string()).unwrap();
    std::fs::write(folder.join("parts/ask.json"), ask.to_string()).unwrap();
    let secret = json!({"operationId": "secret"});
    std::fs::write(elsewhere.path().join("secret.json"), secret.to_string()).unwrap();

    let imported = run(&data, &["import", file.to_str().unwrap()]);
    assert_eq!(stdout(&imported), "added           split  a document\n");
    // What was imported does not need the files any more.
    std::fs::remove_dir_all(&folder).unwrap();
    let call = ["tools", "call", "api_split_ask", r#"{"text": "split"}"#];
    let called = stdout(&run(&data, &call));
    assert!(called.contains("split"), "{called}");
    let listed = stdout(&run(&data, &["sources", "list"]));
    assert!(listed.contains(" Small API, 1 tool, "), "{listed}");
}

#[tokio::test]
async fn a_document_in_the_watched_folder_is_kept_until_its_file_goes() {
    let peer = fastapi();
    let server = Server::start().await;
    let file = server.data().join("mcp_servers/small.json");
    let kept = || async { server.app.store.count_documents().await.unwrap() };
    until(|| async {
        let there = file.parent().unwrap().is_dir();
        there.then_some(()).ok_or(json!("no folder yet"))
    })
    .await;
    std::fs::write(&file, document(&peer.url).to_string()).unwrap();
    let source = ready(&server, "file-small").await;
    assert_eq!(source["title"], "Small API");
    let call = "/api/tools/api_small_ask/call";
    let (_, answer) = server.post(call, json!({"arguments": {"text": "a"}})).await;
    assert_eq!(answer["structured"]["text"], "a", "{answer}");
    assert_eq!(kept().await, 1);

    // The same document somebody added, who does not lose it with the file, nor it with them.
    let new = json!({"kind": "openapi", "name": "same", "document": document(&peer.url)});
    let (status, _) = server.post("/api/sources", new.clone()).await;
    assert_eq!((status, kept().await), (201, 1));
    let removed = crate::sources::fixtures::delete(&server, "/api/sources/api-same").await;
    assert_eq!((removed, kept().await), (204, 1));
    server.post("/api/sources", new).await;

    let mut other = document(&peer.url);
    other["info"]["title"] = json!("Other API");
    std::fs::write(&file, other.to_string()).unwrap();
    until(|| async {
        let (_, source) = server.get("/api/sources/file-small").await;
        let is_new = source["title"] == "Other API" && source["state"] == "ready";
        is_new.then_some(()).ok_or(source)
    })
    .await;
    let left = |count: u64| {
        let kept = &kept;
        until(move || async move {
            let now = kept().await;
            (now == count).then_some(()).ok_or(json!(now))
        })
    };
    left(2).await;
    std::fs::remove_file(&file).unwrap();
    left(1).await;
    let (_, answer) = server
        .post(
            "/api/tools/api_same_ask/call",
            json!({"arguments": {"text": "b"}}),
        )
        .await;
    assert_eq!(answer["structured"]["text"], "b", "{answer}");
    crate::sources::fixtures::delete(&server, "/api/sources/api-same").await;
    assert_eq!(kept().await, 0);
}

#[tokio::test]
async fn what_is_pasted_may_be_connections_a_document_or_an_address() {
    let peer = fastapi();
    let server = Server::start().await;
    let path = "/api/sources/import";
    let connections = json!([
        {"url": peer.url, "type": "openapi", "key": "k", "info": {"id": "fast"}},
        {"url": peer.url, "type": "openapi", "spec_type": "json", "spec": document("http://127.0.0.1:9"), "info": {"id": "small"}},
        {"url": format!("{}/mcp", peer.url), "type": "mcp", "config": {"enable": false}, "info": {"id": "far"}},
    ]);
    let text = connections.to_string();
    let (status, preview) = server
        .post(path, json!({"text": text, "preview": true}))
        .await;
    assert_eq!(status, 200, "{preview:#}");
    let ids: Vec<&Value> = preview
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, ["api-fast", "api-small", "mcp-far"]);
    assert_eq!(server.app.store.count_documents().await.unwrap(), 0);
    server.post(path, json!({"text": text})).await;
    ready(&server, "api-small").await;
    let call = "/api/tools/api_small_ask/call";
    let (_, answer) = server.post(call, json!({"arguments": {"text": "a"}})).await;
    assert_eq!(answer["structured"]["text"], "a", "{answer}");
    ready(&server, "api-fast").await;
    let (_, again) = server.post(path, json!({"text": text})).await;
    for one in again.as_array().unwrap() {
        assert_eq!(one["refused"]["code"], "import_there", "{again:#}");
    }

    // Longer than any list of servers may be.
    let mut long = document(&peer.url);
    long["info"]["description"] = json!("x".repeat(5 * 1024 * 1024));
    let (_, added) = server.post(path, json!({"text": long.to_string()})).await;
    assert_eq!(added[0]["id"], "api-Small-API", "{added:#}");
    let (_, added) = server.post(path, json!({"text": peer.url})).await;
    let site = peer.url.trim_start_matches("http://");
    let id = format!("api-{}", site.replace(['.', ':'], "-"));
    assert_eq!(added[0]["id"], id, "{added:#}");
    let broken = "openapi: 3.1.0\ninfo: {title: Broken}\npaths: []\n";
    let (_, refused) = server.post(path, json!({"text": broken})).await;
    assert!(refused[0]["refused"]["code"].is_string(), "{refused:#}");
}

#[tokio::test]
async fn who_is_no_admin_imports_apis_for_themself_and_from_the_internet() {
    let peer = fastapi();
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let path = "/api/sources/import";
    let connection = json!([{"url": peer.url, "type": "openapi", "info": {"id": "near"}}]);
    let (_, everybody) = bob
        .post(path, json!({"text": connection.to_string(), "mine": false}))
        .await;
    let why = everybody[0]["refused"]["message"].as_str().unwrap();
    assert!(why.starts_with("Only an admin"), "{why}");
    let (_, added) = bob
        .post(path, json!({"text": connection.to_string()}))
        .await;
    let id = added[0]["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("api-near."), "{added:#}");
    let source = until(|| async {
        let (_, source) = bob.get(&format!("/api/sources/{id}")).await;
        if source["state"] == "failed" {
            Ok(source)
        } else {
            Err(source)
        }
    })
    .await;
    assert!(
        source["why"]["message"]
            .as_str()
            .unwrap()
            .contains("private"),
        "{source:#}"
    );
    assert_eq!(ada.get(&format!("/api/sources/{id}")).await.0, 404);

    let shared = json!([{"url": "https://api.example", "type": "openapi", "key": "${KEY}"}]);
    let (_, refused) = bob.post(path, json!({"text": shared.to_string()})).await;
    let why = refused[0]["refused"]["message"].as_str().unwrap();
    assert!(why.contains("${user.KEY}"), "{why}");
    let own = document("https://api.example").to_string();
    let (_, added) = bob.post(path, json!({"text": own})).await;
    let id = added[0]["id"].as_str().unwrap();
    assert!(id.starts_with("api-Small-API."), "{added:#}");
    let mut long = document("https://api.example");
    long["info"]["description"] = json!("x".repeat(4 * 1024 * 1024));
    let (status, refused) = bob.post(path, json!({"text": long.to_string()})).await;
    assert_eq!(status, 400, "{refused:#}");
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("4 MiB"), "{why}");
}
