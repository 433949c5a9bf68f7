//! Servers out of the configuration people have: `tenon import`, the watched folder, the paste box.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::people::Person;
use crate::program::{Served, run, stdout, tenon};
use crate::server::Server;
use crate::sources::fixtures::{ids, installed};

fn memory(file: &Path) -> Value {
    json!({
        "command": installed("mcp/node_modules/.bin/mcp-server-memory"),
        "args": [],
        "env": {"MEMORY_FILE_PATH": file},
    })
}

fn time() -> Value {
    json!({
        "command": installed("venv-mcp/bin/mcp-server-time"),
        "args": ["--local-timezone=UTC"],
    })
}

fn write(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn import(data: &TempDir, arguments: &[&str], input: &str) -> Output {
    let mut command = tenon(data, &["import"]);
    command.args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn what_claude_desktop_has_is_imported_and_its_tools_work() {
    let data = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let config = json!({"mcpServers": {
        "memory": memory(&elsewhere.path().join("memory.jsonl")),
        "time": time(),
        "broken": {"args": []},
        "GitHub": {"command": "npx", "args": ["-y", "x"], "env": {"TOKEN": "${NOBODY_SET_THIS}"}, "disabled": true},
    }});
    let file = write(
        &elsewhere,
        "claude_desktop_config.json",
        &config.to_string(),
    );
    let file = file.to_str().unwrap();

    // What is refused is told, the rest is taken, and a script can see that it was not all.
    let partly = |output: Output| {
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let preview = partly(import(&data, &[file, "--preview"], ""));
    assert!(preview.contains("would be added  memory"), "{preview}");
    let told = partly(import(&data, &[file], ""));
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("added           memory  /"), "{told}");
    assert!(lines[1].starts_with("added           time    /"), "{told}");
    assert_eq!(
        lines[2],
        "refused         broken  It has neither a `command` nor a `url`."
    );
    assert_eq!(lines[3], "added           GitHub  npx -y x");
    assert_eq!(
        lines[6],
        "  ${NOBODY_SET_THIS} for GitHub: tenon secrets set NOBODY_SET_THIS"
    );
    let again = stdout(&import(&data, &[file, "--only", "time"], ""));
    assert!(again.starts_with("there already   time"), "{again}");

    let tools = stdout(&run(&data, &["tools", "list", "--json"]));
    let tools: Value = serde_json::from_str(&tools).unwrap();
    assert_eq!(ids(&tools, "mcp_time_").len(), 2, "{tools:#}");
    assert_eq!(ids(&tools, "mcp_memory_").len(), 9, "{tools:#}");
    let call = [
        "tools",
        "call",
        "mcp_time_get_current_time",
        r#"{"timezone": "UTC"}"#,
    ];
    let called = stdout(&run(&data, &call));
    assert!(called.contains("UTC"), "{called}");
    let call = ["tools", "call", "mcp_memory_read_graph", "{}"];
    let called = stdout(&run(&data, &call));
    assert!(called.contains("entities"), "{called}");
}

#[test]
fn a_folder_of_toolathlon_is_imported_file_by_file() {
    let data = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    write(
        &folder,
        "npx-notes.yaml",
        "type: stdio\nname: notes\nparams:\n  command: npx\n  args: ['-y', '@example/notes', '${agent_workspace}']\n  env: {KEY: '${token.notes_key}'}\nclient_session_timeout_seconds: 100\n",
    );
    write(
        &folder,
        "unnamed.yaml",
        "params: {command: uvx, args: [thing]}\n",
    );
    write(&folder, "broken.yaml", "params: [\n");
    write(&folder, "README.md", "not one");
    let output = import(&data, &[folder.path().to_str().unwrap(), "--json"], "");
    assert!(!output.status.success(), "one file could not be read");
    let files: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        files[0]["error"].as_str().unwrap().starts_with("Line "),
        "{files:#}"
    );
    assert_eq!(files[1]["servers"][0]["id"], "mcp-notes");
    assert_eq!(
        files[1]["servers"][0]["unset"],
        json!(["agent_workspace", "token.notes_key"])
    );
    assert_eq!(files[2]["servers"][0]["name"], "unnamed");
}

#[test]
fn what_is_missing_is_set_from_the_shell() {
    let data = tempfile::tempdir().unwrap();
    let secrets = |arguments: &[&str], input: &str| {
        let mut command = tenon(&data, &["secrets"]);
        command.args(arguments).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    };
    let text = r#"{"far": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${FAR_KEY}", "X-Me": "${user.ME}"}}}"#;
    let told = stdout(&import(&data, &["-"], text));
    assert!(
        told.contains("${FAR_KEY} for far: tenon secrets set FAR_KEY\n"),
        "{told}"
    );
    assert!(
        told.contains("${user.ME} for far: tenon secrets set ME --mine\n"),
        "{told}"
    );
    stdout(&secrets(&["set", "FAR_KEY"], "s3cret\n"));
    stdout(&secrets(&["set", "ME", "--mine"], "ada"));
    assert_eq!(stdout(&secrets(&["list"], "")), "${FAR_KEY}\n${user.ME}\n");
    let told = stdout(&import(&data, &["-"], text));
    assert!(!told.contains("Not set yet"), "{told}");
    stdout(&secrets(&["remove", "FAR_KEY"], ""));
    assert_eq!(stdout(&secrets(&["list"], "")), "${user.ME}\n");
    assert!(!secrets(&["set", "not a name"], "x").status.success());
}

#[test]
fn without_a_file_nothing_is_imported_unasked() {
    let data = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let import = |arguments: &[&str]| {
        let mut command = tenon(&data, &["import"]);
        command.args(arguments).env("HOME", home.path());
        command.stdin(Stdio::null()).output().unwrap()
    };
    let nothing = import(&[]);
    let told = String::from_utf8_lossy(&nothing.stderr);
    assert!(
        !nothing.status.success() && told.contains("tenon import FILE"),
        "{told}"
    );

    let folder = home.path().join(".cursor");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(
        folder.join("mcp.json"),
        r#"{"mcpServers": {"a": {"url": "https://x.org"}}}"#,
    )
    .unwrap();
    let unasked = import(&[]);
    let told = String::from_utf8_lossy(&unasked.stderr);
    assert!(
        !unasked.status.success() && told.contains("Cursor"),
        "{told}"
    );
    assert_eq!(
        stdout(&import(&["--yes"])),
        "added           a  https://x.org/\n"
    );
}

#[tokio::test]
async fn a_running_server_takes_in_what_a_shell_imports() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let text = json!({"mcpServers": {"time": time()}}).to_string();
    stdout(&import(&data, &["-"], &text));
    served
        .until("/api/tools", |tools| ids(tools, "mcp_time_").len() == 2)
        .await;
    let called = served
        .post(
            "/api/tools/mcp_time_get_current_time/call",
            json!({"arguments": {"timezone": "UTC"}}),
        )
        .await;
    assert_eq!(called["ok"], true, "{called:#}");
}

