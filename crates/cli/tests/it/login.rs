//! Logging in at a server that offers tools, against an authorisation server and
//! an MCP server in this process.

pub mod guarded;
mod hidden;
mod returns;

use futures::future::join_all;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, header};
use serde_json::{Value, json};

use crate::authority::Authority;
use crate::people::Person;
use crate::server::Server;
use crate::sources::fixtures;

/// Adds the server for everybody and waits until it has asked who comes.
pub async fn add(admin: &Person<'_>, authority: &Authority) -> String {
    let new = json!({"kind": "mcp", "name": "guarded", "url": authority.server(), "mine": false});
    let (status, added) = admin.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    let id = added["id"].as_str().unwrap().to_owned();
    until(admin, &id, |source| source["login"] == "needed").await;
    id
}

/// How a server is, once it is like that.
pub async fn until(person: &Person<'_>, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let path = format!("/api/sources/{id}");
    fixtures::until(|| async {
        let (_, source) = person.get(&path).await;
        if is_so(&source) {
            Ok(source)
        } else {
            Err(source)
        }
    })
    .await
}

/// Where somebody is sent to.
pub async fn leave(person: &Person<'_>, id: &str) -> String {
    let path = format!("/api/sources/{id}/login");
    let (status, start) = person.post(&path, json!({})).await;
    assert_eq!(status, 200, "{start}");
    start["url"].as_str().unwrap().to_owned()
}

/// Where somebody is sent back to, as a path of ours.
pub async fn visit(url: &str) -> String {
    let client = Client::builder().redirect(Policy::none()).build().unwrap();
    let response = client.get(url).send().await.unwrap();
    assert!(response.status().is_redirection(), "{response:?}");
    let back = response.headers()[header::LOCATION].to_str().unwrap();
    let path = back.find("/api/sources/callback").unwrap();
    back[path..].to_owned()
}

pub async fn open(person: &Person<'_>, path: &str) -> Response {
    person.request("GET", path).send().await.unwrap()
}

/// All of it.
pub async fn log_in(person: &Person<'_>, id: &str) {
    let back = visit(&leave(person, id).await).await;
    let response = open(person, &back).await;
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    until(person, id, |source| {
        source["state"] == "ready" && source["tools"] == 1
    })
    .await;
}

pub async fn tool(person: &Person<'_>) -> Option<String> {
    let (_, tools) = person.get("/api/tools").await;
    let tools = tools.as_array().unwrap();
    let found = tools
        .iter()
        .find(|tool| tool["toolName"] == guarded::TOOL)?;
    Some(found["toolId"].as_str().unwrap().to_owned())
}

pub async fn call(person: &Person<'_>) -> Value {
    let tool = tool(person).await.unwrap();
    let path = format!("/api/tools/{tool}/call");
    person.post(&path, json!({"arguments": {}})).await.1
}

#[tokio::test]
async fn each_person_logs_in_for_themself() {
    let authority = guarded::start().await;
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let (bob, cleo) = (ada.add("Bob").await, ada.add("Cleo").await);
    let id = add(&ada, &authority).await;
    assert_eq!(tool(&bob).await, None);

    log_in(&bob, &id).await;
    let (_, source) = bob.get(&format!("/api/sources/{id}")).await;
    assert_eq!(source["login"], "connected", "{source:#}");
    let answer = call(&bob).await;
    assert_eq!(answer["ok"], true, "{answer:#}");
    // Nobody else is in by that.
    let (_, source) = cleo.get(&format!("/api/sources/{id}")).await;
    assert_eq!(source["login"], "needed");
    assert_eq!(tool(&cleo).await, None);
    log_in(&cleo, &id).await;
    assert_eq!(call(&cleo).await["ok"], true);
    let (_, log) = ada.get("/api/audit?action=source.login").await;
    assert_eq!(log.as_array().unwrap().len(), 2, "{log:#}");
    assert_eq!(log[1]["subject"], *id);

    // Out again: the tools go, and they are told there.
    assert_eq!(bob.delete(&format!("/api/sources/{id}/login")).await, 204);
    assert_eq!(tool(&bob).await, None);
    let (_, source) = bob.get(&format!("/api/sources/{id}")).await;
    assert_eq!(source["login"], "needed");
    assert_eq!(authority.book().revoked.len(), 2);
    assert_eq!(call(&cleo).await["ok"], true);
    let (_, log) = ada.get("/api/audit?action=source.logout").await;
    assert_eq!(log[0]["detail"], json!({"revoked": true}));
}

#[tokio::test]
async fn a_log_in_is_still_there_after_a_restart() {
    let authority = guarded::start().await;
    let folder = tempfile::tempdir().unwrap();
    let config = tenon_app::config::Config::default;
    let server = Server::in_folder(folder.path(), config()).await;
    let me = Person::alone(&server);
    let id = add(&me, &authority).await;
    log_in(&me, &id).await;
    server.app.sources.close().await;
    drop(server);

    authority.forget_access();
    let server = Server::in_folder(folder.path(), config()).await;
    let me = Person::alone(&server);
    until(&me, &id, |source| source["state"] == "ready").await;
    assert_eq!(call(&me).await["ok"], true);
    assert_eq!(authority.book().refreshes, 1);
}

