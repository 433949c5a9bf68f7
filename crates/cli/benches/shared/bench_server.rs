//! A small web server, so that what is measured is whoever calls it. It is the
//! bench itself, started once more: what it costs is not in the figures.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::{Json, State};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

/// The argument that makes the bench this server.
const SERVER_ARGUMENT: &str = "--site";

/// Serves until it is killed, if that is what it was started for.
pub fn serve_if_asked() {
    if std::env::args().any(|argument| argument == SERVER_ARGUMENT) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(serve());
    }
}

#[expect(clippy::print_stdout, reason = "whoever started it reads where it is")]
async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let accepted = Arc::new(AtomicUsize::new(0));
    let app = Router::new()
        .route(
            "/things/{id}",
            post(|Json(body): Json<Value>| async { Json(body) }),
        )
        .route(
            "/accepted",
            get(|State(accepted): State<Arc<AtomicUsize>>| async move {
                accepted.load(Ordering::SeqCst).to_string()
            }),
        )
        .with_state(accepted.clone());
    println!("{}", listener.local_addr().expect("an address"));
    let served = axum::serve(Counting(listener, accepted), app).await;
    served.expect("it serves");
}

/// The server in its own process, until this is dropped.
pub struct BenchServer {
    child: Child,
    pub address: String,
}

impl BenchServer {
    pub fn start() -> Self {
        let program = std::env::current_exe().expect("the bench is a file");
        let mut child = Command::new(program)
            .arg(SERVER_ARGUMENT)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the bench starts once more");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut address = String::new();
        output.read_line(&mut address).expect("it says where it is");
        Self {
            child,
            address: format!("http://{}", address.trim()),
        }
    }

    /// How many connections there were so far, besides the one that asks.
    pub async fn accepted(&self) -> usize {
        // Never one that waits: what asks is not to be counted as something else.
        let client = reqwest::Client::builder().pool_max_idle_per_host(0).build();
        let answer = client
            .expect("a client")
            .get(format!("{}/accepted", self.address));
        let answer = answer.send().await.expect("an answer");
        let count = answer.text().await.expect("a text");
        count.parse::<usize>().expect("a number") - 1
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the server is, as it would say itself.
pub fn document(address: &str) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1"},
        "servers": [{"url": address}],
        "security": [{"key": []}],
        "paths": {"/things/{id}": {"post": {
            "operationId": "change",
            "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}},
                {"name": "page", "in": "query", "schema": {"type": "integer"}},
            ],
            "requestBody": {"required": true, "content": {"application/json": {"schema": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
                "required": ["text"],
            }}}},
            "responses": {},
        }}},
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    })
}

struct Counting(TcpListener, Arc<AtomicUsize>);

impl axum::serve::Listener for Counting {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        let (stream, address) = axum::serve::Listener::accept(&mut self.0).await;
        self.1.fetch_add(1, Ordering::SeqCst);
        // Otherwise small answers would wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        (stream, address)
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
