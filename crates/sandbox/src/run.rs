//! One run of a command: input in, output out, within its limits.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;

use crate::child::SandboxChild;
use crate::command::{SandboxCommand, SandboxLimits};
use crate::error::Error;
use crate::launcher::Sandbox;

/// A line of standard error is cut here.
const MAX_LINE_BYTES: usize = 4096;

const BUFFER_BYTES: usize = 16 * 1024;

/// `SIGXCPU`, the same number on every Linux that we build for.
const CPU_LIMIT_SIGNAL: i32 = 24;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxOutput {
    pub stdout: Vec<u8>,
    /// The last of what it wrote there.
    pub stderr: Vec<u8>,
    pub end: RunEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    Exited(i32),
    Signaled(i32),
    /// It took longer than `SandboxLimits::wall_clock`, and was killed.
    TimedOut,
    CpuLimit,
    /// It wrote more than `SandboxLimits::output`, and was killed.
    OutputLimit,
}

impl Sandbox {
    /// Runs a command to its end. Each line of its standard error is given to `on_line` when it
    /// is complete.
    pub async fn run(
        &self,
        command: &SandboxCommand,
        input: &[u8],
        on_line: impl FnMut(&str) + Send,
    ) -> Result<SandboxOutput, Error> {
        let mut child = self.spawn(command).await?;
        let mut output = OutputBuffers::new(&command.limits, on_line);
        let running = output.collect(&mut child, input);
        let ended = match tokio::time::timeout(command.limits.wall_clock, running).await {
            Ok(ended) => ended,
            Err(_) => Err(RunEnd::TimedOut),
        };
        let end = match ended {
            Ok(status) => RunEnd::from(status),
            Err(end) => {
                child.kill().await.map_err(Error::Helper)?;
                end
            }
        };
        Ok(SandboxOutput {
            stdout: output.stdout.bytes,
            stderr: output.stderr.tail,
            end,
        })
    }
}

impl From<ExitStatus> for RunEnd {
    fn from(status: ExitStatus) -> Self {
        match status.signal() {
            Some(CPU_LIMIT_SIGNAL) => Self::CpuLimit,
            Some(signal) => Self::Signaled(signal),
            None => Self::Exited(status.code().unwrap_or_default()),
        }
    }
}

struct OutputBuffers<F> {
    stdout: BoundedOutput,
    stderr: LineTail<F>,
}

struct BoundedOutput {
    bytes: Vec<u8>,
    max: usize,
}

/// Calls for each line, and keeps the end of all.
struct LineTail<F> {
    tail: Vec<u8>,
    max: usize,
    line: Vec<u8>,
    on_line: F,
}

impl<F: FnMut(&str) + Send> OutputBuffers<F> {
    fn new(limits: &SandboxLimits, on_line: F) -> Self {
        Self {
            stdout: BoundedOutput {
                bytes: Vec::new(),
                max: limits.output,
            },
            stderr: LineTail {
                tail: Vec::new(),
                max: limits.stderr_tail,
                line: Vec::new(),
                on_line,
            },
        }
    }

    /// Cancelled, what was read so far stays.
    async fn collect(
        &mut self,
        child: &mut SandboxChild,
        input: &[u8],
    ) -> Result<ExitStatus, RunEnd> {
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            write_input(stdin, input).await;
            Ok(())
        };
        let wait = async {
            let status = child.wait().await;
            Ok(status.unwrap_or_default())
        };
        let (status, (), (), ()) =
            tokio::try_join!(wait, write, self.stdout.read(stdout), async {
                self.stderr.read(stderr).await;
                Ok(())
            })?;
        Ok(status)
    }
}

/// A program that exits without having read all is none that failed.
async fn write_input(stdin: Option<pipe::Sender>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input).await;
    }
}

impl BoundedOutput {
    async fn read(&mut self, stdout: Option<impl AsyncRead + Unpin>) -> Result<(), RunEnd> {
        let Some(mut stdout) = stdout else {
            return Ok(());
        };
        let mut buffer = vec![0; BUFFER_BYTES];
        while let Ok(length @ 1..) = stdout.read(&mut buffer).await {
            let room = self.max - self.bytes.len();
            self.bytes.extend_from_slice(&buffer[..length.min(room)]);
            if length > room {
                return Err(RunEnd::OutputLimit);
            }
        }
        Ok(())
    }
}

impl<F: FnMut(&str)> LineTail<F> {
    async fn read(&mut self, stderr: Option<impl AsyncRead + Unpin>) {
        let Some(mut stderr) = stderr else {
            return;
        };
        let mut buffer = vec![0; BUFFER_BYTES];
        while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
            self.push(&buffer[..length]);
        }
        if !self.line.is_empty() {
            self.end_line();
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            let room = MAX_LINE_BYTES - self.line.len();
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if text.len() < part.len() {
                self.end_line();
            }
        }
        self.tail.extend_from_slice(bytes);
        let excess = self.tail.len().saturating_sub(self.max);
        self.tail.drain(..excess);
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.line);
        (self.on_line)(line.trim_end_matches('\r'));
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_and_tail(chunks: &[&str], max: usize) -> (Vec<String>, String) {
        let mut lines = Vec::new();
        let mut tail = LineTail {
            tail: Vec::new(),
            max,
            line: Vec::new(),
            on_line: |line: &str| lines.push(line.to_owned()),
        };
        for chunk in chunks {
            tail.push(chunk.as_bytes());
        }
        let kept = String::from_utf8_lossy(&tail.tail).into_owned();
        (lines, kept)
    }

    #[test]
    fn lines_are_joined_across_reads_and_the_end_is_kept() {
        let (lines, tail) = lines_and_tail(&["10 %\n5", "0 %\r\n\nlast"], 6);
        assert_eq!(lines, ["10 %", "50 %", ""]);
        assert_eq!(tail, "\n\nlast");
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        let endless = "x".repeat(MAX_LINE_BYTES);
        let (lines, _) = lines_and_tail(&[&endless, &endless, "\nnext\n"], 10);
        assert_eq!(lines, [endless.as_str(), "next"]);
    }
}
