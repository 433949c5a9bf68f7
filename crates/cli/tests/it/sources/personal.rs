//! One server for each who has what it needs.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};
use tenon_domain::{SourceId, UserId};

use super::fixtures::{everything, ids, until};
use crate::people::Person;
use crate::server::Server;

async fn own(person: &Person<'_>, value: &str) {
    let body = json!({"value": value, "mine": true});
    let (status, answer) = person.send("PUT", "/api/secrets/TOKEN", Some(body)).await;
    assert_eq!(status, 204, "{answer}");
}

/// Their server, once it is like this.
async fn when(person: &Person<'_>, state: &str) -> Value {
    until(|| async {
        let (_, source) = person.get("/api/sources/mcp-all").await;
        (source["state"] == state)
            .then_some(source.clone())
            .ok_or(source)
    })
    .await
}

async fn env(person: &Person<'_>) -> String {
    let call = json!({"arguments": {}});
    let (_, answer) = person.post("/api/tools/mcp_all_get-env/call", call).await;
    super::fixtures::text(&answer)
}

async fn tools(person: &Person<'_>) -> usize {
    let (_, tools) = person.get("/api/tools").await;
    ids(&tools, "mcp_all_").len()
}

#[tokio::test]
async fn everybody_has_a_server_with_their_own_secret() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let new = everything("all", json!({"KEY": "${user.TOKEN}"}));
    let (status, added) = ada.post("/api/sources", new).await;
    assert_eq!(
        (status, &added["missing"]),
        (201, &json!(["TOKEN"])),
        "{added}"
    );
    assert_eq!(added["unset"], json!(["user.TOKEN"]));
    assert_eq!(added["state"], "failed");
    assert_eq!(tools(&ada).await, 0);

    own(&bob, "sk-bob").await;
    when(&bob, "ready").await;
    let (_, hers) = ada.get("/api/sources/mcp-all").await;
    assert_eq!(
        (&hers["state"], &hers["missing"]),
        (&json!("failed"), &json!(["TOKEN"]))
    );
    assert_eq!(tools(&ada).await, 0, "his are his");
    own(&ada, "sk-ada").await;
    when(&ada, "ready").await;

    // The same id, and each their own.
    assert!(tools(&bob).await > 0 && tools(&ada).await > 0);
    let (hers, his) = (env(&ada).await, env(&bob).await);
    assert!(
        hers.contains("sk-ada") && !hers.contains("sk-bob"),
        "{hers}"
    );
    assert!(his.contains("sk-bob") && !his.contains("sk-ada"), "{his}");
    // What it wrote for him he may read; and he may start it anew.
    assert_eq!(bob.get("/api/sources/mcp-all/logs").await.0, 200);
    assert_eq!(
        bob.post("/api/sources/mcp-all/restart", json!({})).await.0,
        200
    );
    when(&bob, "ready").await;

    // Without the secret it ends at once.
    assert_eq!(bob.delete("/api/secrets/TOKEN").await, 204);
    assert_eq!(tools(&bob).await, 0);
    when(&bob, "failed").await;
    assert_eq!(when(&ada, "ready").await["missing"], json!([]));
    own(&bob, "sk-again").await;
    assert!(tools(&bob).await > 0, "what it offered last is known");
    when(&bob, "ready").await;

    // Another process writes to the same store: that is seen too.
    let user = UserId::new(&bob.id);
    server
        .app
        .store
        .remove_secret(Some(&user), "TOKEN")
        .await
        .unwrap();
    when(&bob, "failed").await;
    own(&bob, "sk-last").await;
    let pid = {
        when(&bob, "ready").await;
        let seen = std::fs::read_dir("/proc").unwrap();
        seen.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u64>().ok())
            .find(|pid| {
                let env = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                env.windows(7).any(|bytes| bytes == b"sk-last")
            })
    };
    let pid = pid.expect("it runs with his secret");
    let disabled = json!({"disabled": true});
    ada.patch(&format!("/api/users/{}", bob.id), disabled).await;
    until(|| async {
        (!super::fixtures::is_alive(pid))
            .then_some(())
            .ok_or(json!(pid))
    })
    .await;
    assert_eq!(when(&ada, "ready").await["missing"], json!([]));
    server.app.sources.close().await;
}

/// What says where to log in.
const PLACE: &str = "Bearer resource_metadata=\"https://door.example/meta\"";

