//! The servers people run, over every transport they offer.

use serde_json::{Value, json};
use tenon_domain::Content;
use tenon_sources::SupervisedServer;

use super::harness::{self, McpHarness};
use super::peers::{Listening, everything, fast, grows, old};
use super::recording_client::RecordingClient;
use crate::peer::installed;

/// What server-everything gives over any transport.
async fn check_everything(harness: &McpHarness, protocol: &str) {
    let about = harness.server.status().about.unwrap();
    assert_eq!(about.protocol, protocol);
    assert_eq!(about.name, "mcp-servers/everything");
    assert!(harness.names().len() >= 13, "{:?}", harness.names());

    let answer = harness.text("echo", json!({ "message": "你好" })).await;
    assert_eq!(answer, "Echo: 你好");

    let image = harness.call("get-tiny-image", json!({})).await.unwrap();
    let pictures = image
        .content
        .iter()
        .filter(|part| matches!(part, Content::Image { .. }));
    assert_eq!(pictures.count(), 1, "{image:?}");

    let input = json!({ "location": "New York" });
    let structured = harness.call("get-structured-content", input).await.unwrap();
    let [Content::Json { value }] = &structured.content[..] else {
        panic!("{structured:?}");
    };
    assert!(value["temperature"].is_number(), "{value}");

    let links = harness
        .text("get-resource-links", json!({ "count": 2 }))
        .await;
    assert_eq!(links.matches("[link: ").count(), 2, "{links}");

    let person = RecordingClient::silent();
    let input = json!({ "duration": 1, "steps": 4 });
    let context = person.context();
    harness
        .call_as(&context, "trigger-long-running-operation", input)
        .await
        .unwrap();
    assert_eq!(person.progress(), [1.0, 2.0, 3.0, 4.0]);
}

/// It asks in the middle of a call, and somebody answers.
async fn check_elicitation(harness: &McpHarness) {
    let person = RecordingClient::accepting(json!({
        "name": "Ada", "check": true, "email": "ada@example.com", "integer": 36, "firstLine": "It was a dark and stormy night."
    }));
    let context = person.context();
    let answer = harness
        .call_as(&context, "trigger-elicitation-request", json!({}))
        .await
        .unwrap();
    let answer = answer.to_text();
    assert!(answer.contains("Name: Ada"), "{answer}");
    assert_eq!(person.questions().len(), 1);

    let nobody = harness.text("trigger-elicitation-request", json!({})).await;
    assert!(nobody.contains("declined"), "{nobody}");
}

#[tokio::test]
async fn server_everything_over_its_pipes() {
    let harness = McpHarness::program(everything(), &["stdio"]).await;
    check_everything(&harness, "2025-11-25").await;
    check_elicitation(&harness).await;
    harness.server.stop().await;
}

#[tokio::test]
async fn server_everything_over_streamable_http() {
    let server = Listening::everything("streamableHttp");
    let harness = McpHarness::http(&format!("{}/mcp", server.address)).await;
    check_everything(&harness, "2025-11-25").await;
    check_elicitation(&harness).await;
}

#[tokio::test]
async fn server_everything_over_legacy_sse() {
    let server = Listening::everything("sse");
    let harness = McpHarness::sse(&format!("{}/sse", server.address)).await;
    check_everything(&harness, "2025-11-25").await;
    check_elicitation(&harness).await;
}

#[tokio::test]
async fn an_address_that_turns_out_to_be_legacy_sse_is_used_as_that() {
    let server = Listening::everything("sse");
    let harness = McpHarness::http(&format!("{}/sse", server.address)).await;
    assert_eq!(
        harness.text("echo", json!({ "message": "a" })).await,
        "Echo: a"
    );
}

#[tokio::test]
async fn a_task_is_followed_to_its_end_and_asks_on_the_way() {
    let harness = McpHarness::program(everything(), &["stdio"]).await;
    let person = RecordingClient::accepting(json!({ "interpretation": "technical" }));
    let input = json!({ "topic": "python", "ambiguous": true });
    let answer = harness
        .call_as(&person.context(), "simulate-research-query", input)
        .await
        .unwrap();
    let answer = answer.to_text();
    assert!(answer.contains("python"), "{answer}");
    assert_eq!(person.questions().len(), 1, "{answer}");
}

