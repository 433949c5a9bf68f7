//! A private Redis from Debian's package, in a folder of its own.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A running server. Dropped, it stops and its folder goes.
pub struct Redis {
    server: Child,
    port: u16,
    options: Vec<String>,
    folder: TempDir,
}

impl Redis {
    pub fn start(options: &[&str]) -> Self {
        Self::start_at(free_port(), options)
    }

    /// Over TLS alone, with this certificate and its key.
    pub fn start_with_tls(certificate: &str, key: &str, options: &[&str]) -> Self {
        let port = free_port();
        let tls_port = port.to_string();
        // The last one counts of options that are there twice.
        let tls = [
            "--port",
            "0",
            "--tls-port",
            &tls_port,
            "--tls-auth-clients",
            "no",
        ];
        let files = ["--tls-cert-file", certificate, "--tls-key-file", key];
        Self::start_at(port, &[&tls[..], &files[..], options].concat())
    }

    fn start_at(port: u16, options: &[&str]) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("tenon-redis")
            .tempdir()
            .unwrap();
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let server = spawn(port, &options, &folder);
        let redis = Self {
            server,
            port,
            options,
            folder,
        };
        redis.wait_until_ready();
        redis
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Starts it again after it was killed.
    pub fn restart(&mut self) {
        self.server = spawn(self.port, &self.options, &self.folder);
        self.wait_until_ready();
    }

    fn wait_until_ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < deadline, "Redis did not start in time");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn spawn(port: u16, options: &[String], folder: &TempDir) -> Child {
    let mut command = Command::new("redis-server");
    command
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--save", "", "--appendonly", "no", "--dir"])
        .arg(folder.path())
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
        .spawn()
        .expect("Redis is not installed: `make test-setup` installs it (Debian: redis-server)")
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
