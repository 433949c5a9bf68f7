//! Servers that misbehave, and what they wrote down about their lives.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tenon_domain::{Annotations, SourceState, ToolDefinition};
use tenon_sources::mcp::McpSettings;
use tenon_sources::{ServerStatus, SupervisedServer};
use tokio::time::{Instant, timeout};

use super::harness::{McpHarness, TEST_TIMEOUT, program, settings};

/// How `bad.mjs` is run, and the file it writes to.
pub struct BadServer {
    how: &'static str,
    folder: tempfile::TempDir,
}

impl BadServer {
    pub fn new(how: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { how, folder }
    }

    pub fn settings(&self) -> McpSettings {
        let file = self.file();
        bad(self.how, file.to_str().unwrap())
    }

    /// Up and listed.
    pub async fn ready(&self) -> McpHarness {
        ready(self.settings()).await
    }

    /// What the server wrote down, oldest first.
    pub fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.file()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn count(&self, line: &str) -> usize {
        self.lines().iter().filter(|l| l.starts_with(line)).count()
    }

    /// Waits until the server has written this down so many times.
    pub async fn until(&self, line: &str, times: usize) {
        let begun = Instant::now();
        while self.count(line) < times {
            assert!(begun.elapsed() < TEST_TIMEOUT, "{line}: {:?}", self.lines());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A file beside the one it writes to.
    pub fn beside(&self, extension: &str) -> PathBuf {
        self.file().with_extension(extension)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("lines")
    }
}

pub fn bad(how: &str, file: &str) -> McpSettings {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/mcp/bad.mjs");
    settings(program("node", &[script, how, file]))
}

pub async fn ready(settings: McpSettings) -> McpHarness {
    let harness = McpHarness::starting(settings).await;
    until_ready(&harness).await;
    harness
}

/// Waits until the server is as it should be, and takes over what it offers then.
pub async fn until(harness: &McpHarness, is_so: impl Fn(&ServerStatus) -> bool) -> ServerStatus {
    let mut changes = harness.server.changes();
    let reached = async {
        loop {
            let status = harness.server.status();
            if is_so(&status) {
                return status;
            }
            changes.changed().await.unwrap();
        }
    };
    let Ok(status) = timeout(TEST_TIMEOUT, reached).await else {
        let lines = harness.server.logs().lines();
        panic!("{:#?}\n{lines:#?}", harness.server.status());
    };
    harness.registry.refresh(&harness.connection).await.unwrap();
    status
}

pub async fn until_ready(harness: &McpHarness) -> ServerStatus {
    until(harness, |status| status.state == SourceState::Ready).await
}

pub async fn until_failed(harness: &McpHarness) -> String {
    let is_failed = |status: &ServerStatus| matches!(status.state, SourceState::Failed { .. });
    match until(harness, is_failed).await.state {
        SourceState::Failed { why } => why.message,
        other => panic!("{other:?}"),
    }
}

/// A tool from an earlier life.
pub fn known(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        title: None,
        description: "What it did.".into(),
        input_schema: json!({"type": "object"}).into(),
        annotations: Annotations::default(),
    }
}

pub fn nothing() -> Value {
    json!({})
}

/// Waits until a process is no more.
pub async fn until_gone(pid: u32) {
    let begun = Instant::now();
    while is_alive(pid) {
        assert!(
            begun.elapsed() < TEST_TIMEOUT,
            "process {pid} is still there"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// One that has ended and was not buried yet is not alive.
pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    let Ok(stat) = stat else {
        return false;
    };
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// From outside, as an operator or the kernel does it.
pub fn kill(pid: u32) {
    let killed = std::process::Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status();
    assert!(killed.unwrap().success());
}
