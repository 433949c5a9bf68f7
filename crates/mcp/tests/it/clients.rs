//! Clients that nobody here wrote, against the server half over every transport.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::peer::{Peer, installed, ours};

#[test]
fn typescript_v1_is_served() {
    typescript("v1");
}

#[test]
fn typescript_v2_is_served() {
    typescript("v2");
}

#[test]
fn python_1_is_served() {
    python("venv-oldmcp/bin/python");
}

#[test]
fn python_2_is_served() {
    python("venv-mcp/bin/python");
}

#[test]
fn the_inspector_is_served() {
    let server = fixture();
    let inspector =
        "mcp-clients/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    for target in [
        vec![
            format!("{}/mcp", server.url),
            "--transport".into(),
            "http".into(),
        ],
        vec![
            format!("{}/sse", server.url),
            "--transport".into(),
            "sse".into(),
        ],
        vec![fixture_path().display().to_string(), "stdio".into()],
    ] {
        let mut command = Command::new(installed("mcp/node_modules/.bin/node"));
        command.arg(installed(inspector)).arg("--cli").args(&target);
        command.args(["--method", "tools/call", "--tool-name", "echo"]);
        command.args(["--tool-arg", "text=hi"]);
        let expected = json!({ "content": [{ "type": "text", "text": "hi" }] });
        assert_eq!(
            run(&mut command)["content"],
            expected["content"],
            "{target:?}"
        );
    }
}

fn typescript(sdk: &str) {
    let client = |arguments: &[&OsStr]| {
        let mut command = Command::new(installed("mcp/node_modules/.bin/node"));
        command.arg(ours("mcp/clients/client.mjs"));
        command.arg(installed("mcp-clients/node_modules"));
        command.arg(sdk).args(arguments);
        run(&mut command)
    };
    let mut expected = seen();
    expected["server"] = json!("fixture");
    expected["changed"] = json!(true);
    on_every_transport(client, &expected);
}

fn python(interpreter: &str) {
    let client = |arguments: &[&OsStr]| {
        let mut command = Command::new(installed(interpreter));
        command.arg(ours("mcp/clients/client.py")).args(arguments);
        run(&mut command)
    };
    on_every_transport(client, &seen());
}

fn on_every_transport(client: impl Fn(&[&OsStr]) -> Value, expected: &Value) {
    let server = fixture();
    let program = fixture_path();
    let http = format!("{}/mcp", server.url);
    let sse = format!("{}/sse", server.url);
    for arguments in [
        ["http".as_ref(), http.as_ref()].as_slice(),
        &["sse".as_ref(), sse.as_ref()],
        &["stdio".as_ref(), program.as_os_str(), "stdio".as_ref()],
    ] {
        assert_eq!(&client(arguments), expected, "{arguments:?}");
    }
}

/// What every client sees.
fn seen() -> Value {
    json!({
        "tools": true,
        "echo": [false, "héllo 世界"],
        "failure": [true, "This tool intentionally returns an error for testing"],
        "contents": [false, "Multiple content types test:", "image", "resource"],
        "work": [false, "Done."],
        "progress": [0, 50, 100],
        "form": [false, "Hello, \"What is your name?\"!"],
        "resource": "This is the content of the static text resource.",
        "prompt": "This is a simple prompt for testing.",
        "completion": ["testing", "tested"],
        "unknown": "refused",
    })
}

fn run(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{log}");
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(crate) fn fixture() -> Peer {
    let mut command = Command::new(fixture_path());
    command.arg("http");
    Peer::start(command)
}

/// Built along with this test: cargo puts examples beside the folder of tests.
fn fixture_path() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().with_file_name("examples/fixture");
    let missing = "cargo build -p tenon-mcp --examples";
    assert!(
        program.exists(),
        "{} is missing: {missing}",
        program.display()
    );
    program
}
