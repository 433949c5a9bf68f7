//! A program that runs in a sandbox.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::net::{UnixStream, unix::pipe};
use tokio::process::Child;

use crate::walls::SandboxSupport;

/// For the guard to end everything in the sandbox; after it, the guard itself is killed, and what
/// is in a process namespace with it.
const KILL_TIMEOUT: Duration = Duration::from_secs(3);

/// More than that need not be counted.
const MAX_COUNTED: usize = 1_000;

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
        let mut parents = children(self.helper.id()?)?;
        let mut found = parents.len();
        while let Some(parent) = parents.pop()
            && found <= MAX_COUNTED
        {
            // One that has ended meanwhile has none.
            let children = children(parent).unwrap_or_default();
            found += children.len();
            parents.extend(children);
        }
        Some(found)
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

/// Those of all threads of a process. One that has just ended has none.
fn children(process: u32) -> Option<Vec<u32>> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else {
        return Some(Vec::new());
    };
    let mut children = Vec::new();
    for thread in threads.flatten() {
        match std::fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                let ids = list.split_whitespace();
                children.extend(ids.filter_map(|id| id.parse::<u32>().ok()));
            }
            // The thread has ended, or the kernel was built without this list.
            Err(_) if !thread.path().exists() => {}
            Err(_) => return None,
        }
    }
    Some(children)
}
