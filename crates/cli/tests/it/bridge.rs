//! `tenon bridge`: beside the real mcpo, and by itself.

mod beside_mcpo;
pub(crate) mod conformance;
mod documented;
mod forwarding;
mod hub;
mod life;
mod login;
mod mcp;
mod pages;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::listening::raw;

/// More than any request to a bridge takes on a busy machine.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A bridge in a process of its own. Dropped, it is killed.
pub struct BridgeProcess {
    pub child: Child,
    pub address: String,
    client: reqwest::Client,
}

impl BridgeProcess {
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, |command| command)
    }

    pub fn start_with(
        arguments: &[&str],
        change: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenon"));
        command
            .args(["bridge", "--port", "0"])
            .args(arguments)
            .env_remove("TENON_CONFIG")
            .env_remove("TENON_LOG")
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = change(&mut command).spawn().unwrap();
        let mut line = String::new();
        let printed = child.stdout.take().unwrap();
        BufReader::new(printed).read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        assert!(address.contains("://127.0.0.1:"), "{line}");
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(REQUEST_TIMEOUT)
            .tls_danger_accept_invalid_certs(true);
        Self {
            child,
            address,
            client: client.build().unwrap(),
        }
    }

    /// With these servers in a file of the folder.
    pub fn with_servers(folder: &Path, servers: &Value, arguments: &[&str]) -> Self {
        let config = write_config(folder, servers);
        let arguments = [arguments, &["--config", &config]].concat();
        Self::start(&arguments)
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.client.get(self.url(path))).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        answer(self.client.post(self.url(path)).json(&body)).await
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }
}

impl Drop for BridgeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn write_config(folder: &Path, servers: &Value) -> String {
    let path = folder.join("config.json");
    std::fs::write(&path, json!({ "mcpServers": servers }).to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A server without an SDK that is up at once, and odd in one way.
pub fn odd(oddity: &str) -> Value {
    let (python, script) = raw();
    json!({ "command": python, "args": [script, oddity] })
}

/// The status, and the body as JSON or as text.
pub async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let body = response.text().await.unwrap();
    let body = serde_json::from_str(&body).unwrap_or(Value::String(body));
    (status, body)
}
