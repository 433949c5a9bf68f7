//! One refresh: what is stored, what is asked, and what is kept before it is used.

use std::time::{Duration, Instant};

use super::{Desk, Grant, Inner, Trouble, now};

/// Another process that renews at this moment has stored what it got by then.
const ANOTHERS_TURN: Duration = Duration::from_millis(700);

/// A database that is away for a moment must not cost a log-in.
const TRIES_TO_KEEP: u32 = 4;

impl Inner {
    /// A token that is not the `old` one, if there is a way to one.
    pub(super) async fn renew(&self, old: &str) -> Option<String> {
        match self.try_to_renew(old).await {
            Ok(grant) => {
                let access = grant.access().map(str::to_owned);
                let mut held = self.held();
                held.trouble = None;
                held.grant = Some(grant);
                access
            }
            Err(trouble) => {
                tracing::warn!(why = %trouble, "a log-in at a server could not be renewed");
                let mut held = self.held();
                if !trouble.is_passing() {
                    // What is stored says so too by now.
                    held.grant = None;
                }
                held.trouble = trouble.is_passing().then(|| (trouble, Instant::now()));
                None
            }
        }
    }

    async fn try_to_renew(&self, old: &str) -> Result<Grant, Trouble> {
        let stored = self.stored().await?;
        if is_another(&stored, old) {
            return Ok(stored);
        }
        let tokens = stored.tokens.as_ref().ok_or_else(gone)?;
        let Some(refresh) = tokens.refresh.clone() else {
            return self
                .ended(
                    stored,
                    Trouble::Ended("it gave nothing to renew it with".into()),
                )
                .await;
        };
        match self.ask_for_another(&stored, &refresh).await {
            Ok(renewed) => {
                self.keep(&renewed).await;
                Ok(renewed)
            }
            Err(trouble) if trouble.is_passing() => Err(trouble),
            Err(trouble) => {
                // Two processes may have shown the same one; the other has what came of it.
                tokio::time::sleep(ANOTHERS_TURN).await;
                let stored = self.stored().await?;
                match is_another(&stored, old) {
                    true => Ok(stored),
                    false => self.ended(stored, trouble).await,
                }
            }
        }
    }

    async fn ask_for_another(&self, grant: &Grant, refresh: &str) -> Result<Grant, Trouble> {
        let desk = Desk {
            http: &self.http,
            endpoint: &grant.token_endpoint,
            client: &grant.client,
        };
        let given = desk
            .ask(&[
                ("grant_type", "refresh_token"),
                ("refresh_token", refresh),
                ("resource", &grant.resource),
            ])
            .await?;
        let mut tokens = given.tokens;
        // Who gives no new one means that the old one goes on.
        tokens.refresh = tokens.refresh.or_else(|| Some(refresh.to_owned()));
        let scopes = super::super::scopes::granted(given.scopes.as_deref(), &grant.scopes);
        Ok(Grant {
            tokens: Some(tokens),
            scopes,
            ..grant.clone()
        })
    }

    /// Before it is used: the old one may be good for nothing by now.
    async fn keep(&self, grant: &Grant) {
        let mut pause = Duration::from_millis(100);
        for tries_left in (0..TRIES_TO_KEEP).rev() {
            match self.grants.save(grant).await {
                Ok(()) => return,
                // It is better to go on with what we hold than to throw it away.
                Err(why) if tries_left == 0 => {
                    tracing::error!(
                        why,
                        "a renewed log-in cannot be stored, a restart will lose it"
                    );
                }
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause *= 2;
        }
    }

    /// Writes down that only a person can help.
    async fn ended(&self, grant: Grant, trouble: Trouble) -> Result<Grant, Trouble> {
        let over = Grant {
            tokens: None,
            ..grant
        };
        self.keep(&over).await;
        Err(trouble)
    }

    async fn stored(&self) -> Result<Grant, Trouble> {
        let stored = self.grants.load().await.map_err(Trouble::Storage)?;
        stored.ok_or_else(gone)
    }
}

fn is_another(grant: &Grant, old: &str) -> bool {
    let tokens = grant.tokens.as_ref();
    tokens.is_some_and(|tokens| tokens.access != old && tokens.is_fresh(now()))
}

fn gone() -> Trouble {
    Trouble::Ended("somebody logged out".into())
}
