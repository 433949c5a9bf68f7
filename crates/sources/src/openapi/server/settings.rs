//! What a server is run with.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use tenon_domain::{OpenapiConfig, SourceInfo};
use tokio::sync::Semaphore;

use super::handover::Handover;
use crate::openapi::caller::Caller;
use crate::openapi::fetch;
use crate::spread::spread;
use crate::variables::Fill;

/// Everything an [`super::OpenapiServer`] needs from its owner.
pub struct Settings {
    pub info: SourceInfo,
    /// With its `${NAME}`s.
    pub config: OpenapiConfig,
    pub fill: Arc<dyn Fill<OpenapiConfig>>,
    pub documents: Arc<dyn Documents>,
    /// Knows where the server may be. All that may be in the same places share one.
    pub caller: Caller,
    /// How many documents may be parsed at once: all of one owner share it.
    pub parses: Arc<Semaphore>,
    /// What the one knows whose place it takes: at the same address it is listed at once.
    pub known: Option<Handover>,
}

/// Where the last good documents of one source are, so that its tools are there
/// before anything is asked over the network. Errors are sentences.
#[async_trait]
pub trait Documents: Send + Sync {
    /// In any order. Of a source whose document was given, that one, under the empty name.
    async fn load(&self) -> Result<Vec<Kept>, String>;

    /// Keeps these in the place of those with the same names, and forgets all
    /// whose names are not among `names`.
    async fn keep(&self, documents: Vec<Kept>, names: Vec<String>) -> Result<(), String>;
}

/// A document as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Of the server behind an mcpo. Empty for the document of the address itself.
    pub name: String,
    /// Where it was, after all redirects. Empty, if somebody gave it.
    pub url: String,
    pub body: Vec<u8>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub fetched_at: SystemTime,
}

/// How often a server is asked for its document, and how long that may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// While all is well.
    pub every: Duration,
    /// After the first failure; each further one doubles it.
    pub again: Duration,
    /// No longer than this after a failure.
    pub at_most: Duration,
    /// For reading all its documents.
    pub read: Duration,
    /// For what the owner is asked: variables, and what is kept.
    pub owner: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(600),
            again: Duration::from_secs(1),
            at_most: Duration::from_secs(60),
            read: fetch::WITHIN,
            owner: Duration::from_secs(30),
        }
    }
}

impl Pace {
    /// How long to wait after so many failures in a row.
    fn after(&self, failures: u32) -> Duration {
        match failures {
            0 => self.every,
            failures => {
                let times = 2_u32.saturating_pow(failures - 1);
                self.again.saturating_mul(times).min(self.at_most)
            }
        }
    }

    /// The same, give or take a tenth, so that servers that were started together
    /// are not read together for ever.
    pub(super) fn wait(&self, failures: u32) -> Duration {
        spread(self.after(failures), RandomState::new().hash_one(0))
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_asked_ever_later() {
        let pace = Pace::default();
        let seconds = |failures| pace.after(failures).as_secs();
        let waits: Vec<u64> = (0..10).map(seconds).collect();
        assert_eq!(waits, [600, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(seconds(u32::MAX), 60);
    }
}
