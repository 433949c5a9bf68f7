//! `make bench`: what several servers on one PostgreSQL do together, beside one alone without a
//! bus, and how much later an event is seen at another server.
//!
//! The servers are the program itself, each in a process of its own; PostgreSQL, Redis and the
//! bench run on the same cores, so more servers are not expected to do more here: what counts is
//! what the bus costs. Pages are at another server than the turns they watch.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on should stop")]

#[path = "../../store/tests/it/postgres.rs"]
mod postgres;
#[path = "../../bus/tests/it/redis.rs"]
#[expect(dead_code, reason = "shared with the tests of the bus")]
mod redis;

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::future::join_all;
use futures::{SinkExt, StreamExt};
use postgres::Postgres;
use redis::Redis;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_app::app::App;
use tenon_app::config::Config;
use tenon_domain::{KeyAccess, KeyScope, UserRole};
use tenon_store::{Enrollment, NewUserRow};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

const SECRET_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A build that is not optimised only shows that this works.
const SCALE: usize = if cfg!(debug_assertions) { 1 } else { 8 };
const CHATS: usize = 32;
const TURNS_PER_CHAT: usize = SCALE;
const CALLS: usize = 512 * SCALE;
const CALLS_AT_ONCE: usize = 32;
const DELAY_TURNS: usize = 4 * SCALE;

/// Machines swing by half from one minute to the next, so all set-ups take turns, each is compared
/// with the one of the same round, and the median counts.
const ROUNDS: usize = if cfg!(debug_assertions) { 1 } else { 7 };

/// How many servers, and whether they are on a bus.
const SETUPS: [(usize, bool); 4] = [(1, false), (1, true), (2, true), (3, true)];

/// What one set-up did in all rounds.
#[derive(Default)]
struct SetupFigures {
    turns: Vec<f64>,
    calls: Vec<f64>,
    /// Beside one alone in the same round.
    turn_ratios: Vec<f64>,
    call_ratios: Vec<f64>,
    /// How much later an event was seen at another server, in milliseconds.
    delays: Vec<f64>,
}

fn main() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (postgres, redis) = (Postgres::start(), Redis::start(&[]));
        let key = prepare(&postgres.url()).await;
        let mut figures: [SetupFigures; 4] = Default::default();
        for _ in 0..ROUNDS {
            let mut alone = None;
            for ((count, has_bus), figures) in SETUPS.into_iter().zip(&mut figures) {
                let bus = has_bus.then(|| redis.url());
                let servers =
                    (0..count).map(|_| BenchServer::start(&postgres.url(), bus.as_deref()));
                let servers: Vec<BenchServer> = servers.collect();
                let client = BenchClient::new(&servers, &key);
                client.settle().await;
                let (turns, calls) = (client.turns().await, client.calls().await);
                let (turns_alone, calls_alone) = *alone.get_or_insert((turns, calls));
                figures.turns.push(turns);
                figures.calls.push(calls);
                figures.turn_ratios.push(turns / turns_alone);
                figures.call_ratios.push(calls / calls_alone);
                if count > 1 {
                    figures.delays.extend(client.delays().await);
                }
            }
        }
        for ((count, has_bus), figures) in SETUPS.into_iter().zip(figures) {
            figures.print(count, has_bus);
        }
    });
}

impl SetupFigures {
    fn print(self, count: usize, has_bus: bool) {
        let name = if has_bus {
            format!("{count} with a bus")
        } else {
            "alone".to_owned()
        };
        println!(
            "{name:>14}: {:>6.1} turns/s ({:.2} of one alone), {:>7.0} calls/s ({:.2}); target: 0.85",
            quantile(self.turns, 0.5),
            quantile(self.turn_ratios, 0.5),
            quantile(self.calls, 0.5),
            quantile(self.call_ratios, 0.5),
        );
        if !self.delays.is_empty() {
            println!(
                "{name:>14}: an event is seen at another server {:.2} ms later (median), {:.2} ms (p99; target: 30)",
                quantile(self.delays.clone(), 0.5),
                quantile(self.delays, 0.99),
            );
        }
    }
}

fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part) as usize]
}

async fn prepare(database: &str) -> String {
    let data = tempfile::tempdir().unwrap();
    let config = Config {
        database: Some(database.to_owned()),
        secret_key: Some(SECRET_KEY.to_owned()),
        local_models: Some(Vec::new()),
        ..Config::default()
    };
    let app = App::open(data.path(), &config).await.unwrap();
    let new = NewUserRow {
        email: "ada@example.org",
        name: "Ada",
        role: UserRole::Admin,
        password_hash: None,
        oidc_subject: None,
    };
    let user = app
        .store
        .create_user(new, Enrollment::First)
        .await
        .unwrap()
        .id;
    let scope = KeyScope {
        access: KeyAccess::Full,
        ..KeyScope::default()
    };
    app.store
        .create_key(&user, "bench", &scope)
        .await
        .unwrap()
        .0
        .0
}

struct BenchServer {
    child: Child,
    address: String,
    _data: TempDir,
}

