//! Kills the servers of this process when it is killed itself.
//!
//! A process that is killed with `kill -9` can clean up nothing, and `npx` and `uvx` leave
//! a grandchild that no signal to their own process reaches. So one small shell in a session
//! of its own knows the process groups of all servers. It is told of each through a pipe,
//! and when the pipe closes, because this process is gone, it kills them and whatever else
//! carries the mark of this process, and exits.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::Pid;

use super::env_mark;

/// Reads `add 12` and `drop 12`, and kills what is left at the end. Its argument is the mark.
const SCRIPT: &str = "\
trap '' HUP INT TERM PIPE
groups=' '
while read -r what group; do
    case $what in
        add) groups=\"$groups$group \" ;;
        drop) case $groups in *\" $group \"*) groups=\"${groups%% $group *} ${groups#* $group }\" ;; esac ;;
    esac
done
for group in $groups; do
    kill -s KILL -- \"-$group\" 2>/dev/null
done
for found in $(grep -ls \"$1-\" /proc/[0-9]*/environ 2>/dev/null); do
    found=${found#/proc/}
    kill -s KILL \"${found%/environ}\" 2>/dev/null
done
";

static GUARD: Mutex<OrphanGuard> = Mutex::new(OrphanGuard {
    pipe: None,
    groups: BTreeSet::new(),
});

struct OrphanGuard {
    pipe: Option<ChildStdin>,
    groups: BTreeSet<i32>,
}

/// Has this group killed with this process, whatever ends it.
pub(super) fn watch(group: Pid) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    let group = group.as_raw_nonzero().get();
    guard.groups.insert(group);
    guard.send(&format!("add {group}\n"));
}

/// This group is gone: its id may be given to another one.
pub(super) fn forget(group: Pid) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    let group = group.as_raw_nonzero().get();
    guard.groups.remove(&group);
    guard.send(&format!("drop {group}\n"));
}

impl OrphanGuard {
    fn send(&mut self, line: &str) {
        let is_sent = self
            .pipe
            .as_mut()
            .is_some_and(|pipe| pipe.write_all(line.as_bytes()).is_ok());
        if is_sent {
            return;
        }
        // There is none yet, or somebody killed it.
        match start() {
            Ok(mut pipe) => {
                let all: String = self
                    .groups
                    .iter()
                    .map(|group| format!("add {group}\n"))
                    .collect();
                if pipe.write_all(all.as_bytes()).is_ok() {
                    self.pipe = Some(pipe);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "nothing would end MCP servers if this process were killed: /bin/sh cannot be run");
            }
        }
    }
}

fn start() -> std::io::Result<ChildStdin> {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SCRIPT, "mcp-guard"])
        .arg(format!("{}={}", env_mark::NAME, env_mark::own_prefix()))
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[expect(
        unsafe_code,
        reason = "only what runs between fork and exec can leave the terminal's session; setsid is one system call"
    )]
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into));
    }
    let mut child = command.spawn()?;
    // It is never waited for: it exits after this process.
    child
        .stdin
        .take()
        .ok_or_else(|| std::io::Error::other("it has no standard input"))
}