/// A server that lets nobody in but those with the right key, for whom there is nothing.
async fn door(challenge: &'static str) -> String {
    let refuse = move |headers: HeaderMap| async move {
        if headers.get("x-key").is_some_and(|key| key == "right") {
            StatusCode::NOT_FOUND.into_response()
        } else {
            let asks = [(header::WWW_AUTHENTICATE, challenge)];
            (StatusCode::UNAUTHORIZED, asks).into_response()
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let door = axum::Router::new().fallback(refuse);
    tokio::spawn(async move { axum::serve(listener, door).await });
    url
}

#[tokio::test]
async fn a_wrong_key_is_made_right_again() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let set = async |value: &str| {
        let body = Some(json!({"value": value}));
        assert_eq!(ada.send("PUT", "/api/secrets/K", body).await.0, 204);
    };
    let is = async |person: &Person<'_>, login: Option<&str>, why: &str| {
        until(|| async {
            let (_, source) = person.get("/api/sources/mcp-all").await;
            let says = source["why"]["message"]
                .as_str()
                .unwrap_or_default()
                .contains(why);
            let is_it = says && source["login"].as_str() == login;
            is_it.then_some(()).ok_or(source)
        })
        .await
    };
    let path = "/api/sources/mcp-all";
    let restart = format!("{path}/restart");
    for (challenge, login) in [("Bearer", None), (PLACE, Some("needed"))] {
        let new = |url: &str| json!({"kind": "mcp", "name": "all", "url": url, "headers": {"X-Key": "${K}"}});
        let url = door(challenge).await;
        set("wrong").await;
        assert_eq!(ada.post("/api/sources", new(&url)).await.0, 201);
        let why = login.map_or("requires a log-in", |_| "Log in there first");
        is(&bob, login, why).await;
        // Whoever looks after it may have it try again; it asks again.
        assert_eq!(ada.post(&restart, json!({})).await.0, 200);
        is(&bob, login, why).await;
        set("right").await;
        is(&bob, None, "HTTP 404").await;
        is(&ada, None, "HTTP 404").await;
        assert_eq!(ada.delete(path).await, 204);
    }
    server.app.sources.close().await;
}

#[tokio::test]
async fn where_somebody_asks_who_comes_everybody_logs_in_for_themself() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let url = door(PLACE).await;
    let new = json!({"kind": "mcp", "name": "all", "url": url});
    assert_eq!(ada.post("/api/sources", new).await.0, 201);
    let asked = until(|| async {
        let (_, source) = bob.get("/api/sources/mcp-all").await;
        (source["login"] == "needed")
            .then_some(source.clone())
            .ok_or(source)
    })
    .await;
    assert_eq!(asked["state"], "failed");
    assert_eq!(
        server
            .app
            .registry
            .sources(&UserId::new(&ada.id))
            .iter()
            .filter(|one| one.info.name == "all")
            .count(),
        0
    );

    // Who has logged in has a connection of their own, and nobody else.
    let (source, user) = (SourceId::new("mcp-all"), UserId::new(&bob.id));
    let sealed = |_: &str| "sealed".to_owned();
    server
        .app
        .store
        .put_grant(&source, &user, sealed)
        .await
        .unwrap();
    server.app.sources.login_changed(&source, &user).await;
    let his = server.app.registry.sources(&user);
    let his = his.iter().find(|one| one.info.name == "all").unwrap();
    assert_eq!(his.info.id, SourceId(format!("mcp-all:{user}")));
    assert_eq!(his.info.owner, Some(user.clone()));
    assert_eq!(ada.get("/api/sources/mcp-all").await.1["login"], "needed");
    server.app.store.remove_grant(&source, &user).await.unwrap();
    server.app.sources.login_changed(&source, &user).await;
    assert!(
        server
            .app
            .registry
            .sources(&user)
            .iter()
            .all(|one| one.info.name != "all")
    );

    // One that is given a key asks for another one, not for a log-in.
    let key = json!({"headers": {"Authorization": "Bearer wrong"}});
    let (status, changed) = ada.patch("/api/sources/mcp-all", key).await;
    assert_eq!((status, changed.get("login")), (200, None), "{changed}");
    let failed = when(&bob, "failed").await;
    assert_eq!(failed.get("login"), None, "{failed}");
}
