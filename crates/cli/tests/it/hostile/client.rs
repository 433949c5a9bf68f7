//! A server for several people, as its own process, and clients that speak to it in bytes.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::MAX_MIB;
use crate::program::{Served, kib, stdout, tenon};
use crate::server::TEST_TIMEOUT;

const PASSWORD: &str = "correct horse battery";

pub struct Host {
    pub served: Served,
    data: TempDir,
}

/// Of the process, in MiB.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    pub now: u64,
    pub peak: u64,
}

impl Host {
    pub fn start(settings: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("settings.toml");
        std::fs::write(&file, settings).unwrap();
        for name in ["ada", "eve", "mallory"] {
            let email = format!("{name}@example.org");
            let added = ["add", "--email", &email, "--name", name, "--password-stdin"];
            user(&data, &added);
        }
        let served = Served::start_with(&data, |serve| {
            serve
                .env_remove("TENON_SINGLE_USER")
                .arg("--config")
                .arg(&file)
        });
        Self { served, data }
    }

    /// A new key of somebody.
    pub fn key(&self, name: &str, access: &str) -> String {
        let email = format!("{name}@example.org");
        let made = ["key", &email, "--name", access, "--access", access];
        user(&self.data, &made).trim().to_owned()
    }

    pub fn memory(&self) -> Memory {
        let of = |name: &str| kib(self.served.child.id(), name) / 1024;
        Memory {
            now: of("VmRSS:"),
            peak: of("VmHWM:"),
        }
    }

    pub fn check_memory(&self) {
        let memory = self.memory();
        eprintln!("{memory:?}");
        assert!(memory.peak < MAX_MIB, "{memory:?}");
    }

    pub async fn connect(&self) -> Connection {
        let address = self.served.address.strip_prefix("http://").unwrap();
        let stream = timeout(TEST_TIMEOUT, TcpStream::connect(address)).await;
        Connection(stream.unwrap().unwrap())
    }

    /// A socket; the error is the status it is refused with.
    pub async fn socket(&self, key: &str) -> Result<Connection, u16> {
        let mut connection = self.connect().await;
        let head = format!(
            "GET /api/ws HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        let answer = async {
            connection.send(head.as_bytes()).await.ok()?;
            let mut answer = Vec::new();
            while !answer.ends_with(b"\r\n\r\n") {
                answer.push(connection.0.read_u8().await.ok()?);
            }
            let answer = String::from_utf8(answer).ok()?;
            answer.split(' ').nth(1)?.parse::<u16>().ok()
        };
        match timeout(TEST_TIMEOUT, answer).await.unwrap() {
            Some(101) => Ok(connection),
            Some(status) => Err(status),
            None => Err(0),
        }
    }

    pub async fn get(&self, path: &str, key: Option<&str>) -> (u16, Value) {
        // A connection of its own each time.
        let client = reqwest::Client::builder()
            .timeout(TEST_TIMEOUT)
            .build()
            .unwrap();
        let mut request = client.get(format!("{}{path}", self.served.address));
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        crate::server::answer(request.send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, key: &str, body: String) -> (u16, Value) {
        let request = self
            .served
            .client
            .post(format!("{}{path}", self.served.address));
        let request = request
            .bearer_auth(key)
            .header("content-type", "application/json");
        crate::server::answer(request.body(body).send().await.unwrap()).await
    }
}

fn user(data: &TempDir, arguments: &[&str]) -> String {
    let mut command = tenon(data, &["user"]);
    command.args(arguments).env_remove("TENON_SINGLE_USER");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(PASSWORD.as_bytes());
    stdout(&child.wait_with_output().unwrap())
}

/// A connection, whatever is spoken over it.
pub struct Connection(TcpStream);

impl Connection {
    pub async fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_all(bytes).await
    }

    /// A whole text frame.
    pub async fn send_frame(&mut self, text: &[u8]) -> std::io::Result<()> {
        self.send(&frame_header(text.len())).await?;
        self.send(text).await
    }

    /// What the server says next, and by which opcode. None: it hung up.
    async fn next_frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let first = self.0.read_u8().await.ok()?;
        let length = match self.0.read_u8().await.ok()? {
            126 => u64::from(self.0.read_u16().await.ok()?),
            127 => self.0.read_u64().await.ok()?,
            length => u64::from(length),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.0.read_exact(&mut payload).await.ok()?;
        Some((first & 0x0f, payload))
    }

    pub async fn next_json(&mut self) -> Option<Value> {
        let next = async {
            loop {
                match self.next_frame().await? {
                    (1, text) => return serde_json::from_slice(&text).ok(),
                    (8, _) => return None,
                    _ => {}
                }
            }
        };
        timeout(3 * TEST_TIMEOUT, next)
            .await
            .expect("a frame in time")
    }

    /// The code it was closed with.
    pub async fn closed(&mut self) -> Option<u16> {
        self.closed_within(60).await.filter(|code| *code > 0)
    }

    /// The same, or 0 if it just hung up. None: it is still open.
    pub async fn closed_within(&mut self, seconds: u64) -> Option<u16> {
        let closed = async {
            loop {
                match self.next_frame().await {
                    Some((8, code)) => return u16::from_be_bytes([code[0], code[1]]),
                    Some(_) => {}
                    None => return 0,
                }
            }
        };
        timeout(Duration::from_secs(seconds), closed).await.ok()
    }

    /// All it answers until it hangs up.
    pub async fn read_to_end(&mut self, seconds: u64) -> String {
        let mut answer = Vec::new();
        let reading = self.0.read_to_end(&mut answer);
        let read = timeout(Duration::from_secs(seconds), reading).await;
        read.expect("it is given up in time").ok();
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub async fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        let read = timeout(Duration::from_millis(5), self.0.read(&mut byte)).await;
        matches!(read, Ok(Ok(0) | Err(_)))
    }
}

/// How long the texts are that an attack sends.
pub struct Text;

impl Text {
    /// Almost as long as a frame may be.
    pub const FRAME: usize = 23_800_000;
}

/// A masked text frame, by a mask that changes nothing.
pub fn frame_header(length: usize) -> Vec<u8> {
    let mut header = vec![0x81, 0xff];
    header.extend((length as u64).to_be_bytes());
    header.extend([0; 4]);
    header
}

/// A frame with as many values as fit.
pub fn frame_of_zeros(length: usize) -> Vec<u8> {
    let mut text = format!("{{\"a\":{}}}", zeros(length - 16)).into_bytes();
    text.resize(length, b' ');
    text
}

pub fn body_of_zeros(length: usize) -> String {
    let values = zeros(length);
    format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{values}}}]}}")
}

fn zeros(length: usize) -> String {
    format!("[0{}]", ",0".repeat(length / 2 - 2))
}
