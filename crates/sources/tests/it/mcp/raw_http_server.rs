//! An HTTP server with scripted responses, byte by byte.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// By their names in small letters.
    pub headers: HashMap<String, String>,
    pub body: Value,
}

pub enum Answer {
    /// Status, further header lines, body.
    Whole(u16, String, String),
    /// These bytes, and then nothing for as long as the other side listens.
    Open(String),
    /// Nothing at all, for as long as the other side waits.
    Silence,
}

pub struct RawHttpServer {
    pub address: SocketAddr,
    pub seen: Arc<Mutex<Vec<Request>>>,
    /// How many that stayed open were closed by the other side.
    pub closed: Arc<Mutex<usize>>,
}

impl RawHttpServer {
    pub async fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let raw_http_server = Self {
            address: listener.local_addr().unwrap(),
            seen: Arc::default(),
            closed: Arc::default(),
        };
        let (seen, closed, answer) = (
            raw_http_server.seen.clone(),
            raw_http_server.closed.clone(),
            Arc::new(answer),
        );
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, closed, answer) = (seen.clone(), closed.clone(), answer.clone());
                tokio::spawn(async move {
                    let Some((request, mut stream)) = read(stream).await else {
                        return;
                    };
                    seen.lock().unwrap().push(request.clone());
                    match answer(&request) {
                        Answer::Whole(status, headers, body) => {
                            let length = body.len();
                            let head = format!(
                                "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
                            );
                            let _ = stream.write_all((head + &body).as_bytes()).await;
                        }
                        Answer::Silence => {
                            let _ = stream.read(&mut [0; 8]).await;
                            *closed.lock().unwrap() += 1;
                        }
                        Answer::Open(begin) => {
                            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
                            let _ = stream
                                .write_all((head.to_owned() + &begin).as_bytes())
                                .await;
                            let _ = stream.read(&mut [0; 8]).await;
                            *closed.lock().unwrap() += 1;
                        }
                    }
                });
            }
        });
        raw_http_server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

/// What a server of the stateless era with one tool answers.
pub fn stateless(request: &Request) -> Answer {
    let id = &request.body["id"];
    let result = match request.body["method"].as_str().unwrap_or_default() {
        "server/discover" => {
            json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
        }
        "tools/list" => {
            json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": "here" }] }),
        other => panic!("{other}"),
    };
    let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    whole(200, "application/json", &body.to_string())
}

/// What a server of the handshake era with one tool answers to what is posted.
pub fn shaking(request: &Request) -> Answer {
    let id = &request.body["id"];
    let refused = json!({ "code": -32601, "message": "what?" });
    let body = match request.body["method"].as_str().unwrap_or_default() {
        "initialize" => {
            let info = json!({ "name": "test", "version": "1" });
            let result = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": info });
            json!({ "jsonrpc": "2.0", "id": id, "result": result })
        }
        "server/discover" => json!({ "jsonrpc": "2.0", "id": id, "error": refused }),
        "notifications/initialized" => return Answer::Whole(202, String::new(), String::new()),
        _ => return stateless(request),
    };
    whole(200, "application/json", &body.to_string())
}

pub fn whole(status: u16, content_type: &str, body: &str) -> Answer {
    let header = format!("content-type: {content_type}\r\n");
    Answer::Whole(status, header, body.to_owned())
}

async fn read(mut stream: TcpStream) -> Option<(Request, TcpStream)> {
    let mut bytes = Vec::new();
    let (head, rest) = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            break (String::from_utf8(bytes).unwrap(), rest);
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        // Somebody who wants to speak in secret.
        if bytes[0] == 0x16 {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            return None;
        }
    };
    let mut lines = head.lines();
    lines.next()?;
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = rest;
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    let request = Request {
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    Some((request, stream))
}
