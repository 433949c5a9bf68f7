//! Limits of the kernel for each process (`setrlimit`), and for the number of them. What all of
//! them have in memory is the guard's to watch ([`super::memory`]).

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};

use crate::command::SandboxLimits;
use crate::process_tree::children;

/// From the signal that can be caught to the one that cannot.
const CPU_GRACE_SECONDS: u64 = 1;

/// The process that the kernel ends before all others when memory runs out.
const FIRST_TO_END: &str = "1000";

/// Before the server that started it. Where the kernel does not allow that, limits have to do.
pub(super) fn prefer_for_oom_kill() {
    let _ = fs::write("/proc/self/oom_score_adj", FIRST_TO_END);
}

/// Whether the guard finds all processes of the program.
pub(super) fn has_process_tree() -> bool {
    // By its own id it is another one there: that is of the new namespace.
    // Where nothing is found, a process without children looks the same as no `/proc` at all.
    Path::new("/proc/self/task").is_dir() && children("self").is_some()
}

pub(super) fn apply(limits: &SandboxLimits, other_tasks: u64) -> io::Result<()> {
    let cpu = limits.cpu.as_secs().max(1);
    let tasks = limits.processes + other_tasks;
    let values = [
        (Resource::Core, 0, 0),
        (Resource::Cpu, cpu, cpu + CPU_GRACE_SECONDS),
        // Not the address space, of which V8 and WebAssembly reserve much more than they use.
        (Resource::Data, limits.memory, limits.memory),
        (Resource::Fsize, limits.file_size, limits.file_size),
        (Resource::Nofile, limits.open_files, limits.open_files),
        (Resource::Nproc, tasks, tasks),
    ];
    for (resource, current, maximum) in values {
        let allowed = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Rlimit {
            current: Some(current.min(allowed)),
            maximum: Some(maximum.min(allowed)),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

/// Processes and threads of this user: where they are counted together with those of the
/// program, its limit is on top of them.
pub(super) fn tasks_of_user() -> u64 {
    let user = getuid().as_raw();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|process| process.metadata().is_ok_and(|data| data.uid() == user))
        .filter_map(|process| threads(&process.path()))
        .sum()
}

fn threads(process: &Path) -> Option<u64> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"))?;
    line.trim().parse().ok()
}