impl BenchServer {
    fn start(database: &str, bus: Option<&str>) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut serve = Command::new(env!("CARGO_BIN_EXE_tenon"));
        serve
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data.path())
            .env("TENON_DATABASE", database)
            .env("TENON_SECRET_KEY", SECRET_KEY)
            .env("TENON_LOCAL_MODELS", "")
            .env_remove("TENON_BUS")
            .envs(bus.map(|bus| ("TENON_BUS", bus)))
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = serve.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().rsplit("http://").next().unwrap().to_owned();
        Self {
            child,
            address,
            _data: data,
        }
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct BenchClient {
    addresses: Vec<String>,
    key: String,
    http: reqwest::Client,
}

impl BenchClient {
    fn new(servers: &[BenchServer], key: &str) -> Self {
        Self {
            addresses: servers
                .iter()
                .map(|server| server.address.clone())
                .collect(),
            key: key.to_owned(),
            http: reqwest::Client::new(),
        }
    }

    /// Round robin, as a balancer would.
    fn at(&self, number: usize) -> &str {
        &self.addresses[number % self.addresses.len()]
    }

    async fn post(&self, number: usize, path: &str, body: Value) -> Value {
        let url = format!("http://{}{path}", self.at(number));
        let request = self.http.post(url).bearer_auth(&self.key).json(&body);
        let response = request.send().await.unwrap();
        assert!(
            response.status().is_success(),
            "{path}: {}",
            response.status()
        );
        response.json().await.unwrap_or_default()
    }

    async fn chat(&self, number: usize) -> String {
        let chat = self.post(number, "/api/chats", json!({})).await;
        chat["id"].as_str().unwrap().to_owned()
    }

    async fn say(&self, number: usize, chat: &str) {
        let path = format!("/api/chats/{chat}/turns");
        self.post(number, &path, json!({"text": "6*7"})).await;
    }

    async fn page(&self, number: usize, chat: &str) -> BenchPage {
        let mut request = format!("ws://{}/api/ws", self.at(number))
            .into_client_request()
            .unwrap();
        let key = format!("Bearer {}", self.key).parse().unwrap();
        request.headers_mut().insert("authorization", key);
        let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let subscribe = json!({"type": "subscribe", "chatId": chat, "after": 0});
        socket
            .send(Message::text(subscribe.to_string()))
            .await
            .unwrap();
        let mut page = BenchPage(socket);
        page.until("caughtUp").await;
        page
    }

    /// All of them have found each other, and have done some work.
    async fn settle(&self) {
        tokio::time::sleep(Duration::from_secs(2)).await;
        for number in 0..self.addresses.len() {
            let chat = self.chat(number).await;
            let mut page = self.page(number + 1, &chat).await;
            self.say(number, &chat).await;
            page.until_finished().await;
        }
    }

    async fn turns(&self) -> f64 {
        let begun = Instant::now();
        let chats = (0..CHATS).map(|number| async move {
            let chat = self.chat(number).await;
            let mut page = self.page(number + 1, &chat).await;
            for _ in 0..TURNS_PER_CHAT {
                self.say(number, &chat).await;
                page.until_finished().await;
            }
        });
        join_all(chats).await;
        (CHATS * TURNS_PER_CHAT) as f64 / begun.elapsed().as_secs_f64()
    }

    async fn calls(&self) -> f64 {
        let begun = Instant::now();
        let callers = (0..CALLS_AT_ONCE).map(|caller| async move {
            for number in 0..CALLS / CALLS_AT_ONCE {
                let body = json!({"arguments": {"expression": "6*7"}});
                self.post(caller + number, "/api/tools/builtin_calculate/call", body)
                    .await;
            }
        });
        join_all(callers).await;
        CALLS as f64 / begun.elapsed().as_secs_f64()
    }

    /// How much later each event is seen at another server than at the one that answers, in
    /// milliseconds.
    async fn delays(&self) -> Vec<f64> {
        let chat = self.chat(0).await;
        let (mut here, mut there) = (self.page(0, &chat).await, self.page(1, &chat).await);
        let mut delays = Vec::new();
        for _ in 0..DELAY_TURNS {
            let saying = self.say(0, &chat);
            let (seen_here, seen_there, ()) =
                tokio::join!(here.until_finished(), there.until_finished(), saying);
            delays.extend(seen_there.iter().filter_map(|(seq, at)| {
                let first = seen_here.get(seq)?;
                Some(at.saturating_duration_since(*first).as_secs_f64() * 1e3)
            }));
        }
        delays
    }
}

struct BenchPage(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl BenchPage {
    async fn next(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.0.next().await.unwrap().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    async fn until(&mut self, kind: &str) {
        while self.next().await["type"] != kind {}
    }

    /// The events until the end of a turn, and when each came.
    async fn until_finished(&mut self) -> HashMap<i64, Instant> {
        let mut seen = HashMap::new();
        loop {
            let frame = self.next().await;
            if let Some(seq) = frame["seq"].as_i64().filter(|_| frame["type"] == "event") {
                seen.insert(seq, Instant::now());
            }
            if frame["body"]["type"] == "turnFinished" {
                return seen;
            }
        }
    }
}
