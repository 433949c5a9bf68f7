//! Namespaces of the kernel. Each is used where it can be had.

use std::fs;
use std::io;

use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;

use super::process;

/// The release from which on processes are counted per user namespace.
const PROCESSES_PER_NAMESPACE: (u32, u32) = (5, 14);

/// Those that are entered before there is a process for the program.
#[derive(Debug, Clone, Copy)]
pub(super) struct OuterNamespaces {
    pub(super) user: bool,
    pub(super) pid: bool,
}

impl OuterNamespaces {
    /// Root needs no user namespace to have others; everybody else has rights only in their own.
    pub(super) fn enter() -> Self {
        let user = !getuid().is_root() && enter_user_namespace().is_ok();
        let pid = enter(UnshareFlags::NEWPID);
        Self { user, pid }
    }

    pub(super) fn counts_own_processes(self) -> bool {
        self.user && kernel_release().is_some_and(|release| release >= PROCESSES_PER_NAMESPACE)
    }
}

pub(super) fn enter(namespace: UnshareFlags) -> bool {
    process::unshare(namespace).is_ok()
}

/// In which this user is the same one.
fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    process::unshare(UnshareFlags::NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

fn kernel_release() -> Option<(u32, u32)> {
    let uname = rustix::system::uname();
    let mut numbers = uname.release().to_str().ok()?.split(['.', '-']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
