//! A simulator as the tests start it. Shared by the crates that talk to one.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::Duration;

/// Longer than any of them needs on a busy machine.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A simulator on a port of its own, as its own program. Dropped, it is killed.
///
/// It stays in the process group of the test, so that whoever ends that (Ctrl-C,
/// a runner out of patience) ends it as well.
pub struct Peer {
    server: Child,
    pub url: String,
}

impl Peer {
    /// Says what `tests/peers/aimock` has for it, eight characters at a time.
    pub fn aimock() -> Self {
        Self::start(aimock_command())
    }

    /// One that lets nobody in without this key.
    pub fn aimock_with_key(key: &str) -> Self {
        let mut command = aimock_command();
        command.env("AIMOCK_API_KEYS", key);
        Self::start(command)
    }

    /// Says what `tests/peers/fakellm.yaml` has for it, word by word.
    pub fn fakellm() -> Self {
        let mut command = Command::new(installed("venv/bin/python"));
        command
            .args(["-m", "fakellm.cli", "serve", "--port", "0", "--config"])
            .arg(ours("fakellm.yaml"));
        Self::start(command)
    }

    /// Anything that says where it listens.
    pub fn start(mut command: Command) -> Self {
        let (output, input) = std::io::pipe().unwrap();
        command.stdout(input.try_clone().unwrap()).stderr(input);
        let mut peer = Self {
            server: command.spawn().unwrap(),
            url: String::new(),
        };
        // It holds the pipe open: a server that dies would go on without a word.
        let program = format!("{command:?}");
        drop(command);
        let (said, heard) = mpsc::channel();
        // Goes on reading, so that the server never waits for somebody to listen.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = said.send(line);
            }
        });
        let mut log = String::new();
        while peer.url.is_empty() {
            let line = heard.recv_timeout(TEST_TIMEOUT);
            let line = line.unwrap_or_else(|_| panic!("{program} does not start:\n{log}"));
            if let Some(url) = address(&line) {
                peer.url = url;
            }
            log = log + &line + "\n";
        }
        peer
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn aimock_command() -> Command {
    let mut command = Command::new("node");
    command
        .arg(installed(
            "node/node_modules/@copilotkit/aimock/dist/cli.js",
        ))
        .args(["--port", "0", "--chunk-size", "8"])
        // What no fixture fits is an error, and so is a fixture that is none.
        .args(["--strict", "--validate-on-load", "--fixtures"])
        .arg(ours("aimock"));
    command
}

/// "… listening on http://127.0.0.1:4010", "… running on http://127.0.0.1:9999 (…)"
fn address(line: &str) -> Option<String> {
    let (_, rest) = line
        .split_once(" listening on ")
        .or_else(|| line.split_once(" running on "))?;
    let address = rest.split_whitespace().next()?;
    // Servers behind it run "on stdio".
    address.starts_with("http").then(|| address.to_owned())
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// What `tests/setup` installed.
pub fn installed(path: &str) -> PathBuf {
    let path = root().join("target/peers").join(path);
    assert!(
        path.exists(),
        "{} is missing: run tests/setup",
        path.display()
    );
    path
}

pub fn ours(path: &str) -> PathBuf {
    root().join("tests/peers").join(path)
}
