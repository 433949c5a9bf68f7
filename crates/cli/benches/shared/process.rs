//! What another process uses, as the system counts it.

use std::fs;
use std::time::Duration;

/// A process, by its number.
#[derive(Debug, Clone, Copy)]
pub struct ProcessUse(pub u32);

impl ProcessUse {
    /// The time that its threads have had on a processor.
    pub fn on_processor(self) -> Duration {
        let nanos = self.threads().filter_map(|thread| {
            let stat = fs::read_to_string(thread.join("schedstat")).ok()?;
            stat.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(nanos.sum())
    }

    /// In KiB.
    pub fn resident(self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).unwrap_or_default();
        field(&status, "VmRSS:")
    }

    /// How often the threads that run SQLite's queries were waked: each query does so once or more.
    pub fn database_wakes(self) -> u64 {
        let wakes = self.threads().filter_map(|thread| {
            let name = fs::read_to_string(thread.join("comm")).ok()?;
            let status = fs::read_to_string(thread.join("status")).ok()?;
            let is_database = name.starts_with("sqlx-sqlite");
            is_database.then(|| field(&status, "voluntary_ctxt_switches:"))
        });
        wakes.sum()
    }

    fn threads(self) -> impl Iterator<Item = std::path::PathBuf> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.0));
        threads
            .into_iter()
            .flatten()
            .flatten()
            .map(|one| one.path())
    }
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.unwrap_or_default()
}
