//! Writes to the database that fail, one after the other.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::faults::{EIO, ENOSPC, Faults};
use crate::program::{Served, stdout, tenon};
use crate::server::{TEST_TIMEOUT, answer};

/// After how many writes to the database the disk fails: close together in the beginning, and
/// in the end more than one round of what is tried makes.
fn positions() -> impl Iterator<Item = i32> {
    (0..18).map(|step| step * step * 2)
}

const FOR_EVER: i32 = i32::MAX;

#[tokio::test]
async fn whichever_write_fails_what_was_acknowledged_is_stored() {
    let mut fixture = FaultFixture::new();
    let mut page = fixture.page().await;
    let mut rounds = Vec::new();
    for error in [ENOSPC, EIO] {
        for times in [1, FOR_EVER] {
            for after in positions() {
                // Before: what is tried must fail by the disk, and by nothing else.
                let chat = fixture.new_chat().await;
                page.subscribe(&chat).await;
                fixture.faults.fail(error, after, times);
                let round = fixture.try_everything(&chat, rounds.len()).await;
                fixture.faults.none();
                fixture.until_it_writes().await;
                fixture.check(&round).await;
                page.unsubscribe(&chat).await;
                rounds.push(round);
            }
        }
    }
    let refused = rounds.iter().filter(|round| !round.begun).count();
    assert!(refused > 10, "only {refused} turns met the fault");
    let seen = page.events;
    assert!(seen.len() > rounds.len(), "{} events", seen.len());

    fixture.kill_and_restart();
    for round in &rounds {
        fixture.check(round).await;
    }
    // What a screen was shown is what is replayed.
    let mut page = fixture.page().await;
    for round in &rounds {
        page.subscribe(&round.chat).await;
        page.unsubscribe(&round.chat).await;
    }
    for event in &seen {
        assert!(page.events.contains(event), "shown and gone: {event}");
    }
}

#[tokio::test]
async fn a_full_disk_is_told_to_everybody_and_reading_goes_on() {
    let fixture = FaultFixture::new();
    let mut page = fixture.page().await;
    let chat = fixture.new_chat().await;
    assert_eq!(fixture.get("/ready").await.0, 200);

    fixture.faults.fail(ENOSPC, 0, FOR_EVER);
    let turns = format!("/api/chats/{chat}/turns");
    let (status, refused) = fixture.send("POST", &turns, json!({"text": "6 * 7"})).await;
    assert_eq!(
        (status, refused["error"]["code"].as_str()),
        (507, Some("disk_full"))
    );
    page.until(|frame| frame["type"] == "storage" && frame["state"] == "full")
        .await;
    let refused = fixture.until_readiness_is(503).await;
    assert_eq!(refused["error"]["code"], "disk_full");
    // Nobody should restart it for that.
    assert_eq!(fixture.get("/health").await.0, 200);
    for path in [
        "/api/chats",
        &format!("/api/chats/{chat}/messages"),
        "/api/tools",
    ] {
        assert_eq!(fixture.get(path).await.0, 200, "{path}");
    }
    // Who comes now is told as well.
    let mut other = fixture.page().await;
    other
        .until(|frame| frame["type"] == "storage" && frame["state"] == "full")
        .await;

    fixture.faults.none();
    page.until(|frame| frame["type"] == "storage" && frame["state"] == "ok")
        .await;
    fixture.until_readiness_is(200).await;
    let (status, _) = fixture.send("POST", &turns, json!({"text": "6 * 7"})).await;
    assert_eq!(status, 202);
}

/// What was tried in one round, and what the server said to it.
struct Round {
    chat: String,
    text: String,
    begun: bool,
    title: String,
    titled: bool,
    other: Option<String>,
}

struct FaultFixture {
    data: TempDir,
    served: Option<Served>,
    key: String,
    faults: Faults,
}

