//! How much memory a program and all that it started have together, and whether it is too much.
//!
//! The kernel's limits are for one process and leave out what is shared. The guard looks as often as
//! it takes a program to fill what is left.

use std::fs;
use std::time::Duration;

use crate::process_tree::descendants;

const KIB: u64 = 1024;

/// How fast memory can be filled: the kernel clears it first.
const BYTES_PER_SECOND: u64 = 4 << 30;

const MIN_INTERVAL: Duration = Duration::from_millis(50);
const MAX_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct MemoryWatch {
    guard: u32,
    max: u64,
    used: u64,
}

impl MemoryWatch {
    /// Of all processes below the guard.
    pub(super) fn new(guard: u32, max: u64) -> Self {
        Self {
            guard,
            max,
            used: 0,
        }
    }

    /// How long it may go unwatched.
    pub(super) fn interval(&self) -> Duration {
        let millis = self.max.saturating_sub(self.used) / (BYTES_PER_SECOND / 1000);
        Duration::from_millis(millis).clamp(MIN_INTERVAL, MAX_INTERVAL)
    }

    /// Looks again.
    pub(super) fn is_exceeded(&mut self) -> bool {
        let processes = descendants(self.guard).unwrap_or_default();
        self.used = processes.iter().copied().map(resident).sum();
        if self.used > self.max {
            // What is shared was counted for each.
            self.used = processes.iter().copied().map(share).sum();
        }
        self.used > self.max
    }
}

/// What a process has, with what it shares with others.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    sum_of(&status.unwrap_or_default(), ["VmRSS:", "VmSwap:"])
}

/// Its share of what it has. Another user's is not always told.
fn share(process: u32) -> u64 {
    match fs::read_to_string(format!("/proc/{process}/smaps_rollup")) {
        Ok(rollup) => sum_of(&rollup, ["Pss:", "SwapPss:"]),
        Err(_) => resident(process),
    }
}

/// Of lines such as `VmRSS:     1234 kB`.
fn sum_of(text: &str, names: [&str; 2]) -> u64 {
    let kilobytes = text.lines().filter_map(|line| {
        let value = names.iter().find_map(|name| line.strip_prefix(name))?;
        value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    kilobytes.sum::<u64>() * KIB
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_less_is_left_the_sooner_it_is_looked_at_again() {
        let check = |used: u64, max: u64, millis: u64| {
            let watch = MemoryWatch {
                guard: 0,
                max,
                used,
            };
            assert_eq!(watch.interval(), Duration::from_millis(millis), "{used}");
        };
        check(0, 8 << 30, 1000);
        check(0, 1 << 30, 250);
        check(1 << 30, 1 << 30, 50);
        check(2 << 30, 1 << 30, 50);
    }

    #[test]
    fn what_proc_says_is_summed() {
        let text = "Name:\tx\nVmRSS:\t    1234 kB\nVmSwap:\t       1 kB\nThreads:\t7\n";
        assert_eq!(sum_of(text, ["VmRSS:", "VmSwap:"]), 1235 * KIB);
        assert_eq!(sum_of("", ["VmRSS:", "VmSwap:"]), 0);
    }
}
