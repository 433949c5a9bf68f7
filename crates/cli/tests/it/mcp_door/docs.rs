//! The examples of docs/clients.md, as they stand there. Replaced are the address, the key, the
//! data folder, and where programs are.

use std::collections::HashMap;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::clients::HubFixture;
use crate::documents::{examples, shell};
use crate::peer::installed;
use crate::program::stdout;

/// By their titles.
fn blocks(document: &str) -> HashMap<String, String> {
    examples(document).into_iter().collect()
}

struct Examples {
    hub: HubFixture,
    blocks: HashMap<String, String>,
    scratch: TempDir,
}

impl Examples {
    fn block(&self, title: &str) -> String {
        self.blocks[title]
            .replace("http://127.0.0.1:8366", &self.hub.served.address)
            .replace("tn_YOUR_KEY", &self.hub.key)
            .replace("/path/to/data", self.hub.data.path().to_str().unwrap())
    }

    /// `tenon` and `curl` are found as they would be.
    fn shell(&self, title: &str) -> Output {
        let mut shell = shell(&self.block(title));
        shell.env("TENON_DATA", self.hub.data.path());
        shell.current_dir(self.scratch.path()).output().unwrap()
    }

    fn file(&self, name: &str, title: &str) -> std::path::PathBuf {
        let path = self.scratch.path().join(name);
        std::fs::write(&path, self.block(title)).unwrap();
        path
    }

    /// The entry of a client's configuration.
    fn entry(&self, title: &str) -> Value {
        let config: Value = serde_json::from_str(&self.block(title)).unwrap();
        let servers = config.get("mcpServers").or(config.get("servers"));
        servers.unwrap()["tenon"].clone()
    }

    /// Starts a server as its client would, and asks it for its tools.
    fn check_program(&self, title: &str) {
        let entry = self.entry(title);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        assert_eq!(entry["command"], "tenon");
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenon"));
        command.args(entry["args"].as_array().unwrap().iter().map(text));
        for (name, value) in entry["env"].as_object().into_iter().flatten() {
            command.env(name, text(value));
        }
        let list = super::message("tools/list", json!({})).to_string();
        let input = self.scratch.path().join("input");
        std::fs::write(&input, list + "\n").unwrap();
        command.stdin(std::fs::File::open(input).unwrap());
        let printed = stdout(&command.output().unwrap());
        assert!(printed.contains("builtin_calculate"), "{title}: {printed}");
    }

    async fn check_address(&self, title: &str) {
        let entry = self.entry(title);
        let mut request = self.hub.served.client.post(entry["url"].as_str().unwrap());
        for (name, value) in entry["headers"].as_object().unwrap() {
            request = request.header(name, value.as_str().unwrap());
        }
        let list = super::message("tools/list", json!({}));
        let listed = super::stateless(request, &list).send().await.unwrap();
        let listed = listed.text().await.unwrap();
        assert!(listed.contains("builtin_calculate"), "{title}: {listed}");
    }
}

#[tokio::test]
async fn the_examples_for_clients_work() {
    let examples = Examples {
        hub: HubFixture::new(),
        blocks: blocks("clients.md"),
        scratch: tempfile::tempdir().unwrap(),
    };
    assert_eq!(blocks("clients.zh-CN.md"), examples.blocks);
    let key = stdout(&examples.shell("sh key"));
    assert!(key.starts_with("tn_"), "{key}");
    for title in [
        "json claude_desktop_config.json",
        "json claude_desktop_config.json remote",
    ] {
        examples.check_program(title);
    }
    for title in ["json mcp.json cursor", "json mcp.json vscode"] {
        examples.check_address(title).await;
    }
    let python = installed("venv/bin/python");
    let script = examples.file("example.py", "python openai");
    let answered = stdout(&Command::new(python).arg(script).output().unwrap());
    assert!(answered.contains("42"), "{answered}");
    // A module is looked for from where its importer is.
    let modules = installed("node/node_modules");
    std::os::unix::fs::symlink(modules, examples.scratch.path().join("node_modules")).unwrap();
    let script = examples.file("example.mjs", "js openai");
    let answered = stdout(&Command::new("node").arg(script).output().unwrap());
    assert!(answered.contains("42"), "{answered}");
    for title in ["sh curl", "sh curl mcp"] {
        let answered = stdout(&examples.shell(title));
        assert!(answered.contains("\"42\""), "{title}: {answered}");
    }
    assert_eq!(examples.blocks.len(), 9, "an example that nobody tries");
}
