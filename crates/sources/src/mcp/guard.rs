//! Ends what we started when we cannot do it ourselves any more.
//!
//! A process that is killed with `kill -9` can clean up nothing, and `npx` and
//! `uvx` leave a grandchild that no signal to their own process reaches. So one
//! small shell in a session of its own knows the process groups of all our
//! servers. It hears of each through a pipe, and when the pipe closes, because
//! we are gone, it kills them and whatever else bears our mark, and ends.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::Pid;

use super::process::mark;

/// Reads `add 12` and `drop 12`, and kills what is left at the end. Its argument is our mark.
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

static GUARD: Mutex<Guard> = Mutex::new(Guard {
    pipe: None,
    groups: BTreeSet::new(),
});

struct Guard {
    pipe: Option<ChildStdin>,
    groups: BTreeSet<i32>,
}

/// Has this group ended with us, whatever ends us.
pub(super) fn watch(group: Pid) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    let group = group.as_raw_nonzero().get();
    guard.groups.insert(group);
    guard.tell(&format!("add {group}\n"));
}

/// This group is gone: its number may be given to somebody else.
pub(super) fn forget(group: Pid) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    let group = group.as_raw_nonzero().get();
    guard.groups.remove(&group);
    guard.tell(&format!("drop {group}\n"));
}

impl Guard {
    fn tell(&mut self, line: &str) {
        let told = self
            .pipe
            .as_mut()
            .is_some_and(|pipe| pipe.write_all(line.as_bytes()).is_ok());
        if told {
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
                tracing::warn!(%error, "nothing would end MCP servers after a sudden end of Tenon: /bin/sh cannot be run");
            }
        }
    }
}

fn start() -> std::io::Result<ChildStdin> {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SCRIPT, "tenon-guard"])
        .arg(format!("{}={}", mark::NAME, mark::ours()))
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
    // It is never waited for: it ends after us.
    child
        .stdin
        .take()
        .ok_or_else(|| std::io::Error::other("it has no standard input"))
}
