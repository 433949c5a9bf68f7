//! The Caddy of `docs/compose.yaml`: it sends requests to the servers that are ready.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::{Value, json};
use tenon_app::config::Config;
use tokio::net::UdpSocket;

use crate::proxy::free_address;
use crate::server::{Server, TEST_TIMEOUT};

/// Among so many answers in a row there is one of each server that counts as ready.
const ANSWERS: usize = 12;

#[tokio::test]
async fn the_documented_caddy_asks_the_servers_that_are_ready_and_no_others() {
    let config = || Config {
        allowed_hosts: vec!["localhost".into()],
        trust_proxy: true,
        ..Config::default()
    };
    let (ready, draining) = (
        Server::with_config(config()).await,
        Server::with_config(config()).await,
    );
    draining.app.agent.drain(TEST_TIMEOUT).await;
    let caddy = Caddy::start([ready.address, draining.address]).await;
    let (begun, mut in_a_row) = (Instant::now(), 0);
    let mut last = String::new();
    while in_a_row < ANSWERS {
        assert!(begun.elapsed() < TEST_TIMEOUT, "after {in_a_row}: {last}");
        let (status, told) = caddy.get("/ready").await;
        in_a_row = if status == 200 && told["status"] == "ready" {
            in_a_row + 1
        } else {
            // What Caddy has not asked yet counts as ready to it.
            tokio::time::sleep(Duration::from_millis(50)).await;
            0
        };
        last = format!("{status} {told}");
    }
}

struct Caddy {
    program: Child,
    url: String,
    client: Client,
    _folder: tempfile::TempDir,
}

impl Caddy {
    /// With two servers in the place of the documented three.
    async fn start([first, second]: [SocketAddr; 2]) -> Self {
        let names = own_names().await;
        let address = free_address();
        let replaced = [
            ("${TENON_HOST:-localhost}", format!("http://{address}")),
            ("tenon-1:8366", format!("tenon-1:{}", first.port())),
            ("tenon-2:8366", format!("tenon-2:{}", second.port())),
            (" tenon-3:8366", String::new()),
            (
                "flush_interval",
                format!("transport http {{\nresolvers udp/{names}\n}}\nflush_interval"),
            ),
        ];
        let mut caddyfile = documented();
        for (written, here) in replaced {
            assert!(caddyfile.contains(written), "{written}: {caddyfile}");
            caddyfile = caddyfile.replace(written, &here);
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Caddyfile");
        let options = "{\nadmin off\nauto_https off\ndefault_bind 127.0.0.1\n}\n";
        fs::write(&file, format!("{options}{caddyfile}")).unwrap();
        let program = Command::new("caddy")
            .args(["run", "--adapter", "caddyfile", "--config"])
            .arg(&file)
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("caddy is installed by tests/setup");
        let caddy = Self {
            program,
            url: format!("http://{address}"),
            client: Client::builder().timeout(TEST_TIMEOUT).build().unwrap(),
            _folder: folder,
        };
        let begun = Instant::now();
        while tokio::net::TcpStream::connect(address).await.is_err() {
            assert!(begun.elapsed() < TEST_TIMEOUT, "it does not start");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        caddy
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let asked = self.client.get(format!("{}{path}", self.url)).send();
        let answer = asked.await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or(json!(null)))
    }
}

impl Drop for Caddy {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// The block of the document, without its indentation.
fn documented() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compose.yaml");
    let text = fs::read_to_string(path).unwrap();
    let (_, block) = text.split_once("  caddy:\n    content: |\n").unwrap();
    let lines = block.lines();
    let lines = lines.map_while(|line| line.strip_prefix("      "));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Answers that every name is this machine, as Docker does for the names of services.
async fn own_names() -> SocketAddr {
    const TYPE_A: [u8; 2] = [0, 1];
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let asked = &buffer[..length];
            // The name ends with an empty label; its type and class follow.
            let Some(end) = asked.iter().skip(12).position(|byte| *byte == 0) else {
                continue;
            };
            let question = &asked[12..12 + end + 5];
            let is_a = question[end + 1..end + 3] == TYPE_A;
            let mut reply = asked[..2].to_vec();
            reply.extend([0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
            reply.extend(question);
            if is_a {
                // The name of the question, type A, class IN, for a minute, four bytes.
                reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
            }
            let _ = socket.send_to(&reply, from).await;
        }
    });
    address
}
