//! A private PostgreSQL from Debian's package, in a folder of its own.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A running server. Dropped, it stops and its folder goes.
pub struct Postgres {
    server: Child,
    port: u16,
    _folder: TempDir,
}

impl Postgres {
    pub fn start() -> Self {
        let bin = bin().expect(
            "PostgreSQL is not installed: `make test-setup` installs it (Debian: postgresql)",
        );
        let folder = tempfile::Builder::new()
            .prefix("tenon-postgres")
            .tempdir()
            .unwrap();
        let data = folder.path().join("data");
        give_to_postgres(folder.path());

        let made = command(&bin.join("initdb"))
            .args([
                "--auth=trust",
                "--username=tenon",
                "--encoding=UTF8",
                "--no-sync",
                "-D",
            ])
            .arg(&data)
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "initdb: {}",
            String::from_utf8_lossy(&made.stderr)
        );

        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let server = command(&bin.join("postgres"))
            .arg("-D")
            .arg(&data)
            .args([
                "-h",
                "127.0.0.1",
                "-p",
                &port.to_string(),
                "-F",
                "-c",
                "unix_socket_directories=",
                "-c",
                // Three servers, and what is left of those that were killed.
                "max_connections=300",
            ])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let postgres = Self {
            server,
            port,
            _folder: folder,
        };
        postgres.wait_until_ready(&bin);
        postgres
    }

    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    pub fn url_of(&self, database: &str) -> String {
        format!("postgres://tenon@127.0.0.1:{}/{database}", self.port)
    }

    fn wait_until_ready(&self, bin: &Path) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let ready = || {
            let asked = Command::new(bin.join("pg_isready"))
                .args(["-h", "127.0.0.1", "-p", &self.port.to_string()])
                .stdout(Stdio::null())
                .status();
            asked.is_ok_and(|status| status.success())
        };
        while !ready() {
            assert!(
                Instant::now() < deadline,
                "PostgreSQL did not start within a minute"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGINT is its "fast shutdown"; the folder can only go when it has let go of it.
        let pid = self.server.id().to_string();
        let _ = Command::new("kill").args(["-INT", &pid]).status();
        let _ = self.server.wait();
    }
}

/// Debian keeps the programs of each version beside each other.
fn bin() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    versions.sort();
    versions.pop()
}

/// PostgreSQL refuses to run as root; Debian's package brings a user for it.
fn command(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args([
            "--reuid=postgres",
            "--regid=postgres",
            "--clear-groups",
            "--",
        ])
        .arg(program);
    command
}

fn give_to_postgres(folder: &Path) {
    if is_root() {
        let given = Command::new("chown")
            .arg("postgres")
            .arg(folder)
            .status()
            .unwrap();
        assert!(
            given.success(),
            "the user `postgres` of Debian's package is missing"
        );
    }
}

fn is_root() -> bool {
    let asked = Command::new("id").arg("-u").output().unwrap();
    asked.stdout.trim_ascii() == b"0"
}
