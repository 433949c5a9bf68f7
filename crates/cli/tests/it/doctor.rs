//! `tenon doctor`, against the servers people have and those that are broken.

mod broken;
mod canned;
mod mcpo;
mod mended;
mod real;
mod refused;
mod usage;

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

const PAGE: &str = "https://tenon.example";

/// What the program says of an address, in a folder where it must leave nothing.
fn run(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut tenon = Command::new(env!("CARGO_BIN_EXE_tenon"));
    tenon.current_dir(folder.path()).env_remove("TENON_DATA");
    let output = tenon.arg("doctor").args(arguments).output().unwrap();
    let left: Vec<_> = folder.path().read_dir().unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    output
}

/// The same as JSON, for a page at [`PAGE`].
fn examine(url: &str, more: &[&str]) -> Value {
    let output = run(&[&[url, "--origin", PAGE, "--json"], more].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let code = if report["ok"] == true { 0 } else { 1 };
    assert_eq!(output.status.code(), Some(code), "{report:#}");
    assert!(output.stderr.is_empty(), "{output:?}");
    report
}

/// On a busy machine any server may be too slow for so long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// Checks the verdict, and gives the rest.
#[track_caller]
fn check(url: &str, more: &[&str], expected: &str) -> Value {
    let began = Instant::now();
    let mut report = examine(url, more);
    let is_busy = |report: &Value| report["verdict"]["kind"] == "tooSlow" && expected != "tooSlow";
    while is_busy(&report) && began.elapsed() < BUSY_TIMEOUT {
        report = examine(url, more);
    }
    assert_eq!(report["verdict"]["kind"], expected, "{report:#}");
    report
}

/// What was asked, in order: "GET /openapi.json 200".
fn asked(report: &Value) -> Vec<String> {
    let steps = report["steps"].as_array().unwrap().iter();
    steps
        .map(|step| {
            let url: url::Url = step["asked"]["url"].as_str().unwrap().parse().unwrap();
            let method = step["asked"]["method"].as_str().unwrap();
            let came = match step["got"]["status"].as_u64() {
                Some(status) => status.to_string(),
                None => step["error"].as_str().unwrap().to_owned(),
            };
            format!("{method} {} {came}", url.path())
        })
        .collect()
}

fn message(report: &Value) -> &str {
    report["verdict"]["message"].as_str().unwrap()
}

/// The lines that mend it; each of several ways begins with what it is for.
fn fix(report: &Value) -> Vec<String> {
    let ways = report["verdict"]["fix"].as_array().unwrap().iter();
    let lines = ways.flat_map(|way| way["lines"].as_array().unwrap());
    lines
        .map(|line| line.as_str().unwrap().to_owned())
        .collect()
}
