//! A connection over a program's standard input and output.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::board::Board;
use super::fault::Fault;
use super::lines::{Line, Lines};
use super::logs::Logs;
use super::message::MAX_MESSAGE;
use super::outlet::Outlet;
use super::process::{self, Process, Program, Started};
use super::text;
use super::words;

/// More of one line of standard error than anybody reads.
const MAX_ERROR_LINE: usize = 8 * 1024;

/// As deep as a stack is shown.
const MAX_INDENT: usize = 16;

/// How long what a program said before it ended may take to be read.
const LAST_WORDS: Duration = Duration::from_millis(300);

#[derive(Debug)]
pub(super) struct Stdio {
    process: Arc<Process>,
    outlet: Arc<Outlet>,
    watching: JoinHandle<()>,
    /// Where the process ends if nobody closed the connection.
    endings: TaskTracker,
}

impl Stdio {
    pub(super) async fn start(
        program: &Program,
        board: &Arc<Board>,
        endings: &TaskTracker,
    ) -> Result<Self, String> {
        let Started {
            process,
            stdin,
            stdout,
            stderr,
        } = program.start().await?;
        board.logs().begin_run();
        let process = Arc::new(process);
        let name = program.command.clone();
        let pipes = || format!("The pipes to `{name}` could not be made.");
        let stdin = stdin.into_owned_fd().map_err(|_| pipes())?;
        let stdout = stdout.into_owned_fd().map_err(|_| pipes())?;
        let outlet = Outlet::new(stdin).map_err(|_| pipes())?;
        let stdout = pipe::Receiver::from_owned_fd(stdout).map_err(|_| pipes())?;

        let errors = tokio::spawn(keep(stderr, board.logs().clone()));
        let reading = tokio::spawn(read(stdout, board.clone(), outlet.clone()));
        let watching = tokio::spawn(watch(Watch {
            process: process.clone(),
            outlet: outlet.clone(),
            board: board.clone(),
            name,
            reading,
            errors,
        }));
        Ok(Self {
            process,
            outlet,
            watching,
            endings: endings.clone(),
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.pid
    }

    pub(super) async fn send(&self, line: &str) -> Result<(), Fault> {
        if self.outlet.send(line).await.is_ok() {
            return Ok(());
        }
        // In most cases it has ended, and how is known in a moment: whoever waits hears that instead.
        tokio::time::sleep(3 * LAST_WORDS).await;
        Err(Fault::Unreached(
            "The program does not read its input any more.".into(),
        ))
    }

    pub(super) fn push(&self, line: &str) {
        self.outlet.push(line);
    }

    pub(super) async fn close(&self) {
        self.outlet.close();
        self.process.end().await;
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.outlet.close();
        self.watching.abort();
        if self.process.has_ended() || tokio::runtime::Handle::try_current().is_err() {
            return self.process.kill();
        }
        // An installer that is killed leaves half a package behind. Asked to end, it takes it away.
        let process = self.process.clone();
        self.endings.spawn(async move { process.terminate().await });
    }
}

async fn read(stdout: pipe::Receiver, board: Arc<Board>, outlet: Arc<Outlet>) {
    let mut lines = Lines::new(stdout, MAX_MESSAGE);
    while let Ok(Some(line)) = lines.next().await {
        match line {
            Line::Whole(line) => {
                for reply in board.hear(line, None).replies {
                    outlet.push(&reply);
                }
            }
            Line::TooLong { head, tail } => board.hear_too_long(&head, tail),
        }
    }
}

async fn keep(stderr: ChildStderr, logs: Logs) {
    let mut lines = Lines::new(stderr, MAX_ERROR_LINE);
    while let Ok(Some(line)) = lines.next().await {
        let line = match &line {
            Line::Whole(line) => String::from_utf8_lossy(line),
            Line::TooLong { head, .. } => String::from_utf8_lossy(head),
        };
        let said = text::line(&line, MAX_ERROR_LINE);
        if !said.is_empty() {
            // What is indented belongs to what stands before it.
            let blank = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
            let indent = " ".repeat(blank.take(MAX_INDENT).count());
            logs.heard(indent + &said);
        }
    }
}

struct Watch {
    process: Arc<Process>,
    outlet: Arc<Outlet>,
    board: Arc<Board>,
    name: String,
    reading: JoinHandle<()>,
    errors: JoinHandle<()>,
}

/// Ends the connection when the program ends or closes its output.
async fn watch(mut watch: Watch) {
    let name = &watch.name;
    let status = tokio::select! {
        status = watch.process.exited() => Some(status),
        _ = &mut watch.reading => {
            // Most end right after.
            tokio::time::timeout(LAST_WORDS, watch.process.exited()).await.ok()
        }
    };
    let reading = async {
        if !watch.reading.is_finished() {
            let _ = (&mut watch.reading).await;
        }
        let _ = (&mut watch.errors).await;
    };
    // Something it started may hold its pipes open for ever.
    let _ = tokio::time::timeout(LAST_WORDS, reading).await;
    watch.reading.abort();
    watch.errors.abort();
    let how = match status {
        Some(status) => format!("`{name}` {}", process::ending(status)),
        None => format!("`{name}` closed its output"),
    };
    let cause = watch.board.logs().cause();
    let why = words::with_cause(&format!("{how}."), &cause);
    watch.board.end(why);
    watch.outlet.close();
    if status.is_some() {
        watch.process.kill();
    } else {
        watch.process.end().await;
    }
}
