//! The real mcpo, with real MCP servers behind it, in all the forms people run it in.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tenon_domain::{ErrorKind, OpenapiConfig, SourceCredential};
use tenon_sources::openapi::preview;
use tenon_sources::{Network, SupervisedServer};

use super::harness::{OpenapiHarness, at, caller, parses, settings};
use crate::harness::sentences;
use crate::mcp::peers::Listening;
use crate::peer::installed;

const TIME: &str = "tool_get_current_time_post";

/// With these options, and what comes after them.
fn mcpo(options: &[&str], rest: Vec<String>) -> Listening {
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    Listening::start(move |port| {
        let mut command = Command::new(installed("venv-mcpo/bin/python"));
        command
            .arg(installed("venv-mcpo/bin/mcpo"))
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .args(&options)
            .args(&rest);
        command
    })
}

/// One server alone: its tools are at the address itself.
fn single(options: &[&str]) -> Listening {
    let time = installed("venv-mcp/bin/mcp-server-time");
    let time = time.to_str().unwrap().to_owned();
    mcpo(
        options,
        vec!["--".into(), time, "--local-timezone=UTC".into()],
    )
}

/// Two servers behind one address.
fn several(folder: &Path, options: &[&str]) -> Listening {
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
    let config = folder.join("config.json");
    std::fs::write(&config, servers.to_string()).unwrap();
    let config = config.to_str().unwrap().to_owned();
    mcpo(options, vec!["--config".into(), config])
}

fn with_key(mut config: OpenapiConfig, value: &str) -> OpenapiConfig {
    let key = SourceCredential::Key {
        value: value.to_owned(),
    };
    config.credentials.insert("HTTPBearer".into(), key);
    config
}

async fn told(harness: &OpenapiHarness, tool: &str, input: Value) -> Value {
    let text = harness.text(tool, input).await;
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn openapi_servers_behind_a_real_mcpo_are_found_and_called() {
    let folder = tempfile::tempdir().unwrap();
    let mcpo = several(folder.path(), &[]);
    let harness = OpenapiHarness::ready(settings(at(&mcpo.address))).await;
    let names = harness.names();
    assert_eq!(names.len(), 2 + 9, "{names:?}");
    assert!(names.contains(&format!("time/{TIME}")), "{names:?}");
    assert!(
        names.contains(&"memory/tool_read_graph_post".into()),
        "{names:?}"
    );
    assert_eq!(sentences(&harness.server.status().problems), [""; 0]);

    let now = told(
        &harness,
        &format!("time/{TIME}"),
        json!({"timezone": "Asia/Tokyo"}),
    )
    .await;
    assert_eq!(now["timezone"], "Asia/Tokyo");
    let entity =
        json!({"name": "Ada", "entityType": "person", "observations": ["writes programs"]});
    let made = told(
        &harness,
        "memory/tool_create_entities_post",
        json!({"entities": [entity]}),
    );
    assert_eq!(made.await, json!([entity]));
    let graph = told(&harness, "memory/tool_read_graph_post", json!({})).await;
    assert_eq!(graph, json!({"entities": [entity], "relations": []}));

    let time = format!("time/{TIME}");
    let error = harness.error(&time, json!({"timezone": "Nope/Zone"})).await;
    assert_eq!(error.kind, ErrorKind::Failed);
    assert!(
        error.message.contains("Invalid timezone"),
        "{}",
        error.message
    );
    let error = harness.error(&time, json!({})).await;
    assert_eq!(error.kind, ErrorKind::InvalidInput, "{error:?}");

    let caller = caller(Network::Anywhere);
    let seen = preview(at(&mcpo.address), &caller, &parses())
        .await
        .unwrap();
    assert_eq!(seen.servers, ["time", "memory"]);
    assert_eq!(
        (seen.tools.len(), seen.skipped.len(), seen.notes.len()),
        (11, 0, 0)
    );
    assert_eq!(seen.title, "MCP OpenAPI Proxy");
}

#[tokio::test(flavor = "multi_thread")]
async fn openapi_servers_behind_a_real_mcpo_may_want_a_key_and_have_a_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--api-key", "top-secret", "--path-prefix", "/api/tools"];
    let mcpo = several(folder.path(), &options);
    let tool = format!("time/{TIME}");
    let utc = || json!({"timezone": "UTC"});

    let harness = OpenapiHarness::ready(settings(with_key(at(&mcpo.address), "top-secret"))).await;
    assert_eq!(harness.names().len(), 11);
    assert_eq!(told(&harness, &tool, utc()).await["timezone"], "UTC");
    let about = harness.server.status().document.unwrap();
    assert_eq!(about.schemes.len(), 1, "{:?}", about.schemes);
    assert_eq!(about.schemes[0].name, "HTTPBearer");

    let wrong = OpenapiHarness::ready(settings(with_key(at(&mcpo.address), "guess"))).await;
    let error = wrong.error(&tool, utc()).await;
    assert!(
        error.message.contains("Invalid API key"),
        "{}",
        error.message
    );
    let none = OpenapiHarness::ready(settings(at(&mcpo.address))).await;
    let error = none.error(&tool, utc()).await;
    assert!(error.message.contains("HTTPBearer"), "{}", error.message);

    // One of them alone, by its own address.
    let alone = at(&format!("{}/api/tools/time", mcpo.address));
    let alone = OpenapiHarness::ready(settings(with_key(alone, "top-secret"))).await;
    assert_eq!(told(&alone, TIME, utc()).await["timezone"], "UTC");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_openapi_server_that_is_a_real_mcpo_alone_is_found_and_called() {
    let utc = || json!({"timezone": "UTC"});
    let mut mcpo = single(&[]);
    for address in [
        mcpo.address.clone(),
        format!("{}/docs", mcpo.address),
        format!("{}/openapi.json", mcpo.address),
    ] {
        let harness = OpenapiHarness::ready(settings(at(&address))).await;
        assert_eq!(harness.names(), ["tool_convert_time_post", TIME]);
        assert_eq!(told(&harness, TIME, utc()).await["timezone"], "UTC");
    }
    // It dies and comes back.
    let harness = OpenapiHarness::ready(settings(at(&mcpo.address))).await;
    mcpo.restart();
    assert_eq!(told(&harness, TIME, utc()).await["timezone"], "UTC");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_openapi_server_that_is_a_real_mcpo_may_hide_even_its_document() {
    let mcpo = single(&["--api-key", "top-secret", "--strict-auth"]);
    let mut config = at(&mcpo.address);
    let mut refused =
        OpenapiHarness::starting(settings(config.clone()), super::harness::QUICK).await;
    let why = refused.failure().await;
    assert!(
        why.contains("requires a key (it answered 401 Unauthorized)"),
        "{why}"
    );
    config
        .headers
        .insert("Authorization".into(), "Bearer top-secret".into());
    let harness = OpenapiHarness::ready(settings(config)).await;
    let now = told(&harness, TIME, json!({"timezone": "UTC"})).await;
    assert_eq!(now["timezone"], "UTC");
}
