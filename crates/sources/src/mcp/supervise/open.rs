//! Opens a link to a server, once it is its turn.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::super::link::{Link, NoLink, Opening};
use super::super::server::Shared;
use super::super::startup;
use super::{Supervisor, Turn};
use crate::variables::Unfilled;

/// Why a start came to nothing.
pub(super) enum NoStart {
    /// What it is to be given is not set. Its owner restarts it when it is.
    Unset(String),
    NoLink(NoLink),
}

impl Supervisor {
    /// A link, once it is this server's turn. The turn is over when there is one,
    /// or when it takes so long that others should have theirs.
    pub(super) async fn open_link(&mut self) -> Result<Arc<Link>, NoStart> {
        let (settings, patience) = (&self.shared.settings, self.shared.patience);
        let longest = self.shared.start_timeout();
        let starts = settings.starts.clone();
        // What was written before is not about this start.
        self.shared.logs.begin_run();
        let turn = match std::mem::take(&mut self.turn) {
            // To connect costs next to nothing.
            _ if !self.shared.is_program() => None,
            Turn::Skipped => starts.try_acquire_owned().ok(),
            Turn::Awaited => {
                startup::queued(&self.shared);
                // Whoever has a turn gives it up in time: this is for the day that fails.
                let turn = timeout(patience.launch, starts.acquire_owned()).await;
                turn.ok().and_then(Result::ok)
            }
        };
        // Time is the backoff's measure of a start that hangs: standing in line is no part of it.
        self.backoff.begin();
        let opening = async {
            let filled = timeout(patience.start, settings.fill.fill(&settings.config)).await;
            let config = filled.unwrap_or_else(|_| {
                let why = "its variables could not be read in time";
                Err(Unfilled::Unread(why.into()))
            })?;
            let link = Link::open(Opening {
                config,
                era: self.era,
                logs: self.shared.logs.clone(),
                patience: longest,
                endings: self.endings.clone(),
                tokens: settings.tokens.clone(),
                network: settings.network,
            });
            Ok(link.await?)
        };
        let opening = async {
            tokio::select! {
                opened = opening => opened,
                never = startup::tell(&self.shared) => match never {},
            }
        };
        let mut opening = Box::pin(opening);
        tokio::select! {
            opened = &mut opening => return opened,
            () = sleep(patience.turn) => drop(turn),
        }
        // The link keeps to its patience; this is for the day it does not.
        let most = longest * 2;
        timeout(most, &mut opening).await.unwrap_or_else(|_| {
            let why = format!("it did not answer within {} s", most.as_secs_f32());
            Err(NoLink::Failed(why).into())
        })
    }
}

impl Shared {
    /// How long its first words may take.
    fn start_timeout(&self) -> Duration {
        match self.settings.config.start_timeout_ms {
            Some(own) => Duration::from_millis(own),
            None if self.is_program() => self.patience.launch,
            None => self.patience.start,
        }
    }
}

impl From<Unfilled> for NoStart {
    fn from(unfilled: Unfilled) -> Self {
        match unfilled {
            Unfilled::Unset(why) => Self::Unset(why),
            Unfilled::Unread(why) => Self::NoLink(NoLink::Failed(why)),
        }
    }
}

impl From<NoLink> for NoStart {
    fn from(no_link: NoLink) -> Self {
        Self::NoLink(no_link)
    }
}