#[tokio::test]
async fn server_filesystem_reads_what_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::write(path.join("a.txt"), "hello").unwrap();
    let filesystem = installed("mcp/node_modules/.bin/mcp-server-filesystem");
    let harness = McpHarness::program(filesystem, &[path.to_str().unwrap()]).await;
    let file = path.join("a.txt");
    let answer = harness
        .text("read_text_file", json!({ "path": file }))
        .await;
    assert!(answer.contains("hello"), "{answer}");
    let refused = harness
        .error("read_text_file", json!({ "path": "/etc/passwd" }))
        .await;
    assert!(refused.contains("Access denied"), "{refused}");
}

#[tokio::test]
async fn server_memory_remembers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.jsonl");
    let memory = installed("mcp/node_modules/.bin/mcp-server-memory");
    let mut config = harness::program(memory, &[]);
    harness::set_env(&mut config, "MEMORY_FILE_PATH", file.to_str().unwrap());
    let harness = McpHarness::ready(harness::settings(config)).await;
    let entity = json!({ "name": "Ada", "entityType": "person", "observations": ["writes"] });
    harness
        .text("create_entities", json!({ "entities": [entity] }))
        .await;
    let graph = harness.call("read_graph", json!({})).await.unwrap();
    let graph = graph
        .structured()
        .cloned()
        .unwrap_or_else(|| panic!("{graph:?}"));
    assert_eq!(graph["entities"][0]["name"], "Ada");
    assert!(std::fs::read_to_string(file).unwrap().contains("Ada"));
}

#[tokio::test]
async fn servers_of_the_stateless_era_answer_over_their_pipes() {
    let time = installed("venv-mcp/bin/mcp-server-time");
    let harness = McpHarness::program(time, &["--local-timezone=UTC"]).await;
    assert_eq!(
        harness.server.status().about.unwrap().protocol,
        "2026-07-28"
    );
    let answer = harness
        .text("get_current_time", json!({ "timezone": "Asia/Tokyo" }))
        .await;
    assert!(answer.contains("Asia/Tokyo"), "{answer}");
    let wrong = harness
        .error("get_current_time", json!({ "timezone": "Moon" }))
        .await;
    assert!(wrong.contains("Moon"), "{wrong}");
}

#[tokio::test]
async fn server_git_tells_the_state_of_a_repository() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let made = std::process::Command::new("git")
        .args(["init", "-q", path])
        .status();
    assert!(made.unwrap().success());
    let git = installed("venv-mcp/bin/mcp-server-git");
    let harness = McpHarness::program(git, &["--repository", path]).await;
    let answer = harness
        .text("git_status", json!({ "repo_path": path }))
        .await;
    assert!(answer.contains("No commits yet"), "{answer}");
}

#[tokio::test]
async fn server_fetch_refuses_this_machine() {
    let fetch = installed("venv-mcp/bin/mcp-server-fetch");
    let harness = McpHarness::program(fetch, &["--ignore-robots-txt"]).await;
    let refused = harness
        .error("fetch", json!({ "url": "http://127.0.0.1:9/" }))
        .await;
    assert!(!refused.is_empty());
}

/// What both of our scripts give over any transport.
async fn check_script(harness: &McpHarness) {
    assert_eq!(harness.text("add", json!({ "a": 2, "b": 3 })).await, "5");

    let person = RecordingClient::accepting(json!({ "name": "Ada", "age": 36 }));
    let context = person.context();
    let counted = harness
        .call_as(&context, "counts", json!({ "to": 3 }))
        .await
        .unwrap();
    assert_eq!(counted.to_text(), "done");
    assert_eq!(person.progress(), [1.0, 2.0, 3.0]);

    let greeted = harness
        .call_as(&context, "greets", json!({}))
        .await
        .unwrap();
    assert_eq!(greeted.to_text(), "Hello Ada, 36!");
    let shy = RecordingClient::declining();
    let greeted = harness
        .call_as(&shy.context(), "greets", json!({}))
        .await
        .unwrap();
    assert_eq!(greeted.to_text(), "Hello whoever: decline.");
}

