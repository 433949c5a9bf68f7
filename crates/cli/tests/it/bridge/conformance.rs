//! The official conformance suite through the bridge: its client on one side, its tools on the
//! other.
//!
//! What is not passed on stands in `tests/peers/mcp/bridge-expected-failures.yml`, each with its
//! reason. What stands there and passes is a failure as well.

use std::path::PathBuf;
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
    let fixture = fixture();
    let bridge = BridgeProcess::start(&["--", fixture.to_str().unwrap(), "stdio"]);
    conforms(&bridge.url("/mcp"), version, "bridge-expected-failures.yml");
}

/// Runs the suite's server scenarios at an endpoint. Those that may fail are in a file of
/// `tests/peers/mcp`.
#[track_caller]
pub(crate) fn conforms(url: &str, version: &str, expected_failures: &str) {
    let suite = "mcp/node_modules/@modelcontextprotocol/conformance/dist/index.js";
    // The suite needs a newer Node than most machines have; one is installed beside it.
    let output = Command::new(installed("mcp/node_modules/.bin/node"))
        .arg(installed(suite))
        .args(["server", "--suite", "all", "--spec-version", version])
        .args(["--url", url, "--expected-failures"])
        .arg(ours(&format!("mcp/{expected_failures}")))
        .output()
        .unwrap();
    let summary = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}\n{summary}");
}

/// Built along with this test: cargo puts examples beside the folder of tests.
pub(crate) fn fixture() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let fixture = test.parent().unwrap().with_file_name("examples/fixture");
    assert!(
        fixture.exists(),
        "{} is missing: cargo build -p tenon-mcp --examples",
        fixture.display()
    );
    fixture
}