impl FaultFixture {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let add = [
            "add",
            "--email",
            "ada@x.org",
            "--name",
            "Ada",
            "--password-stdin",
        ];
        user(&data, &add);
        let key = user(
            &data,
            &["key", "ada@x.org", "--name", "test", "--access", "full"],
        );
        let key = key.split_whitespace().find(|word| word.starts_with("tn_"));
        let mut fixture = Self {
            key: key.unwrap().to_owned(),
            data,
            served: None,
            faults: Faults::new(),
        };
        fixture.start();
        fixture
    }

    fn start(&mut self) {
        let served = Served::start_with(&self.data, |serve| {
            self.faults.under(serve.env("TENON_SINGLE_USER", ""))
        });
        self.served = Some(served);
    }

    fn kill_and_restart(&mut self) {
        // It is killed when it is dropped.
        self.served = None;
        self.start();
    }

    fn served(&self) -> &Served {
        self.served.as_ref().unwrap()
    }

    fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.served().address);
        let request = self.served().client.request(method.parse().unwrap(), url);
        request.bearer_auth(&self.key)
    }

    async fn send(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        answer(self.request(method, path).json(&body).send().await.unwrap()).await
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.request("GET", path).send().await.unwrap()).await
    }

    async fn new_chat(&self) -> String {
        let (status, chat) = self.send("POST", "/api/chats", json!({})).await;
        assert_eq!(status, 201, "{chat}");
        chat["id"].as_str().unwrap().to_owned()
    }

    /// A turn, a new name and another chat: some of it before the fault, some after.
    async fn try_everything(&self, chat: &str, number: usize) -> Round {
        let (text, title) = (format!("{number} * 7"), format!("Round {number}"));
        let turns = format!("/api/chats/{chat}/turns");
        let (begun, _) = self.send("POST", &turns, json!({"text": text})).await;
        let path = format!("/api/chats/{chat}");
        let (titled, _) = self.send("PATCH", &path, json!({"title": title})).await;
        let (created, other) = self.send("POST", "/api/chats", json!({})).await;
        for status in [begun, titled, created] {
            assert!(matches!(status, 200..=202 | 500 | 507), "{status}");
        }
        Round {
            chat: chat.to_owned(),
            text,
            begun: begun == 202,
            title,
            titled: titled == 200,
            other: (created == 201).then(|| other["id"].as_str().unwrap().to_owned()),
        }
    }

    /// Service comes back by itself.
    async fn until_it_writes(&self) {
        let begun = Instant::now();
        loop {
            let (status, said) = self.send("POST", "/api/chats", json!({})).await;
            if status == 201 {
                return;
            }
            assert!(begun.elapsed() < TEST_TIMEOUT, "{status} {said}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn until_readiness_is(&self, expected: u16) -> Value {
        let begun = Instant::now();
        loop {
            let (status, said) = self.get("/ready").await;
            if status == expected {
                return said;
            }
            assert!(begun.elapsed() < TEST_TIMEOUT, "/ready is never {expected}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn check(&self, round: &Round) {
        let path = format!("/api/chats/{}", round.chat);
        let (_, chat) = self.get(&path).await;
        if round.titled {
            assert_eq!(chat["title"], round.title, "after {:?}", round.text);
        }
        let begun = Instant::now();
        loop {
            let (status, messages) = self.get(&format!("{path}/messages")).await;
            assert_eq!(status, 200, "{messages}");
            let said = messages.as_array().unwrap();
            let is_there = said.iter().any(|message| {
                message["role"] == "user" && message["parts"][0]["text"] == round.text
            });
            assert_eq!(is_there, round.begun, "{messages:#}");
            let (_, chat) = self.get(&path).await;
            if chat["running"].is_null() {
                break;
            }
            assert!(
                begun.elapsed() < TEST_TIMEOUT,
                "it never ends: {messages:#}"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        if let Some(other) = &round.other {
            let (status, _) = self.get(&format!("/api/chats/{other}")).await;
            assert_eq!(status, 200, "a chat that was acknowledged is gone");
        }
    }

    async fn page(&self) -> Page {
        let url = self.served().address.replace("http://", "ws://") + "/api/ws";
        let mut request = url.into_client_request().unwrap();
        let key = format!("Bearer {}", self.key).parse().unwrap();
        request.headers_mut().insert("authorization", key);
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        Page {
            socket,
            events: Vec::new(),
        }
    }
}

/// Somebody who watches, and remembers all they were shown.
struct Page {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    events: Vec<Value>,
}

impl Page {
    async fn subscribe(&mut self, chat: &str) {
        let frame = json!({"type": "subscribe", "chatId": chat, "after": 0}).to_string();
        self.socket.send(Message::text(frame)).await.unwrap();
        self.until(|frame| frame["type"] == "caughtUp" && frame["chatId"] == chat)
            .await;
    }

    /// A page follows some chats, not all.
    async fn unsubscribe(&mut self, chat: &str) {
        let frame = json!({"type": "unsubscribe", "chatId": chat}).to_string();
        self.socket.send(Message::text(frame)).await.unwrap();
    }

    async fn until(&mut self, passes: impl Fn(&Value) -> bool) {
        loop {
            let next = tokio::time::timeout(TEST_TIMEOUT, self.socket.next()).await;
            let message = next.expect("a frame in time").unwrap().unwrap();
            let Message::Text(text) = message else {
                continue;
            };
            let frame: Value = serde_json::from_str(&text).unwrap();
            if passes(&frame) {
                return;
            }
            if frame["type"] == "event" {
                self.events.push(frame);
            }
        }
    }
}

fn user(data: &TempDir, arguments: &[&str]) -> String {
    let mut command = tenon(data, &["user"]);
    command.args(arguments).env_remove("TENON_SINGLE_USER");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(b"correct horse");
    stdout(&child.wait_with_output().unwrap())
}
