//! Three processes of `tenon serve`, and nginx before them.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::header::{COOKIE, HeaderMap};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::SECRET_KEY;
use super::parse;
use crate::program::{code_in, enter, tenon};
use crate::proxy::start_nginx;
use crate::server::TEST_TIMEOUT;

pub const RETRY_PAUSE: Duration = Duration::from_millis(150);

/// A server that is paused never answers.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(12);

const TOOL: &str = "api_witness_record";

pub struct BalancedServers {
    servers: Vec<ServerProcess>,
    nginx: Child,
    address: SocketAddr,
    cookie: String,
    _folder: TempDir,
}

struct ServerProcess {
    child: Option<Child>,
    port: u16,
    data: TempDir,
    environment: Vec<(&'static str, String)>,
    /// Paused until then.
    paused: Option<Instant>,
}

/// What somebody needs to use them.
#[derive(Clone)]
pub struct Access {
    pub address: SocketAddr,
    pub cookie: String,
    client: reqwest::Client,
}

impl BalancedServers {
    pub fn start(database: &str, bus: &str, witness: &str) -> Self {
        let environment = vec![
            ("TENON_DATABASE", database.to_owned()),
            ("TENON_BUS", bus.to_owned()),
            ("TENON_SECRET_KEY", SECRET_KEY.to_owned()),
            ("OPENAI_BASE_URL", format!("http://{witness}/v1")),
            ("OPENAI_API_KEY", "none".to_owned()),
        ];
        let mut servers: Vec<ServerProcess> = (0..3)
            .map(|_| ServerProcess {
                child: None,
                port: free_port(),
                data: tempfile::tempdir().unwrap(),
                environment: environment.clone(),
                paused: None,
            })
            .collect();
        for server in &mut servers {
            server.start();
        }
        let folder = tempfile::tempdir().unwrap();
        let ports: Vec<u16> = servers.iter().map(|server| server.port).collect();
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let nginx = start_nginx(folder.path(), address, &balancer(address, &ports));
        let nginx = nginx.expect("nginx is installed by tests/setup");
        let first = &servers[0];
        let at = format!("http://127.0.0.1:{}", first.port);
        let cookie = enter(&at, &code_in(&first.data).unwrap());
        Self {
            servers,
            nginx,
            address,
            cookie,
            _folder: folder,
        }
    }

    pub fn access(&self) -> Access {
        let shown: HeaderMap = [(COOKIE, self.cookie.parse().unwrap())]
            .into_iter()
            .collect();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(REQUEST_TIMEOUT)
            .default_headers(shown);
        Access {
            address: self.address,
            cookie: self.cookie.clone(),
            client: client.build().unwrap(),
        }
    }

