//! `make bench`: what a streamed answer costs, beside a raw read of the same bytes.
//!
//! The server is a thread of its own that writes as fast as it can. Only the
//! thread that listens is measured, by the time it spent on a processor.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[path = "shared/heap.rs"]
mod heap;

use std::hint::black_box;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::{Map, json};
use tenon_agent::feed::{LiveUpdate, WatchEvent};
use tenon_agent::{Agent, AgentSettings, TurnModel, TurnRequest};
use tenon_domain::{
    Annotations, CallId, EventBody, Message, ModelId, ModelRef, RunsOn, ToolId, ToolSpec, ToolUse,
    TurnOutcome, UserId, WireFormat,
};
use tenon_llm::remote::{ResponseFormat, replay};
use tenon_llm::{Assembler, ModelDelta, ModelRequest, Remote, connect};
use tenon_store::Store;
use tenon_tools::{CallLimits, MemoryOutputStore, MemoryToolIdStore, Registry};

const ROUNDS: usize = 15;
const DELTAS: usize = 10_000;

fn main() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .expect("the first one to install it");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        deltas(WireFormat::Openai).await;
        deltas(WireFormat::Responses).await;
        deltas(WireFormat::Anthropic).await;
        memory().await;
        first_word().await;
    });
    arguments();
}

/// Ten thousand small deltas, as fast as they come.
async fn deltas(format: WireFormat) {
    let url = serve(answer(format, DELTAS));
    let client = client();
    let floor = median(async || {
        let before = on_processor();
        let mut bytes = raw(&client, &url).await.bytes_stream();
        while let Some(piece) = bytes.next().await {
            black_box(piece.expect("bytes"));
        }
        on_processor() - before
    })
    .await;
    let remote = remote(&url, format);
    let adapter = median(async || {
        let before = on_processor();
        assert_eq!(listen(&remote).await, DELTAS);
        on_processor() - before
    })
    .await;
    let bench_agent = BenchAgent::new(&remote).await;
    let turn = median(async || {
        let before = on_processor();
        bench_agent.turn().await;
        on_processor() - before
    })
    .await;
    let each = |took: Duration| took / DELTAS as u32;
    println!("{format:?}, {DELTAS} deltas, CPU for each:");
    println!(
        "  a raw read of the stream      {:>12.2?}   floor",
        each(floor)
    );
    println!("  the adapter                   {:>12.2?}", each(adapter));
    println!(
        "  a whole turn with its feed    {:>12.2?}   target: under 3 µs",
        each(turn)
    );
}

/// Ten times the deltas must not take ten times the room, beyond the text itself.
async fn memory() {
    let mut peaks = Vec::new();
    for count in [DELTAS, 10 * DELTAS] {
        let remote = remote(
            &serve(answer(WireFormat::Openai, count)),
            WireFormat::Openai,
        );
        listen(&remote).await;
        let before = heap::in_use();
        heap::reset_peak();
        listen(&remote).await;
        peaks.push(heap::peak() - before);
    }
    println!(
        "memory while listening          {:>9} KiB   and {} KiB for ten times as many deltas",
        peaks[0] / 1024,
        peaks[1] / 1024
    );
}

/// What we add before the first word.
async fn first_word() {
    let url = serve(answer(WireFormat::Openai, 1));
    let client = client();
    let remote = remote(&url, WireFormat::Openai);
    let floor = median(async || {
        let asked = Instant::now();
        let mut bytes = raw(&client, &url).await.bytes_stream();
        black_box(bytes.next().await);
        asked.elapsed()
    })
    .await;
    println!("the first byte, raw             {floor:>12.2?}   floor");
    let provider = connect(remote);
    for count in [0, 100] {
        let tools: Vec<Arc<ToolSpec>> = (0..count).map(tool).collect();
        let ours = median(async || {
            let asked = Instant::now();
            let request = ModelRequest {
                tools: tools.clone(),
                ..request()
            };
            let mut deltas = provider.stream(request).await.expect("a stream");
            while let Some(delta) = deltas.next().await {
                if let Ok(ModelDelta::Text(_)) = delta {
                    break;
                }
            }
            asked.elapsed()
        })
        .await;
        println!(
            "the first word, {count:>3} tools       {ours:>12.2?}   target: under 1 ms over the floor, whose request is empty"
        );
    }
}

fn tool(number: usize) -> Arc<ToolSpec> {
    let properties: Map<String, serde_json::Value> = (0..8)
        .map(|property| {
            let schema = json!({"type": "string", "description": "What it is for, in a sentence."});
            (format!("property{property}"), schema)
        })
        .collect();
    Arc::new(ToolSpec {
        id: ToolId(format!("tool{number}")),
        name: format!("tool{number}"),
        title: format!("Tool {number}"),
        display_name: format!("Bench/Tool {number}"),
        description: "Does something that takes two sentences to say. This is the second.".into(),
        input_schema: json!({"type": "object", "properties": properties}).into(),
        annotations: Annotations::default(),
        runs_on: RunsOn::Server,
    })
}

/// A long argument in small pieces: twice as long must take twice the time, not four times.
fn arguments() {
    let remote = remote("http://127.0.0.1:1", WireFormat::Openai);
    for bytes in [1_000_000, 2_000_000] {
        let whole = json!({ "text": "x".repeat(bytes) }).to_string();
        let pieces = whole.as_bytes().chunks(10);
        let mut stream = String::new();
        for piece in pieces {
            let piece = String::from_utf8_lossy(piece);
            let call = json!({"index": 0, "function": {"arguments": piece}});
            let chunk = json!({"choices": [{"delta": {"tool_calls": [call]}}]});
            stream.push_str(&format!("data: {chunk}\n\n"));
        }
        let started = Instant::now();
        let (deltas, error) = replay(&remote, ResponseFormat::EventStream, [stream.as_bytes()]);
        assert!(error.is_none(), "{error:?}");
        let mut assembler = Assembler::default();
        for delta in deltas {
            assembler.push(delta);
        }
        let reply = assembler.finish(|| CallId::new("c"));
        let took = started.elapsed();
        assert_eq!(reply.parts.len(), 1);
        println!("an argument of {bytes:>7} bytes     {took:>12.2?}   in pieces of ten");
    }
}

