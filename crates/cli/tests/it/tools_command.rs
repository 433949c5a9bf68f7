//! `tenon tools` and `tenon sources list` beside a server that runs with the same data folder.

use std::fs;
use std::io::{ErrorKind, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Served, ended, run, stdout, tenon};
use crate::server::TEST_TIMEOUT;
use crate::sources::fixtures::{ids, installed, until_stored};

const CALCULATE: [&str; 4] = [
    "tools",
    "call",
    "builtin_calculate",
    r#"{"expression":"6*7"}"#,
];

/// A server that writes down each of its starts.
fn counted(starts: &Path) -> Value {
    let command = installed("venv-mcp/bin/mcp-server-time");
    let script = "echo >> \"$0\"; exec \"$1\" --local-timezone=UTC";
    json!({"kind": "mcp", "name": "clock", "command": "sh", "args": ["-c", script, starts, command]})
}

fn starts(file: &Path) -> usize {
    fs::read_to_string(file).unwrap_or_default().lines().count()
}

/// What the server says of itself in the data folder.
fn server_file(data: &TempDir) -> Value {
    let text = fs::read(data.path().join("server.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

#[tokio::test]
async fn a_running_server_answers_in_the_place_of_a_command() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("starts");
    let mut served = Served::start(&data);
    served.post("/api/sources", counted(&file)).await;
    served
        .until("/api/tools", |tools| ids(tools, "mcp_clock_").len() == 2)
        .await;
    let denied =
        json!({"layer": "organisation", "tools": [{"toolId": "builtin_sleep", "policy": "deny"}]});
    let path = format!("{}/api/tools", served.address);
    let set = served.client.patch(path).json(&denied).send().await;
    assert_eq!(set.unwrap().status(), 204);
    until_stored(&data, "mcp-clock").await;

    let commands: [&[&str]; 9] = [
        &["tools", "list"],
        &["tools", "search", "current time"],
        &["tools", "show", "mcp_clock_convert_time"],
        &["tools", "show", "nothing"],
        &[
            "tools",
            "call",
            "mcp_clock_get_current_time",
            r#"{"timezone":"UTC"}"#,
        ],
        &["tools", "call", "builtin_sleep", r#"{"seconds":1}"#],
        &["tools", "call", "nothing", "{}"],
        &["tools", "call", "../..", "{}"],
        &["tools", "call", "builtin_calculate", "{"],
    ];
    let all = || commands.map(|command| run(&data, command));
    let beside = all();
    let call = |expression: &str| {
        let arguments = json!({"expression": expression}).to_string();
        json_of(&run(
            &data,
            &["tools", "call", "builtin_calculate", &arguments, "--json"],
        ))
    };
    let answers = || ["6*7", "6*", "0.1+0.2"].map(|expression| without_time(call(expression)));
    let answers_beside = answers();
    let listed_beside = json_of(&run(&data, &["tools", "list", "--json"]));
    let sources = stdout(&run(&data, &["sources", "list"]));
    assert_eq!(sources, "mcp-clock  clock, 2 tools, ready\n");
    let sources = json_of(&run(&data, &["sources", "list", "--json"]));
    assert_eq!(sources, served.get("/api/sources").await);
    assert_eq!(starts(&file), 1, "nothing was started for them");
    let noted = served.get("/api/audit?action=tool.called").await;
    assert_eq!(noted[0]["door"], "shell", "{noted:#}");

    served.signal("-TERM");
    assert!(ended(&mut served.child).success());
    assert!(!data.path().join("server.json").exists());
    let alone = all();
    for ((command, beside), alone) in commands.iter().zip(&beside).zip(&alone) {
        let told = |output: &Output| {
            let (told, why) = (output.stdout.clone(), output.stderr.clone());
            let told = String::from_utf8(told).unwrap();
            // Seconds pass.
            let lines = told.lines().filter(|line| !line.contains("datetime"));
            let told: Vec<String> = lines.map(str::to_owned).collect();
            (output.status.code(), told, String::from_utf8(why).unwrap())
        };
        assert_eq!(told(beside), told(alone), "{command:?}");
    }
    assert_eq!(answers_beside, answers());
    let mut listed = json_of(&run(&data, &["tools", "list", "--json"]));
    let mut listed_beside = listed_beside;
    for tools in [&mut listed, &mut listed_beside] {
        for tool in tools.as_array_mut().unwrap() {
            // It sleeps until it is called.
            tool["source"]["state"] = Value::Null;
        }
    }
    assert_eq!(listed_beside, listed);
    assert!(starts(&file) > 1);
}

fn without_time(mut answer: Value) -> Value {
    assert!(answer["durationMs"].is_u64(), "{answer}");
    answer["durationMs"] = Value::Null;
    answer
}

#[tokio::test]
async fn what_a_command_adds_is_there_for_the_next_one() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("starts");
    let _served = Served::start(&data);
    let mut config = counted(&file);
    config.as_object_mut().unwrap().remove("kind");
    let mut import = tenon(&data, &["import", "-"]);
    import.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut import = import.spawn().unwrap();
    let mut input = import.stdin.take().unwrap();
    input.write_all(config.to_string().as_bytes()).unwrap();
    drop(input);
    assert!(ended(&mut import).success());
    // At once, and not when the server has looked for itself.
    let call = [
        "tools",
        "call",
        "mcp_clock_get_current_time",
        r#"{"timezone":"UTC"}"#,
    ];
    assert!(stdout(&run(&data, &call)).contains("UTC"));
    let listed = stdout(&run(&data, &["tools", "list"]));
    assert!(listed.contains("mcp_clock_convert_time"), "{listed}");
    assert_eq!(starts(&file), 1);
}

#[test]
fn a_server_that_was_killed_is_not_asked_and_told_nothing() {
    let data = tempfile::tempdir().unwrap();
    let mut served = Served::start(&data);
    assert_eq!(stdout(&run(&data, &CALCULATE)), "42\n");
    served.signal("-KILL");
    ended(&mut served.child);
    assert!(data.path().join("server.json").exists());
    // Somebody else has its port by now.
    let address = served.address.strip_prefix("http://").unwrap();
    let stranger = TcpListener::bind(address).unwrap();
    stranger.set_nonblocking(true).unwrap();
    assert_eq!(stdout(&run(&data, &CALCULATE)), "42\n");
    let heard = stranger.accept();
    assert!(heard.is_err_and(|error| error.kind() == ErrorKind::WouldBlock));

    // The next server is found again.
    let before = server_file(&data);
    let _served = Served::start(&data);
    assert_ne!(server_file(&data)["token"], before["token"]);
    assert_eq!(stdout(&run(&data, &CALCULATE)), "42\n");
}

#[test]
fn a_command_does_the_work_itself_where_the_file_leads_nowhere() {
    let data = tempfile::tempdir().unwrap();
    // One that lives and does not listen any more.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let token = "t";
    let path = data.path().join("server.json");
    let file = fs::File::create_new(&path).unwrap();
    file.lock().unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let mark = "ivv3U9b1FG8Zg728sURK_GhjazgLeFVbq0wjrjrZXQw";
    let contents =
        json!({"address": address, "token": token, "pid": 1, "database": mark, "servers": mark});
    (&file).write_all(contents.to_string().as_bytes()).unwrap();
    assert_eq!(stdout(&run(&data, &CALCULATE)), "42\n");
}

#[tokio::test]
async fn a_command_that_is_ended_ends_its_call() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let served = Served::start_with(&data, |serve| {
        let log = fs::File::create(&log).unwrap();
        serve.env("TENON_LOG", "tenon_tools=debug").stderr(log)
    });
    let mut command = tenon(
        &data,
        &["tools", "call", "builtin_sleep", r#"{"seconds":250}"#],
    );
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while !fs::read_to_string(&log)
        .unwrap()
        .contains("tool call started")
    {
        assert!(started.elapsed() < TEST_TIMEOUT, "it was not called");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    assert_eq!(ended(&mut child).signal(), Some(2));
    let noted = served
        .until("/api/audit?action=tool.called", |noted| !noted[0].is_null())
        .await;
    assert_eq!(noted[0]["detail"]["ok"], false, "{noted:#}");
    assert!(
        fs::read_to_string(&log)
            .unwrap()
            .contains("tool call cancelled")
    );
}

#[tokio::test]
async fn what_is_too_long_to_show_is_the_same_beside_a_server() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let content = "字\n".repeat(15_000);
    let write = json!({"path": "big.txt", "content": content}).to_string();
    let read = [
        "tools",
        "call",
        "builtin_read_file",
        r#"{"path":"big.txt"}"#,
    ];
    stdout(&run(
        &data,
        &["tools", "call", "builtin_write_file", &write],
    ));
    let beside = stdout(&run(&data, &read));
    assert!(beside.contains("字\n字\n"), "{beside}");
    drop(served);
    let alone = stdout(&run(&data, &read));
    assert_eq!(beside.len(), alone.len());
}

#[tokio::test]
async fn the_token_of_a_server_opens_nothing_but_what_commands_need() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let found = server_file(&data);
    let made = fs::metadata(data.path().join("server.json")).unwrap();
    assert_eq!(made.permissions().mode() & 0o777, 0o600);
    assert_eq!(found["address"], served.address.as_str());
    let token = found["token"].as_str().unwrap();
    let stranger = reqwest::Client::new();
    let check = async |path: &str, token: &str, expected: u16| {
        let url = format!("{}{path}", served.address);
        let answered = stranger.get(url).bearer_auth(token).send().await.unwrap();
        assert_eq!(answered.status().as_u16(), expected, "{path} {token}");
    };
    check("/api/shell/tools", token, 200).await;
    check("/api/shell/tools", "", 401).await;
    check("/api/shell/tools", &token[1..], 401).await;
    for path in [
        "/api/tools",
        "/api/info",
        "/api/users",
        "/api/keys",
        "/v1/models",
    ] {
        check(path, token, 401).await;
    }
    // Nor is anybody else let in where commands are.
    let answered = served.get("/api/shell/tools").await;
    assert_eq!(answered["error"]["code"], "not_logged_in", "{answered}");
}
