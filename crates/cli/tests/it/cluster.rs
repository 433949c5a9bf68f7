//! Several servers on one PostgreSQL and one bus: what happens at one is seen and answered at
//! another.

mod bus;
mod chaos;
mod compose;
mod tools;
mod turns;

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenon_app::config::Config;
use tenon_llm::Scripted;
use tenon_llm::scripted::ScriptStep;
use tokio::time::timeout;

use crate::people::Person;
use crate::postgres::Postgres;
use crate::redis::Redis;
use crate::server::{Page, Server, TEST_TIMEOUT};

/// The key that all servers of a cluster share.
const SECRET_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// What a server's model says in each of its steps.
type Scripts = Vec<Vec<ScriptStep>>;

struct TestCluster {
    postgres: Postgres,
    redis: Redis,
}

impl TestCluster {
    fn start() -> Self {
        Self {
            postgres: Postgres::start(),
            redis: Redis::start(&[]),
        }
    }

    /// Two servers that know each other.
    async fn pair(&self, first: Scripts, second: Scripts) -> (Server, Server) {
        let (a, b) = (self.server(first).await, self.server(second).await);
        for server in [&a, &b] {
            let mut peers = server.app.cluster.bus.peers();
            let known = peers.wait_for(|peers| peers.len() == 1);
            drop(timeout(TEST_TIMEOUT, known).await.unwrap().unwrap());
        }
        (a, b)
    }

    async fn server(&self, scripts: Scripts) -> Server {
        let config = Config {
            bus: Some(self.redis.url()),
            ..self.config()
        };
        Server::in_cluster(config, Arc::new(Scripted::new(scripts))).await
    }

    fn config(&self) -> Config {
        Config {
            database: Some(self.postgres.url()),
            secret_key: Some(SECRET_KEY.into()),
            local_models: Some(Vec::new()),
            ..Config::default()
        }
    }
}

async fn new_chat(person: &Person<'_>) -> String {
    let (status, chat) = person.post("/api/chats", json!({})).await;
    assert_eq!(status, 201, "{chat}");
    chat["id"].as_str().unwrap().to_owned()
}

async fn say(person: &Person<'_>, chat: &str) -> String {
    let path = format!("/api/chats/{chat}/turns");
    let (status, started) = person.post(&path, json!({"text": "go"})).await;
    assert_eq!(status, 202, "{started}");
    started["turnId"].as_str().unwrap().to_owned()
}

async fn follow(person: &Person<'_>, chat: &str) -> Page {
    let mut page = person.socket().await.unwrap();
    page.subscribe(chat, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    page
}

/// The call that waits for a person.
async fn asked_call(page: &mut Page) -> String {
    let asked = page
        .until(|frame| frame["body"]["type"] == "callAsked")
        .await;
    let call = asked.last().unwrap()["body"]["callId"].as_str();
    call.unwrap().to_owned()
}

fn is_delta(frame: &Value, text: &str) -> bool {
    frame["type"] == "delta" && frame["text"] == text
}

/// What it gives, once it gives something.
#[track_caller]
fn until<T>(look: impl AsyncFn() -> Option<T>) -> impl Future<Output = T> {
    let from = Location::caller();
    async move {
        let begun = Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(begun.elapsed() < TEST_TIMEOUT, "not yet at {from}");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }
}
