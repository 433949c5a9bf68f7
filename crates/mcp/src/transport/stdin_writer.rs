//! A program's standard input, written without a queue while the program keeps up.
//!
//! A message is written by whoever sends it. Only what a full pipe does not take goes
//! into a backlog, which a task of its own writes later.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::unix::pipe;
use tokio::sync::Notify;

/// How much may wait for a program that does not read. Then senders wait.
const MAX_BACKLOG_BYTES: usize = 4 * 1024 * 1024;

/// What is sent without waiting finds this much more room.
const MAX_PUSHED_BYTES: usize = MAX_BACKLOG_BYTES + 64 * 1024;

#[derive(Debug)]
pub(crate) struct StdinWriter {
    state: Mutex<State>,
    /// There is a backlog, or it is closed.
    has_backlog: Notify,
    /// There is room again, or it is closed.
    has_room: Notify,
}

#[derive(Debug)]
struct State {
    /// None: closed.
    pipe: Option<Arc<pipe::Sender>>,
    backlog: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StdinClosed;

impl StdinWriter {
    pub(crate) fn new(stdin: OwnedFd) -> io::Result<Arc<Self>> {
        let pipe = pipe::Sender::from_owned_fd(stdin)?;
        let writer = Arc::new(Self {
            state: Mutex::new(State {
                pipe: Some(Arc::new(pipe)),
                backlog: Vec::new(),
            }),
            has_backlog: Notify::new(),
            has_room: Notify::new(),
        });
        tokio::spawn(writer.clone().write_backlog());
        Ok(writer)
    }

    /// Sends a line, in the order of these calls.
    pub(crate) async fn send(&self, line: &str) -> Result<(), StdinClosed> {
        loop {
            let room = self.has_room.notified();
            if self.write(line, MAX_BACKLOG_BYTES)? {
                return Ok(());
            }
            room.await;
        }
    }

    /// Sends a line now, or drops it.
    pub(crate) fn push(&self, line: &str) {
        let _ = self.write(line, MAX_PUSHED_BYTES);
    }

    /// The program sees the end of its input.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.pipe = None;
        state.backlog = Vec::new();
        drop(state);
        self.has_backlog.notify_one();
        self.has_room.notify_waiters();
    }

    /// False: there is no room.
    fn write(&self, line: &str, max_bytes: usize) -> Result<bool, StdinClosed> {
        let mut state = self.state();
        let pipe = state.pipe.clone().ok_or(StdinClosed)?;
        if state.backlog.len() > max_bytes {
            return Ok(false);
        }
        let line = [line.as_bytes(), b"\n"].concat();
        let mut rest = line.as_slice();
        if state.backlog.is_empty() {
            rest = write_now(&pipe, rest).map_err(|_| StdinClosed)?;
        }
        if !rest.is_empty() {
            state.backlog.extend_from_slice(rest);
            self.has_backlog.notify_one();
        }
        Ok(true)
    }

    async fn write_backlog(self: Arc<Self>) {
        loop {
            self.has_backlog.notified().await;
            loop {
                let Some(pipe) = self.state().pipe.clone() else {
                    return;
                };
                if self.state().backlog.is_empty() {
                    break;
                }
                // Closing need not wait for a program that does not read.
                tokio::select! {
                    ready = pipe.writable() => if ready.is_err() { return self.close() },
                    () = self.has_backlog.notified() => continue,
                }
                let mut state = self.state();
                let Ok(left) = write_now(&pipe, &state.backlog).map(<[u8]>::len) else {
                    drop(state);
                    return self.close();
                };
                let written = state.backlog.len() - left;
                state.backlog.drain(..written);
                if state.backlog.is_empty() {
                    state.backlog = Vec::new();
                }
                drop(state);
                self.has_room.notify_waiters();
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes as much as the pipe takes, and gives back the rest.
fn write_now<'a>(pipe: &pipe::Sender, mut bytes: &'a [u8]) -> io::Result<&'a [u8]> {
    while !bytes.is_empty() {
        match pipe.try_write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}
