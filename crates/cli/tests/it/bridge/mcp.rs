//! The bridge over MCP: all servers at once, or one, over both transports.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_mcp::{
    CallHandler, ClientCapabilities, ClientInfo, ConnectOptions, Elicitation, ElicitationAnswer,
    EntryKind, Error, McpConnection, McpContentBlock, NoHandler, ProgressNotification,
    TransportConfig,
};
use tenon_net::Network;

use super::{BridgeProcess, odd, write_config};
use crate::peer::installed;

const TIMEOUT: Duration = Duration::from_secs(60);

async fn connect(transport: TransportConfig) -> Result<Arc<McpConnection>, Error> {
    let client = ClientInfo {
        name: "test".into(),
        title: "Test".into(),
        version: "1".into(),
        capabilities: ClientCapabilities::ALL,
    };
    let options = ConnectOptions {
        network: Network::Anywhere,
        ..ConnectOptions::new(transport, client)
    };
    McpConnection::connect(options).await
}

fn http(url: String, key: &str) -> TransportConfig {
    let headers = BTreeMap::from([("authorization".to_owned(), format!("Bearer {key}"))]);
    TransportConfig::Http { url, headers }
}

async fn names(connection: &McpConnection) -> Vec<String> {
    let list = connection.list_tools(TIMEOUT).await.unwrap();
    list.tools.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn tools_are_called_over_mcp_with_names_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "one": odd(""), "two": odd("pages") });
    let flags = ["--api-key", "top", "--hot-reload"];
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &flags);
    let all = connect(http(bridge.url("/mcp"), "top")).await.unwrap();
    let listed = names(&all).await;
    assert_eq!(
        listed,
        ["mcp_one_echo", "mcp_two_t0", "mcp_two_t1", "mcp_two_t2"]
    );
    let handler: Arc<dyn CallHandler> = Arc::new(NoHandler);
    let input = json!({ "a": 1 });
    let called = all
        .call_tool("mcp_one_echo", &input, &handler)
        .await
        .unwrap();
    let text = McpContentBlock::Text(r#"{"a": 1}"#.to_owned());
    assert_eq!(called.content, std::slice::from_ref(&text));
    let unknown = all.call_tool("echo", &input, &handler).await;
    assert!(matches!(unknown, Err(Error::Rpc(_))), "{unknown:?}");

    let sse = TransportConfig::Sse {
        url: bridge.url("/one/sse"),
        headers: BTreeMap::from([("authorization".to_owned(), "Bearer top".to_owned())]),
    };
    for transport in [http(bridge.url("/one/mcp"), "top"), sse] {
        let one = connect(transport).await.unwrap();
        assert_eq!(names(&one).await, ["echo"]);
        let called = one.call_tool("echo", &input, &handler).await.unwrap();
        assert_eq!(called.content, std::slice::from_ref(&text));
        one.close().await;
    }

    // A client hears of servers that come and go.
    let mut changed = all.tools_changed();
    changed.mark_unchanged();
    write_config(folder.path(), &json!({ "two": odd("") }));
    tokio::time::timeout(TIMEOUT, changed.changed())
        .await
        .unwrap()
        .unwrap();
    let gone = async {
        while names(&all).await != ["mcp_two_echo"] {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, gone).await.unwrap();
}

/// A client whose model says one thing.
#[derive(Debug)]
struct SamplingHandler;

#[async_trait]
impl CallHandler for SamplingHandler {
    fn owner(&self) -> &str {
        ""
    }

    fn progress(&self, _progress: ProgressNotification) {}

    fn is_alive(&self) {}

    async fn elicit(&self, _request: Elicitation) -> ElicitationAnswer {
        ElicitationAnswer::Decline
    }

    async fn sample(&self, _params: Value) -> Option<Value> {
        let content = json!({ "type": "text", "text": "words of a model" });
        Some(json!({ "role": "assistant", "content": content, "model": "m" }))
    }
}

#[tokio::test]
async fn a_server_behind_asks_the_model_of_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let everything = installed("mcp/node_modules/.bin/mcp-server-everything");
    let servers = json!({ "everything": { "command": everything, "args": ["stdio"] } });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &["--api-key", "top"]);
    let one = connect(http(bridge.url("/everything/mcp"), "top"))
        .await
        .unwrap();
    names(&one).await;
    let handler: Arc<dyn CallHandler> = Arc::new(SamplingHandler);
    let input = json!({ "prompt": "Say something.", "maxTokens": 10 });
    let called = one
        .call_tool("trigger-sampling-request", &input, &handler)
        .await
        .unwrap();
    let said = format!("{:?}", called.content);
    assert!(said.contains("words of a model"), "{said}");
}

#[tokio::test]
async fn resources_and_prompts_of_the_servers_behind_are_offered() {
    let folder = tempfile::tempdir().unwrap();
    let everything = installed("mcp/node_modules/.bin/mcp-server-everything");
    let servers = json!({
        "everything": { "command": everything, "args": ["stdio"] },
        "one": odd(""),
    });
    let flags = ["--api-key", "top", "--hot-reload"];
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &flags);
    let own = "demo://resource/dynamic/text/1";
    for (path, prompt, uri) in [
        ("/everything/mcp", "simple-prompt", own.to_owned()),
        (
            "/mcp",
            "mcp_everything_simple-prompt",
            format!("tenon+everything+{own}"),
        ),
    ] {
        let client = connect(http(bridge.url(path), "top")).await.unwrap();
        let listed = async |kind| {
            let listed = client.list(kind, TIMEOUT).await.unwrap();
            let keys = listed.into_iter().map(|entry| entry.key);
            keys.collect::<Vec<String>>()
        };
        let prompts = listed(EntryKind::Prompts).await;
        assert!(prompts.contains(&prompt.to_owned()), "{prompts:?}");
        let template = uri.replace("/1", "/{resourceId}");
        let templates = listed(EntryKind::ResourceTemplates).await;
        assert!(templates.contains(&template), "{templates:?}");
        let filled = client.get_prompt(prompt, &json!({}), TIMEOUT).await;
        assert!(filled.unwrap()["messages"][0]["content"]["text"].is_string());
        let read = client.read_resource(&uri, TIMEOUT).await.unwrap();
        assert_eq!(read["contents"][0]["uri"], uri);
        let unknown = client.read_resource("demo://nothing", TIMEOUT).await;
        assert!(matches!(unknown, Err(Error::Rpc(_))), "{unknown:?}");
    }
    // What a server that is gone had is gone with it.
    let all = connect(http(bridge.url("/mcp"), "top")).await.unwrap();
    write_config(folder.path(), &json!({ "one": odd("") }));
    let gone = async {
        while !all
            .list(EntryKind::Prompts, TIMEOUT)
            .await
            .unwrap()
            .is_empty()
        {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, gone).await.unwrap();
}

#[tokio::test]
async fn nobody_speaks_mcp_without_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "one": odd("") });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &["--api-key", "top"]);
    let refused = connect(http(bridge.url("/mcp"), "wrong")).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(bridge.post("/mcp", json!({})).await.0, 401);
    assert_eq!(bridge.get("/one/sse").await.0, 401);
    assert_eq!(bridge.post("/nobody/mcp", json!({})).await.0, 404);
}
