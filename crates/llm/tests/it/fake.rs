//! A model's server that says what it is told to, byte by byte, and remembers what it was asked.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use futures::StreamExt;
use serde_json::{Map, Value, json};
use tenon_domain::{
    Annotations, CallId, OmittedTool, RunsOn, ToolId, ToolSpec, ToolUse, Usage, WireFormat,
};
use tenon_llm::{Assembler, Error, ModelDelta, ModelReply, ModelRequest, Provider, Remote};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Far longer than anything here takes.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A model at an address, with nothing set.
pub fn remote(format: WireFormat, base_url: &str) -> Remote {
    Remote {
        name: "Fake".into(),
        format,
        base_url: base_url.into(),
        key: None,
        model: "m".into(),
        parameters: Map::new(),
        tools: ToolUse::Native,
        context_tokens: None,
        tool_budget: None,
        reports_progress: false,
    }
}

pub fn tool(id: &str) -> Arc<ToolSpec> {
    Arc::new(ToolSpec {
        id: ToolId::new(id),
        name: id.into(),
        title: id.into(),
        display_name: format!("Fake/{id}"),
        description: format!("Does {id}."),
        input_schema: json!({
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        })
        .into(),
        annotations: Annotations::default(),
        runs_on: RunsOn::Server,
    })
}

/// What the server does with one request.
#[derive(Debug, Clone)]
pub enum Act {
    /// These bytes, in these pieces; then the connection is closed.
    Say(Vec<Vec<u8>>),
    /// These bytes; then the connection is reset.
    SayAndReset(Vec<u8>),
    /// Nothing, ever.
    BeSilent,
    /// The beginning of an answer, and then this without end.
    Flood(Vec<u8>, Vec<u8>),
}

impl Act {
    /// A whole response.
    pub fn status(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        Self::Say(vec![format!("{head}{body}").into_bytes()])
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::status(
            status,
            "content-type: application/json\r\n",
            &body.to_string(),
        )
    }

    /// A stream of events that ends with the connection.
    pub fn stream(events: &str) -> Self {
        Self::Say(vec![stream(events)])
    }

    /// A short answer in this format.
    pub fn hello(format: WireFormat) -> Self {
        Self::stream(&said(format, "Hello"))
    }
}

/// The head of a stream and these events.
pub fn stream(events: &str) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}{events}").into_bytes()
}

/// A whole answer of one text.
pub fn said(format: WireFormat, text: &str) -> String {
    format!("{}{}", begun(format, text), ended(format))
}

/// Some text, and no end.
pub fn begun(format: WireFormat, text: &str) -> String {
    let event = match format {
        WireFormat::Openai => json!({"choices": [{"delta": {"content": text}}]}),
        WireFormat::Responses => {
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": text})
        }
        WireFormat::Anthropic => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        }
    };
    format!("data: {event}\n\n")
}

