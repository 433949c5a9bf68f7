//! Who has much to read, or a server that hangs, keeps nobody else waiting.

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::people::Person;
use crate::server::Server;

/// A document that takes a while to be read.
fn long_document() -> String {
    let mut paths = serde_json::Map::new();
    for number in 0..4_000 {
        let operation = json!({"get": {
            "operationId": format!("operation{number}"),
            "description": "x".repeat(100),
            "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
        }});
        paths.insert(format!("/path/{number}"), operation);
    }
    json!({
        "openapi": "3.1.0", "info": {"title": "Long", "version": "1"},
        "servers": [{"url": "https://127.0.0.1:9"}], "paths": paths,
    })
    .to_string()
}

#[tokio::test]
async fn nobody_waits_for_what_somebody_else_imports() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    // One that takes a connection and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hung = format!("http://{}/openapi.json", listener.local_addr().unwrap());
    let (reached, asked) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 16];
        let _ = socket.read(&mut bytes).await;
        let _ = reached.send(());
        std::future::pending::<()>().await;
    });
    let new = json!({"kind": "openapi", "name": "hung", "url": hung});
    let mut hanging = Box::pin(ada.post("/api/sources/preview", new));
    tokio::select! {
        _ = &mut hanging => panic!("it hangs"),
        reached = asked => reached.unwrap(),
    }

    let long = json!({"text": long_document(), "preview": true});
    let mut hers: FuturesUnordered<_> = (0..12)
        .map(|_| ada.post("/api/sources/import", long.clone()))
        .collect();
    let first = hers.next().await.unwrap();
    assert_eq!(first.0, 200, "{:.300}", first.1.to_string());
    // All of hers are on their way by now.
    let short = json!({"text": r#"{"x": {"url": "https://127.0.0.1:9/mcp"}}"#, "preview": true});
    let his = async {
        let imported = bob.post("/api/sources/import", short).await;
        let seen = bob.post("/api/sources/preview", small()).await;
        (imported, seen)
    };
    tokio::pin!(his);
    let (imported, seen) = loop {
        tokio::select! {
            done = &mut his => break done,
            Some(_) = hers.next() => {}
        }
    };
    assert_eq!(imported.0, 200, "{imported:?}");
    assert_eq!(seen.0, 200, "{seen:?}");
    assert!(!hers.is_empty(), "his came after all of hers");
}

fn small() -> Value {
    json!({
        "kind": "openapi", "name": "small",
        "document": {"openapi": "3.1.0", "info": {"title": "s", "version": "1"}, "paths": {}},
    })
}