    /// The tool that the witness counts, allowed to everybody.
    pub async fn add_tool(&self, witness: &str) {
        let access = self.access();
        let source = json!({"kind": "openapi", "name": "witness", "url": format!("http://{witness}/openapi.json")});
        let (status, added) = access.post("/api/sources", &source).await.unwrap();
        assert_eq!(status, 201, "{added}");
        let allow =
            json!({"layer": "organisation", "tools": [{"toolId": TOOL, "policy": "allow"}]});
        let (status, set) = access.send("PATCH", "/api/tools", &allow).await.unwrap();
        assert_eq!(status, 204, "{set}");
        // Each server has it before anybody calls it.
        let begun = Instant::now();
        for server in &self.servers {
            let path = format!("http://127.0.0.1:{}/api/tools", server.port);
            loop {
                let tools = access.client.get(&path).send().await.unwrap();
                if tools.text().await.unwrap().contains(TOOL) {
                    break;
                }
                assert!(begun.elapsed() < TEST_TIMEOUT, "the tool is not everywhere");
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        }
    }

    pub async fn new_chats(&self, count: usize) -> Vec<String> {
        let access = self.access();
        let mut chats = Vec::new();
        for _ in 0..count {
            let (status, chat) = access.post("/api/chats", &json!({})).await.unwrap();
            assert_eq!(status, 201, "{chat}");
            chats.push(chat["id"].as_str().unwrap().to_owned());
        }
        chats
    }

    /// `kill -9`.
    pub fn kill(&mut self, number: usize) {
        let server = &mut self.servers[number];
        server.paused = None;
        if let Some(mut child) = server.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Stops a server from running for a while. False: another one is paused already.
    pub fn pause(&mut self, number: usize, pause: Duration) -> bool {
        self.resume();
        if self.servers.iter().any(|server| server.paused.is_some()) {
            return false;
        }
        let server = &mut self.servers[number];
        server.signal("-STOP");
        server.paused = Some(Instant::now() + pause);
        true
    }

    /// Starts what was killed, and lets run what was paused for long enough.
    pub fn mend(&mut self) {
        self.resume();
        for server in &mut self.servers {
            if server.child.is_none() {
                server.start();
            }
        }
    }

    /// All run again.
    pub fn mend_all(&mut self) {
        for server in &mut self.servers {
            if server.paused.take().is_some() {
                server.signal("-CONT");
            }
        }
        self.mend();
    }

    fn resume(&mut self) {
        for server in &mut self.servers {
            if server.paused.is_some_and(|until| until <= Instant::now()) {
                server.signal("-CONT");
                server.paused = None;
            }
        }
    }
}

impl ServerProcess {
    fn start(&mut self) {
        let listen = format!("127.0.0.1:{}", self.port);
        let mut serve = tenon(&self.data, &["serve", "--listen", &listen]);
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.data.path().join("log"));
        serve
            .envs(self.environment.iter().cloned())
            .env("TENON_LOG", "info")
            .stdout(Stdio::null())
            .stderr(log.unwrap());
        let mut child = serve.spawn().unwrap();
        let begun = Instant::now();
        // A database whose connections are cut while it starts is tried again, as an operator's
        // supervisor would.
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() || !self.is_ready() {
            if child.try_wait().unwrap().is_some() {
                child = serve.spawn().unwrap();
            }
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "it does not start"
            );
            std::thread::sleep(Duration::from_millis(30));
        }
        self.child = Some(child);
    }

    /// It listens before it is open for requests.
    fn is_ready(&self) -> bool {
        code_in(&self.data).is_some()
    }

    fn signal(&self, signal: &str) {
        if let Some(child) = &self.child {
            let sent = Command::new("kill")
                .args([signal, &child.id().to_string()])
                .status();
            assert!(sent.unwrap().success());
        }
    }
}

impl Access {
    pub async fn post(&self, path: &str, body: &Value) -> Option<(u16, Value)> {
        self.send("POST", path, body).await
    }

    /// None: nobody answered.
    pub async fn send(&self, method: &str, path: &str, body: &Value) -> Option<(u16, Value)> {
        let url = format!("http://{}{path}", self.address);
        let request = self.client.request(method.parse().unwrap(), url).json(body);
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        Some((status, parse(&response.text().await.ok()?)))
    }
}

impl Drop for BalancedServers {
    fn drop(&mut self) {
        let _ = self.nginx.kill();
        let _ = self.nginx.wait();
        for server in &mut self.servers {
            if std::thread::panicking() {
                let log = std::fs::read_to_string(server.data.path().join("log"));
                let log = log.unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let tail = &lines[lines.len().saturating_sub(60)..];
                eprintln!("--- server at {}:\n{}", server.port, tail.join("\n"));
            }
            if let Some(child) = &mut server.child {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

/// One after the other; one that does not answer is left out for a while.
fn balancer(address: SocketAddr, ports: &[u16]) -> String {
    let upstream: String = ports
        .iter()
        .map(|port| format!("server 127.0.0.1:{port} max_fails=1 fail_timeout=2s;"))
        .collect();
    format!(
        "map $http_upgrade $connection_upgrade {{ default upgrade; '' close; }}
         upstream tenon {{ {upstream} }}
         server {{
             listen {address};
             location / {{
                 proxy_pass http://tenon; proxy_http_version 1.1;
                 proxy_set_header Host $http_host;
                 proxy_set_header Upgrade $http_upgrade;
                 proxy_set_header Connection $connection_upgrade;
                 proxy_connect_timeout 1s; proxy_read_timeout 30s;
             }}
         }}"
    )
}
