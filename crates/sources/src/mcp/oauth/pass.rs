//! What lets one person into one server, for as long as they are logged in there.
//!
//! However many ask at once, one refresh is made for all of them, by a task of
//! its own: a call that is given up must not lose the token that was just made.
//! What another process has renewed meanwhile is taken from the store.

mod renew;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

use super::grant::{Grant, Grants};
use super::http::Http;
use super::token::{Desk, now};
use super::trouble::Trouble;
use crate::mcp::settings::Tokens;

/// A service that is down is not asked more often than this.
const BETWEEN_TRIES: Duration = Duration::from_secs(5);

/// Cheap to clone; all clones are the same pass. There must be one for each
/// grant in a process, or each would refresh for itself.
#[derive(Clone)]
pub struct Pass(Arc<Inner>);

/// How somebody stands with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// They have not logged in there.
    Out,
    In,
    /// They were, and have to log in again.
    Ended,
    /// They are, but nothing can be got from there now. A sentence.
    Unsure(String),
}

struct Inner {
    grants: Arc<dyn Grants>,
    http: Http,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// The last one that was seen. That there is none is never remembered:
    /// somebody may log in elsewhere.
    grant: Option<Grant>,
    renewing: Option<Renewing>,
    /// Why there was no new token, and when.
    trouble: Option<(Trouble, Instant)>,
    /// They are logging out: nothing is given or renewed any more.
    leaving: bool,
}

/// A refresh that is under way, and what it gives to everybody who waits.
type Renewing = Shared<BoxFuture<'static, Option<String>>>;

impl Pass {
    pub fn new(grants: Arc<dyn Grants>, http: Http) -> Self {
        Self(Arc::new(Inner {
            grants,
            http,
            held: Mutex::default(),
        }))
    }

    /// They have logged in: what they were granted is kept, then used.
    pub async fn take(&self, grant: Grant) -> Result<(), Trouble> {
        let kept = self.0.grants.save(&grant).await;
        kept.map_err(Trouble::Storage)?;
        let mut held = self.0.held();
        held.grant = Some(grant);
        held.trouble = None;
        held.leaving = false;
        Ok(())
    }

    /// What is stored of theirs now.
    pub async fn grant(&self) -> Result<Option<Grant>, Trouble> {
        self.0.grants.load().await.map_err(Trouble::Storage)
    }

    /// Whether anybody has it besides the one who asks.
    pub fn is_used(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub async fn standing(&self) -> Standing {
        let trouble = self.0.held().trouble.clone();
        match self.grant().await {
            Err(trouble) => Standing::Unsure(trouble.to_string()),
            Ok(None) => Standing::Out,
            Ok(Some(grant)) if grant.tokens.is_none() => Standing::Ended,
            Ok(Some(_)) => match trouble {
                Some((trouble, _)) => Standing::Unsure(trouble.to_string()),
                None => Standing::In,
            },
        }
    }

    /// They log out: it is forgotten here whatever happens there. What comes
    /// back is how telling them there went, where anybody there wants to know.
    pub async fn give_back(&self) -> Result<(), Trouble> {
        let renewing = {
            let mut held = self.0.held();
            held.leaving = true;
            held.grant = None;
            held.renewing.clone()
        };
        if let Some(renewing) = renewing {
            // Otherwise it would store what it got after all is forgotten.
            renewing.await;
        }
        let forgotten = self.forget().await;
        *self.0.held() = Held::default();
        match forgotten? {
            Some(grant) => self.0.revoke(&grant).await,
            None => Ok(()),
        }
    }

    async fn forget(&self) -> Result<Option<Grant>, Trouble> {
        // One that cannot be read can still be removed.
        let grant = self.grant().await.unwrap_or_default();
        let removed = self.0.grants.remove().await;
        removed.map_err(Trouble::Storage)?;
        Ok(grant)
    }
}

#[async_trait]
impl Tokens for Pass {
    async fn token(&self) -> Option<String> {
        let grant = self.0.current().await?;
        let tokens = grant.tokens?;
        if tokens.is_fresh(now()) {
            return Some(tokens.access);
        }
        let renewed = self.0.renewed(&tokens.access).await;
        // Where nobody could be asked the old one may still do.
        renewed.or_else(|| self.0.held().grant.as_ref()?.access().map(str::to_owned))
    }

    async fn instead_of(&self, refused: &str) -> Option<String> {
        let grant = self.0.current().await?;
        let tokens = grant.tokens?;
        match tokens.access != refused && tokens.is_fresh(now()) {
            // It was renewed while this one was on its way.
            true => Some(tokens.access),
            false => self.0.renewed(&tokens.access).await,
        }
    }
}

impl Inner {
    /// The grant, from the store where none is held.
    async fn current(&self) -> Option<Grant> {
        {
            let held = self.held();
            if held.leaving {
                return None;
            }
            if let Some(grant) = &held.grant {
                return Some(grant.clone());
            }
        }
        let stored = self.grants.load().await;
        let stored = stored.unwrap_or_else(|why| {
            tracing::error!(why, "a log-in at a server cannot be read");
            None
        })?;
        let mut held = self.held();
        if held.leaving {
            return None;
        }
        Some(held.grant.get_or_insert(stored).clone())
    }

    /// Another token than this one, by the one refresh that is made for all who ask.
    async fn renewed(self: &Arc<Self>, old: &str) -> Option<String> {
        let renewing = {
            let mut held = self.held();
            let token = held.grant.as_ref()?.tokens.as_ref()?;
            if token.access != old && token.is_fresh(now()) {
                return Some(token.access.clone());
            }
            match &held.renewing {
                Some(renewing) => renewing.clone(),
                None if held.failed_just_now() || held.leaving => return None,
                None => {
                    let renewing = self.clone().start_renewing(old.to_owned());
                    held.renewing = Some(renewing.clone());
                    renewing
                }
            }
        };
        renewing.await
    }

    fn start_renewing(self: Arc<Self>, old: String) -> Renewing {
        let task = tokio::spawn(async move {
            let _over = Over(&self);
            self.renew(&old).await
        });
        async move { task.await.ok().flatten() }.boxed().shared()
    }

    async fn revoke(&self, grant: &Grant) -> Result<(), Trouble> {
        let (Some(endpoint), Some(tokens)) = (&grant.revocation_endpoint, &grant.tokens) else {
            return Ok(());
        };
        let desk = Desk {
            http: &self.http,
            endpoint,
            client: &grant.client,
        };
        let refresh = match &tokens.refresh {
            Some(refresh) => desk.revoke(refresh, "refresh_token").await,
            None => Ok(()),
        };
        // Not every service ends the one with the other.
        let access = desk.revoke(&tokens.access, "access_token").await;
        refresh.and(access)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn failed_just_now(&self) -> bool {
        let trouble = self.trouble.as_ref();
        trouble.is_some_and(|(_, at)| at.elapsed() < BETWEEN_TRIES)
    }
}

/// The next one who asks begins anew, however this refresh ended.
struct Over<'a>(&'a Inner);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.held().renewing = None;
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pass").finish_non_exhaustive()
    }
}
