//! A server that is a program on this machine: its process and all it started.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Command;
use tokio::sync::watch;

use super::guard;
use mark::Mark;

mod launch;
pub(super) mod mark;

/// How long a program may take to end by itself after its input has ended.
const GRACE: Duration = Duration::from_secs(2);

/// How long it may take after it was asked to, and after it was made to.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// How long one that is asked to end in the middle of an installation may take to undo it.
const CLEANUP_GRACE: Duration = Duration::from_secs(5);

/// A program to be started, with everything filled in.
#[derive(Clone)]
pub(super) struct Program {
    pub(super) command: String,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: Option<String>,
}

/// What runs, and everything it started. Dropped, all of it is killed.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    group: Group,
    mark: Mark,
    exit: watch::Receiver<Option<ExitStatus>>,
}

#[derive(Debug)]
struct Group {
    leader: Pid,
    gone: AtomicBool,
}

/// A process and its three pipes.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) process: Process,
    pub(super) stdin: tokio::process::ChildStdin,
    pub(super) stdout: tokio::process::ChildStdout,
    pub(super) stderr: tokio::process::ChildStderr,
}

impl Program {
    /// The error is a sentence about what to do.
    pub(super) async fn start(&self) -> Result<Started, String> {
        if let Some(cwd) = &self.cwd
            && !Path::new(cwd).is_dir()
        {
            return Err(format!("The folder {cwd} it should run in does not exist."));
        }
        let mark = Mark::fresh();
        let mut child = launch::spawn(self.command(&mark))
            .await
            .map_err(|error| self.explain(&error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(format!("`{}` was started without pipes.", self.command));
        };
        let leader = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let Some(leader) = leader else {
            return Err(format!("`{}` ended at once.", self.command));
        };
        guard::watch(leader);
        let group = Group {
            leader,
            gone: AtomicBool::new(false),
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
        Ok(Started {
            process,
            stdin,
            stdout,
            stderr,
        })
    }

    fn command(&self, mark: &Mark) -> Command {
        let mut command = Command::new(&self.command);
        command
            .args(&self.args)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, value)| {
                let value = value.as_encoded_bytes();
                name.to_str().is_some_and(launch::is_shared) && !value.starts_with(b"()")
            }))
            .envs(&self.env)
            .env(mark::NAME, mark.as_str())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        #[cfg(target_os = "linux")]
        launch::die_with_us(&mut command);
        command
    }

    fn explain(&self, error: &io::Error) -> String {
        let command = &self.command;
        match error.kind() {
            io::ErrorKind::NotFound => format!(
                "`{command}` was not found. Install it on the machine Tenon runs on, or give its whole path; it is looked for in PATH."
            ),
            io::ErrorKind::PermissionDenied => {
                format!("`{command}` may not be run: it is not an executable file.")
            }
            _ => format!("`{command}` could not be started: {error}."),
        }
    }
}

impl Process {
    /// How it ended, once it has.
    pub(super) async fn exited(&self) -> ExitStatus {
        let mut exit = self.exit.clone();
        let status = exit.wait_for(Option::is_some).await;
        status.ok().and_then(|status| *status).unwrap_or_default()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.exit.borrow().is_some()
    }

    /// Ends it and all it started. Its input must have been closed before.
    pub(super) async fn end(&self) {
        if !self.ends_within(GRACE).await {
            self.end_by_signals(LAST_GRACE).await;
        }
        self.bury().await;
    }

    /// The same for one that does not read its input yet.
    pub(super) async fn terminate(&self) {
        self.end_by_signals(CLEANUP_GRACE).await;
        self.bury().await;
    }

    async fn end_by_signals(&self, grace: Duration) {
        self.group.signal(Signal::TERM);
        if !self.ends_within(grace).await {
            self.group.signal(Signal::KILL);
            self.ends_within(LAST_GRACE).await;
        }
    }

    async fn bury(&self) {
        if self.group.kill() {
            let mark = self.mark.clone();
            let _ = tokio::task::spawn_blocking(move || mark.sweep()).await;
        }
    }

    /// At once.
    pub(super) fn kill(&self) {
        if self.group.kill() {
            let mark = self.mark.clone();
            let sweep = std::thread::Builder::new().name("mcp-sweeper".into());
            if let Err(error) = sweep.spawn(move || mark.sweep()) {
                tracing::warn!(%error, "what an MCP server started may be left running");
            }
        }
    }

    async fn ends_within(&self, grace: Duration) -> bool {
        let ending = async {
            self.exited().await;
            // What it started may outlive it, and nothing tells when that ends.
            while !self.group.is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(grace, ending).await.is_ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Group {
    /// Whether it was not yet.
    fn kill(&self) -> bool {
        let is_first = !self.gone.swap(true, Ordering::AcqRel);
        if is_first {
            let _ = kill_process_group(self.leader, Signal::KILL);
            guard::forget(self.leader);
        }
        is_first
    }

    fn signal(&self, signal: Signal) {
        if !self.gone.load(Ordering::Acquire) {
            let _ = kill_process_group(self.leader, signal);
        }
    }

    fn is_empty(&self) -> bool {
        test_kill_process_group(self.leader).is_err()
    }
}

/// "exited with code 3", "was killed by signal 9"
pub(super) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}