#[tokio::test]
async fn a_file_in_the_watched_folder_is_a_server_until_it_goes() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let folder = data.path().join("mcp_servers");
    assert!(folder.is_dir(), "people can find it");
    let yaml = |name: &str| {
        let command = installed("venv-mcp/bin/mcp-server-time");
        format!(
            "type: stdio\nname: {name}\nparams:\n  command: {command}\n  args: ['--local-timezone=UTC']\n"
        )
    };
    let file = folder.join("clock.yaml");
    std::fs::write(&file, yaml("clock")).unwrap();
    served
        .until("/api/tools", |tools| ids(tools, "mcp_clock_").len() == 2)
        .await;
    let sources = served.get("/api/sources").await;
    assert_eq!(sources[0]["id"], "file-clock", "{sources:#}");
    assert_eq!(
        sources[0]["origin"],
        json!({"kind": "file", "file": "clock.yaml"})
    );
    assert_eq!(sources[0]["editable"], false);
    let called = served
        .post(
            "/api/tools/mcp_clock_get_current_time/call",
            json!({"arguments": {"timezone": "UTC"}}),
        )
        .await;
    assert_eq!(called["ok"], true, "{called:#}");

    // Changed: another name.
    std::fs::write(&file, yaml("watch")).unwrap();
    let tools = served
        .until("/api/tools", |tools| ids(tools, "mcp_watch_").len() == 2)
        .await;
    assert_eq!(ids(&tools, "mcp_clock_"), Vec::<String>::new());

    // Broken: it stays as it was, and says so.
    std::fs::write(&file, "params: [").unwrap();
    let sources = served
        .until("/api/sources", |sources| {
            sources[0]["problems"][0]["code"] == "import_file_broken"
        })
        .await;
    assert_eq!(sources[0]["state"], "ready", "{sources:#}");

    std::fs::remove_file(&file).unwrap();
    served
        .until("/api/tools", |tools| ids(tools, "mcp_watch_").is_empty())
        .await;
    assert_eq!(served.get("/api/sources").await, json!([]));
}

