//! A program's standard input, written without a queue while the program keeps up.
//!
//! A message is written by whoever sends it. What others send meanwhile is written along with
//! the next piece: nobody waits for a lock while the system writes, and a busy program reads
//! several messages at once. What a full pipe does not take is written later, by a task of its own.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::unix::pipe;
use tokio::sync::Notify;

/// How much may wait for a program that does not read. Then senders wait.
const MAX_BACKLOG_BYTES: usize = 4 * 1024 * 1024;

/// What is sent without waiting finds this much more room.
const MAX_PUSHED_BYTES: usize = MAX_BACKLOG_BYTES + 64 * 1024;

/// How much room for messages is kept while there are none.
const MAX_KEPT_BYTES: usize = 16 * 1024;

/// How many pieces a sender writes for others before the task goes on.
const MAX_PIECES: usize = 8;

#[derive(Debug)]
pub(crate) struct StdinWriter {
    state: Mutex<State>,
    /// The task has something to write, or it is closed.
    has_backlog: Notify,
    /// There is room again, or it is closed.
    has_room: Notify,
}

#[derive(Debug)]
struct State {
    /// None: closed.
    pipe: Option<Arc<pipe::Sender>>,
    /// What is not written yet, in the order of sending.
    backlog: Vec<u8>,
    /// Somebody is writing the backlog, or the task is going to.
    is_writing: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StdinClosed;

/// What came of writing a piece.
enum WriteStatus {
    /// All is written, and nobody is writing any longer.
    Done,
    /// Others have sent something meanwhile.
    More,
    /// The program does not read for now.
    Full,
}

impl StdinWriter {
    pub(crate) fn new(stdin: OwnedFd) -> io::Result<Arc<Self>> {
        let pipe = pipe::Sender::from_owned_fd(stdin)?;
        let writer = Arc::new(Self {
            state: Mutex::new(State {
                pipe: Some(Arc::new(pipe)),
                backlog: Vec::new(),
                is_writing: false,
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
        let pipe = {
            let mut state = self.state();
            let pipe = state.pipe.clone().ok_or(StdinClosed)?;
            if state.backlog.len() > max_bytes {
                return Ok(false);
            }
            state.backlog.reserve(line.len() + 1);
            state.backlog.extend_from_slice(line.as_bytes());
            state.backlog.push(b'\n');
            if std::mem::replace(&mut state.is_writing, true) {
                return Ok(true);
            }
            pipe
        };
        for _ in 0..MAX_PIECES {
            match self.write_piece(&pipe) {
                Ok(WriteStatus::Done) => return Ok(true),
                Ok(WriteStatus::More) => {}
                Ok(WriteStatus::Full) => break,
                Err(_) => {
                    self.close();
                    return Err(StdinClosed);
                }
            }
        }
        self.has_backlog.notify_one();
        Ok(true)
    }

    /// Writes the backlog; called by the task that set `is_writing`.
    fn write_piece(&self, pipe: &pipe::Sender) -> io::Result<WriteStatus> {
        let mut piece = std::mem::take(&mut self.state().backlog);
        if piece.len() > MAX_BACKLOG_BYTES {
            self.has_room.notify_waiters();
        }
        let written = piece.len() - write_now(pipe, &piece)?.len();
        let mut state = self.state();
        if written < piece.len() {
            piece.drain(..written);
            piece.append(&mut state.backlog);
            state.backlog = piece;
            return Ok(WriteStatus::Full);
        }
        if !state.backlog.is_empty() {
            return Ok(WriteStatus::More);
        }
        state.is_writing = false;
        if piece.capacity() <= MAX_KEPT_BYTES {
            piece.clear();
            state.backlog = piece;
        }
        Ok(WriteStatus::Done)
    }

    async fn write_backlog(self: Arc<Self>) {
        loop {
            self.has_backlog.notified().await;
            loop {
                let Some(pipe) = self.state().pipe.clone() else {
                    return;
                };
                // Closing need not wait for a program that does not read.
                tokio::select! {
                    ready = pipe.writable() => if ready.is_err() { return self.close() },
                    () = self.has_backlog.notified() => continue,
                }
                match self.write_piece(&pipe) {
                    Ok(WriteStatus::Done) => break,
                    Ok(WriteStatus::More | WriteStatus::Full) => {}
                    Err(_) => return self.close(),
                }
                self.has_room.notify_waiters();
            }
            self.has_room.notify_waiters();
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
