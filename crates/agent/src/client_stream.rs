//! The stream that an API client reads while an answer is made.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tenon_domain::{DeltaKind, Part, StopReason, ToolCall, TurnOutcome, Usage};
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;

use crate::lock::lock;

/// A part of an answer, as it comes.
#[derive(Debug)]
pub enum CompletionPart {
    Text(String),
    Thinking(String),
    /// Calls that the client has to make.
    Calls(Vec<ToolCall>),
    /// There is no part after this.
    End {
        outcome: TurnOutcome,
        /// Why the model stopped, where it did.
        stop: Option<StopReason>,
        usage: Usage,
    },
}

/// An answer that is being made.
#[derive(Debug)]
pub struct CompletionStream {
    /// What is not read yet is bounded by what a model may say.
    parts: mpsc::UnboundedReceiver<CompletionPart>,
    /// Stops an answer that nobody else reads.
    _stop: Option<DropGuard>,
}

impl CompletionStream {
    /// None: that was all.
    pub async fn next(&mut self) -> Option<CompletionPart> {
        self.parts.recv().await
    }

    /// Stops the answer when this is dropped.
    pub(crate) fn stopping(self, stop: DropGuard) -> Self {
        Self {
            _stop: Some(stop),
            ..self
        }
    }
}

/// The sending half. One client reads at a time; where calls were handed over, the next request reads on.
#[derive(Debug, Default)]
pub(crate) struct ClientStream {
    parts: Mutex<Option<mpsc::UnboundedSender<CompletionPart>>>,
    /// Text came before some calls: the next text is another paragraph.
    starts_paragraph: AtomicBool,
}

impl ClientStream {
    /// What comes from now on, for a new response.
    pub(crate) fn open(&self) -> CompletionStream {
        let (sender, parts) = mpsc::unbounded_channel();
        self.starts_paragraph.store(false, Ordering::Relaxed);
        *lock(&self.parts) = Some(sender);
        CompletionStream { parts, _stop: None }
    }

    pub(crate) fn delta(&self, kind: DeltaKind, text: String) {
        self.send(match kind {
            DeltaKind::Text if self.starts_paragraph.swap(false, Ordering::Relaxed) => {
                CompletionPart::Text(format!("\n\n{text}"))
            }
            DeltaKind::Text => CompletionPart::Text(text),
            DeltaKind::Thinking => CompletionPart::Thinking(text),
            DeltaKind::Input { .. } => return,
        });
    }

    pub(crate) fn message_finished(&self, parts: &[Part]) {
        if !Part::words(parts).is_empty() {
            self.starts_paragraph.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn calls(&self, calls: Vec<ToolCall>) {
        self.send(CompletionPart::Calls(calls));
    }

    /// Ends the response that is being read.
    pub(crate) fn end(&self, outcome: TurnOutcome, stop: Option<StopReason>, usage: Usage) {
        self.send(CompletionPart::End {
            outcome,
            stop,
            usage,
        });
        *lock(&self.parts) = None;
    }

    fn send(&self, part: CompletionPart) {
        let parts = lock(&self.parts);
        if let Some(parts) = &*parts {
            // An error only means that the client is gone.
            let _ = parts.send(part);
        }
    }
}
