//! What is no part of Tenon: a model that calls one tool and then answers, and the tool, which
//! counts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

const TOOL: &str = "api_witness_record";

/// Between two pieces of a streamed answer.
const PIECE_PAUSE: Duration = Duration::from_millis(60);

pub struct Witness {
    pub address: String,
    calls: Calls,
}

/// How often each id was recorded.
type Calls = Arc<Mutex<BTreeMap<String, usize>>>;

impl Witness {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let calls = Calls::default();
        let counted = calls.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let calls = counted.clone();
                tokio::spawn(async move { serve(stream, &calls).await });
            }
        });
        Self { address, calls }
    }

    pub fn calls(&self) -> BTreeMap<String, usize> {
        self.calls.lock().unwrap().clone()
    }
}

/// One request; whoever breaks off breaks off.
async fn serve(stream: TcpStream, calls: &Calls) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let header = line.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut stream = stream.into_inner();
    match path.as_str() {
        "/openapi.json" => reply(&mut stream, &document()).await,
        "/v1/models" => {
            let models = json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]});
            reply(&mut stream, &models).await
        }
        "/record" => {
            let id = body["id"].as_str()?.to_owned();
            *calls.lock().unwrap().entry(id).or_default() += 1;
            tokio::time::sleep(PIECE_PAUSE).await;
            reply(&mut stream, &json!({"recorded": true})).await
        }
        _ => answer(&mut stream, &body).await,
    }
}

async fn reply(stream: &mut TcpStream, body: &Value) -> Option<()> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(body.as_bytes()).await.ok()
}

/// After the words of a person the call, after its result some words.
async fn answer(stream: &mut TcpStream, request: &Value) -> Option<()> {
    let messages = request["messages"].as_array()?;
    let last = messages.last()?;
    let mut pieces: Vec<Value> = Vec::new();
    if last["role"] == "tool" {
        pieces.extend(["It ", "is ", "on ", "record."].map(|word| json!({"content": word})));
    } else {
        let text = last["content"].to_string();
        let id = text.split("record ").nth(1)?.trim_end_matches('"');
        let arguments = json!({"id": id}).to_string();
        pieces.push(json!({"content": "I record it."}));
        pieces.push(
            json!({"tool_calls": [{"index": 0, "id": format!("call-{id}"), "type": "function",
            "function": {"name": TOOL, "arguments": arguments}}]}),
        );
    }
    let finish = if last["role"] == "tool" {
        "stop"
    } else {
        "tool_calls"
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.ok()?;
    for delta in pieces {
        let chunk = json!({"choices": [{"index": 0, "delta": delta}]});
        let event = format!("data: {chunk}\n\n");
        stream.write_all(event.as_bytes()).await.ok()?;
        tokio::time::sleep(PIECE_PAUSE).await;
    }
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]});
    let end = format!("data: {end}\n\ndata: [DONE]\n\n");
    stream.write_all(end.as_bytes()).await.ok()
}

fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {"title": "witness", "version": "1"},
        "paths": {"/record": {"post": {
            "operationId": "record",
            "summary": "Records an id",
            "requestBody": {"required": true, "content": {"application/json": {"schema": {
                "type": "object", "required": ["id"], "properties": {"id": {"type": "string"}},
            }}}},
            "responses": {"200": {"description": "recorded"}},
        }}},
    })
}
