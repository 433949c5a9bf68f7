//! Carries to a site what nobody waits for: answers to a server's own
//! questions, and that a question is taken back.
//!
//! One message is on its way at a time and a bounded number wait, so a server
//! that asks without end and never takes an answer costs one connection. What
//! is left ends with the connection it belongs to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::logs::Logs;
use super::site::{Request, Site};

/// As many as calls may be given up at once.
const MAX_WAITING: usize = 256;

/// How long one may take to be taken.
const TAKEN: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Courier {
    waiting: mpsc::Sender<Request>,
    carrying: JoinHandle<()>,
    /// Whether the log says already that something was left out.
    noted: AtomicBool,
    logs: Logs,
}

impl Courier {
    pub(super) fn start(site: Arc<Site>, logs: Logs) -> Arc<Self> {
        let (waiting, requests) = mpsc::channel(MAX_WAITING);
        Arc::new(Self {
            waiting,
            carrying: tokio::spawn(carry(site, requests)),
            noted: AtomicBool::new(false),
            logs,
        })
    }

    /// Takes it along, unless too many wait already.
    pub(super) fn send(&self, request: Request) {
        let full = matches!(
            self.waiting.try_send(request),
            Err(mpsc::error::TrySendError::Full(_))
        );
        if full && !self.noted.swap(true, Ordering::Relaxed) {
            self.logs
                .note("It asks more than it takes answers to. Some of them are not sent.");
        }
    }

    /// Whatever is on its way or waits is let go.
    pub(super) fn stop(&self) {
        self.carrying.abort();
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn carry(site: Arc<Site>, mut requests: mpsc::Receiver<Request>) {
    while let Some(request) = requests.recv().await {
        let _ = tokio::time::timeout(TAKEN, site.send(request)).await;
    }
}
