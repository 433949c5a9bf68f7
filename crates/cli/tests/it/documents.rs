//! The examples in the documents, and those that no other test runs.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::mcp_door::HubFixture;
use crate::program::stdout;

/// A fenced block: its language and title, and its text.
pub type Example = (String, String);

/// All of a document, in their order.
pub fn examples(document: &str) -> Vec<Example> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(document);
    let text = std::fs::read_to_string(path).unwrap();
    let mut examples = Vec::new();
    let mut open: Option<Example> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(title), None) => open = Some((title.to_owned(), String::new())),
            (Some(_), Some(ended)) => examples.push(ended),
            (None, Some((title, text))) => open = Some((title, text + line + "\n")),
            (None, None) => {}
        }
    }
    examples
}

/// A shell that finds the binary of this build.
pub fn shell(script: &str) -> Command {
    let tenon = Path::new(env!("CARGO_BIN_EXE_tenon")).parent().unwrap();
    let path = format!("{}:{}", tenon.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).env("PATH", path);
    shell
}

#[test]
fn a_conversation_is_kept_on_record_as_documented() {
    let hub = HubFixture::new();
    let run = |script: &str, chat: &str| -> Output {
        let script = script.replace("http://127.0.0.1:8366", &hub.served.address);
        let mut shell = shell(&script);
        shell.env("TENON_KEY", &hub.key).env("CHAT", chat);
        shell.output().unwrap()
    };
    let documented = examples("api.md");
    let [(_, create), (_, say)] = documented.as_slice() else {
        panic!("an example that nobody tries: {documented:?}");
    };
    let created: Value = serde_json::from_str(&stdout(&run(create, ""))).unwrap();
    let chat = created["id"].as_str().unwrap();
    let translated = examples("api.zh-CN.md");
    assert_eq!(&translated[0].1, create);
    for script in [say, &translated[1].1] {
        let answer: Value = serde_json::from_str(&stdout(&run(script, chat))).unwrap();
        let said = answer["choices"][0]["message"]["content"].as_str().unwrap();
        assert!(said.contains("42"), "{answer}");
    }
}
