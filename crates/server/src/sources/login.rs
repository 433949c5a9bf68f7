//! Logging in at servers: who is away for it, what they were granted, and what
//! lets them in.
//!
//! What somebody brings back counts once, for a while, and only for the person
//! who left for that very server. There is one pass for each person and server
//! in this process, so that a token is renewed once for all their calls.

mod away;
mod here;
mod kept;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use tenon_domain::{SourceId, UserId};
use tenon_sources::Network;
use tenon_sources::mcp::Tokens;
use tenon_sources::mcp::oauth::{self, Asking, Client, Http, Pass, Return, Trouble};
use tenon_store::{Store, Vault};
use url::Url;

use super::lock;
use away::{Left, Travellers};
use kept::Kept;

pub use here::Here;

/// Cheap to clone.
#[derive(Clone)]
pub struct Entrance(Arc<Inner>);

/// A server where somebody logs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub source: SourceId,
    /// As it is configured. What was granted there is for nowhere else.
    pub address: String,
    /// Where that leads this person, with their own words in it. None: nobody knows yet.
    pub origin: Option<String>,
    pub network: Network,
}

/// How to get in there.
#[derive(Debug, Clone)]
pub struct Doorway {
    /// Its address with all variables filled in.
    pub url: String,
    /// What it said about where to log in, when it was last asked.
    pub challenge: Option<String>,
    /// Who Tenon is there, where somebody has registered it.
    pub client: Option<Client>,
}

struct Inner {
    store: Store,
    vault: Arc<Vault>,
    travellers: Mutex<Travellers>,
    passes: Mutex<HashMap<(SourceId, UserId), Issued>>,
    anywhere: OnceLock<Http>,
    public_only: OnceLock<Http>,
}

/// A pass, and what it is for.
#[derive(Clone)]
struct Issued {
    place: Place,
    pass: Pass,
}

impl Entrance {
    pub fn new(store: Store, vault: Arc<Vault>) -> Self {
        Self(Arc::new(Inner {
            store,
            vault,
            travellers: Mutex::default(),
            passes: Mutex::default(),
            anywhere: OnceLock::new(),
            public_only: OnceLock::new(),
        }))
    }

    /// Where somebody's browser has to go.
    pub async fn begin(
        &self,
        user: &UserId,
        place: Place,
        doorway: Doorway,
        here: Here,
    ) -> Result<String, Trouble> {
        let server = Url::parse(&doorway.url)
            .map_err(|_| Trouble::Untrusted("The server's address is none.".into()))?;
        // They go where the address leads now, whatever it was a moment ago.
        let place = Place {
            origin: Some(origin_of(&server)),
            ..place
        };
        let held = self.pass(user, &place)?.grant().await?;
        let description = here.description();
        let asking = Asking {
            server: &server,
            challenge: doorway.challenge.as_deref(),
            redirect: &here.callback(),
            client: doorway.client.as_ref(),
            described_at: description.as_deref(),
            held: held.as_ref(),
        };
        let departure = oauth::begin(&self.http(place.network)?, asking).await?;
        let left = Left {
            user: user.clone(),
            place,
            away: departure.away,
        };
        lock(&self.0.travellers).leave(departure.state, left);
        Ok(departure.url)
    }

    /// Takes in what somebody's browser came back with: the server they are
    /// logged in at from now on.
    pub async fn end(&self, user: &UserId, returned: Return) -> Result<SourceId, Ended> {
        let left = lock(&self.0.travellers).come_back(&returned.state, user);
        let left = left.ok_or(Ended {
            source: None,
            trouble: Trouble::Expired,
        })?;
        let source = left.place.source.clone();
        match self.take_in(user, left, returned).await {
            Ok(()) => Ok(source),
            Err(trouble) => Err(Ended {
                source: Some(source),
                trouble,
            }),
        }
    }

    async fn take_in(&self, user: &UserId, left: Left, returned: Return) -> Result<(), Trouble> {
        let http = self.http(left.place.network)?;
        let grant = oauth::end(&http, left.away, returned).await?;
        self.pass(user, &left.place)?.take(grant).await
    }

    /// Forgets what somebody was granted, and tells them there.
    pub async fn leave(&self, user: &UserId, place: &Place) -> Result<(), Trouble> {
        lock(&self.0.travellers).forget(&place.source, user);
        self.pass(user, place)?.give_back().await
    }

    /// The pass of somebody for a server: always the same one while it is used,
    /// unless the server is another one by now.
    fn pass(&self, user: &UserId, place: &Place) -> Result<Pass, Trouble> {
        let http = self.http(place.network)?;
        let mut passes = lock(&self.0.passes);
        passes.retain(|_, issued| issued.pass.is_used());
        let key = (place.source.clone(), user.clone());
        if let Some(issued) = passes.get(&key)
            && issued.place == *place
        {
            return Ok(issued.pass.clone());
        }
        let kept = Kept {
            store: self.0.store.clone(),
            vault: self.0.vault.clone(),
            user: user.clone(),
            place: place.clone(),
        };
        let issued = Issued {
            place: place.clone(),
            pass: Pass::new(Arc::new(kept), http),
        };
        passes.insert(key, issued.clone());
        Ok(issued.pass)
    }

    fn http(&self, network: Network) -> Result<Http, Trouble> {
        let made = match network {
            Network::Anywhere => &self.0.anywhere,
            Network::PublicOnly => &self.0.public_only,
        };
        if let Some(http) = made.get() {
            return Ok(http.clone());
        }
        let http = Http::new(network)?;
        Ok(made.get_or_init(|| http).clone())
    }
}

/// A log-in that came to nothing.
#[derive(Debug)]
pub struct Ended {
    /// Where, as far as anybody knows.
    pub source: Option<SourceId>,
    pub trouble: Trouble,
}

impl Entrance {
    /// What lets somebody in, now and later.
    pub(super) fn tokens(&self, user: &UserId, place: &Place) -> Arc<dyn Tokens> {
        match self.pass(user, place) {
            Ok(pass) => Arc::new(pass),
            Err(trouble) => {
                let source = &place.source;
                tracing::error!(%source, %trouble, "nobody can be let in there");
                Arc::new(Nothing)
            }
        }
    }
}

/// Lets nobody in.
struct Nothing;

#[async_trait]
impl Tokens for Nothing {
    async fn token(&self) -> Option<String> {
        None
    }

    async fn instead_of(&self, _refused: &str) -> Option<String> {
        None
    }
}

impl std::fmt::Debug for Entrance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entrance").finish_non_exhaustive()
    }
}

/// The place that an address leads to, as a text.
pub(super) fn origin_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}
