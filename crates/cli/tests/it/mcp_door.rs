//! The hub as an MCP server: `/mcp`, `/sse` and `tenon mcp`, and clients that nobody here wrote.

mod clients;
mod conformance;
mod docs;
mod key;

pub(crate) use clients::HubFixture;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Stdio};

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::tenon;

const VERSION: &str = "2026-07-28";

/// A request that stands alone.
pub fn message(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// With the headers that such a request has.
pub fn stateless(request: RequestBuilder, message: &Value) -> RequestBuilder {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let params = &message["params"];
    let name = params.get("name").or(params.get("uri"));
    let request = request
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", VERSION)
        .header("mcp-method", text(&message["method"]));
    let request = match name {
        Some(name) => request.header("mcp-name", text(name)),
        None => request,
    };
    request.json(message)
}

/// `tenon mcp`, killed when dropped.
pub struct McpProgram {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl McpProgram {
    pub fn start(data: &TempDir) -> Self {
        Self::start_with(data, &[])
    }

    pub fn start_with(data: &TempDir, arguments: &[&str]) -> Self {
        let mut command = tenon(data, &[&["mcp"], arguments].concat());
        command.env_remove("TENON_SINGLE_USER");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// The answers to these requests, one after the other. Whatever it writes is JSON-RPC.
    pub fn answers(&mut self, requests: &[Value]) -> Vec<Value> {
        let answers = requests.iter().map(|request| {
            let input = self.child.stdin.as_mut().unwrap();
            writeln!(input, "{request}").unwrap();
            self.next(|message| message["id"] == request["id"])
        });
        answers.collect()
    }

    /// The next message that passes.
    pub fn next(&mut self, passes: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if passes(&message) {
                return message;
            }
        }
    }

    /// Closes its input: it ends by itself.
    pub fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for McpProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_hub_of_a_data_folder_is_an_mcp_server_by_itself() {
    let data = tempfile::tempdir().unwrap();
    let mut program = McpProgram::start(&data);
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let sum = json!({"name": "builtin_calculate", "arguments": {"expression": "6*7"}});
    let answers = program.answers(&[
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "id": "two", "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": sum}),
    ]);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "tenon");
    let tools = answers[1]["result"]["tools"].as_array().unwrap();
    let calculate = tools
        .iter()
        .find(|tool| tool["name"] == "builtin_calculate");
    let calculate = calculate.unwrap();
    assert_eq!(
        calculate["annotations"]["readOnlyHint"], true,
        "{calculate}"
    );
    assert_eq!(
        answers[2]["result"]["content"][0]["text"], "42",
        "{}",
        answers[2]
    );
    program.end();
}
