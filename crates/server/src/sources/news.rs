//! What changes about servers, for the pages of those who see them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tenon_domain::{SourceId, SourceState, UserId};
use tokio::sync::{broadcast, watch};

use crate::api::wire::SourceNews;

/// How many changes a slow page may miss before it is told everything anew.
const BACKLOG: usize = 256;

pub(super) struct News {
    told: broadcast::Sender<Told>,
    viewers: Arc<watch::Sender<usize>>,
    /// Numbers the lists of tools of this process.
    revisions: AtomicU64,
}

/// Something that changed, and for whom.
#[derive(Debug, Clone)]
pub struct Told {
    /// None: for everybody.
    pub to: Option<UserId>,
    pub news: SourceNews,
}

/// What a page hears for as long as it is open.
#[derive(Debug)]
pub struct Viewer {
    told: broadcast::Receiver<Told>,
    viewers: Arc<watch::Sender<usize>>,
}

impl Viewer {
    pub async fn recv(&mut self) -> Result<Told, broadcast::error::RecvError> {
        self.told.recv().await
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.viewers.send_modify(|count| *count -= 1);
    }
}

impl News {
    pub(super) fn listen(&self) -> Viewer {
        self.viewers.send_modify(|count| *count += 1);
        Viewer {
            told: self.told.subscribe(),
            viewers: self.viewers.clone(),
        }
    }

    /// How many pages are open.
    pub(super) fn viewers(&self) -> watch::Receiver<usize> {
        self.viewers.subscribe()
    }

    /// Nobody listens where no page is open.
    pub(super) fn tell(&self, to: Option<UserId>, news: SourceNews) {
        let _ = self.told.send(Told { to, news });
    }

    pub(super) fn gone(&self, to: Option<UserId>, source: SourceId) {
        self.tell(
            to,
            SourceNews {
                source_id: source,
                gone: true,
                state: SourceState::Off,
                startup: None,
                tools: 0,
                revision: self.next_revision(),
            },
        );
    }

    pub(super) fn next_revision(&self) -> u64 {
        self.revisions.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Default for News {
    fn default() -> Self {
        Self {
            told: broadcast::Sender::new(BACKLOG),
            viewers: Arc::new(watch::Sender::new(0)),
            revisions: AtomicU64::new(0),
        }
    }
}

impl std::fmt::Debug for News {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("News").finish_non_exhaustive()
    }
}
