//! The official conformance suite, against what `examples/conformance` makes of our client.
//!
//! What we do not pass stands in `tests/peers/mcp/expected-failures.yml`, each
//! with its reason. What stands there and passes is a failure as well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where it is right to turn back: the log-in there cannot be trusted, or leads nowhere.
const TURNED_BACK: [&str; 7] = [
    "auth/iss-normalized",
    "auth/iss-supported-missing",
    "auth/iss-unexpected",
    "auth/iss-wrong-issuer",
    "auth/metadata-issuer-mismatch",
    "auth/resource-mismatch",
    "auth/scope-retry-limit",
];

#[test]
fn the_client_conforms_to_the_last_version_with_a_handshake() {
    check("2025-11-25");
}

#[test]
fn the_client_conforms_to_the_version_without_one() {
    check("2026-07-28");
}

#[track_caller]
fn check(version: &str) {
    let peers = root().join("target/peers/mcp/node_modules");
    let suite = peers.join("@modelcontextprotocol/conformance/dist/index.js");
    assert!(suite.exists(), "the suite is missing: run tests/setup");
    // The suite needs a newer Node than most machines have; one is installed beside it.
    let output = Command::new(peers.join(".bin/node"))
        .arg(suite)
        .args(["client", "--suite", "all", "--spec-version", version])
        // All scenarios run at once. Ours gives up before this.
        .args(["--timeout", "60000", "--verbose", "--command"])
        .arg(client())
        .arg("--expected-failures")
        .arg(root().join("tests/peers/mcp/expected-failures.yml"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let summary = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{summary}");

    // The suite does not mind a client that fails where nothing is to be seen on the wire.
    let failed = said.lines().filter_map(|line| {
        let (scenario, _) = line.strip_prefix("conformance ")?.split_once(": ")?;
        (!TURNED_BACK.contains(&scenario)).then_some(line)
    });
    assert_eq!(failed.collect::<BTreeSet<_>>(), BTreeSet::new());
}

/// Built along with this test: cargo puts examples beside the folder of tests.
fn client() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let client = test
        .parent()
        .unwrap()
        .with_file_name("examples/conformance");
    assert!(
        client.exists(),
        "{} is missing: cargo build -p tenon-sources --examples",
        client.display()
    );
    client
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}
