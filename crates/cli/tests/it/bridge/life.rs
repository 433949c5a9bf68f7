//! Keys, deadlines, servers that die, come and go, and what pages may ask.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{BridgeProcess, answer, odd, write_config};
use crate::sources::fixtures::until;

#[tokio::test]
async fn one_server_is_at_the_root_and_answers_the_first_call_while_it_starts() {
    let plain = odd("");
    let words: Vec<&str> = [&plain["command"]]
        .into_iter()
        .chain(plain["args"].as_array().unwrap())
        .map(|word| word.as_str().unwrap())
        .collect();
    let bridge = BridgeProcess::start(&[&["--"], words.as_slice()].concat());
    let called = bridge.post("/echo", json!({ "a": 1 })).await;
    assert_eq!(called, (200, json!({ "a": 1 })));
    let (status, document) = bridge.get("/openapi.json").await;
    assert_eq!(status, 200);
    assert_eq!(document["info"]["title"], "raw");
    assert_eq!(document["info"]["description"], "raw MCP Server");
    assert_eq!(document.get("servers"), None);
    assert_eq!(
        document["paths"]["/echo"]["post"]["operationId"],
        "tool_echo_post"
    );
}

#[tokio::test]
async fn the_key_is_wanted_for_calls_and_where_it_is_strict_for_documents_too() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "raw": odd("") });
    let open = BridgeProcess::with_servers(folder.path(), &servers, &["--api-key", "top"]);
    assert_eq!(open.get("/openapi.json").await.0, 200);
    let missing = json!({ "detail": "Missing or invalid Authorization header" });
    assert_eq!(
        open.post("/raw/echo", json!({})).await,
        (401, missing.clone())
    );
    let with_key = |bridge: &BridgeProcess, key: &str| {
        let request = bridge.client.post(bridge.url("/raw/echo"));
        request.bearer_auth(key).json(&json!({}))
    };
    let wrong = (403, json!({ "detail": "Invalid API key" }));
    assert_eq!(answer(with_key(&open, "topp")).await, wrong);
    assert_eq!(answer(with_key(&open, "top")).await, (200, json!({})));

    let strict = ["--api-key", "top", "--strict-auth"];
    let strict = BridgeProcess::with_servers(folder.path(), &servers, &strict);
    assert_eq!(strict.get("/openapi.json").await, (401, missing));
    let document = strict.client.get(strict.url("/openapi.json"));
    let document = document.basic_auth("anybody", Some("top"));
    assert_eq!(answer(document).await.0, 200);
    assert_eq!(answer(with_key(&strict, "top")).await, (200, json!({})));
}

#[tokio::test]
async fn a_stuck_tool_ends_at_its_deadline_and_holds_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let mut stuck = odd("holds");
    stuck["timeoutMs"] = json!(700);
    let servers = json!({ "stuck": stuck, "raw": odd("") });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &[]);
    assert_eq!(bridge.post("/raw/echo", json!({})).await.0, 200);
    let (stuck, quick) = tokio::join!(bridge.post("/stuck/echo", json!({})), async {
        let started = Instant::now();
        let called = bridge.post("/raw/echo", json!({})).await;
        (called.0, started.elapsed())
    });
    let message = "stuck/echo did not answer within 0.7 s and was stopped.";
    assert_eq!(stuck, (504, json!({ "detail": { "message": message } })));
    assert_eq!(quick.0, 200);
    assert!(quick.1 < Duration::from_millis(600), "{:?}", quick.1);
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_says_so_and_is_back_for_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "frail": odd("dies") });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &[]);
    for _ in 0..2 {
        let (status, body) = bridge.post("/frail/echo", json!({})).await;
        assert_eq!(status, 500);
        let message = body["detail"]["message"].as_str().unwrap();
        assert!(message.contains("exited with code 3"), "{message}");
    }
    let (_, document) = bridge.get("/frail/openapi.json").await;
    assert!(document["paths"].get("/echo").is_some(), "{document:#}");
}

