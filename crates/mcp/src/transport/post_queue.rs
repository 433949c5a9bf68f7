//! Sends over HTTP what nobody waits for: replies to a server's own requests, and
//! cancellations.
//!
//! One request is made at a time and a bounded number wait, so a server that asks
//! without end and never takes a reply costs one connection. What is left is dropped with
//! the connection it belongs to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::endpoint::{HttpEndpoint, OutgoingRequest};
use crate::session_log::{SessionLog, SessionNotice};

/// As many as calls may be given up at once.
const MAX_QUEUED: usize = 256;

const SEND_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct PostQueue {
    requests: mpsc::Sender<OutgoingRequest>,
    sender: JoinHandle<()>,
    /// Whether the log says already that something was dropped.
    has_noticed: AtomicBool,
    log: SessionLog,
}

impl PostQueue {
    pub(super) fn start(endpoint: Arc<HttpEndpoint>, log: SessionLog) -> Arc<Self> {
        let (requests, queue) = mpsc::channel(MAX_QUEUED);
        Arc::new(Self {
            requests,
            sender: tokio::spawn(send_all(endpoint, queue)),
            has_noticed: AtomicBool::new(false),
            log,
        })
    }

    /// Drops it if too many wait already.
    pub(super) fn push(&self, request: OutgoingRequest) {
        let is_full = matches!(
            self.requests.try_send(request),
            Err(mpsc::error::TrySendError::Full(_))
        );
        if is_full && !self.has_noticed.swap(true, Ordering::Relaxed) {
            self.log.notice(SessionNotice::RepliesDropped);
        }
    }

    /// Drops whatever is being sent or waits.
    pub(super) fn stop(&self) {
        self.sender.abort();
    }
}

impl Drop for PostQueue {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn send_all(endpoint: Arc<HttpEndpoint>, mut queue: mpsc::Receiver<OutgoingRequest>) {
    while let Some(request) = queue.recv().await {
        let _ = tokio::time::timeout(SEND_TIMEOUT, endpoint.send(request)).await;
    }
}
