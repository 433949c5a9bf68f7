//! The official clients at a real Tenon, with a real server behind it.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::peer::{installed, ours};
use crate::program::{Served, stdout};
use crate::sources::fixtures::everything;
use crate::user_command::user;

const TEST_TIMEOUT: Duration = Duration::from_secs(120);

/// A Tenon with accounts and server-everything, and a key of its admin that allows everything.
pub(crate) struct HubFixture {
    pub(crate) data: TempDir,
    pub(crate) served: Served,
    pub(crate) key: String,
}

impl HubFixture {
    pub(crate) fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let add = [
            "add",
            "--email=ada@example.org",
            "--name=Ada",
            "--password-stdin",
        ];
        stdout(&user(&data, &add, "correct horse battery"));
        let new = ["key", "ada@example.org", "--name=client", "--allow=*"];
        let key = stdout(&user(&data, &new, "")).trim().to_owned();
        let served = Served::start_with(&data, |serve| serve.env_remove("TENON_SINGLE_USER"));
        Self { data, served, key }
    }

    /// With server-everything behind it, once that is up.
    async fn with_everything() -> Self {
        Self::with_source(&everything("everything", json!({}))).await
    }

    /// With this server behind it, once that is up.
    pub(super) async fn with_source(source: &Value) -> Self {
        let fixture = Self::new();
        let url = format!("{}/api/sources", fixture.served.address);
        let client = &fixture.served.client;
        let request = client.post(&url).bearer_auth(&fixture.key);
        let added = request.json(source);
        let added: Value = added.send().await.unwrap().json().await.unwrap();
        let url = format!("{url}/{}", added["id"].as_str().unwrap());
        crate::sources::fixtures::until(|| async {
            let request = client.get(&url).bearer_auth(&fixture.key);
            let source: Value = request.send().await.unwrap().json().await.unwrap();
            if source["state"] == "ready" {
                Ok(())
            } else {
                Err(source)
            }
        })
        .await;
        fixture
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.served.address)
    }

    /// By way of the server that runs with that folder.
    fn stdio_command(&self) -> [&str; 4] {
        let data = self.data.path().to_str().unwrap();
        [env!("CARGO_BIN_EXE_tenon"), "mcp", "--data", data]
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// What a client printed.
async fn run(program: PathBuf, arguments: &[&str]) -> Value {
    let mut client = Command::new(program);
    let client = client.args(arguments).kill_on_drop(true).output();
    let output: Output = tokio::time::timeout(TEST_TIMEOUT, client)
        .await
        .unwrap()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{arguments:?}: {output:?}"))
}

async fn old_client(arguments: &[&str]) -> Value {
    let script = ours("mcp/hub_old.py");
    let arguments = [&[script.to_str().unwrap()], arguments].concat();
    run(installed("venv-oldmcp/bin/python"), &arguments).await
}

fn has(list: &Value, name: &str) -> bool {
    list.as_array().unwrap().iter().any(|item| item == name)
}

/// What every client saw that can do all of it.
#[track_caller]
fn check_whole(saw: &Value) {
    for tool in ["builtin_calculate", "mcp_everything_echo"] {
        assert!(has(&saw["tools"], tool), "{saw:#}");
    }
    assert_eq!(
        saw["echo"],
        json!(["everything/Echo Tool", true]),
        "{saw:#}"
    );
    assert_eq!(saw["echoed"], json!([false, "Echo: hi"]), "{saw:#}");
    assert_eq!(saw["sum"], json!([false, "42"]), "{saw:#}");
    assert_eq!(saw["invalid"][0], true, "{saw:#}");
    assert!(
        saw["invalid"][1].as_str().unwrap().contains("message"),
        "{saw:#}"
    );
    assert!(
        saw["unknown"].as_str().unwrap().contains("no_such_tool"),
        "{saw:#}"
    );
    assert_eq!(saw["progress"], json!([[1.0, 2.0], [2.0, 2.0]]), "{saw:#}");
    assert_eq!(saw["long"][0], false, "{saw:#}");
    assert_eq!(saw["asked"].as_array().unwrap().len(), 1, "{saw:#}");
    assert!(
        saw["form"][1]
            .as_str()
            .unwrap()
            .contains("provided the requested"),
        "{saw:#}"
    );
    assert!(
        saw["sampling"][1]
            .as_str()
            .unwrap()
            .contains("sampled text"),
        "{saw:#}"
    );
    assert!(
        has(&saw["prompts"], "mcp_everything_simple-prompt"),
        "{saw:#}"
    );
    assert!(saw["prompt"].is_string(), "{saw:#}");
    let text = "tenon+everything+demo://resource/dynamic/text/";
    assert!(
        has(&saw["templates"], &format!("{text}{{resourceId}}")),
        "{saw:#}"
    );
    assert!(!saw["resources"].as_array().unwrap().is_empty(), "{saw:#}");
    assert_eq!(saw["resource"][0], format!("{text}1"), "{saw:#}");
    let weather = json!(["conditions", "humidity", "temperature"]);
    assert_eq!(saw["structured"], weather, "{saw:#}");
    let blob = "tenon+everything+demo://resource/dynamic/blob/1";
    assert_eq!(saw["link"], blob, "{saw:#}");
    assert_eq!(saw["completed"], json!(["Engineering"]), "{saw:#}");
}

#[tokio::test]
async fn official_python_clients_use_the_hub_by_every_transport() {
    let fixture = HubFixture::with_everything().await;
    let (url, sse) = (fixture.url("/mcp"), fixture.url("/sse"));
    let (base, key) = (fixture.served.address.as_str(), fixture.key.as_str());
    let clock = text(&installed("venv-mcp/bin/mcp-server-time"));
    let newest = text(&ours("mcp/hub_new.py"));
    let newest = [newest.as_str(), base, key, &clock];
    // One after another: of several calls at once the server behind does not say which one its
    // form belongs to.
    let http = old_client(&["http", &url, key]).await;
    let legacy = old_client(&["sse", &sse, key]).await;
    let stdio = [&["stdio"], fixture.stdio_command().as_slice()].concat();
    let stdio = old_client(&stdio).await;
    let newest = run(installed("venv-mcp/bin/python"), &newest).await;
    for saw in [&http, &legacy, &stdio] {
        assert_eq!(saw["server"], json!(["tenon", "2025-11-25"]), "{saw:#}");
        check_whole(saw);
    }
    let watched = "tenon+everything+demo://resource/dynamic/text/1";
    assert_eq!(http["updated"], watched, "{http:#}");
    assert_eq!(newest["version"], "2026-07-28", "{newest:#}");
    assert_eq!(newest["echoed"], json!([false, "Echo: hi"]), "{newest:#}");
    assert_eq!(
        newest["progress"],
        json!([[1.0, 2.0], [2.0, 2.0]]),
        "{newest:#}"
    );
    assert_eq!(newest["asked"].as_array().unwrap().len(), 1, "{newest:#}");
    assert_eq!(newest["added"], 201, "{newest:#}");
    assert!(
        has(&newest["after"], "mcp_py_get_current_time"),
        "{newest:#}"
    );
}

#[tokio::test]
async fn official_typescript_clients_use_the_hub() {
    let fixture = HubFixture::with_everything().await;
    let (base, key) = (fixture.served.address.as_str(), fixture.key.as_str());
    let clock = text(&installed("venv-mcp/bin/mcp-server-time"));
    let script = text(&ours("mcp/clients/hub.mjs"));
    let modules = text(&installed("mcp-clients/node_modules"));
    let node = installed("mcp/node_modules/.bin/node");
    let stdio = [&["stdio"], fixture.stdio_command().as_slice()].concat();
    for (sdk, transport) in [
        ("v1", ["http"].as_slice()),
        ("v2", &["http"]),
        ("v2", &stdio),
    ] {
        let client = [script.as_str(), &modules, sdk, base, key, &clock];
        let saw = run(node.clone(), &[&client, transport].concat()).await;
        if sdk == "v2" {
            assert_eq!(saw["version"], "2026-07-28", "{saw:#}");
        }
        assert_eq!(saw["cancelled"], true, "{saw:#}");
        assert_eq!(saw["echoed"], "Echo: still here", "{saw:#}");
        assert_eq!(saw["asked"].as_array().unwrap().len(), 1, "{saw:#}");
        let form = saw["form"].as_str().unwrap();
        assert!(form.contains("provided the requested"), "{saw:#}");
        let uri = "tenon+everything+demo://resource/dynamic/text/1";
        assert_eq!(saw["resource"], uri, "{saw:#}");
        assert_eq!(saw["prompt"], "text", "{saw:#}");
        assert_eq!(saw["added"], 201, "{saw:#}");
        let added = format!("mcp_{sdk}{}_get_current_time", transport[0]);
        assert!(has(&saw["after"], &added), "{saw:#}");
    }
    let audit = fixture.served.client.get(fixture.url("/api/audit"));
    let audit = audit.bearer_auth(key).send().await.unwrap();
    let audit: Value = audit.json().await.unwrap();
    // The time in which a person filled in the form is told apart.
    let mut entries = audit.as_array().unwrap().iter();
    let asked = entries.find(|entry| {
        let subject = entry["subject"].as_str().unwrap_or_default();
        subject.contains("elicitation") && entry["detail"]["ok"] == true
    });
    let id = asked.unwrap()["detail"]["callId"].as_str().unwrap();
    let trace = fixture.url(&format!("/api/calls/{id}"));
    let trace = fixture.served.client.get(trace).bearer_auth(key);
    let trace: Value = trace.send().await.unwrap().json().await.unwrap();
    assert_eq!(trace["forms"][0]["outcome"], "accepted", "{trace:#}");
    let is_cancelled = |entry: &&Value| {
        let long = "mcp_everything_trigger-long-running-operation";
        entry["subject"] == long && entry["detail"]["ok"] == false
    };
    let entries = audit.as_array().unwrap().iter();
    let cancelled = entries.filter(is_cancelled).count();
    assert_eq!(cancelled, 3, "the calls behind have ended: {audit:#}");
}
