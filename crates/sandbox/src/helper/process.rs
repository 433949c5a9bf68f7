//! System calls that are unsafe in a process with several threads. The helper has one.

use std::io;

use rustix::process::{Pid, Signal, getpid, kill_process};
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
    set_disposition(libc::SIGCHLD, libc::SIG_IGN);
}

/// Ends this process by a signal, unless its default is to be ignored. Rust handles some itself.
pub(super) fn die_of(signal: Signal) {
    set_disposition(signal.as_raw(), libc::SIG_DFL);
    let _ = kill_process(getpid(), signal);
}

fn set_disposition(signal: i32, disposition: libc::sighandler_t) {
    #[expect(
        unsafe_code,
        reason = "the disposition is a constant of the kernel, not a function of ours"
    )]
    unsafe {
        libc::signal(signal, disposition);
    }
}