/// An agent with nothing but a model.
struct BenchAgent {
    agent: Agent,
    store: Store,
    model: TurnModel,
    _folder: tempfile::TempDir,
}

impl BenchAgent {
    async fn new(remote: &Remote) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the database");
        let store = Store::open_file(&folder.path().join("bench.db"))
            .await
            .expect("a database");
        let registry = Registry::new(
            Arc::new(MemoryToolIdStore::default()),
            Arc::new(MemoryOutputStore::default()),
            CallLimits::default(),
        );
        Self {
            agent: Agent::new(store.clone(), registry, AgentSettings::new(folder.path())),
            store,
            model: TurnModel {
                provider: connect(remote.clone()),
                shown: ModelRef {
                    id: ModelId::new("bench"),
                    name: "Bench".into(),
                },
                prices: None,
                makes_titles: false,
            },
            _folder: folder,
        }
    }

    /// One turn in a chat of its own, with somebody who watches.
    async fn turn(&self) {
        let user = UserId::new("ada");
        let chat = self.store.create_chat(&user, "x").await.expect("a chat").id;
        let mut watch = self.agent.feed().watch(&chat);
        let request = TurnRequest::new(user, chat, "go", self.model.clone());
        self.agent.start(request).await.expect("a turn");
        loop {
            if let WatchEvent::Live(LiveUpdate::Event(event)) = watch.next().await
                && let EventBody::TurnFinished { outcome, .. } = &event.body
            {
                assert_eq!(*outcome, TurnOutcome::Done);
                return;
            }
        }
    }
}

async fn listen(remote: &Remote) -> usize {
    let provider = connect(remote.clone());
    let mut deltas = provider.stream(request()).await.expect("a stream");
    let mut assembler = Assembler::default();
    let mut count = 0;
    while let Some(delta) = deltas.next().await {
        let delta = delta.expect("a delta");
        count += usize::from(matches!(delta, ModelDelta::Text(_)));
        assembler.push(delta);
    }
    black_box(assembler.finish(|| CallId::new("c")));
    count
}

async fn raw(client: &reqwest::Client, url: &str) -> reqwest::Response {
    let request = client.post(url).json(&json!({"model": "m"}));
    request.send().await.expect("an answer")
}

fn client() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .tcp_nodelay(true)
        .build()
        .expect("a client")
}

fn request() -> ModelRequest {
    ModelRequest {
        system: "Be brief.".into(),
        language: None,
        messages: vec![Message::user("go")],
        tools: Vec::new(),
        ..ModelRequest::default()
    }
}

fn remote(url: &str, format: WireFormat) -> Remote {
    Remote {
        name: "Bench".into(),
        format,
        base_url: url.into(),
        key: None,
        model: "m".into(),
        parameters: Map::new(),
        tools: ToolUse::Native,
        context_tokens: None,
        tool_budget: None,
        reports_progress: false,
    }
}

/// A streamed answer of so many words.
fn answer(format: WireFormat, count: usize) -> String {
    let frames: Box<dyn Iterator<Item = String>> = match format {
        WireFormat::Openai => {
            let chunk = |delta: serde_json::Value, reason: Option<&str>| {
                let choice =
                    json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason});
                json!({
                    "id": "chatcmpl-123456789", "object": "chat.completion.chunk", "created": 1_700_000_000,
                    "model": "m", "system_fingerprint": "fp_1", "choices": [choice],
                })
                .to_string()
            };
            let words = (0..count).map(move |_| chunk(json!({"content": "word "}), None));
            Box::new(words.chain([chunk(json!({}), Some("stop")), "[DONE]".to_owned()]))
        }
        WireFormat::Responses => {
            let word = json!({
                "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
                "content_index": 0, "delta": "word ", "logprobs": [],
            });
            let end = json!({"type": "response.completed", "response": {"status": "completed"}});
            let frames = (0..count).map(move |_| word.clone()).chain([end]);
            Box::new(frames.map(|frame| frame.to_string()))
        }
        WireFormat::Anthropic => {
            let word = json!({
                "type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": "word "},
            });
            let start = json!({
                "type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": ""},
            });
            let end = [
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
                json!({"type": "message_stop"}),
            ];
            let words = (0..count).map(move |_| word.clone());
            let frames = [start].into_iter().chain(words).chain(end);
            Box::new(frames.map(|frame| frame.to_string()))
        }
    };
    frames.map(|frame| format!("data: {frame}\n\n")).collect()
}

/// Gives the same answer to everybody; its address.
fn serve(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    let answer = format!("{head}content-length: {}\r\n\r\n{answer}", answer.len());
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || talk(socket, &answer));
        }
    });
    url
}

fn talk(socket: TcpStream, answer: &str) {
    let _ = socket.set_nodelay(true);
    let mut writer = socket.try_clone().expect("a second handle");
    let mut reader = BufReader::new(socket);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() || writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// How long this thread has been on a processor.
fn on_processor() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

async fn median(round: impl AsyncFn() -> Duration) -> Duration {
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        rounds.push(round().await);
    }
    rounds.sort();
    rounds[ROUNDS / 2]
}
