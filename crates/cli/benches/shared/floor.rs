//! The floor of a call over HTTP: a bare axum route with the same child behind it. It is the
//! bench itself, started once more.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::{Json, State};
use axum::routing::post;
use axum::serve::ListenerExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpSocket;
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};

use crate::echo;

/// The argument that makes the bench this server.
pub const FLOOR: &str = "--floor";

/// Serves until it is killed, if that is what it was started for.
pub fn serve_if_asked() {
    if std::env::args().any(|argument| argument == FLOOR) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(serve());
    }
}

#[derive(Clone)]
struct EchoChild {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    pending: Pending,
    next: Arc<AtomicU64>,
}

type Pending = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

#[expect(clippy::print_stdout, reason = "whoever started it reads where it is")]
async fn serve() {
    let (program, arguments) = echo::command(1);
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the bench starts once more");
    let (lines, queue) = mpsc::unbounded_channel();
    let pending = Pending::default();
    tokio::spawn(write(queue, child.stdin.take().expect("it is piped")));
    tokio::spawn(read(
        child.stdout.take().expect("it is piped"),
        pending.clone(),
    ));
    let state = EchoChild {
        lines,
        pending,
        next: Arc::default(),
    };
    let app = axum::Router::new()
        .route("/call", post(call))
        .with_state(state);
    let socket = TcpSocket::new_v4().expect("a socket");
    socket
        .bind("127.0.0.1:0".parse().expect("an address"))
        .expect("a port");
    let listener = socket.listen(1024).expect("a listener");
    println!("{}", listener.local_addr().expect("an address"));
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, app).await.expect("it serves");
}

async fn call(State(child): State<EchoChild>, Json(body): Json<Value>) -> Json<Value> {
    let id = child.next.fetch_add(1, Ordering::Relaxed);
    let (answer, answered) = oneshot::channel();
    child.pending.lock().expect("a lock").insert(id, answer);
    let params = json!({"name": "echo_0", "arguments": body["arguments"]});
    let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    let mut line = request.to_string().into_bytes();
    line.push(b'\n');
    child.lines.send(line).expect("the child listens");
    Json(answered.await.expect("the child answers"))
}

async fn write(mut queue: mpsc::UnboundedReceiver<Vec<u8>>, mut input: ChildStdin) {
    let mut lines = Vec::new();
    while queue.recv_many(&mut lines, 256).await > 0 {
        let together = lines.concat();
        lines.clear();
        input.write_all(&together).await.expect("the child reads");
    }
}

async fn read(output: ChildStdout, pending: Pending) {
    let mut lines = BufReader::with_capacity(1 << 16, output).lines();
    while let Some(line) = lines.next_line().await.expect("lines") {
        let mut message: Value = serde_json::from_str(&line).expect("JSON");
        let id = message["id"].as_u64().expect("a number");
        let answer = pending.lock().expect("a lock").remove(&id);
        if let Some(answer) = answer {
            let _ = answer.send(message["result"].take());
        }
    }
}
