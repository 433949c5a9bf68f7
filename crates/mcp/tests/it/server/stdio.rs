//! One client on a pipe.

use serde_json::{Value, json};
use tenon_mcp::server::{MAX_REQUEST_BYTES, McpEndpoint, ServerOptions};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex};
use tokio::task::JoinHandle;

use super::{TEST_TIMEOUT, call, request, text_of};
use crate::service::{FixtureService, identity};

struct Pipe {
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
    server: JoinHandle<std::io::Result<()>>,
}

impl Pipe {
    fn open() -> Self {
        let (input, server_input) = duplex(64 * 1024);
        let (server_output, output) = duplex(64 * 1024);
        let service = FixtureService::new();
        let server = McpEndpoint::new(service, &identity(), ServerOptions::default());
        let server = tokio::spawn(async move {
            server
                .serve_stdio(server_input, server_output, String::new())
                .await
        });
        Self {
            input,
            output: BufReader::new(output).lines(),
            server,
        }
    }

    async fn send(&mut self, message: impl ToString) {
        let line = message.to_string() + "\n";
        self.input.write_all(line.as_bytes()).await.unwrap();
    }

    /// Null at the end.
    async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(TEST_TIMEOUT, self.output.next_line()).await;
        let line = line.expect("a message in time").unwrap();
        line.map_or(Value::Null, |line| serde_json::from_str(&line).unwrap())
    }
}

fn initialize(version: &str) -> Value {
    let params = json!({ "protocolVersion": version, "capabilities": { "elicitation": {} } });
    request(json!(0), "initialize", params)
}

#[tokio::test]
async fn what_was_asked_before_the_end_is_answered() {
    let mut pipe = Pipe::open();
    pipe.send(initialize("2025-11-25")).await;
    pipe.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    pipe.send(call(1, "test_tool_with_logging", json!({})))
        .await;
    pipe.input.shutdown().await.unwrap();
    let mut seen = Vec::new();
    loop {
        match pipe.receive().await {
            Value::Null => break,
            message => seen.push(message),
        }
    }
    assert_eq!(seen[0]["result"]["protocolVersion"], "2025-11-25");
    let methods: Vec<&Value> = seen[1..4]
        .iter()
        .map(|message| &message["method"])
        .collect();
    assert_eq!(methods, [&json!("notifications/message"); 3]);
    assert_eq!(text_of(&seen[4]), "Logged.");
    pipe.server.await.unwrap().unwrap();
}

#[tokio::test]
async fn both_eras_are_spoken_on_one_pipe() {
    let mut pipe = Pipe::open();
    pipe.send(request(json!(1), "ping", json!({}))).await;
    assert_eq!(pipe.receive().await["result"], json!({}));
    // Before a handshake everything else has to stand alone.
    pipe.send(request(json!(2), "tools/list", json!({}))).await;
    assert_eq!(pipe.receive().await["error"]["code"], -32602);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    let params = json!({ "name": "test_streaming_elicitation", "_meta": meta });
    pipe.send(request(json!(3), "tools/call", params.clone()))
        .await;
    let asked = pipe.receive().await["result"].clone();
    assert_eq!(asked["resultType"], "input_required");
    let key = asked["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap();
    let mut again = params;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ key: { "action": "decline" } });
    pipe.send(request(json!(4), "tools/call", again)).await;
    assert_eq!(text_of(&pipe.receive().await), "Hello, null!");

    pipe.send(initialize("2024-11-05")).await;
    assert_eq!(
        pipe.receive().await["result"]["protocolVersion"],
        "2024-11-05"
    );
    pipe.send(initialize("2024-11-05")).await;
    assert_eq!(pipe.receive().await["error"]["code"], -32600, "only once");
    pipe.send(call(5, "test_streaming_elicitation", json!({})))
        .await;
    let question = pipe.receive().await;
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    pipe.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }))
        .await;
    assert_eq!(text_of(&pipe.receive().await), "Hello, \"Ada\"!");
}

#[tokio::test]
async fn a_line_that_is_no_message_costs_only_itself() {
    let mut pipe = Pipe::open();
    pipe.send("").await;
    pipe.send("nonsense").await;
    assert_eq!(pipe.receive().await["error"]["code"], -32700);
    pipe.send("x".repeat(2 * MAX_REQUEST_BYTES)).await;
    assert_eq!(pipe.receive().await["error"]["code"], -32600);
    pipe.send("[]").await;
    assert_eq!(pipe.receive().await["error"]["code"], -32600);
    pipe.send(initialize("2025-03-26")).await;
    pipe.receive().await;
    let ping = request(json!(1), "ping", json!({}));
    pipe.send(json!([ping, ping])).await;
    assert_eq!(pipe.receive().await["id"], 1);
    assert_eq!(pipe.receive().await["id"], 1);
}

#[tokio::test]
async fn calls_are_cancelled_with_a_notification_or_with_the_pipe() {
    let mut pipe = Pipe::open();
    pipe.send(initialize("2025-11-25")).await;
    pipe.receive().await;
    pipe.send(call(1, "wait_forever", json!({}))).await;
    pipe.send(call(2, "wait_forever", json!({}))).await;
    let params = json!({ "requestId": 1 });
    pipe.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
        .await;
    let mut waiting = String::new();
    while waiting != "1" {
        pipe.send(call(3, "count_waiting", json!({}))).await;
        waiting = text_of(&pipe.receive().await);
    }
    // Whoever does not read is gone.
    let Pipe {
        input,
        output,
        server,
    } = pipe;
    drop(output);
    drop(input);
    let ended = tokio::time::timeout(2 * TEST_TIMEOUT, server).await;
    ended.expect("it ends with its client").unwrap().unwrap();
}