#[tokio::test]
async fn twenty_calls_after_an_end_make_one_refresh() {
    let authority = guarded::start().await;
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let id = add(&ada, &authority).await;
    log_in(&ada, &id).await;
    authority.forget_access();
    let before = authority.book().refreshes;
    let answers = join_all((0..20).map(|_| call(&ada))).await;
    assert!(
        answers.iter().all(|answer| answer["ok"] == true),
        "{answers:#?}"
    );
    assert_eq!(authority.book().refreshes, before + 1);
}

#[tokio::test]
async fn who_cannot_be_renewed_is_asked_to_log_in_again() {
    let authority = guarded::start().await;
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let id = add(&ada, &authority).await;
    log_in(&ada, &id).await;
    authority.forget_access();
    authority.forget_refresh();
    let answer = call(&ada).await;
    assert_eq!(answer["ok"], false, "{answer:#}");
    let source = until(&ada, &id, |source| source["login"] == "needed").await;
    assert_eq!(source["state"], "failed", "{source:#}");
    log_in(&ada, &id).await;
    assert_eq!(call(&ada).await["ok"], true);
}

#[tokio::test]
async fn who_may_do_too_little_is_asked_to_log_in_again() {
    let authority = guarded::start().await;
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let id = add(&ada, &authority).await;
    log_in(&ada, &id).await;
    authority.behave(|ways| ways.needs_scope = Some("write".into()));
    assert_eq!(call(&ada).await["ok"], false);
    until(&ada, &id, |source| source["login"] == "needed").await;
    let url = leave(&ada, &id).await;
    assert!(url.contains("scope=write"), "{url}");
    let back = visit(&url).await;
    assert_eq!(open(&ada, &back).await.status(), 200);
    until(&ada, &id, |source| source["state"] == "ready").await;
    assert_eq!(call(&ada).await["ok"], true);
}

#[tokio::test]
async fn a_service_that_is_down_is_said_to_be() {
    let authority = guarded::start().await;
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let id = add(&ada, &authority).await;
    authority.behave(|ways| ways.is_down = true);
    let path = format!("/api/sources/{id}/login");
    let (status, error) = ada.post(&path, json!({})).await;
    assert_eq!(status, 502, "{error}");
    assert_eq!(error["error"]["code"], "login_unreachable");
    // Logging out is possible all the same.
    assert_eq!(ada.delete(&path).await, 204);
}

#[tokio::test]
async fn a_users_own_server_leads_nobody_inside() {
    let authority = guarded::start().await;
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let new = json!({"kind": "mcp", "name": "inside", "url": authority.server()});
    let (status, added) = bob.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    let id = added["id"].as_str().unwrap();
    let path = format!("/api/sources/{id}/login");
    let (status, error) = bob.post(&path, json!({})).await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("no_login")),
        "{error}"
    );
    assert_eq!(authority.book().paths, Vec::<String>::new());
}

#[tokio::test]
async fn another_address_gets_no_token_of_this_one() {
    let (authority, other) = (guarded::start().await, guarded::start().await);
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let id = add(&ada, &authority).await;
    log_in(&ada, &id).await;
    let change = json!({"url": other.server()});
    let (status, changed) = ada.patch(&format!("/api/sources/{id}"), change).await;
    assert_eq!(status, 200, "{changed}");
    let source = until(&ada, &id, |source| source["login"] == "needed").await;
    assert_eq!(source["state"], "failed", "{source:#}");
    let given = authority.book().secrets.clone();
    let shown = other.book().shown.clone();
    assert!(
        shown.iter().all(|shown| !given.contains(shown)),
        "{shown:?}"
    );
}

#[tokio::test]
async fn another_place_of_the_same_address_gets_no_token_of_this_one() {
    let (authority, other) = (guarded::start().await, guarded::start().await);
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let port = |authority: &Authority| {
        let url: url::Url = authority.server().parse().unwrap();
        url.port().unwrap().to_string()
    };
    let lead = async |authority: &Authority| {
        let own = json!({"value": port(authority), "mine": true});
        let set = ada.send("PUT", "/api/secrets/PORT", Some(own)).await;
        assert_eq!(set.0, 204, "{set:?}");
    };
    lead(&authority).await;
    let url = authority
        .server()
        .replace(&port(&authority), "${user.PORT}");
    let new = json!({"kind": "mcp", "name": "guarded", "url": url, "mine": false});
    let (status, added) = ada.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    let id = added["id"].as_str().unwrap();
    until(&ada, id, |source| source["login"] == "needed").await;
    log_in(&ada, id).await;

    lead(&other).await;
    until(&ada, id, |source| source["login"] == "needed").await;
    let given = authority.book().secrets.clone();
    let shown = other.book().shown.clone();
    assert!(!given.is_empty());
    assert!(
        shown.iter().all(|shown| !given.contains(shown)),
        "{shown:?}"
    );
    log_in(&ada, id).await;
    assert_eq!(call(&ada).await["ok"], true);

    // What was granted at the first is gone with the second.
    let shown = authority.book().shown.len();
    lead(&authority).await;
    until(&ada, id, |source| source["login"] == "needed").await;
    let given = other.book().secrets.clone();
    let shown = authority.book().shown.split_off(shown);
    assert!(
        shown.iter().all(|shown| !given.contains(shown)),
        "{shown:?}"
    );
}
