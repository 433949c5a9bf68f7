//! A mark in the environment of a program, which all it starts inherits.
//!
//! Any process may leave its process group: a browser that a server started does. By
//! the mark it is found wherever it went.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) const NAME: &str = "MCP_PROCESS_MARK";

#[derive(Debug, Clone)]
pub(super) struct EnvMark(String);

/// What the marks of all programs of this process begin with.
pub(super) fn own_prefix() -> &'static str {
    static PREFIX: OnceLock<String> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_nanos();
        format!("{}-{now}", std::process::id())
    })
}

impl EnvMark {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}", own_prefix()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Kills all that carries it. It looks at every process of the machine: call it from a
    /// blocking thread.
    #[cfg(target_os = "linux")]
    pub(super) fn kill_all(&self) {
        use rustix::process::{Pid, Signal, kill_process};

        let wanted = format!("{NAME}={}", self.0);
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        for process in processes {
            let pid = process.file_name().to_str().and_then(|id| id.parse().ok());
            let Some(pid) = pid.and_then(Pid::from_raw) else {
                continue;
            };
            let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
            let mut entries = environment.split(|byte| *byte == 0);
            if entries.any(|entry| entry == wanted.as_bytes()) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn kill_all(&self) {}
}
