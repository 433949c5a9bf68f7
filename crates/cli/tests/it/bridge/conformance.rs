//! The official conformance suite against the bridge, with the server that the suite expects behind it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::BridgeProcess;
use crate::peer::{installed, ours};

#[test]
fn the_bridge_conforms_to_the_last_version_with_a_handshake() {
    check("2025-11-25");
}

#[test]
fn the_bridge_conforms_to_the_version_without_one() {
    check("2026-07-28");
}

#[track_caller]
fn check(version: &str) {
    let fixture = fixture_path();
    let bridge = BridgeProcess::start(&["--", fixture.to_str().unwrap(), "stdio"]);
    let suite = "mcp/node_modules/@modelcontextprotocol/conformance/dist/index.js";
    // The suite needs a newer Node than most machines have; one is installed beside it.
    let mut command = Command::new(installed("mcp/node_modules/.bin/node"));
    command
        .arg(installed(suite))
        .args(["server", "--suite", "all", "--spec-version", version])
        .args(["--url", &bridge.url("/mcp"), "--expected-failures"])
        .arg(ours("mcp/expected-failures-bridge.yml"));
    let output = command.output().unwrap();
    let summary = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}\n{summary}");
}

/// An example of `tenon-mcp`, which is built with the tests of the workspace.
fn fixture_path() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_tenon"));
    let program = program.with_file_name("examples/fixture");
    let missing = "cargo build -p tenon-mcp --examples";
    assert!(
        program.exists(),
        "{} is missing: {missing}",
        program.display()
    );
    program
}
