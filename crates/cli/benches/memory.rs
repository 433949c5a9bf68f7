//! `make bench`: what the tools of a large document take in memory.
//!
//! It is the program itself that is measured, from outside: all that the system holds for it
//! beyond what it holds for one without tools, once what was read is settled.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[path = "shared/description.rs"]
mod description;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use description::description;
use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::sleep;

const MEGABYTES: usize = 10;
const OPERATIONS: usize = 2_500;

/// Far longer than it takes.
const TEST_TIMEOUT: Duration = Duration::from_secs(120);

/// Nothing happens any more after this: what reading took is given back by then.
const SETTLED: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() {
    // Whoever is first wins.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = serve(description(MEGABYTES * 1024 * 1024, OPERATIONS)).await;
    let data = tempfile::tempdir().expect("a folder");

    let tenon = Tenon::start(data.path()).await;
    sleep(SETTLED).await;
    let empty = tenon.memory_kib();
    tenon.add(&url).await;
    let read = tenon.settled().await;
    drop(tenon);
    let restarted = Tenon::start(data.path()).await.settled().await;

    println!(
        "{MEGABYTES} MB, {OPERATIONS} operations, memory of the program: {} MiB without it",
        empty / 1024
    );
    for (what, kib) in [("once it was read", read), ("after a restart", restarted)] {
        let each = kib.saturating_sub(empty) as f64 / OPERATIONS as f64;
        let (now, target) = (kib / 1024, "target: at most 25 KiB");
        println!("  {what:<28}  {now:>5} MiB   {each:>5.1} KiB a tool   {target}");
    }
}

/// Where the document is.
async fn serve(document: Value) -> String {
    let document = document.to_string();
    let app = Router::new().route("/openapi.json", get(async || document));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async { axum::serve(listener, app).await });
    format!("http://{address}/openapi.json")
}

/// The program, until this is dropped.
struct Tenon {
    child: Child,
    address: String,
    client: reqwest::Client,
    cookie: String,
}

impl Tenon {
    async fn start(data: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tenon"))
            .args(["serve", "--single-user", "--listen", "127.0.0.1:0"])
            .arg("--data")
            .arg(data)
            .env_remove("TENON_CONFIG")
            .env_remove("TOOL_SERVER_CONNECTIONS")
            .env("TENON_LOCAL_MODELS", "")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let mut printed = BufReader::new(child.stdout.take().expect("it is piped"));
        printed.read_line(&mut line).expect("it says where it is");
        let address = line.trim().rsplit(' ').next().unwrap_or_default();
        let mut tenon = Self {
            child,
            address: address.to_owned(),
            client: reqwest::Client::new(),
            cookie: String::new(),
        };
        tenon.cookie = tenon.log_in(data).await;
        tenon
    }

    /// With the link that is for whoever started it.
    async fn log_in(&self, data: &Path) -> String {
        let link = std::fs::read_to_string(data.join("setup-link")).expect("a link");
        let (_, code) = link.trim().split_once("/#setup=").expect("a code");
        let request = self.client.post(format!("{}/api/auth/setup", self.address));
        let answer = request.json(&json!({ "code": code })).send().await;
        let answer = answer.expect("an answer");
        let cookie = answer.headers().get(SET_COOKIE).expect("a cookie");
        let cookie = cookie.to_str().expect("a readable one");
        cookie.split(';').next().unwrap_or_default().to_owned()
    }

    async fn add(&self, url: &str) {
        let request = self.client.post(format!("{}/api/sources", self.address));
        let request = request.header(COOKIE, &self.cookie);
        let new = json!({ "kind": "openapi", "name": "things", "url": url });
        let answer = request.json(&new).send().await.expect("an answer");
        assert!(answer.status().is_success(), "{answer:?}");
    }

    /// What it takes once all tools are there and everything was read again.
    async fn settled(&self) -> u64 {
        let started = Instant::now();
        loop {
            let request = self.client.get(format!("{}/api/sources", self.address));
            let request = request.header(COOKIE, &self.cookie);
            let answer = request.send().await.expect("an answer");
            let sources: Value = answer.json().await.expect("a list");
            let source = &sources[0];
            if source["state"] == "ready" && source["tools"] == OPERATIONS {
                break;
            }
            assert!(started.elapsed() < TEST_TIMEOUT, "{sources:#}");
            sleep(Duration::from_millis(100)).await;
        }
        sleep(SETTLED).await;
        self.memory_kib()
    }

    fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("this runs on Linux");
        let mut lines = status.lines();
        let resident = lines.find_map(|line| line.strip_prefix("VmRSS:"));
        let resident = resident.and_then(|line| line.split_whitespace().next());
        let resident = resident.and_then(|kib| kib.parse().ok());
        resident.expect("a number")
    }
}

impl Drop for Tenon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
