//! The examples of docs/bridge.md, run as they stand there but for the port.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::documents::{examples, shell};
use crate::listening::Listening;
use crate::peer::installed;

/// A line of an example, with this port.
fn line(folder: &Path, line: &str, port: &str) -> Command {
    let line = format!("exec {}", line.trim().replace("8000", port));
    let mut command = shell(&line);
    command.current_dir(folder);
    command
}

#[test]
fn both_languages_have_the_same_examples() {
    assert_eq!(examples("bridge.md"), examples("bridge.zh-CN.md"));
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
    for (title, text) in examples("bridge.md") {
        let port = running.as_ref().map_or("", |bridge| {
            let (_, port) = bridge.address.rsplit_once(':').unwrap();
            port
        });
        let (_, word) = title.split_once(' ').unwrap();
        match word {
            "run" => {
                drop(running.take());
                let place = place.clone();
                let start = move |port: u16| line(&place, &text, &port.to_string());
                running = Some(Listening::start(start));
            }
            "call" => answered = Some(line(&place, &text, port).output().unwrap()),
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
