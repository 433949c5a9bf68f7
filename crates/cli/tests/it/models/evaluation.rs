//! Models that are evaluated, over the API and from a shell.

mod fake;

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{add, send};
use crate::program::tenon;
use crate::server::Server;

/// The frames of an evaluation, to its end.
async fn evaluate(server: &Server, id: &str, request: Value) -> Vec<Value> {
    let path = format!("/api/models/{id}/evaluate");
    let request = server.request("POST", &path).json(&request);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let body = response.text().await.unwrap();
    let frames = body.lines().filter_map(|line| line.strip_prefix("data: "));
    frames
        .map(|frame| serde_json::from_str(frame).unwrap())
        .collect()
}

fn eval(data: &TempDir, url: &str, arguments: &[&str]) -> Command {
    let mut command = tenon(data, &["models", "eval"]);
    command
        .args(arguments)
        .envs([("OPENAI_BASE_URL", url), ("OPENAI_API_KEY", "x")]);
    command
}

async fn output(command: Command) -> Output {
    let mut command = tokio::process::Command::from(command);
    command.output().await.unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn a_model_is_evaluated_in_each_mode_and_the_best_one_is_recommended() {
    let (server, url) = (Server::start().await, fake::start().await);
    let added = add(&server, &url, "able").await;
    let id = added["id"].as_str().unwrap();
    let frames = evaluate(&server, id, json!({"prompts": 6})).await;
    // The start, six prompts in three modes, the end.
    assert_eq!(frames.len(), 1 + 3 * 6 + 1);
    let result = &frames[1]["result"];
    assert_eq!(
        (&result["mode"], &result["kind"], &result["outcome"]),
        (&json!("native"), &json!("choice"), &json!("passed")),
        "{result}"
    );
    let last = frames.last().unwrap();
    assert_eq!(last["type"], "finished");
    assert_eq!(last.get("error"), None, "{last}");
    let report = &last["report"];
    let native = &report["modes"][0];
    // It looks for the invoice and does not read it.
    assert_eq!(
        (
            &native["prompts"],
            &native["passed"],
            &native["rightFirstCalls"],
            &native["rightAnswers"]
        ),
        (&json!(6), &json!(5), &json!(6), &json!(5)),
        "{native}"
    );
    assert_eq!(native["kinds"][3]["kind"], "twoSteps");
    assert_eq!(native["kinds"][3]["passed"], 0);
    assert_eq!(report["recommendation"], "native");

    let (_, seen) = server.get(&format!("/api/models/{id}")).await;
    assert_eq!(
        seen["toolMode"], "auto",
        "nothing changes by being measured"
    );
    let path = format!("/api/models/{id}");
    let taken = send(&server, "PATCH", &path, json!({"toolMode": "native"})).await;
    assert_eq!((taken.0, &taken.1["toolMode"]), (200, &json!("native")));
}

#[tokio::test]
async fn a_mode_that_a_server_refuses_is_reported_with_its_reason() {
    let (server, url) = (Server::start().await, fake::start().await);
    let added = add(&server, &url, "plain").await;
    let id = added["id"].as_str().unwrap();
    let frames = evaluate(&server, id, json!({"prompts": 2})).await;
    let report = &frames.last().unwrap()["report"];
    let codes: Vec<&Value> = (0..3)
        .map(|mode| &report["modes"][mode]["problem"]["code"])
        .collect();
    assert_eq!(
        codes,
        [
            &json!("model_tools_refused"),
            &json!("model_request_rejected"),
            &json!(null)
        ],
        "{report}"
    );
    assert_eq!(report["modes"][2]["passed"], 2, "{report}");
    assert_eq!(report["recommendation"], "text");
}

#[tokio::test]
async fn a_mode_that_is_too_slow_is_not_measured_to_the_end() {
    let (server, url) = (Server::start().await, fake::start().await);
    let added = add(&server, &url, "stuck").await;
    let request = json!({"modes": ["native"], "timeoutSeconds": 1});
    let frames = evaluate(&server, added["id"].as_str().unwrap(), request).await;
    let report = &frames.last().unwrap()["report"];
    let native = &report["modes"][0];
    assert_eq!(native["problem"]["code"], "evaluation_too_slow", "{native}");
    assert_eq!(
        native["prompts"], 4,
        "one was answered, three were too slow"
    );
    assert_eq!(report.get("recommendation"), None);
}

#[tokio::test]
async fn what_cannot_be_evaluated_is_said() {
    let server = Server::start().await;
    let added = add(&server, "http://127.0.0.1:1/v1", "able").await;
    let id = added["id"].as_str().unwrap();
    let frames = evaluate(&server, id, json!({})).await;
    let last = frames.last().unwrap();
    assert_eq!(last["error"]["code"], "model_unreachable", "{last}");
    assert_eq!(last["report"]["modes"][0]["prompts"], 0);

    let refused = async |id: &str, request: Value| {
        let path = format!("/api/models/{id}/evaluate");
        let (status, body) = send(&server, "POST", &path, request).await;
        (status, body["error"]["code"].as_str().unwrap().to_owned())
    };
    for (id, request, status, code) in [
        ("none", json!({}), 404, "model_unknown"),
        ("builtin", json!({}), 404, "model_builtin_untested"),
        (id, json!({"prompts": 31}), 400, "evaluation_prompts"),
        (id, json!({"timeoutSeconds": 0}), 400, "evaluation_timeout"),
        (id, json!({"modes": ["none"]}), 400, "evaluation_no_mode"),
    ] {
        assert_eq!(
            refused(id, request).await,
            (status, code.to_owned()),
            "{code}"
        );
    }
}

#[tokio::test]
async fn a_shell_prints_a_table_and_applies_what_is_recommended() {
    let (data, url) = (tempfile::tempdir().unwrap(), fake::start().await);
    let arguments = ["plain", "--prompts", "2", "--apply"];
    let evaluated = output(eval(&data, &url, &arguments)).await;
    let (table, progress) = (text(evaluated.stdout), text(evaluated.stderr));
    assert!(evaluated.status.success(), "{progress}");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["native", "constrained", "text"]);
    assert_eq!(rows[1][..4], ["choice", "-", "-", "1/1"], "{table}");
    assert_eq!(rows[9][..4], ["score", "-", "-", "2/2"], "{table}");
    assert!(table.contains("native: not possible. "), "{table}");
    assert!(progress.contains("text         1/2  passed"), "{progress}");
    assert!(
        progress.contains("From now on tools are called this way: text."),
        "{progress}"
    );

    let mut listed = tenon(&data, &["models", "list", "--json"]);
    listed.envs([("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "x")]);
    let listed: Value = serde_json::from_slice(&output(listed).await.stdout).unwrap();
    let models = listed.as_array().unwrap().iter();
    let plain = models
        .clone()
        .find(|model| model["model"] == "plain")
        .unwrap();
    assert_eq!(plain["toolMode"], "text");

    let arguments = ["able", "--prompts", "1", "--only", "native", "--json"];
    let evaluated = output(eval(&data, &url, &arguments)).await;
    let report: Value = serde_json::from_slice(&evaluated.stdout).unwrap();
    assert_eq!(report["modes"].as_array().unwrap().len(), 1);
    assert_eq!(report["modes"][0]["passed"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_prints_what_was_measured() {
    let (data, url) = (tempfile::tempdir().unwrap(), fake::start().await);
    let mut command = eval(&data, &url, &["stuck"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let measured = stderr
        .lines()
        .any(|line| line.unwrap().starts_with("native       1/30  passed"));
    assert!(measured);
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    let mut table = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut table)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let row = table
        .lines()
        .find(|line| line.starts_with("score"))
        .unwrap();
    assert!(row.contains("1/1"), "{table}");
}

#[tokio::test]
async fn a_dead_server_ends_an_evaluation_in_a_shell() {
    let data = tempfile::tempdir().unwrap();
    let evaluated = output(eval(&data, "http://127.0.0.1:1/v1", &["gpt-x"])).await;
    assert_eq!(evaluated.status.code(), Some(1));
    let said = text(evaluated.stderr);
    assert!(said.contains("Check that the server runs"), "{said}");
}
