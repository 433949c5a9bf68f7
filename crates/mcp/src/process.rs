//! The process of a stdio server, with everything it started.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Command;
use tokio::sync::watch;

use crate::error::StartError;
use env_mark::EnvMark;

mod env_mark;
mod guard;
mod spawn;

/// For a program to exit by itself after its input has ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// For it to exit after SIGTERM, and after SIGKILL.
const SIGNAL_TIMEOUT: Duration = Duration::from_secs(1);

/// For an installer to undo what it did, after SIGTERM in the middle of it.
const INSTALLER_TIMEOUT: Duration = Duration::from_secs(5);

/// A program to be started, with everything filled in.
#[derive(Clone, Default)]
pub struct Program {
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub cwd: Option<String>,
}

/// A running process group. Dropping it kills all its processes.
#[derive(Debug)]
pub struct Process {
    pub(crate) pid: u32,
    group: ProcessGroup,
    mark: EnvMark,
    exit: watch::Receiver<Option<ExitStatus>>,
}

#[derive(Debug)]
struct ProcessGroup {
    leader: Pid,
    is_gone: AtomicBool,
}

/// A process and its three pipes.
#[derive(Debug)]
pub struct SpawnedProcess {
    pub process: Process,
    pub stdin: tokio::process::ChildStdin,
    pub stdout: tokio::process::ChildStdout,
    pub stderr: tokio::process::ChildStderr,
}

impl Program {
    /// Starts it in a process group of its own, with none of our secrets in its environment. It
    /// does not outlive this process.
    pub async fn start(&self) -> Result<SpawnedProcess, StartError> {
        if let Some(cwd) = &self.cwd
            && !Path::new(cwd).is_dir()
        {
            return Err(StartError::NoFolder(cwd.clone()));
        }
        let mark = EnvMark::new();
        let mut child = spawn::spawn(self.command(&mark))
            .await
            .map_err(|error| self.start_error(&error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(StartError::WithoutPipes(self.command.clone()));
        };
        let leader = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let Some(leader) = leader else {
            return Err(StartError::EndedAtOnce(self.command.clone()));
        };
        guard::watch(leader);
        let group = ProcessGroup {
            leader,
            is_gone: AtomicBool::new(false),
        };
        let (sender, exit) = watch::channel(None);
        tokio::spawn(async move {
            let status = child.wait().await;
            sender.send_replace(Some(status.unwrap_or_default()));
        });
        let process = Process {
            pid: leader.as_raw_nonzero().get().unsigned_abs(),
            group,
            mark,
            exit,
        };
        Ok(SpawnedProcess {
            process,
            stdin,
            stdout,
            stderr,
        })
    }

    fn command(&self, mark: &EnvMark) -> Command {
        let mut command = Command::new(&self.command);
        command
            .args(&self.args)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, value)| {
                let value = value.as_encoded_bytes();
                name.to_str().is_some_and(spawn::is_shared_variable) && !value.starts_with(b"()")
            }))
            .envs(&self.env)
            .env(env_mark::NAME, mark.as_str())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        #[cfg(target_os = "linux")]
        spawn::kill_on_parent_death(&mut command);
        command
    }

    fn start_error(&self, error: &io::Error) -> StartError {
        let command = self.command.clone();
        match error.kind() {
            io::ErrorKind::NotFound => StartError::ProgramNotFound(command),
            io::ErrorKind::PermissionDenied => StartError::NotExecutable(command),
            _ => StartError::Spawn {
                command,
                cause: error.to_string(),
            },
        }
    }
}

/// Its arguments and its environment may hold secrets.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Program").field(&self.command).finish()
    }
}

impl Process {
    /// Its exit status, once it has exited.
    pub async fn exited(&self) -> ExitStatus {
        let mut exit = self.exit.clone();
        let status = exit.wait_for(Option::is_some).await;
        status.ok().and_then(|status| *status).unwrap_or_default()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.exit.borrow().is_some()
    }

    /// Ends it and all it started. Its input must have been closed before.
    pub(crate) async fn end(&self) {
        if !self.ends_within(EXIT_TIMEOUT).await {
            self.end_by_signals(SIGNAL_TIMEOUT).await;
        }
        self.kill_rest().await;
    }

    /// The same for one that does not read its input yet.
    pub(crate) async fn terminate(&self) {
        self.end_by_signals(INSTALLER_TIMEOUT).await;
        self.kill_rest().await;
    }

    async fn end_by_signals(&self, timeout: Duration) {
        self.group.signal(Signal::TERM);
        if !self.ends_within(timeout).await {
            self.group.signal(Signal::KILL);
            self.ends_within(SIGNAL_TIMEOUT).await;
        }
    }

    async fn kill_rest(&self) {
        if self.group.kill() {
            let mark = self.mark.clone();
            let _ = tokio::task::spawn_blocking(move || mark.kill_all()).await;
        }
    }

    /// At once.
    pub(crate) fn kill(&self) {
        if self.group.kill() {
            let mark = self.mark.clone();
            let thread = std::thread::Builder::new().name("mcp-killer".into());
            if let Err(error) = thread.spawn(move || mark.kill_all()) {
                tracing::warn!(%error, "what an MCP server started may be left running");
            }
        }
    }

    async fn ends_within(&self, timeout: Duration) -> bool {
        let ending = async {
            self.exited().await;
            // Processes it started may outlive it without any signal, so the group is polled.
            while !self.group.is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(timeout, ending).await.is_ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl ProcessGroup {
    /// Whether it was not yet.
    fn kill(&self) -> bool {
        let is_first = !self.is_gone.swap(true, Ordering::AcqRel);
        if is_first {
            let _ = kill_process_group(self.leader, Signal::KILL);
            guard::forget(self.leader);
        }
        is_first
    }

    fn signal(&self, signal: Signal) {
        if !self.is_gone.load(Ordering::Acquire) {
            let _ = kill_process_group(self.leader, signal);
        }
    }

    fn is_empty(&self) -> bool {
        test_kill_process_group(self.leader).is_err()
    }
}
