//! The official conformance suite, against the server half.
//!
//! Scenarios of extensions that nobody here offers (tasks, skills) do not apply, and are no part of
//! what the suite runs for a version.

use std::process::Command;

use crate::clients::fixture;
use crate::peer::installed;

#[test]
fn the_server_conforms_to_the_last_version_with_a_handshake() {
    check("2025-11-25");
}

#[test]
fn the_server_conforms_to_the_version_without_one() {
    check("2026-07-28");
}

#[track_caller]
fn check(version: &str) {
    let server = fixture();
    let suite = "mcp/node_modules/@modelcontextprotocol/conformance/dist/index.js";
    // The suite needs a newer Node than most machines have; one is installed beside it.
    let output = Command::new(installed("mcp/node_modules/.bin/node"))
        .arg(installed(suite))
        .args([
            "server",
            "--suite",
            "all",
            "--spec-version",
            version,
            "--url",
        ])
        .arg(format!("{}/mcp", server.url))
        .output()
        .unwrap();
    let summary = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}\n{summary}");
    // What should be and is not is no failure to the suite.
    assert!(!summary.contains("warning"), "{summary}");
}
