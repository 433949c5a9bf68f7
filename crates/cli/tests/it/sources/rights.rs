//! Who may add, see, change and remove which servers, and what cannot be added at all.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::fixtures::{time, until};
use crate::people::Person;
use crate::server::Server;

fn remote(name: &str, url: &str) -> Value {
    json!({"kind": "mcp", "name": name, "url": url, "enabled": false})
}

#[tokio::test]
async fn a_user_adds_remote_servers_of_their_own_and_nothing_else() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;

    let (status, refused) = bob.post("/api/sources", time("clock")).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (403, &json!("source_program_denied"))
    );
    let mut shared = remote("shared", "https://a.example/mcp");
    shared["mine"] = json!(false);
    assert_eq!(bob.post("/api/sources", shared.clone()).await.0, 403);
    // Neither the environment nor everybody's secrets are sent where he wants.
    let leak = remote("leak", "https://evil.example/?k=${HOME}");
    let (status, refused) = bob.post("/api/sources", leak).await;
    assert_eq!(status, 403, "{refused}");
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("${user.HOME}"),
        "{refused}"
    );

    let (status, own) = bob
        .post("/api/sources", remote("own", "https://a.example/mcp"))
        .await;
    assert_eq!((status, &own["mine"]), (201, &json!(true)), "{own}");
    let path = format!("/api/sources/{}", own["id"].as_str().unwrap());
    // How it is reached is not for every program that acts for him.
    let reach = |(_, own): (u16, Value)| own.get("reach").cloned();
    assert_ne!(reach(bob.get(&path).await), None);
    assert_ne!(reach(bob.key("full").await.get(&path).await), None);
    assert_eq!(reach(bob.key("use").await.get(&path).await), None);
    assert_eq!(reach(bob.key("read").await.get(&path).await), None);
    let change = json!({"transport": "stdio", "command": "sh"});
    assert_eq!(bob.patch(&path, change).await.0, 403);
    let leak = json!({"headers": {"X-Key": "${OPENAI_API_KEY}"}});
    assert_eq!(bob.patch(&path, leak).await.0, 403);

    // His is his: an admin has it not even in a list.
    assert_eq!(ada.get("/api/sources").await.1, json!([]));
    for (method, path) in [
        ("GET", path.clone()),
        ("PATCH", path.clone()),
        ("DELETE", path.clone()),
        ("GET", format!("{path}/logs")),
        ("POST", format!("{path}/restart")),
    ] {
        let body = (method == "PATCH").then(|| json!({"title": "Hers"}));
        let (status, _) = ada.send(method, &path, body).await;
        assert_eq!(status, 404, "{method} {path}");
    }

    // Everybody's he sees, but not how it is reached, and he does not touch it.
    let (status, shared) = ada.post("/api/sources", shared).await;
    assert_eq!((status, &shared["mine"]), (201, &json!(false)));
    assert_eq!(shared["reach"]["url"], "https://a.example/mcp");
    let path = "/api/sources/mcp-shared";
    let (status, seen) = bob.get(path).await;
    assert_eq!((status, &seen["editable"]), (200, &json!(false)));
    assert_eq!(seen.get("reach"), None);
    assert_eq!(bob.patch(path, json!({"title": "His"})).await.0, 403);
    assert_eq!(bob.delete(path).await, 403);
    assert_eq!(bob.post(&format!("{path}/restart"), json!({})).await.0, 403);
    let everybodys = json!({"value": "v"});
    assert_eq!(
        bob.send("PUT", "/api/secrets/KEY", Some(everybodys))
            .await
            .0,
        403
    );
    assert_eq!(bob.delete("/api/secrets/KEY?mine=false").await, 403);

    // The same name is his own affair, once.
    assert_eq!(
        bob.post("/api/sources", remote("shared", "https://b.example"))
            .await
            .0,
        201
    );
    let (status, taken) = bob
        .post("/api/sources", remote("shared", "https://b.example"))
        .await;
    assert_eq!((status, &taken["error"]["code"]), (409, &json!("taken")));

    // A key that may not do everything may look, and no more.
    let program = ada.key("use").await;
    assert_eq!(program.get("/api/sources").await.0, 200);
    assert_eq!(program.get(path).await.1.get("reach"), None);
    assert_eq!(program.post("/api/sources", time("clock")).await.0, 403);
    assert_eq!(program.patch(path, json!({"title": "Its"})).await.0, 403);
    assert_eq!(program.get("/api/secrets").await.0, 403);
    assert_eq!(ada.delete(path).await, 204);
}

