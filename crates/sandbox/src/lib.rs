//! Runs a program that is not trusted behind the walls that the Linux kernel has.
//!
//! A server with threads can run no code between `fork` and `exec`, so the current executable is
//! executed again as a *helper*: its `main` calls [`helper_main`] before anything else. The helper
//! gets the command over a socket, takes all rights from itself that the command is not to have,
//! and executes the program. `README.md` says which walls there are and what they do not hold.
//!
//! What the kernel does not have is left out and reported: see [`SandboxSupport`].

mod child;
mod command;
mod error;
#[cfg(target_os = "linux")]
mod helper;
mod launcher;
mod process_tree;
mod protocol;
mod run;
mod toolchains;
mod walls;

pub use child::SandboxChild;
pub use command::{NetworkAccess, SandboxCommand, SandboxLimits};
pub use error::{Error, SetupStep};
pub use launcher::Sandbox;
pub use run::{RunEnd, SandboxOutput};
pub use walls::{SandboxSupport, Wall, WallStatus, WallStrength};

/// Becomes the helper if this process was started as one, and then does not return. To be called
/// first thing in `main`, before there is a second thread.
pub fn helper_main() {
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).as_deref() == Some(protocol::HELPER_ARGUMENT.as_ref()) {
        helper::run();
    }
}
