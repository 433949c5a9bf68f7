//! The examples of docs/bridge.md, run as they stand there but for the port.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::listening::Listening;
use crate::peer::installed;

/// A fenced block: the word after its language, and its text.
type Block = (String, String);

fn blocks(name: &str) -> Vec<Block> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => *text += &format!("{line}\n"),
            (None, Some(fence)) => {
                let (_, word) = fence.split_once(' ').unwrap();
                open = Some((word.to_owned(), String::new()));
            }
            (None, None) => {}
        }
    }
    blocks
}

/// A line of an example, with this port.
fn shell(folder: &Path, line: &str, port: &str) -> Command {
    let binaries = Path::new(env!("CARGO_BIN_EXE_tenon")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("exec {}", line.trim().replace("8000", port))])
        .current_dir(folder)
        .env("PATH", path);
    command
}

#[test]
fn both_languages_have_the_same_examples() {
    assert_eq!(blocks("bridge.md"), blocks("bridge.zh-CN.md"));
}

#[test]
fn every_example_does_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    // What `npx` finds in the folder above it does not look for elsewhere.
    symlink(
        installed("mcp/node_modules"),
        folder.path().join("node_modules"),
    )
    .unwrap();
    let place = folder.path().join("here");
    std::fs::create_dir(&place).unwrap();
    let mut running: Option<Listening> = None;
    let mut answered: Option<Output> = None;
    let mut answers = 0;
    for (word, text) in blocks("bridge.md") {
        let port = running.as_ref().map_or("", |bridge| {
            let (_, port) = bridge.address.rsplit_once(':').unwrap();
            port
        });
        match word.as_str() {
            "run" => {
                drop(running.take());
                let place = place.clone();
                let start = move |port: u16| shell(&place, &text, &port.to_string());
                running = Some(Listening::start(start));
            }
            "call" => answered = Some(shell(&place, &text, port).output().unwrap()),
            "answer" => {
                let output = answered.take().unwrap();
                let said: Value = serde_json::from_slice(&output.stdout).unwrap();
                let expected: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(said, expected);
                answers += 1;
            }
            file => std::fs::write(place.join(file), text).unwrap(),
        }
    }
    assert_eq!(answers, 2);
}