#[tokio::test]
async fn what_fails_to_start_leaves_the_others_alone() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "broken": odd("dies-at-once"), "raw": odd("") });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &[]);
    let (_, main) = bridge.get("/openapi.json").await;
    let description = main["info"]["description"].as_str().unwrap();
    assert!(
        description.ends_with("\u{ff1a}\n    - [raw](/raw/docs)"),
        "{description}"
    );
    let (status, document) = bridge.get("/broken/openapi.json").await;
    assert_eq!((status, &document["paths"]), (200, &json!({})));
    assert_eq!(document["info"]["title"], "broken");
    assert_eq!(bridge.post("/raw/echo", json!({})).await.0, 200);
    let unknown = (404, json!({ "detail": "Not Found" }));
    assert_eq!(bridge.post("/broken/echo", json!({})).await, unknown);
    assert_eq!(bridge.post("/nobody/echo", json!({})).await, unknown);
    let (_, index) = bridge.get("/mcpo-tools-list").await;
    assert_eq!(index["servers"][0]["ready"], false);
    assert_eq!(index["servers"][1]["tools"][0]["path"], "/raw/echo");
}

#[tokio::test]
async fn a_changed_file_adds_replaces_and_removes_servers() {
    let folder = tempfile::tempdir().unwrap();
    let marks = folder.path().join("marks");
    let mut first = odd("");
    first["args"].as_array_mut().unwrap().push(json!(marks));
    let servers = json!({ "first": first, "second": odd("") });
    let config = write_config(folder.path(), &servers);
    let log = folder.path().join("log");
    let bridge = BridgeProcess::start_with(&["--hot-reload", "--config", &config], |command| {
        command.stderr(std::fs::File::create(&log).unwrap())
    });
    assert_eq!(bridge.post("/first/echo", json!({})).await.0, 200);
    let mut changed = odd("pages");
    changed["disabledTools"] = json!(["t1"]);
    write_config(
        folder.path(),
        &json!({ "third": odd(""), "second": changed }),
    );
    let description = async || {
        let (_, main) = bridge.get("/openapi.json").await;
        main["info"]["description"].as_str().unwrap().to_owned()
    };
    let expected = "\u{ff1a}\n    - [third](/third/docs)\n    - [second](/second/docs)";
    until(|| async {
        let now = description().await;
        if now.ends_with(expected) {
            Ok(())
        } else {
            Err(json!(now))
        }
    })
    .await;
    assert_eq!(bridge.post("/first/echo", json!({})).await.0, 404);
    // None while it starts.
    until(|| async {
        let (_, document) = bridge.get("/second/openapi.json").await;
        let paths = document["paths"].as_object().unwrap().keys();
        let paths: Vec<String> = paths.cloned().collect();
        if paths == ["/t0", "/t2"] {
            Ok(())
        } else {
            Err(json!(paths))
        }
    })
    .await;
    let unchanged = description().await;
    // Nobody reads the pipe of the removed one any more: its process has ended.
    until(|| async {
        let held = held_open(&marks);
        if held == 0 { Ok(()) } else { Err(json!(held)) }
    })
    .await;

    // What cannot be used changes nothing.
    let logs_in_nowhere = json!({ "url": "not-absolute", "oauth": {} });
    let mistakes = [
        "{".to_owned(),
        json!({ "mcpServers": { "fourth": logs_in_nowhere } }).to_string(),
    ];
    for (number, mistake) in mistakes.iter().enumerate() {
        std::fs::write(&config, mistake).unwrap();
        until(|| async {
            let log = std::fs::read_to_string(&log).unwrap();
            let refused = log.matches("the configuration stays as it was").count();
            if refused > number {
                Ok(())
            } else {
                Err(json!(log))
            }
        })
        .await;
        assert_eq!(description().await, unchanged);
        assert_eq!(bridge.post("/third/echo", json!({})).await.0, 200);
    }
}

/// How many processes have a file open.
fn held_open(file: &std::path::Path) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let handles = processes.filter_map(|process| std::fs::read_dir(process.path().join("fd")).ok());
    let targets = handles.flat_map(|handles| handles.flatten());
    let targets = targets.filter_map(|handle| std::fs::read_link(handle.path()).ok());
    targets.filter(|target| target == file).count()
}

