//! A program that runs in a sandbox.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::net::{UnixStream, unix::pipe};
use tokio::process::Child;

use crate::process_tree::descendants;
use crate::walls::SandboxSupport;

/// For the guard to end everything in the sandbox; after it, the guard itself is killed, and what
/// is in a process namespace with it.
const KILL_TIMEOUT: Duration = Duration::from_secs(3);

/// Dropped, it and everything it started are killed; so are they when this process ends,
/// whatever ends it.
#[derive(Debug)]
pub struct SandboxChild {
    pub stdin: Option<pipe::Sender>,
    pub stdout: Option<pipe::Receiver>,
    pub stderr: Option<pipe::Receiver>,
    /// The walls around this program.
    pub support: SandboxSupport,
    /// Exits as the program did, after everything in the sandbox is gone.
    pub(crate) helper: Child,
    /// Closed, the helper kills.
    pub(crate) control: Option<UnixStream>,
}

impl SandboxChild {
    /// Of the guard, as long as it was not waited for.
    pub fn id(&self) -> Option<u32> {
        self.helper.id()
    }

    /// How many processes there are below the guard. None: this system does not say.
    pub fn processes(&self) -> Option<usize> {
        Some(descendants(self.helper.id()?)?.len())
    }

    /// Waits until the program has exited and everything it started was killed.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.helper.wait().await
    }

    /// Kills the program and everything it started, and waits until all is gone.
    pub async fn kill(&mut self) -> io::Result<ExitStatus> {
        self.control = None;
        match tokio::time::timeout(KILL_TIMEOUT, self.helper.wait()).await {
            Ok(status) => status,
            Err(_) => {
                self.helper.start_kill()?;
                self.helper.wait().await
            }
        }
    }
}
