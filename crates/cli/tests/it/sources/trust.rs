//! Whose word counts that a tool only reads.

use serde_json::{Value, json};
use tenon_domain::SourceConfig;
use tenon_sources::import::ImportedServer;

use super::fixtures::{installed, memory, ready, until};
use crate::people::Person;
use crate::server::Server;

/// The policies of a tool that only reads, as its server says, and of one that writes.
async fn policies(person: &Person<'_>, server: &str) -> Value {
    let (_, tools) = person.get("/api/tools").await;
    let policy = |name: &str| {
        let id = format!("mcp_{server}_{name}");
        let mut tools = tools.as_array().unwrap().iter();
        let tool = tools.find(|tool| tool["toolId"] == *id);
        tool.map(|tool| tool["policy"].clone())
    };
    json!([policy("read_graph"), policy("create_entities")])
}

#[tokio::test]
async fn a_read_only_hint_counts_where_an_admin_trusts_the_server() {
    let server = Server::start().await;
    let ada = Person::alone(&server);
    let file = server.data().join("graph.json");
    let check = async |id: &str, expected: Value| {
        let source = ready(&server, &format!("mcp-{id}")).await;
        let seen = json!([source["trustHints"], policies(&ada, id).await]);
        assert_eq!(seen, expected, "{id}");
        source["pid"].clone()
    };
    let trusted = || json!([true, ["allow", "ask"]]);
    let not_trusted = || json!([false, ["ask", "ask"]]);

    // Added by hand by an admin, it is trusted; switching that restarts nothing.
    let (status, added) = ada.post("/api/sources", memory("hand", &file)).await;
    assert_eq!((status, &added["trustHints"]), (201, &json!(true)));
    let pid = check("hand", trusted()).await;
    let path = "/api/sources/mcp-hand";
    for (trust, expected) in [(false, not_trusted()), (true, trusted())] {
        let (status, changed) = ada.patch(path, json!({"trustHints": trust})).await;
        assert_eq!((status, &changed["trustHints"]), (200, &json!(trust)));
        assert_eq!(check("hand", expected).await, pid);
    }
    // A policy says more than a hint.
    let tool = json!({"toolId": "mcp_hand_read_graph", "policy": "ask"});
    let change = json!({"layer": "user", "tools": [tool]});
    assert_eq!(ada.patch("/api/tools", change).await.0, 204);
    check("hand", json!([true, ["ask", "ask"]])).await;

    // What somebody else wrote is not, whatever it says of itself, until she says so.
    let command = installed("mcp/node_modules/.bin/mcp-server-memory");
    let env = json!({"MEMORY_FILE_PATH": file});
    let text = json!({"mcpServers": {
        "pasted": {"command": command, "env": env, "trustHints": true},
    }});
    let import = json!({"text": text.to_string()});
    let (status, imported) = ada.post("/api/sources/import", import).await;
    assert_eq!(status, 200, "{imported}");
    check("pasted", not_trusted()).await;
    let (status, _) = ada
        .patch("/api/sources/mcp-pasted", json!({"trustHints": true}))
        .await;
    assert_eq!(status, 200);
    check("pasted", trusted()).await;

    let config = json!({"transport": "stdio", "command": command, "env": env});
    let found = ImportedServer {
        name: "filed".into(),
        title: "filed".into(),
        config: Ok(SourceConfig::Mcp(serde_json::from_value(config).unwrap())),
        document: None,
        enabled: true,
        notes: Vec::new(),
    };
    server.app.sources.put_file("tools.json", vec![found]).await;
    let source = ready(&server, "file-filed").await;
    assert_eq!(source["trustHints"], false);
    assert_eq!(policies(&ada, "filed").await, json!(["ask", "ask"]));
}

#[tokio::test]
async fn only_an_admin_says_whom_to_trust() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let remote = |name: &str, trust: Value| {
        let mut new = json!({
            "kind": "mcp", "name": name, "url": "https://a.example/mcp", "enabled": false,
        });
        if trust != Value::Null {
            new["trustHints"] = trust;
        }
        new
    };
    let (status, own) = bob.post("/api/sources", remote("own", Value::Null)).await;
    assert_eq!((status, &own["trustHints"]), (201, &json!(false)), "{own}");
    let path = format!("/api/sources/{}", own["id"].as_str().unwrap());
    let trust = json!({"trustHints": true});
    let (status, refused) = bob.patch(&path, trust.clone()).await;
    assert_eq!(status, 403, "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("Only an admin"), "{message}");
    // What it is already it may be said to be.
    let same = json!({"trustHints": false, "title": "Mine"});
    assert_eq!(bob.patch(&path, same).await.0, 200);
    let (status, _) = bob.post("/api/sources", remote("other", json!(true))).await;
    assert_eq!(status, 403);

    let (status, shared) = ada
        .post("/api/sources", remote("shared", json!(false)))
        .await;
    assert_eq!((status, &shared["trustHints"]), (201, &json!(false)));
    let path = "/api/sources/mcp-shared";
    assert_eq!(bob.patch(path, trust.clone()).await.0, 403);
    let program = ada.key("use").await;
    assert_eq!(program.patch(path, trust.clone()).await.0, 403);
    assert_eq!(ada.patch(path, trust).await.1["trustHints"], true);

    // The trust of somebody who is no admin any more ends with that.
    let eve = ada.add("Eve").await;
    let eve_path = format!("/api/users/{}", eve.id);
    let role = async |role: &str| ada.patch(&eve_path, json!({"role": role})).await.0;
    assert_eq!(role("admin").await, 200);
    let mut hers = remote("hers", Value::Null);
    hers["mine"] = json!(true);
    let (_, hers) = eve.post("/api/sources", hers).await;
    assert_eq!(hers["trustHints"], true, "{hers}");
    assert_eq!(role("user").await, 200);
    let path = format!("/api/sources/{}", hers["id"].as_str().unwrap());
    until(|| async {
        let (_, source) = eve.get(&path).await;
        match source["trustHints"].as_bool() {
            Some(false) => Ok(()),
            Some(true) | None => Err(source),
        }
    })
    .await;
}
