//! System calls that are unsafe in a process with several threads. The helper has one.

use std::io;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

pub(super) enum Fork {
    Parent(Pid),
    Child,
}

pub(super) fn fork() -> io::Result<Fork> {
    #[expect(
        unsafe_code,
        reason = "the helper has a single thread, so nothing is locked or half done in the child"
    )]
    let pid = unsafe { libc::fork() };
    match Pid::from_raw(pid) {
        None => Ok(Fork::Child),
        Some(_) if pid < 0 => Err(io::Error::last_os_error()),
        Some(child) => Ok(Fork::Parent(child)),
    }
}

pub(super) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    #[expect(
        unsafe_code,
        reason = "unsafe is only to stop sharing file descriptors with other threads"
    )]
    unsafe {
        rustix::thread::unshare_unsafe(namespaces)?;
    }
    Ok(())
}

/// Has the kernel reap the children of this process.
pub(super) fn reap_children() {
    #[expect(
        unsafe_code,
        reason = "the handler is a constant of the kernel, not a function of ours"
    )]
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
    }
}