#[tokio::test]
async fn a_users_own_server_is_not_looked_for_in_our_networks() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let new = json!({"kind": "mcp", "name": "inside", "url": url});
    let (status, own) = bob.post("/api/sources", new).await;
    assert_eq!(status, 201);
    let path = format!("/api/sources/{}", own["id"].as_str().unwrap());
    until(|| async {
        let (_, source) = bob.get(&path).await;
        let is_refused = source["state"] == "failed" || source["state"] == "degraded";
        is_refused.then_some(()).ok_or(source)
    })
    .await;
    assert!(listener.accept().is_err(), "nobody came");
}

#[tokio::test]
async fn whoever_is_shown_the_door_has_no_servers_any_more() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    // An admin may have a program of their own; one who is no admin any more may not.
    let admin = json!({"role": "admin"});
    ada.patch(&format!("/api/users/{}", bob.id), admin).await;
    let mut clock = time("clock");
    clock["mine"] = json!(true);
    let (status, own) = bob.post("/api/sources", clock).await;
    assert_eq!(status, 201, "{own}");
    let path = format!("/api/sources/{}", own["id"].as_str().unwrap());
    let is = |state: &'static str| {
        let (path, bob) = (&path, &bob);
        until(move || async move {
            let (_, source) = bob.get(path).await;
            (source["state"] == state)
                .then_some(source.clone())
                .ok_or(source)
        })
    };
    let pid = is("ready").await["pid"].as_u64().unwrap();
    let user = json!({"role": "user"});
    ada.patch(&format!("/api/users/{}", bob.id), user).await;
    is("failed").await;
    until(|| async {
        (!super::fixtures::is_alive(pid))
            .then_some(())
            .ok_or(json!(pid))
    })
    .await;
    let admin = json!({"role": "admin"});
    ada.patch(&format!("/api/users/{}", bob.id), admin).await;
    let pid = is("ready").await["pid"].as_u64().unwrap();
    assert_eq!(ada.delete(&format!("/api/users/{}", bob.id)).await, 204);
    until(|| async {
        (!super::fixtures::is_alive(pid))
            .then_some(())
            .ok_or(json!(pid))
    })
    .await;
    assert_eq!(server.app.store.sources().await.unwrap(), []);
}

