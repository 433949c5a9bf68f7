//! Where messages leave for a program: its standard input, without a queue
//! while it keeps up.
//!
//! A message is written by whoever sends it. Only what a full pipe does not
//! take waits, and a task of its own writes that later.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::unix::pipe;
use tokio::sync::Notify;

/// How much may wait for a program that does not read. Then senders wait.
const MAX_BACKLOG: usize = 4 * 1024 * 1024;

/// What is said without waiting finds this much more room.
const MAX_PUSHED: usize = MAX_BACKLOG + 64 * 1024;

#[derive(Debug)]
pub(super) struct Outlet {
    state: Mutex<State>,
    /// There is something to write later.
    more: Notify,
    /// There is room again, or it is closed.
    room: Notify,
}

#[derive(Debug)]
struct State {
    /// None: closed.
    pipe: Option<Arc<pipe::Sender>>,
    backlog: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Closed;

impl Outlet {
    pub(super) fn new(stdin: OwnedFd) -> io::Result<Arc<Self>> {
        let pipe = pipe::Sender::from_owned_fd(stdin)?;
        let outlet = Arc::new(Self {
            state: Mutex::new(State {
                pipe: Some(Arc::new(pipe)),
                backlog: Vec::new(),
            }),
            more: Notify::new(),
            room: Notify::new(),
        });
        tokio::spawn(outlet.clone().write_later());
        Ok(outlet)
    }

    /// Sends a line, in the order of these calls.
    pub(super) async fn send(&self, line: &str) -> Result<(), Closed> {
        loop {
            let room = self.room.notified();
            if self.write(line, MAX_BACKLOG)? {
                return Ok(());
            }
            room.await;
        }
    }

    /// Sends a line now, or not at all.
    pub(super) fn push(&self, line: &str) {
        let _ = self.write(line, MAX_PUSHED);
    }

    /// The program sees the end of its input.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.pipe = None;
        state.backlog = Vec::new();
        drop(state);
        self.more.notify_one();
        self.room.notify_waiters();
    }

    /// False: there is no room.
    fn write(&self, line: &str, most: usize) -> Result<bool, Closed> {
        let mut state = self.state();
        let pipe = state.pipe.clone().ok_or(Closed)?;
        if state.backlog.len() > most {
            return Ok(false);
        }
        let line = [line.as_bytes(), b"\n"].concat();
        let mut rest = line.as_slice();
        if state.backlog.is_empty() {
            rest = write_now(&pipe, rest).map_err(|_| Closed)?;
        }
        if !rest.is_empty() {
            state.backlog.extend_from_slice(rest);
            self.more.notify_one();
        }
        Ok(true)
    }

    async fn write_later(self: Arc<Self>) {
        loop {
            self.more.notified().await;
            loop {
                let Some(pipe) = self.state().pipe.clone() else {
                    return;
                };
                if self.state().backlog.is_empty() {
                    break;
                }
                // Whoever closes the outlet need not wait for a program that does not read.
                tokio::select! {
                    ready = pipe.writable() => if ready.is_err() { return self.close() },
                    () = self.more.notified() => continue,
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
                self.room.notify_waiters();
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
