//! The log of a connection beside requests and responses: program output, log messages, and
//! protocol oddities.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{ProtocolError, ServerOutput};

/// How many lines of a server's output an error quotes.
const MAX_OUTPUT_LINES: usize = 200;

/// Hears of it at once, and must not block.
pub trait SessionObserver: Send + Sync + fmt::Debug {
    fn on_event(&self, event: SessionEvent<'_>);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEvent<'a> {
    /// A process was started: what follows is of a new run.
    ProcessStarted,
    /// A line on standard error, or a log message of the protocol.
    Output(&'a str),
    /// Something on the connection that is no message.
    StrayOutput(&'a str),
    Notice(SessionNotice),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SessionNotice {
    #[error("{}", ProtocolError::MessageTooLong)]
    MessageTooLong,
    #[error("More that is no message is not shown.")]
    StrayOutputHidden,
    #[error("It asked something too long to be shown.")]
    ElicitationTooLong,
    #[error("It asked something, and nobody was there to answer.")]
    ElicitationUnanswered,
    #[error("It ended at the first words. Trying older ones.")]
    RetryWithHandshake,
    #[error("The server had forgotten the session. It was begun anew.")]
    SessionRestored,
    #[error("It asks more than it takes answers to. Some of them are not sent.")]
    RepliesDropped,
}

/// Passes events on, and keeps the output of the last run for the error that ends it.
/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionLog {
    observer: Option<Arc<dyn SessionObserver>>,
    output: Arc<Mutex<VecDeque<String>>>,
}

impl SessionLog {
    pub(crate) fn new(observer: Option<Arc<dyn SessionObserver>>) -> Self {
        Self {
            observer,
            output: Arc::default(),
        }
    }

    pub(crate) fn process_started(&self) {
        self.lock().clear();
        self.emit(SessionEvent::ProcessStarted);
    }

    pub(crate) fn output(&self, line: &str) {
        self.keep(line);
        self.emit(SessionEvent::Output(line));
    }

    pub(crate) fn stray_output(&self, line: &str) {
        self.keep(line);
        self.emit(SessionEvent::StrayOutput(line));
    }

    pub(crate) fn notice(&self, notice: SessionNotice) {
        self.emit(SessionEvent::Notice(notice));
    }

    /// What the server wrote since its process was started.
    pub(crate) fn server_output(&self) -> ServerOutput {
        ServerOutput(self.lock().iter().cloned().collect())
    }

    fn keep(&self, line: &str) {
        let mut output = self.lock();
        if output.len() == MAX_OUTPUT_LINES {
            output.pop_front();
        }
        output.push_back(line.to_owned());
    }

    fn emit(&self, event: SessionEvent<'_>) {
        if let Some(observer) = &self.observer {
            observer.on_event(event);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<String>> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
