//! The program itself, started as a shell and an operator start it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use reqwest::header::{COOKIE, HeaderMap};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::TEST_TIMEOUT;
use crate::sources::fixtures;

/// `TENON_BIN` names another build of it, such as the one that is released.
pub fn tenon(data: &TempDir, arguments: &[&str]) -> Command {
    let program = std::env::var_os("TENON_BIN");
    let mut command = Command::new(program.unwrap_or(env!("CARGO_BIN_EXE_tenon").into()));
    command.args(arguments).arg("--data").arg(data.path());
    for name in [
        "TENON_CONFIG",
        "TENON_DATABASE",
        "TENON_BUS",
        "TENON_LISTEN",
        "TENON_LOG",
        "TENON_LOG_FORMAT",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        "TENON_DATA",
        "TENON_MODEL",
        "TENON_SECRET_KEY",
        "TOOL_SERVER_CONNECTIONS",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "OLLAMA_HOST",
    ] {
        command.env_remove(name);
    }
    command.env("TENON_LOCAL_MODELS", "");
    command.env("TENON_SINGLE_USER", "1");
    command
}

pub fn run(data: &TempDir, arguments: &[&str]) -> Output {
    tenon(data, arguments).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The first lines a program prints.
pub fn lines(printed: impl Read, count: usize) -> Vec<String> {
    let lines = BufReader::new(printed).lines().take(count);
    lines.map(|line| line.unwrap()).collect()
}

/// `tenon serve`, killed when dropped.
pub struct Served {
    pub child: Child,
    pub address: String,
    pub client: reqwest::Client,
}

impl Served {
    pub fn start(data: &TempDir) -> Self {
        Self::start_with(data, |serve| serve)
    }

    pub fn start_with(data: &TempDir, set: impl Fn(&mut Command) -> &mut Command) -> Self {
        let mut serve = tenon(data, &["serve", "--listen", "127.0.0.1:0"]);
        serve.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = set(&mut serve).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "{line}");
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut served = Self {
            child,
            address,
            client: client(HeaderMap::new()),
        };
        let mut set = serve.get_envs();
        if set.any(|(name, value)| name == "TENON_SINGLE_USER" && value == Some("1".as_ref())) {
            served.enter(data);
        }
        served
    }

    /// As the one person, from now on.
    pub fn enter(&mut self, data: &TempDir) {
        let cookie = enter(&self.address, &code_in(data).unwrap());
        let shown = [(COOKIE, cookie.parse().unwrap())];
        self.client = client(shown.into_iter().collect());
    }

    pub async fn get(&self, path: &str) -> Value {
        self.client
            .get(format!("{}{path}", self.address))
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap()
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        let request = self
            .client
            .post(format!("{}{path}", self.address))
            .json(&body);
        request.send().await.unwrap().json().await.unwrap()
    }

    pub async fn status(&self, path: &str, body: Value) -> u16 {
        let request = self.client.post(format!("{}{path}", self.address));
        let answered = request.json(&body).send().await.unwrap();
        answered.status().as_u16()
    }

    /// An answer, once it passes.
    pub async fn until(&self, path: &str, passes: impl Fn(&Value) -> bool) -> Value {
        fixtures::until(|| async {
            let answer = self.get(path).await;
            if passes(&answer) {
                Ok(answer)
            } else {
                Err(answer)
            }
        })
        .await
    }

    /// Says something in a new chat and waits until its tool runs.
    pub async fn ask_and_wait_for_call(&self, text: &str) -> String {
        let chat = self.post("/api/chats", json!({})).await["id"]
            .as_str()
            .unwrap()
            .to_owned();
        self.post(&format!("/api/chats/{chat}/turns"), json!({"text": text}))
            .await;
        self.wait(&chat, |messages| {
            messages[1]["toolCalls"][0]["status"] == "running"
        })
        .await;
        chat
    }

    pub async fn wait(&self, chat: &str, passes: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let messages = self.get(&format!("/api/chats/{chat}/messages")).await;
            if passes(&messages) {
                return messages;
            }
            assert!(started.elapsed() < TEST_TIMEOUT, "{messages:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What the process has in memory.
    /// What it allocated: the code of the program itself comes and goes as the system likes.
    pub fn anonymous_kib(&self) -> u64 {
        kib(self.child.id(), "RssAnon:")
    }

    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One of the sizes that the system knows of a process.
pub fn kib(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn client(shown: HeaderMap) -> reqwest::Client {
    let client = reqwest::Client::builder().timeout(TEST_TIMEOUT);
    client.default_headers(shown).build().unwrap()
}

/// The code that works now, as the file of a server that runs has it.
pub fn code_in(data: &TempDir) -> Option<String> {
    let link = std::fs::read_to_string(data.path().join("setup-link")).ok()?;
    let (_, code) = link.trim().split_once("/#setup=")?;
    Some(code.to_owned())
}

/// Exchanges a code for a cookie. Not by the client of the tests, which is for those who wait
/// for it: some of them are no tasks.
pub fn enter(address: &str, code: &str) -> String {
    let host = address.strip_prefix("http://").unwrap();
    let body = json!({"code": code}).to_string();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    write!(
        stream,
        "POST /api/auth/setup HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let mut lines = answer.lines();
    let cookie = lines.find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.unwrap_or_else(|| panic!("no cookie: {answer}"));
    cookie.split(';').next().unwrap().to_owned()
}

/// Runs a command at a terminal of its own, which `script` gives it, types each
/// text once the screen ends with what asks for it, and tells what was on the screen.
#[cfg(target_os = "linux")]
pub fn at_a_terminal(tenon: &Command, asked: &[(&str, &str)]) -> String {
    let words = [tenon.get_program()].into_iter().chain(tenon.get_args());
    let line: Vec<String> = words
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let mut command = Command::new("script");
    for (name, value) in tenon.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child = command
        .args(["-qec", &line.join(" "), "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut screen = Vec::new();
    let mut byte = [0];
    let mut asked = asked.iter().peekable();
    while output.read(&mut byte).unwrap() == 1 {
        screen.push(byte[0]);
        if let Some((_, typed)) = asked.next_if(|(ends, _)| screen.ends_with(ends.as_bytes())) {
            input.write_all(typed.as_bytes()).unwrap();
        }
    }
    ended(&mut child);
    let screen = String::from_utf8_lossy(&screen).into_owned();
    assert_eq!(asked.next(), None, "{screen}");
    screen
}

/// How a process ended, if it does so in time.
pub fn ended(child: &mut Child) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() > TEST_TIMEOUT {
            child.kill().unwrap();
            panic!("it does not stop");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
