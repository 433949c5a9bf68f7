//! Other programs that put an MCP server behind HTTP, installed and started with the same server
//! behind them.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::json;

use crate::echo;
use crate::process::ProcessUse;

/// A program that listens, until this is dropped.
pub struct Gateway {
    pub name: &'static str,
    child: Child,
    pub started: Instant,
    pub at: GatewayAddress,
    pub used: ProcessUse,
}

/// Where its tool is called, and how.
#[derive(Clone)]
pub struct GatewayAddress {
    pub address: String,
    /// Where it speaks MCP, or mcpo's OpenAPI.
    pub path: &'static str,
    /// What it calls the echo.
    pub tool: &'static str,
    /// What goes along with every request.
    pub headers: String,
}

const MCPWAY: &str = "mcpway@0.2.1";
const MCP_PROXY: &str = "mcp-proxy@0.6.0";

impl Gateway {
    pub fn mcpo(folder: &Path, tools: usize) -> Self {
        let config = write_servers(folder, tools);
        let python = peer("venv-mcpo/bin/python");
        Self::start("mcpo", ("/echo/echo_0", "echo_0"), |port| {
            let mut command = Command::new(&python);
            command.arg(peer("venv-mcpo/bin/mcpo"));
            command.args(["--host", "127.0.0.1", "--port", port, "--config", &config]);
            command
        })
    }

    pub fn bridge(folder: &Path, tools: usize) -> Self {
        let config = write_servers(folder, tools);
        Self::start("tenon bridge", ("/echo/echo_0", "echo_0"), |port| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tenon"));
            command.args(["bridge", "--port", port, "--config", &config]);
            command
        })
    }

    /// The same program, asked over MCP.
    pub fn bridge_mcp(folder: &Path) -> Self {
        let mut bridge = Self::bridge(folder, 1);
        bridge.at.path = "/echo/mcp";
        bridge
    }

    /// `tenon serve`, asked over MCP with a key.
    pub fn hub(folder: &Path) -> Self {
        let data = folder.join("hub");
        let (command, args) = echo::command(1);
        let servers = json!({ "mcpServers": { "echo": { "command": command, "args": args } } });
        let files = data.join("mcp_servers");
        std::fs::create_dir_all(&files).expect("a folder for servers");
        std::fs::write(files.join("echo.json"), servers.to_string()).expect("a file");
        let tenon = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tenon"));
            command.args(arguments).arg("--data").arg(&data);
            command.args(["--local-models", "", "--single-user"]);
            command
        };
        let mut key = tenon(&["user", "key", "--name", "bench", "--access", "use"]);
        let key = key.args(["--allow", "mcp_echo_*"]).output();
        let key = String::from_utf8(key.expect("it starts").stdout).expect("a key");
        let key = key.split_whitespace().find(|word| word.starts_with("tn_"));
        let mut hub = Self::start("tenon serve", ("/mcp", "mcp_echo_echo_0"), |port| {
            tenon(&["serve", "--listen", &format!("127.0.0.1:{port}")])
        });
        hub.at.headers = format!("authorization: Bearer {}\r\n", key.expect("a key"));
        hub
    }

    pub fn mcpway() -> Self {
        let program = installed(MCPWAY);
        let (echo, arguments) = echo::command(1);
        let line = format!("{echo} {}", arguments.join(" "));
        Self::start("mcpway 0.2.1", ("/mcp", "echo_0"), |port| {
            let mut command = Command::new(&program);
            command.args(["--stdio", &line, "--output-transport", "streamable-http"]);
            command.args(["--stateful", "--log-level", "none", "--port", port]);
            command
        })
    }

    pub fn mcp_proxy(folder: &Path) -> Self {
        let program = installed(MCP_PROXY);
        let (echo, arguments) = echo::command(1);
        let file = folder.join("proxy.toml");
        Self::start("mcp-proxy 0.6.0", ("/", "echo/echo_0"), |port| {
            let config = format!(
                "[proxy]\nname = \"bench\"\nseparator = \"/\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\
                 [[backends]]\nname = \"echo\"\ntransport = \"stdio\"\ncommand = {echo:?}\nargs = {arguments:?}\n"
            );
            std::fs::write(&file, config).expect("a file");
            let mut command = Command::new(&program);
            command.arg("--config").arg(&file).env("RUST_LOG", "error");
            command
        })
    }

    pub fn fastmcp() -> Self {
        let python = peer("venv-fastmcp/bin/python");
        let (echo, arguments) = echo::command(1);
        let servers = json!({ "mcpServers": { "echo": { "command": echo, "args": arguments } } });
        let script = format!(
            "import json, sys\nfrom fastmcp.server import create_proxy\n\
             create_proxy(json.loads({:?})).run(transport='http', host='127.0.0.1', port=int(sys.argv[1]), show_banner=False)",
            servers.to_string()
        );
        Self::start("FastMCP proxy 4.1.2", ("/mcp", "echo_0"), |port| {
            let mut command = Command::new(&python);
            command.args(["-c", &script, port]);
            command
        })
    }

    fn start(
        name: &'static str,
        (path, tool): (&'static str, &'static str),
        command: impl Fn(&str) -> Command,
    ) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let started = Instant::now();
        let child = command(&port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        Self {
            name,
            used: ProcessUse(child.id()),
            child,
            started,
            at: GatewayAddress {
                address: format!("127.0.0.1:{port}"),
                path,
                tool,
                headers: String::new(),
            },
        }
    }

    /// In MB.
    pub fn resident(&self) -> f64 {
        self.used.resident() as f64 / 1024.0
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write_servers(folder: &Path, tools: usize) -> String {
    let (command, args) = echo::command(tools);
    let echo = json!({ "command": command, "args": args, "timeoutMs": 2_000 });
    let path = folder.join(format!("servers-{tools}.json"));
    let servers = json!({ "mcpServers": { "echo": echo } });
    std::fs::write(&path, servers.to_string()).expect("a file");
    path.to_string_lossy().into_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A program of the tests' set-up, which is run where it is missing.
fn peer(path: &str) -> PathBuf {
    let path = root().join("target/peers").join(path);
    if !path.exists() {
        let setup = Command::new(root().join("tests/setup")).status();
        assert!(setup.is_ok_and(|status| status.success()), "tests/setup");
    }
    path
}

/// A program out of a crate, installed once.
fn installed(package: &str) -> PathBuf {
    let folder = root().join("target/bench-peers");
    let (name, _) = package.split_once('@').expect("a version");
    let program = folder.join("bin").join(name);
    if !program.exists() {
        let install = Command::new("cargo")
            .args(["install", "--locked", "--root"])
            .arg(&folder)
            .arg(package)
            .status();
        assert!(install.is_ok_and(|status| status.success()), "{package}");
    }
    program
}