#[tokio::test]
async fn what_an_argument_lacks_is_named_and_nothing_runs_without_it() {
    let data = tempfile::tempdir().unwrap();
    let marks = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let command = installed("venv-mcp/bin/mcp-server-time");
    // Leaves a file where it was started, and is then a server.
    let script = "touch \\\"$0\\\"; x=\\\"$1\\\"; exec \\\"$${x}\\\" --local-timezone=\\\"$2\\\"";
    let mark = marks.path().join("${token.mark}");
    let yaml = |zone: &str| {
        format!(
            "name: clock\nparams:\n  command: sh\n  args: ['-c', \"{script}\", '{}', '{command}', '{zone}']\n",
            mark.display()
        )
    };
    let file = data.path().join("mcp_servers/clock.yaml");
    std::fs::write(&file, yaml("${local_zone}")).unwrap();
    let state = async |passes: fn(&Value) -> bool| {
        let sources = served.until("/api/sources", passes).await;
        sources[0].clone()
    };
    let lacking = state(|sources| sources[0]["state"] == "failed").await;
    let why = "Nobody has set `${token.mark}`, `${local_zone}`: an admin does that under Secrets, or in \
               the environment of Tenon. To leave it to the program itself, write `$${local_zone}`.";
    assert_eq!(lacking["why"]["message"], why);
    assert_eq!(lacking["unset"], json!(["token.mark", "local_zone"]));
    let listed = stdout(&run(&data, &["sources", "list"]));
    assert_eq!(
        listed,
        format!("file-clock  clock, 0 tools, failed: {why}\n")
    );
    // A restart changes nothing about it.
    served
        .post("/api/sources/file-clock/restart", json!({}))
        .await;
    set(&data, "token.mark", "started");
    let lacking = state(|sources| sources[0]["unset"] == json!(["local_zone"])).await;
    assert_eq!(lacking["state"], "failed", "{lacking:#}");
    assert_eq!(marks.path().read_dir().unwrap().count(), 0, "nothing ran");

    set(&data, "local_zone", "UTC");
    let ready = state(|sources| sources[0]["state"] == "ready").await;
    assert_eq!((&ready["unset"], &ready["tools"]), (&json!([]), &json!(2)));
    assert!(marks.path().join("started").exists());

    // A file that changes is looked at anew, both ways.
    std::fs::write(&file, yaml("${other_zone}")).unwrap();
    let lacking = state(|sources| sources[0]["state"] == "failed").await;
    assert_eq!(lacking["unset"], json!(["other_zone"]));
    let listed = stdout(&run(&data, &["sources", "list"]));
    assert!(
        listed.contains("failed: Nobody has set `${other_zone}`"),
        "{listed}"
    );
    std::fs::write(&file, yaml("UTC")).unwrap();
    state(|sources| sources[0]["state"] == "ready").await;

    // A shell that finds no server to ask has not tried to start it, and says it all the same.
    drop(served);
    std::fs::write(&file, yaml("${other_zone}")).unwrap();
    let listed = stdout(&run(&data, &["sources", "list"]));
    assert!(
        listed.starts_with("file-clock  clock, 2 tools, failed: Nobody has set `${other_zone}`"),
        "{listed}"
    );
}

/// Sets a secret as an operator does.
fn set(data: &TempDir, name: &str, value: &str) {
    let mut command = tenon(data, &["secrets", "set", name]);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(value.as_bytes()).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn arguments_in_one_line_are_what_a_shell_would_make_of_them() {
    let data = tempfile::tempdir().unwrap();
    let command = installed("venv-mcp/bin/mcp-server-time");
    let text = json!({"mcpServers": {
        "args": {"command": &command, "args": "--local-timezone 'UTC'"},
        "line": {"command": format!("env 'A=b c' {command}"), "args": "--local-timezone=UTC"},
        "half": {"command": &command, "args": "--local-timezone 'UTC"},
    }});
    let output = import(&data, &["-"], &text.to_string());
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("refused         half  Its `args` has a quote that is not closed"),
        "{told}"
    );
    let tools = stdout(&run(&data, &["tools", "list", "--json"]));
    let tools: Value = serde_json::from_str(&tools).unwrap();
    assert_eq!(ids(&tools, "mcp_args_").len(), 2, "{tools:#}");
    assert_eq!(ids(&tools, "mcp_line_").len(), 2, "{tools:#}");
}

