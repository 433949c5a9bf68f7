//! What runs with a key ends with it, whoever revokes the key and in which process.

use std::sync::Arc;

use reqwest::Response;
use serde_json::{Value, json};
use tenon_domain::{KeyId, UserId};
use tenon_llm::scripted::ScriptStep;
use tenon_store::{Store, UserEdit};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use crate::login;
use crate::people::Person;
use crate::server::{Server, TEST_TIMEOUT, answer};

#[derive(Clone, Copy)]
enum Revoker {
    Owner,
    Admin,
    /// Another process revokes the key.
    Process,
    /// Another process disables its owner.
    DisablingProcess,
}

#[tokio::test]
async fn the_owner_of_a_key_stops_what_runs_with_it() {
    check(Revoker::Owner).await;
}

#[tokio::test]
async fn whoever_is_disabled_is_stopped() {
    check(Revoker::Admin).await;
}

#[tokio::test]
async fn another_process_stops_what_runs_with_a_key() {
    check(Revoker::Process).await;
}

#[tokio::test]
async fn another_process_stops_whoever_it_disables() {
    check(Revoker::DisablingProcess).await;
}

async fn check(revoker: Revoker) {
    let never = Arc::new(Notify::new());
    let endless = || {
        let wait = ScriptStep::WaitFor(never.clone());
        vec![ScriptStep::text("Well, "), wait, ScriptStep::stop()]
    };
    let server = Server::with_accounts([endless(), endless()]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let scope = json!({"access": "use", "allow": ["api_hung_*"]});
    let (_, key) = bob
        .post("/api/keys", json!({"name": "script", "scope": scope}))
        .await;
    let mut program = bob.clone();
    let bearer = format!("Bearer {}", key["key"].as_str().unwrap());
    program.shows = Some(("authorization", bearer));

    // A call, an answer, a turn and a socket.
    let mut hung = HungServer::start().await;
    let (status, added) = ada.post("/api/sources", hung.source()).await;
    assert_eq!(status, 201, "{added}");
    let id = added["id"].as_str().unwrap();
    login::until(&ada, id, |source| source["state"] == "ready").await;
    let call = program.request("POST", "/api/tools/api_hung_wait/call");
    let calling = tokio::spawn(call.json(&json!({"arguments": {}})).send());
    assert_eq!(hung.next().await, Seen::Request);
    let asked = json!({"stream": true, "messages": [{"role": "user", "content": "Well?"}]});
    let completion = program.request("POST", "/v1/chat/completions").json(&asked);
    let mut completion = completion.send().await.unwrap();
    until(&mut completion, "Well, ").await;
    let (_, chat) = program.post("/api/chats", json!({})).await;
    let turns = format!("/api/chats/{}/turns", chat["id"].as_str().unwrap());
    let (status, turn) = program.post(&turns, json!({"text": "Well?"})).await;
    assert_eq!(status, 202, "{turn}");
    let mut page = program.socket().await.unwrap();

    let (bobs, key) = (UserId(bob.id.clone()), key["id"].as_str().unwrap());
    match revoker {
        Revoker::Owner => assert_eq!(bob.delete(&format!("/api/keys/{key}")).await, 204),
        Revoker::Admin => {
            let path = format!("/api/users/{}", bob.id);
            let (status, _) = ada.patch(&path, json!({"disabled": true})).await;
            assert_eq!(status, 200);
        }
        Revoker::Process => {
            let theirs = other_process(&server).await;
            theirs.delete_key(&bobs, &KeyId::new(key)).await.unwrap();
        }
        Revoker::DisablingProcess => {
            let disabled = UserEdit {
                disabled: Some(true),
                ..UserEdit::default()
            };
            let theirs = other_process(&server).await;
            theirs.change_user(&bobs, disabled).await.unwrap();
        }
    }
    let called = timeout(TEST_TIMEOUT, calling).await.unwrap().unwrap();
    let (status, called) = answer(called.unwrap()).await;
    assert_eq!((status, &called["ok"]), (200, &json!(false)), "{called}");
    assert_eq!(hung.next().await, Seen::Disconnect);
    until(&mut completion, "The answer was stopped.").await;
    assert_eq!(page.closed().await, 4401);
    let ended = async {
        while server.app.agent.running_tasks() > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(TEST_TIMEOUT, ended).await.expect("the turn ends");
}

async fn other_process(server: &Server) -> Store {
    let file = server.data().join("tenon.db");
    Store::open_file(&file).await.unwrap()
}

/// Reads until this was said.
async fn until(response: &mut Response, expected: &str) {
    let mut said = String::new();
    while !said.contains(expected) {
        let chunk = timeout(TEST_TIMEOUT, response.chunk()).await;
        let chunk = chunk.expect("more is said in time").unwrap();
        let chunk = chunk.unwrap_or_else(|| panic!("{said}"));
        said.push_str(str::from_utf8(&chunk).unwrap());
    }
}

/// Takes requests and answers none of them.
struct HungServer {
    url: String,
    seen: mpsc::UnboundedReceiver<Seen>,
}

#[derive(Debug, PartialEq)]
enum Seen {
    Request,
    Disconnect,
}

impl HungServer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tell, seen) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let tell = tell.clone();
                tokio::spawn(async move {
                    let mut bytes = [0; 4096];
                    let _ = socket.read(&mut bytes).await;
                    let _ = tell.send(Seen::Request);
                    while socket.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
                    let _ = tell.send(Seen::Disconnect);
                });
            }
        });
        Self { url, seen }
    }

    fn source(&self) -> Value {
        json!({"kind": "openapi", "name": "hung", "document": {
            "openapi": "3.1.0",
            "info": {"title": "Hung", "version": "1"},
            "servers": [{"url": self.url}],
            "paths": {"/wait": {"post": {"operationId": "wait", "responses": {}}}},
        }})
    }

    async fn next(&mut self) -> Seen {
        let seen = timeout(TEST_TIMEOUT, self.seen.recv()).await;
        seen.expect("it is asked or left in time").unwrap()
    }
}