#[tokio::test]
async fn a_signal_ends_the_bridge_and_everything_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let marks = folder.path().join("marks");
    let mut server = odd("");
    server["args"].as_array_mut().unwrap().push(json!(marks));
    let mut bridge = BridgeProcess::with_servers(folder.path(), &json!({ "raw": server }), &[]);
    assert_eq!(bridge.post("/raw/echo", json!({})).await.0, 200);
    assert_eq!(held_open(&marks), 1);
    let pid = bridge.child.id().to_string();
    let status = std::process::Command::new("kill").arg(&pid).status();
    assert!(status.unwrap().success());
    let ended = tokio::task::spawn_blocking(move || bridge.child.wait().unwrap());
    let ended = tokio::time::timeout(Duration::from_secs(20), ended).await;
    assert!(ended.unwrap().unwrap().success());
    assert_eq!(held_open(&marks), 0);
}

#[tokio::test]
async fn ten_thousand_tools_are_listed_and_the_last_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "many": odd("many") });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &[]);
    let called = bridge.post("/many/tool_9999", json!({ "a": 1 })).await;
    assert_eq!(called, (200, json!({ "a": 1 })));
    let request = || bridge.client.get(bridge.url("/many/openapi.json"));
    let response = request().send().await.unwrap();
    let etag = response.headers()["etag"].clone();
    let document: Value = response.json().await.unwrap();
    assert_eq!(document["paths"].as_object().unwrap().len(), 10_000);
    let again = request()
        .header("if-none-match", etag)
        .send()
        .await
        .unwrap();
    assert_eq!(again.status(), 304);
}

#[tokio::test]
async fn paths_and_https_are_as_the_flags_say() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("c.pem"), folder.path().join("k.pem"));
    let made = std::process::Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
        ])
        .args(["-days", "2", "-subj", "/CN=localhost", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    assert!(made.unwrap().status.success());
    let flags = [
        ["--path-prefix", "api/tools"],
        ["--root-path", "/sub"],
        ["--name", "Mine"],
        ["--version", "7"],
        ["--description", "What I have"],
        ["--ssl-certfile", certificate.to_str().unwrap()],
        ["--ssl-keyfile", key.to_str().unwrap()],
    ];
    let servers = json!({ "raw": odd("") });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, flags.as_flattened());
    assert!(bridge.address.starts_with("https://"));
    let (_, main) = bridge.get("/sub/openapi.json").await;
    let description =
        "What I have\n\n- **available tools**\u{ff1a}\n    - [raw](/api/tools/raw/docs)";
    let info = json!({ "title": "Mine", "description": description, "version": "7" });
    assert_eq!(main["info"], info);
    let (_, document) = bridge.get("/api/tools/raw/openapi.json").await;
    assert_eq!(
        document["servers"],
        json!([{ "url": "/sub/api/tools/raw" }])
    );
    assert_eq!(bridge.post("/api/tools/raw/echo", json!({})).await.0, 200);
    assert_eq!(bridge.post("/raw/echo", json!({})).await.0, 404);
}

#[tokio::test]
async fn programs_get_the_variables_they_are_given_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("variables");
    std::fs::write(&file, "# of a file\nFROM_FILE='a b'\nBOTH=file\n").unwrap();
    let program = crate::peer::installed("mcp/node_modules/.bin/mcp-server-everything");
    let servers =
        json!({ "everything": { "command": program, "env": { "OWN": "c", "TZ": "UTC" } } });
    let flags = ["--env-path", file.to_str().unwrap(), "-e", "BOTH=flag"];
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &flags);
    let (status, variables) = bridge.post("/everything/get-env", json!({})).await;
    assert_eq!(status, 200);
    let of = |name: &str| variables[name].as_str();
    assert_eq!(of("FROM_FILE"), Some("a b"));
    assert_eq!((of("BOTH"), of("OWN")), (Some("flag"), Some("c")));
    assert_eq!(of("CARGO_MANIFEST_DIR"), None, "that of this test");
}

#[test]
fn what_cannot_be_started_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], expected: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tenon"));
        command
            .arg("bridge")
            .args(arguments)
            .env_remove("TENON_CONFIG");
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && said.contains(expected),
            "{said}"
        );
    };
    check(&[], "there is no server to offer");
    check(&["--type", "pigeon", "--", "x"], "--type pigeon is none of");
    let config = write_config(folder.path(), &json!({ "x": {} }));
    check(&["-c", &config], "the server `x` needs `command`, or `url`");
    check(&["-c", "/no/such/file"], "/no/such/file cannot be read");
}