/// What only the newer one has.
async fn check_fast(harness: &McpHarness) {
    check_script(harness).await;
    let weather = harness
        .call("weather", json!({ "city": "Kyoto" }))
        .await
        .unwrap();
    let expected = json!({ "city": "Kyoto", "degrees": 20 });
    assert_eq!(weather.content, [Content::Json { value: expected }]);
    let picture = harness.call("picture", json!({})).await.unwrap();
    assert!(
        matches!(&picture.content[..], [Content::Image { .. }]),
        "{picture:?}"
    );
    let sound = harness.call("sound", json!({})).await.unwrap();
    let [Content::Blob { media_type, .. }] = &sound.content[..] else {
        panic!("{sound:?}");
    };
    assert_eq!(media_type, "audio/wav");
    let archive = harness.call("archive", json!({})).await.unwrap();
    let [Content::Blob { name, .. }] = &archive.content[..] else {
        panic!("{archive:?}");
    };
    assert_eq!(name.as_deref(), Some("nothing.zip"));
    let failed = harness.error("fails", json!({})).await;
    assert!(failed.contains("This never works."), "{failed}");
}

#[tokio::test]
async fn fastmcp_over_its_pipes() {
    let (python, script) = fast();
    let harness = McpHarness::program(python, &[&script, "stdio"]).await;
    assert_eq!(
        harness.server.status().about.unwrap().protocol,
        "2026-07-28"
    );
    check_fast(&harness).await;
}

#[tokio::test]
async fn fastmcp_over_streamable_http() {
    let server = Listening::python(fast(), "http");
    let harness = McpHarness::http(&format!("{}/mcp", server.address)).await;
    assert_eq!(
        harness.server.status().about.unwrap().protocol,
        "2026-07-28"
    );
    check_fast(&harness).await;
}

#[tokio::test]
async fn fastmcp_over_legacy_sse() {
    let server = Listening::python(fast(), "sse");
    let harness = McpHarness::http(&format!("{}/sse", server.address)).await;
    assert_eq!(
        harness.server.status().about.unwrap().protocol,
        "2025-11-25"
    );
    check_fast(&harness).await;
}

#[tokio::test]
async fn the_old_python_sdk_over_all_its_transports() {
    let (python, script) = old();
    let pipes = McpHarness::program(python, &[&script, "stdio"]).await;
    assert_eq!(pipes.server.status().about.unwrap().protocol, "2025-11-25");
    check_script(&pipes).await;

    let server = Listening::python(old(), "streamable-http");
    let http = McpHarness::http(&format!("{}/mcp", server.address)).await;
    check_script(&http).await;

    let server = Listening::python(old(), "sse");
    let sse = McpHarness::sse(&format!("{}/sse", server.address)).await;
    check_script(&sse).await;
}

// The client must notice on a thread of its own that the server has closed the connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_session_is_begun_anew() {
    let mut server = Listening::python(old(), "streamable-http");
    let harness = McpHarness::http(&format!("{}/mcp", server.address)).await;
    assert_eq!(harness.text("add", json!({ "a": 1, "b": 1 })).await, "2");
    server.restart();
    let again: Value = json!({ "a": 2, "b": 2 });
    assert_eq!(harness.text("add", again).await, "4");
}

/// It offers one more tool, and says so.
async fn check_growth(mut harness: McpHarness) {
    assert!(!harness.names().contains(&"new".to_owned()));
    harness.text("grows", json!({})).await;
    let grown = async {
        while !harness.names().contains(&"new".to_owned()) {
            harness.settle().await;
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let grown = tokio::time::timeout(std::time::Duration::from_secs(10), grown).await;
    grown.expect("the new tool should be listed by now");
    assert_eq!(harness.text("new", json!({})).await, "new");
}

#[tokio::test]
async fn a_new_tool_is_heard_of_in_the_stateless_era() {
    let (python, script) = grows();
    check_growth(McpHarness::program(python, &[&script, "stdio"]).await).await;
    let server = Listening::python(grows(), "streamable-http");
    check_growth(McpHarness::http(&format!("{}/mcp", server.address)).await).await;
}

#[tokio::test]
async fn a_new_tool_is_heard_of_in_the_handshake_era() {
    let (python, script) = old();
    check_growth(McpHarness::program(python, &[&script, "stdio"]).await).await;
    let server = Listening::python(old(), "streamable-http");
    check_growth(McpHarness::http(&format!("{}/mcp", server.address)).await).await;
    let server = Listening::python(old(), "sse");
    check_growth(McpHarness::http(&format!("{}/sse", server.address)).await).await;
}
