//! Real servers: where they are, and those that have to be running before they are reached.

use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::peer::{installed, ours};

pub fn everything() -> PathBuf {
    installed("mcp/node_modules/.bin/mcp-server-everything")
}

/// A FastMCP script of ours.
pub fn fast() -> (PathBuf, String) {
    script("venv-fastmcp", "fast.py")
}

/// The same on the SDK of before 2026.
pub fn old() -> (PathBuf, String) {
    script("venv-oldmcp", "old.py")
}

/// One on the newest SDK, which tells what changes.
pub fn grows() -> (PathBuf, String) {
    script("venv-fastmcp", "grows.py")
}

/// A script without an SDK that is odd in one way.
pub fn raw() -> (PathBuf, String) {
    script("venv-oldmcp", "raw.py")
}

fn script(environment: &str, name: &str) -> (PathBuf, String) {
    let python = installed(&format!("{environment}/bin/python"));
    let script = ours("mcp").join(name).to_str().unwrap().to_owned();
    (python, script)
}

/// A server on a port of its own. Dropped, it is killed.
pub struct Listening {
    child: Child,
    pub address: String,
    command: Box<dyn Fn(u16) -> Command + Send>,
    port: u16,
    _port_lock: File,
}

impl Listening {
    /// server-everything as `sse` or `streamableHttp`.
    pub fn everything(transport: &'static str) -> Self {
        Self::start(move |port| {
            let mut command = Command::new(everything());
            command.arg(transport).env("PORT", port.to_string());
            command
        })
    }

    pub fn python((python, script): (PathBuf, String), transport: &'static str) -> Self {
        Self::start(move |port| {
            let mut command = Command::new(&python);
            command.args([&script, transport, &port.to_string()]);
            command
        })
    }

    /// What is listening at its port once it is up.
    pub fn start(command: impl Fn(u16) -> Command + Send + 'static) -> Self {
        let (port, lock) = free_port();
        let mut server = Self {
            child: spawn(&mut command(port)),
            address: format!("http://127.0.0.1:{port}"),
            command: Box::new(command),
            port,
            _port_lock: lock,
        };
        server.wait();
        server
    }

    /// Kills it and starts it again at the same place.
    pub fn restart(&mut self) {
        self.stop();
        self.child = spawn(&mut (self.command)(self.port));
        self.wait();
    }

    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn wait(&mut self) {
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let late = began.elapsed() > Duration::from_secs(60);
            let gone = self.child.try_wait().unwrap();
            assert!(!late && gone.is_none(), "{}: {gone:?}", self.address);
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A port, and a lock that keeps it from other tests: they run side by side, and a server takes its
/// time to take its port. It is one below those the kernel gives out by itself, which would connect
/// a caller of such a port that nobody listens on yet to the caller itself.
fn free_port() -> (u16, File) {
    let locked = |port: u16| {
        let file = std::env::temp_dir().join(format!("tenon-test-port-{port}"));
        let lock = File::create(file).ok()?;
        lock.try_lock().ok()?;
        TcpListener::bind(("0.0.0.0", port)).ok()?;
        Some((port, lock))
    };
    (20_000..32_000).find_map(locked).unwrap()
}