#[tokio::test]
async fn what_a_server_writes_is_for_those_who_look_after_it() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let mut adas = ada.socket().await.unwrap();
    let mut bobs = bob.socket().await.unwrap();
    let refuse = || async { (StatusCode::INTERNAL_SERVER_ERROR, "the key is sk-hidden") };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let broken = axum::Router::new().fallback(refuse);
    tokio::spawn(async move { axum::serve(listener, broken).await });
    let remote = json!({"kind": "mcp", "name": "remote", "url": url});
    let script = "echo the key is sk-hidden >&2; exit 3";
    let program =
        json!({"kind": "mcp", "name": "program", "command": "sh", "args": ["-c", script]});
    for (new, said) in [(remote, "HTTP 500"), (program, "code 3")] {
        let path = format!("/api/sources/mcp-{}", new["name"].as_str().unwrap());
        let id = format!("mcp-{}", new["name"].as_str().unwrap());
        assert_eq!(ada.post("/api/sources", new).await.0, 201);
        until(|| async {
            let (_, source) = ada.get(&path).await;
            let is_told = source["why"]["message"]
                .as_str()
                .unwrap_or_default()
                .contains("sk-hidden");
            is_told.then_some(()).ok_or(source)
        })
        .await;
        let (_, seen) = bob.get(&path).await;
        let why = seen["why"]["message"].as_str().unwrap_or_default();
        assert!(
            why.contains(said) && !seen.to_string().contains("sk-hidden"),
            "{seen}"
        );
        let (_, listed) = bob.get("/api/sources").await;
        assert!(!listed.to_string().contains("sk-hidden"), "{listed}");

        // Nor do pages hear it.
        let fails = |frame: &Value| {
            let why = frame["why"]["message"].as_str().unwrap_or_default();
            frame["sourceId"] == id && why.contains(said)
        };
        let heard = adas.until(fails).await.pop().unwrap();
        assert!(heard.to_string().contains("sk-hidden"), "{heard}");
        let heard = bobs.until(fails).await;
        assert!(!json!(heard).to_string().contains("sk-hidden"), "{heard:?}");
    }
    server.app.sources.close().await;
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_in_words() {
    let server = Server::start().await;
    let check = async |new: Value, status: u16, expected: &str| {
        let (answered, refused) = server.post("/api/sources", new.clone()).await;
        assert_eq!(answered, status, "{new}: {refused}");
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{new}: {message}");
    };
    check(json!({}), 400, "name").await;
    check(json!({"name": "a"}), 400, "`kind`").await;
    check(
        json!({"kind": "mcp", "name": "a b", "command": "sh"}),
        400,
        "letters",
    )
    .await;
    check(json!({"kind": "mcp", "name": "a"}), 400, "`command`").await;
    check(
        json!({"kind": "mcp", "name": "a", "url": "ftp://x"}),
        400,
        "address",
    )
    .await;
    check(
        json!({"kind": "mcp", "name": "a", "url": "http://x", "env": {"A": "1"}}),
        400,
        "`env`",
    )
    .await;
    check(
        json!({"kind": "mcp", "name": "a", "command": "sh", "timeoutMs": 1}),
        400,
        "hour",
    )
    .await;
    check(
        json!({"kind": "mcp", "name": "a", "command": "sh", "what": 1}),
        400,
        "what",
    )
    .await;
    let (status, _) = server
        .patch("/api/sources/mcp-none", json!({"title": "x"}))
        .await;
    assert_eq!(status, 404);
    let secret = async |name: &str, value: &str| {
        let request = server.request("PUT", &format!("/api/secrets/{name}"));
        let sent = request.json(&json!({"value": value})).send().await.unwrap();
        sent.status().as_u16()
    };
    assert_eq!(secret("a%20b", "v").await, 400);
    assert_eq!(secret("1A", "v").await, 400);
    assert_eq!(secret("A", "").await, 400);
    assert_eq!(secret("A", &"x".repeat(40_000)).await, 400);
    assert_eq!(secret("A", "v").await, 204);
}

#[tokio::test]
async fn nobody_sends_what_all_share_to_a_place_of_their_own() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let mut new = remote("site", "https://${user.HOST}/mcp");
    new["headers"] = json!({"Authorization": "Bearer ${KEY}"});
    let (status, refused) = ada.post("/api/sources", new.clone()).await;
    assert_eq!(status, 400, "{refused}");
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("`${user.HOST}`"), "{why}");
    // Hers alone leads nobody else anywhere.
    new["mine"] = json!(true);
    assert_eq!(ada.post("/api/sources", new).await.0, 201);

    let mut fixed = remote("site", "https://a.example/mcp");
    fixed["headers"] = json!({"Authorization": "Bearer ${KEY}"});
    assert_eq!(ada.post("/api/sources", fixed).await.0, 201);
    let path = "/api/sources/mcp-site";
    let change = json!({
        "url": "https://${user.HOST}/mcp",
        "headers": {"Authorization": "Bearer ${KEY}"},
    });
    assert_eq!(ada.patch(path, change).await.0, 400);

    let text = json!({"mcpServers": {"other": {
        "url": "https://${user.HOST}/mcp", "headers": {"X-Key": "sk-1"},
    }}});
    let asked = json!({"text": text.to_string(), "mine": false});
    let (_, imported) = ada.post("/api/sources/import", asked).await;
    let why = imported[0]["refused"]["message"].as_str().unwrap();
    assert!(why.contains("`${user.HOST}`"), "{imported}");
}
