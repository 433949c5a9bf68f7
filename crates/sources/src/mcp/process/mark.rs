//! A mark in the environment of a program, which all it starts inherits.
//!
//! A process group is left by whoever wants to: a browser that a server
//! started does. What carries the mark is found wherever it went.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

pub(in crate::mcp) const NAME: &str = "TENON_PROGRAM";

#[derive(Debug, Clone)]
pub(super) struct Mark(String);

/// What the marks of everything this process starts begin with.
pub(in crate::mcp) fn ours() -> &'static str {
    static OURS: OnceLock<String> = OnceLock::new();
    OURS.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_nanos();
        format!("{}-{now}", std::process::id())
    })
}

impl Mark {
    pub(super) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}", ours()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Kills all that carries it. Looks at every process of the machine: not
    /// for a thread that others wait for.
    #[cfg(target_os = "linux")]
    pub(super) fn sweep(&self) {
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
    pub(super) fn sweep(&self) {}
}
