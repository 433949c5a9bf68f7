//! The program itself, as a shell and an operator use it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::PATIENCE;

fn tenon(data: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tenon"));
    command.args(arguments).arg("--data").arg(data.path());
    for name in [
        "TENON_CONFIG",
        "TENON_DATABASE",
        "TENON_LISTEN",
        "TENON_LOG",
        "TENON_DATA",
    ] {
        command.env_remove(name);
    }
    command
}

fn run(data: &TempDir, arguments: &[&str]) -> Output {
    tenon(data, arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// `tenon serve`, killed when dropped.
struct Served {
    child: Child,
    address: String,
    client: reqwest::Client,
}

impl Served {
    fn start(data: &TempDir) -> Self {
        let mut child = tenon(data, &["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "{line}");
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(PATIENCE)
            .build()
            .unwrap();
        Self {
            child,
            address,
            client,
        }
    }

    async fn get(&self, path: &str) -> Value {
        self.client
            .get(format!("{}{path}", self.address))
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let request = self
            .client
            .post(format!("{}{path}", self.address))
            .json(&body);
        request.send().await.unwrap().json().await.unwrap()
    }

    /// Says something in a new chat and waits until its tool runs.
    async fn ask_and_wait_for_call(&self, text: &str) -> String {
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

    async fn wait(&self, chat: &str, passes: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let messages = self.get(&format!("/api/chats/{chat}/messages")).await;
            if passes(&messages) {
                return messages;
            }
            assert!(started.elapsed() < PATIENCE, "{messages:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn signal(&self, signal: &str) {
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

/// How a process ended, if it does so in time.
fn ended(child: &mut Child) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it does not stop");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn tools_are_listed_shown_found_and_called_from_a_shell() {
    let data = tempfile::tempdir().unwrap();
    let listed: Value =
        serde_json::from_str(&stdout(&run(&data, &["tools", "list", "--json"]))).unwrap();
    for tool in listed.as_array().unwrap() {
        for field in ["toolId", "displayName", "toolName", "source", "runsOn"] {
            assert!(!tool[field].is_null(), "{field} of {tool}");
        }
    }
    let names = stdout(&run(&data, &["tools", "list"]));
    assert!(
        names
            .lines()
            .any(|line| line.starts_with("builtin_calculate ") && line.ends_with("Math/Calculate")),
        "{names}"
    );

    let calculate =
        |expression: &str| run(&data, &["tools", "call", "builtin_calculate", expression]);
    assert_eq!(stdout(&calculate(r#"{"expression":"6*7"}"#)), "42\n");
    let failed = calculate("{}");
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("`expression` is missing"));
    assert_eq!(calculate("{").status.code(), Some(1));

    let answer = stdout(&run(
        &data,
        &[
            "tools",
            "call",
            "builtin_calculate",
            r#"{"expression":"6*7"}"#,
            "--json",
        ],
    ));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["content"][0]["text"], "42");

    let shown = stdout(&run(&data, &["tools", "show", "builtin_calculate"]));
    assert!(
        shown.starts_with("Math/Calculate  (builtin_calculate, runs on the server)"),
        "{shown}"
    );
    let missing = run(&data, &["tools", "show", "nothing"]);
    assert!(String::from_utf8_lossy(&missing.stderr).contains("There is no tool `nothing`"));

    let found = stdout(&run(&data, &["tools", "search", "current time"]));
    assert!(found.starts_with("builtin_current_time"), "{found}");
    let found = stdout(&run(&data, &["tools", "search", "现在几点"]));
    assert!(found.starts_with("builtin_current_time"), "{found}");
}

#[test]
fn a_prompt_is_answered_in_a_shell() {
    let data = tempfile::tempdir().unwrap();
    let printed = stdout(&run(&data, &["run", "--json", "what time is it in Tokyo?"]));
    let events: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let called = events
        .iter()
        .find(|event| event["body"]["type"] == "callRequested")
        .unwrap();
    assert_eq!(called["body"]["call"]["toolId"], "builtin_current_time");
    let result = events
        .iter()
        .find(|event| event["body"]["type"] == "callFinished")
        .unwrap();
    assert_eq!(result["body"]["status"], "done");
    assert_eq!(events.last().unwrap()["body"]["outcome"]["kind"], "done");

    let answer = run(&data, &["run", "东京现在几点？"]);
    assert!(stdout(&answer).contains("Asia/Tokyo"), "{answer:?}");
    assert!(
        String::from_utf8_lossy(&answer.stderr).contains("▸ Time/Current time"),
        "{answer:?}"
    );
}

#[test]
fn what_cannot_be_used_is_refused_in_words() {
    let data = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], expected: &str| {
        let output = run(&data, arguments);
        assert!(!output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(expected), "{said}");
    };
    check(
        &["serve", "--listen", "0.0.0.0:0"],
        "it listens on 127.0.0.1 or [::1] only",
    );
    check(
        &["tools", "list", "--database", "mysql://x"],
        "use sqlite://FILE or postgres://",
    );
    check(
        &["tools", "list", "--config", "/nothing.toml"],
        "the settings in /nothing.toml cannot be read",
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    check(
        &[
            "serve",
            "--listen",
            &taken.local_addr().unwrap().to_string(),
        ],
        "the port is taken",
    );

    let wrong = data.path().join("wrong.toml");
    std::fs::write(&wrong, "lisen = \"127.0.0.1:1\"\n").unwrap();
    check(
        &["tools", "list", "--config", wrong.to_str().unwrap()],
        "unknown field `lisen`",
    );
}

#[tokio::test]
async fn kill_nine_during_a_turn_leaves_a_chat_that_goes_on() {
    let data = tempfile::tempdir().unwrap();
    let mut served = Served::start(&data);
    let chat = served.ask_and_wait_for_call("sleep for 200 seconds").await;
    served.child.kill().unwrap();
    served.child.wait().unwrap();

    let served = Served::start(&data);
    let messages = served.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(messages[0]["text"], "sleep for 200 seconds");
    assert_eq!(messages[1]["toolCalls"][0]["status"], "lost");
    assert!(served.get("/api/chats").await[0]["running"].is_null());

    served
        .post(&format!("/api/chats/{chat}/turns"), json!({"text": "6*7"}))
        .await;
    served
        .wait(&chat, |messages| {
            messages.as_array().unwrap().last().unwrap()["text"]
                .as_str()
                .unwrap()
                .contains("42")
        })
        .await;
}

#[tokio::test]
async fn another_tenon_on_the_same_database_does_not_take_running_turns_for_dead() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let chat = served.ask_and_wait_for_call("sleep for 2 seconds").await;
    let other = Served::start(&data);
    let elsewhere = tempfile::tempdir().unwrap();
    let database = format!("sqlite://{}", data.path().join("tenon.db").display());
    stdout(&run(
        &elsewhere,
        &["tools", "list", "--database", &database],
    ));
    served
        .wait(&chat, |messages| {
            messages[1]["toolCalls"][0]["status"] == "done"
        })
        .await;
    assert_eq!(
        other.get(&format!("/api/chats/{chat}/messages")).await[1]["toolCalls"][0]["status"],
        "done"
    );
}

#[tokio::test]
async fn a_living_command_does_not_keep_the_dead_from_being_found() {
    let data = tempfile::tempdir().unwrap();
    let mut served = Served::start(&data);
    let chat = served.ask_and_wait_for_call("sleep for 200 seconds").await;
    let mut lives = tenon(
        &data,
        &["tools", "call", "builtin_sleep", r#"{"seconds":200}"#],
    )
    .spawn()
    .unwrap();
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let served = Served::start(&data);
    let messages = served.get(&format!("/api/chats/{chat}/messages")).await;
    lives.kill().unwrap();
    lives.wait().unwrap();
    assert_eq!(messages[1]["toolCalls"][0]["status"], "lost");
}

#[tokio::test]
async fn a_server_told_to_stop_lets_the_running_turn_finish() {
    let data = tempfile::tempdir().unwrap();
    let mut served = Served::start(&data);
    let chat = served.ask_and_wait_for_call("sleep for 1 second").await;
    served.signal("-TERM");
    let status = ended(&mut served.child);
    assert!(status.success(), "{status}");

    let served = Served::start(&data);
    let messages = served.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(
        messages[1]["toolCalls"][0]["status"], "done",
        "{messages:#}"
    );
}

#[test]
fn control_c_stops_a_prompt_and_says_so() {
    let data = tempfile::tempdir().unwrap();
    let mut child = tenon(&data, &["run", "sleep for 200 seconds"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("▸ Flow/Sleep") {
        line.clear();
        assert!(
            stderr.read_line(&mut line).unwrap() > 0,
            "it ended before it began"
        );
    }
    let _ = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert_eq!(ended(&mut child).code(), Some(130));
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("Stopped."), "{rest}");
}
