//! The helper: a process that builds the walls around itself and becomes the program.
//!
//! It is three processes. The *guard* was started by the launcher; it keeps all its rights, runs
//! nothing foreign, and ends the others when the program exits or the launcher is gone. *Init* is
//! the first process of the process namespace: it reaps what was orphaned, and the kernel kills
//! everything in the namespace with it. The *program* gives up its rights and is executed.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

mod files;
mod guard;
mod limits;
mod memory;
mod mounts;
mod namespaces;
mod path_rules;
mod process;
mod program;
mod setup_failure;
mod system_calls;
mod user;

pub(crate) fn run() -> ! {
    let control = std::io::stdin().as_fd().try_clone_to_owned();
    match control.map(UnixStream::from) {
        Ok(control) => guard::run(&control),
        Err(_) => std::process::exit(1),
    }
}
