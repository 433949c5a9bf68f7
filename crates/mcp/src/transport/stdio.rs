//! Stdio: one message per line over a program's standard input and output.

use std::sync::Arc;
use std::time::Duration;

use tenon_text as text;
use tokio::net::unix::pipe;
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::line_reader::{InputLine, LineReader};
use super::stdin_writer::StdinWriter;
use crate::error::{ConnectionError, Error, StartError};
use crate::jsonrpc::MAX_MESSAGE_BYTES;
use crate::pending::PendingRequests;
use crate::process::{Process, Program, SpawnedProcess};
use crate::session_log::SessionLog;

/// More of one line of standard error than anybody reads.
const MAX_STDERR_LINE_BYTES: usize = 8 * 1024;

/// The deepest indentation of a stack trace that is kept.
const MAX_INDENT: usize = 16;

/// How long what a program wrote before it ended may take to be read.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(300);

#[derive(Debug)]
pub(crate) struct StdioTransport {
    process: Arc<Process>,
    stdin: Arc<StdinWriter>,
    exit_watcher: JoinHandle<()>,
    /// Where the process is ended if nobody closed the connection.
    cleanup: TaskTracker,
}

impl StdioTransport {
    pub(crate) async fn start(
        program: &Program,
        pending: &Arc<PendingRequests>,
        cleanup: &TaskTracker,
    ) -> Result<Self, StartError> {
        let SpawnedProcess {
            process,
            stdin,
            stdout,
            stderr,
        } = program.start().await?;
        pending.log().process_started();
        let process = Arc::new(process);
        let command = program.command.clone();
        let no_pipes = |_error| StartError::Pipes(command.clone());
        let stdin = stdin.into_owned_fd().map_err(no_pipes)?;
        let stdout = stdout.into_owned_fd().map_err(no_pipes)?;
        let stdin = StdinWriter::new(stdin).map_err(no_pipes)?;
        let stdout = pipe::Receiver::from_owned_fd(stdout).map_err(no_pipes)?;

        let stderr_reader = tokio::spawn(log_stderr(stderr, pending.log().clone()));
        let stdout_reader = tokio::spawn(read_stdout(stdout, pending.clone(), stdin.clone()));
        let watcher = ExitWatcher {
            process: process.clone(),
            stdin: stdin.clone(),
            pending: pending.clone(),
            command,
            stdout_reader,
            stderr_reader,
        };
        Ok(Self {
            process,
            stdin,
            exit_watcher: tokio::spawn(watcher.run()),
            cleanup: cleanup.clone(),
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid
    }

    pub(crate) async fn send(&self, line: &str) -> Result<(), Error> {
        if self.stdin.send(line).await.is_ok() {
            return Ok(());
        }
        // In most cases it has ended, and how is known in a moment: whoever waits gets that instead.
        tokio::time::sleep(3 * DRAIN_TIMEOUT).await;
        Err(Error::NotSent(ConnectionError::InputClosed))
    }

    pub(crate) fn queue(&self, line: &str) {
        self.stdin.push(line);
    }

    pub(crate) async fn close(&self) {
        self.stdin.close();
        self.process.end().await;
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        self.stdin.close();
        self.exit_watcher.abort();
        if self.process.has_ended() || tokio::runtime::Handle::try_current().is_err() {
            return self.process.kill();
        }
        // An installer that is killed leaves half a package behind; on SIGTERM it removes it.
        let process = self.process.clone();
        self.cleanup.spawn(async move { process.terminate().await });
    }
}

async fn read_stdout(
    stdout: pipe::Receiver,
    pending: Arc<PendingRequests>,
    stdin: Arc<StdinWriter>,
) {
    let mut lines = LineReader::new(stdout, MAX_MESSAGE_BYTES);
    while let Ok(Some(line)) = lines.next().await {
        match line {
            InputLine::Whole(line) => {
                for reply in pending.on_message(line, None).replies {
                    stdin.push(&reply);
                }
            }
            InputLine::TooLong { head, tail } => pending.on_oversized_message(&head, tail),
        }
    }
}

async fn log_stderr(stderr: ChildStderr, log: SessionLog) {
    let mut lines = LineReader::new(stderr, MAX_STDERR_LINE_BYTES);
    while let Ok(Some(line)) = lines.next().await {
        let line = match &line {
            InputLine::Whole(line) => String::from_utf8_lossy(line),
            InputLine::TooLong { head, .. } => String::from_utf8_lossy(head),
        };
        let cleaned = text::line(&line, MAX_STDERR_LINE_BYTES);
        if !cleaned.is_empty() {
            // What is indented belongs to the line before it.
            let blanks = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
            let indent = " ".repeat(blanks.take(MAX_INDENT).count());
            log.output(&(indent + &cleaned));
        }
    }
}

/// Ends the connection when the program exits or closes its output.
struct ExitWatcher {
    process: Arc<Process>,
    stdin: Arc<StdinWriter>,
    pending: Arc<PendingRequests>,
    command: String,
    stdout_reader: JoinHandle<()>,
    stderr_reader: JoinHandle<()>,
}

impl ExitWatcher {
    async fn run(mut self) {
        let status = tokio::select! {
            status = self.process.exited() => Some(status),
            _ = &mut self.stdout_reader => {
                // Most exit right after.
                tokio::time::timeout(DRAIN_TIMEOUT, self.process.exited()).await.ok()
            }
        };
        let reading = async {
            if !self.stdout_reader.is_finished() {
                let _ = (&mut self.stdout_reader).await;
            }
            let _ = (&mut self.stderr_reader).await;
        };
        // Something it started may hold its pipes open for ever.
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, reading).await;
        self.stdout_reader.abort();
        self.stderr_reader.abort();
        let output = self.pending.log().server_output();
        let command = self.command;
        self.pending.close(match status {
            Some(status) => ConnectionError::Exited {
                command,
                status,
                output,
            },
            None => ConnectionError::OutputClosed { command, output },
        });
        self.stdin.close();
        if status.is_some() {
            self.process.kill();
        } else {
            self.process.end().await;
        }
    }
}
