//! What comes back from a log-in, and what does not count.

use reqwest::{Response, header};
use serde_json::json;

use super::{add, guarded, leave, log_in, open, until, visit};
use crate::people::Person;
use crate::server::Server;

async fn refused(response: Response, status: u16, word: &str) {
    assert_eq!(response.status(), status);
    let page = response.text().await.unwrap();
    assert!(page.contains(word), "{page}");
}

#[tokio::test]
async fn a_return_counts_once_and_for_whom_left() {
    let authority = guarded::start().await;
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let id = add(&ada, &authority).await;
    let back = visit(&leave(&ada, &id).await).await;

    // Somebody else, somebody who is not logged in, a program, a state that was made up.
    refused(open(&bob, &back).await, 400, "not begun here").await;
    refused(
        open(&Person::nobody(&server), &back).await,
        401,
        "Nobody is logged in",
    )
    .await;
    refused(
        open(&ada.key("full").await, &back).await,
        401,
        "Nobody is logged in",
    )
    .await;
    let made_up = "/api/sources/callback?state=made-up&code=x";
    refused(open(&ada, made_up).await, 400, "not begun here").await;
    assert_eq!(open(&ada, &back).await.status(), 200);
    until(&ada, &id, |source| source["login"] == "connected").await;
    refused(open(&ada, &back).await, 400, "not begun here").await;

    // Nor does anybody try for ever.
    let mut last = 0;
    for _ in 0..8 {
        last = open(&ada, made_up).await.status().as_u16();
    }
    assert_eq!(last, 429);
}

#[tokio::test]
async fn another_issuer_is_not_believed() {
    let authority = guarded::start().await;
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let id = add(&ada, &authority).await;
    let elsewhere = Some("https://elsewhere.example".to_owned());
    authority.behave(|ways| ways.issuer = Some(elsewhere));
    let back = visit(&leave(&ada, &id).await).await;
    refused(open(&ada, &back).await, 400, "cannot be trusted").await;
    let (_, source) = ada.get(&format!("/api/sources/{id}")).await;
    assert_eq!(source["login"], "needed");
    let (_, log) = ada.get("/api/audit?action=source.login-failed").await;
    assert_eq!(log[0]["subject"], *id, "{log:#}");
    authority.behave(|ways| ways.issuer = None);
    log_in(&ada, &id).await;
}

#[tokio::test]
async fn the_page_speaks_the_persons_language_and_runs_nothing_strange() {
    let authority = guarded::start().await;
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let id = add(&ada, &authority).await;
    let url = leave(&ada, &id).await;
    let back = visit(&url).await;
    let state = back
        .split("state=")
        .nth(1)
        .unwrap()
        .split('&')
        .next()
        .unwrap();
    let denied = format!(
        "/api/sources/callback?state={state}&iss={}&error=access_denied&error_description=%3Cscript%3Eno",
        authority.url
    );
    let request = ada.request("GET", &denied);
    let request = request.header(header::ACCEPT_LANGUAGE, "zh-TW,zh;q=0.9,en;q=0.8");
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 400);
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
    let page = response.text().await.unwrap();
    assert!(page.contains("對方拒絕了此次登入"), "{page}");
    assert!(
        page.contains("&lt;script&gt;no") && !page.contains("<script>no"),
        "{page}"
    );
    // What was refused is over.
    refused(open(&ada, &back).await, 400, "not begun here").await;
}

#[tokio::test]
async fn only_who_sees_a_server_can_log_in_there() {
    let authority = guarded::start().await;
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let new = json!({"kind": "mcp", "name": "adas", "url": authority.server(), "mine": true});
    let (_, added) = ada.post("/api/sources", new).await;
    let id = added["id"].as_str().unwrap();
    until(&ada, id, |source| source["login"] == "needed").await;
    let path = format!("/api/sources/{id}/login");
    assert_eq!(bob.post(&path, json!({})).await.0, 404);
    assert_eq!(bob.delete(&path).await, 404);
    assert_eq!(ada.key("full").await.post(&path, json!({})).await.0, 403);
    log_in(&ada, id).await;
}