#[tokio::test]
async fn a_command_that_is_a_whole_line_is_taken_apart_over_the_api_too() {
    let server = Server::start().await;
    let new = json!({"kind": "mcp", "name": "x", "enabled": false, "command": "npx -y 'a b'"});
    let (status, added) = server.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    assert_eq!(added["reach"]["command"], "npx");
    assert_eq!(added["reach"]["args"], json!(["-y", "a b"]));
    let new = json!({"kind": "mcp", "name": "y", "enabled": false, "command": "npx -y 'a"});
    let (status, refused) = server.post("/api/sources", new).await;
    assert_eq!(status, 400, "{refused}");
}

#[tokio::test]
async fn a_file_that_was_never_good_is_shown_with_what_is_wrong() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    std::fs::write(
        data.path().join("mcp_servers/bad.json"),
        "{\"mcpServers\": [",
    )
    .unwrap();
    let sources = served
        .until("/api/sources", |sources| !sources[0].is_null())
        .await;
    assert_eq!(sources[0]["state"], "failed", "{sources:#}");
    let why = sources[0]["why"]["message"].as_str().unwrap();
    assert!(why.starts_with("bad.json cannot be read. Line 1"), "{why}");
}

#[tokio::test]
async fn a_pasted_text_is_shown_first_and_then_added() {
    let server = Server::start().await;
    let text = r#"{
      "servers": {
        "Far Away": {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${input:far}"}},
        "near": {"command": "/nowhere/server", "args": ["--x"]},
        "odd": {"type": "carrier-pigeon"},
      },
      "inputs": [{"id": "far", "type": "promptString", "description": "Key of Far Away"}],
    }"#;
    let path = "/api/sources/import";
    let (status, preview) = server
        .post(path, json!({"text": text, "preview": true}))
        .await;
    assert_eq!(status, 200, "{preview:#}");
    let mut first = preview[0].clone();
    for note in first["notes"].as_array_mut().unwrap() {
        *note = note["message"].take();
    }
    assert_eq!(
        first,
        json!({
            "name": "Far-Away", "summary": "http://127.0.0.1:9/mcp", "id": "mcp-Far-Away", "unset": ["input.far"],
            "notes": [
                "`${input:far}` is: Key of Far Away",
                "“Far Away” is called `Far-Away` here: a name has up to 40 letters, digits, `-` and `_`.",
            ],
        })
    );
    assert_eq!(server.get("/api/sources").await.1, json!([]));

    let only = json!({"text": text, "only": ["near", "odd"]});
    let (_, added) = server.post(path, only).await;
    assert_eq!(added[0]["id"], "mcp-near", "{added:#}");
    assert_eq!(
        added[1]["refused"]["message"],
        "Its transport “carrier-pigeon” is not one of stdio, http and sse."
    );
    let (_, sources) = server.get("/api/sources").await;
    assert_eq!(sources.as_array().unwrap().len(), 1, "{sources:#}");

    let (_, again) = server
        .post(path, json!({"text": text, "only": ["near"]}))
        .await;
    assert_eq!(again[0]["refused"]["code"], "import_there");
    let other = r#"{"near": {"command": "/elsewhere"}}"#;
    let (_, other) = server.post(path, json!({"text": other})).await;
    let why = other[0]["refused"]["message"].as_str().unwrap();
    assert!(why.starts_with("Another server is called `near`"), "{why}");

    let (status, error) = server.post(path, json!({"text": "{\n  \"a\" 1}"})).await;
    assert_eq!(status, 400);
    assert_eq!(error["error"]["message"], "Line 2, column 7: expected `:`.");
}

#[tokio::test]
async fn who_is_no_admin_imports_addresses_for_themself() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let text = r#"{"mcpServers": {
      "program": {"command": "npx", "args": ["-y", "x"]},
      "mine": {"url": "https://mcp.example.org/mcp", "headers": {"Authorization": "Bearer ${user.KEY}"}},
      "theirs": {"url": "https://mcp.example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}
    }}"#;
    let (status, results) = bob.post("/api/sources/import", json!({"text": text})).await;
    assert_eq!(status, 200, "{results:#}");
    let why = results[0]["refused"]["message"].as_str().unwrap();
    assert!(why.starts_with("Only an admin may add a program"), "{why}");
    assert!(
        results[1]["id"].as_str().unwrap().starts_with("mcp-mine."),
        "{results:#}"
    );
    assert_eq!(results[1]["unset"], json!(["user.KEY"]));
    assert!(
        results[2]["refused"]["message"]
            .as_str()
            .unwrap()
            .contains("${user.KEY}"),
        "{results:#}"
    );
    let everybody = json!({"text": text, "mine": false});
    let (_, results) = bob.post("/api/sources/import", everybody).await;
    assert!(
        results[1]["refused"]["message"]
            .as_str()
            .unwrap()
            .starts_with("Only an admin"),
        "{results:#}"
    );
}
