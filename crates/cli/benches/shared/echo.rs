//! The smallest MCP server over standard input and output, so that what is
//! measured is whoever talks to it. It is the bench itself, started once more.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The argument that makes the bench this server. The number of tools follows.
pub const ECHO: &str = "--echo";

/// A call that is told this is never answered.
#[allow(dead_code, reason = "most only ask what is answered")]
pub const STUCK: &str = "stuck";

/// Serves until its standard input ends, if that is what it was started for.
pub fn serve_if_asked() {
    let mut arguments = std::env::args().skip_while(|argument| argument != ECHO);
    if arguments.next().is_none() {
        return;
    }
    let tools = arguments.next().and_then(|tools| tools.parse().ok());
    serve(tools.unwrap_or(1));
    std::process::exit(0);
}

fn serve(tools: usize) {
    let list = list(tools);
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut output = std::io::stdout().lock();
    let (mut line, mut answers) = (String::new(), Vec::new());
    while input.read_line(&mut line).is_ok_and(|read| read > 0) {
        if let Ok(message) = serde_json::from_str::<Value>(&line)
            && let Some(id) = message.get("id")
        {
            answer(&message, id, &list, &mut answers);
        }
        line.clear();
        // What came together is answered together.
        if input.buffer().is_empty() {
            let written = output.write_all(&answers).and_then(|()| output.flush());
            if written.is_err() {
                return;
            }
            answers.clear();
        }
    }
}

fn answer(message: &Value, id: &Value, list: &str, answers: &mut Vec<u8>) {
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": "1"},
        })
        .to_string(),
        Some("tools/list") => list.to_owned(),
        Some("tools/call") => {
            let text = &message["params"]["arguments"]["text"];
            if text == STUCK {
                return;
            }
            json!({"content": [{"type": "text", "text": text}]}).to_string()
        }
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            let line = json!({"jsonrpc": "2.0", "id": id, "error": error});
            answers.extend(format!("{line}\n").bytes());
            return;
        }
    };
    answers.extend(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").bytes());
}

fn list(tools: usize) -> String {
    let tool = |number: usize| {
        json!({
            "name": format!("echo_{number}"),
            "description": "Says what it was told.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "description": "What to say."},
                    "times": {"type": "integer", "minimum": 1},
                },
                "required": ["text"],
                "additionalProperties": false,
            },
        })
    };
    let tools: Vec<Value> = (0..tools).map(tool).collect();
    json!({ "tools": tools }).to_string()
}

/// The command that starts it: the program and its arguments.
pub fn command(tools: usize) -> (String, Vec<String>) {
    let program = std::env::current_exe().expect("a bench knows where it lies");
    let arguments = vec![ECHO.to_owned(), tools.to_string()];
    (program.to_string_lossy().into_owned(), arguments)
}

/// The floor: lines written and read by hand, by a thread that waits.
pub struct ByHand {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl ByHand {
    pub fn start(tools: usize) -> Self {
        let (program, arguments) = command(tools);
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the bench starts once more");
        let input = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        Self {
            child,
            input,
            output: BufReader::with_capacity(1 << 16, output),
            line: String::new(),
        }
    }

    /// As many calls at once, written together.
    pub fn calls(&mut self, numbers: std::ops::Range<u32>) {
        let mut lines = Vec::new();
        for number in numbers.clone() {
            let arguments = json!({"text": number.to_string()});
            let params = json!({"name": "echo_0", "arguments": arguments});
            let call =
                json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
            serde_json::to_writer(&mut lines, &call).expect("JSON is written");
            lines.push(b'\n');
        }
        self.input.write_all(&lines).expect("the server listens");
        for number in numbers {
            let answer: Value = serde_json::from_str(self.read()).expect("an answer");
            let said = &answer["result"]["content"][0]["text"];
            assert_eq!(said.as_str(), Some(number.to_string().as_str()));
        }
    }

    /// The whole list, as text.
    pub fn list(&mut self) -> usize {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
        self.input.write_all(line).expect("the server listens");
        self.read().len()
    }

    fn read(&mut self) -> &str {
        self.line.clear();
        let read = self.output.read_line(&mut self.line);
        assert!(read.is_ok_and(|read| read > 0), "the server answers");
        &self.line
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        let _ = self.child.kill();
        // What it still had to say is of no interest, but it must be gone.
        let _ = self.output.read_to_string(&mut self.line);
        let _ = self.child.wait();
    }
}