fn ended(format: WireFormat) -> &'static str {
    match format {
        WireFormat::Openai => {
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
        }
        WireFormat::Responses => {
            "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"
        }
        WireFormat::Anthropic => {
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n\
             data: {\"type\":\"message_stop\"}\n\n"
        }
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    /// Lower case.
    pub head: String,
    pub body: Value,
}

pub struct Fake {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl Fake {
    /// Does one act per request; the last one for all that follow.
    pub async fn start(acts: impl IntoIterator<Item = Act>) -> Self {
        static TLS: Once = Once::new();
        // `reqwest` is built without a provider of its own and wants one to be there.
        TLS.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let acts: Arc<Mutex<VecDeque<Act>>> = Arc::new(Mutex::new(acts.into_iter().collect()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = asked.clone();
        let task = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serve(connection, acts.clone(), heard.clone()));
            }
        });
        Self {
            address,
            asked,
            task,
        }
    }

    pub fn remote(&self, format: WireFormat) -> Remote {
        let path = match format {
            WireFormat::Openai | WireFormat::Responses => "/v1",
            WireFormat::Anthropic => "",
        };
        remote(format, &format!("http://{}{path}", self.address))
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut connection: TcpStream,
    acts: Arc<Mutex<VecDeque<Act>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
) {
    let Some(request) = read(&mut connection).await else {
        return;
    };
    asked.lock().unwrap().push(request);
    let act = {
        let mut acts = acts.lock().unwrap();
        match acts.len() {
            1 => acts.front().cloned(),
            _ => acts.pop_front(),
        }
    };
    match act.expect("there is always a last act") {
        Act::Say(pieces) => {
            let _ = connection.set_nodelay(true);
            for piece in pieces {
                if connection.write_all(&piece).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let _ = connection.shutdown().await;
            // The other side reads to the end before this one goes away.
            let _ = connection.read(&mut [0]).await;
        }
        Act::SayAndReset(bytes) => {
            let _ = connection.write_all(&bytes).await;
            // Long enough for the bytes to be read: a reset discards what is still on its way.
            tokio::time::sleep(Duration::from_millis(100)).await;
            let _ = connection.set_zero_linger();
        }
        Act::BeSilent => std::future::pending().await,
        Act::Flood(begin, rest) => {
            let _ = connection.write_all(&begin).await;
            while connection.write_all(&rest).await.is_ok() {}
        }
    }
}

async fn read(connection: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    loop {
        if connection.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"));
        if body.len() < length.map_or(0, |length| length.trim().parse().unwrap()) {
            continue;
        }
        return Some(Asked {
            path: head.split(' ').nth(1)?.to_owned(),
            body: serde_json::from_str(body).unwrap(),
            head,
        });
    }
}

/// All that came of one question.
#[derive(Debug)]
pub struct ReadState {
    pub reply: ModelReply,
    pub error: Option<Error>,
    pub left_out: Vec<OmittedTool>,
    pub retries: Vec<Duration>,
    /// How often the server was only known to be there.
    pub alive: usize,
    /// The pieces of text in which the answer came.
    pub pieces: Vec<String>,
}

impl ReadState {
    pub fn text(&self) -> String {
        self.pieces.concat()
    }

    /// The one sentence of a refusal.
    #[track_caller]
    pub fn refused(&self) -> &str {
        match &self.error {
            Some(Error::Refused(why) | Error::Busy(why)) => &why.message,
            other => panic!("it should have been refused: {other:?}"),
        }
    }

    #[track_caller]
    pub fn interrupted(&self) -> &str {
        match &self.error {
            Some(Error::Interrupted(why)) => &why.message,
            other => panic!("it should have been interrupted: {other:?}"),
        }
    }

    /// Nothing went wrong and this was said.
    #[track_caller]
    pub fn is_answer(&self, text: &str) {
        assert!(self.error.is_none(), "{:?}", self.error);
        assert_eq!(self.text(), text);
        assert!(self.reply.stop.is_some());
    }
}

/// Which port a server got is no part of a sentence; in an address it is.
fn without_port(error: Error) -> Error {
    let plain = |text: String| {
        let mut pieces = text.split(" 127.0.0.1:");
        let first = pieces.next().unwrap_or_default().to_owned();
        let first = match first.strip_prefix("127.0.0.1:") {
            Some(rest) => format!("127.0.0.1{}", rest.trim_start_matches(char::is_numeric)),
            None => first,
        };
        pieces.fold(first, |whole, piece| {
            whole + " 127.0.0.1" + piece.trim_start_matches(char::is_numeric)
        })
    };
    match error {
        Error::Refused(why) => Error::Refused(why.map_texts(&plain)),
        Error::Busy(why) => Error::Busy(why.map_texts(&plain)),
        Error::Interrupted(why) => Error::Interrupted(why.map_texts(&plain)),
    }
}

/// Asks and listens to the end.
pub async fn ask(provider: &dyn Provider, request: ModelRequest) -> ReadState {
    let listen = async {
        let mut heard = ReadState {
            reply: ModelReply {
                parts: Vec::new(),
                usage: Usage::default(),
                stop: None,
            },
            error: None,
            left_out: Vec::new(),
            retries: Vec::new(),
            alive: 0,
            pieces: Vec::new(),
        };
        let mut assembler = Assembler::default();
        let mut deltas = provider.stream(request).await.unwrap();
        while let Some(delta) = deltas.next().await {
            assert!(heard.error.is_none(), "nothing follows an error");
            match delta {
                Ok(delta) => {
                    match &delta {
                        ModelDelta::Text(text) => heard.pieces.push(text.clone()),
                        ModelDelta::OmittedTool(tools) => heard.left_out = tools.clone(),
                        ModelDelta::Retry(wait) => heard.retries.push(*wait),
                        ModelDelta::Alive => heard.alive += 1,
                        ModelDelta::Thinking(_)
                        | ModelDelta::Call(_)
                        | ModelDelta::Keep(_)
                        | ModelDelta::Opaque(_)
                        | ModelDelta::Usage(_)
                        | ModelDelta::PromptProgress { .. }
                        | ModelDelta::Stop(_) => {}
                    }
                    assembler.push(delta);
                }
                Err(error) => heard.error = Some(without_port(error)),
            }
        }
        let mut number = 0;
        heard.reply = assembler.finish(|| {
            number += 1;
            CallId(format!("call_{number}"))
        });
        heard
    };
    let heard = tokio::time::timeout(TEST_TIMEOUT, listen).await;
    heard.expect("every stream ends")
}
