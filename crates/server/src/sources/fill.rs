//! What stands for the variables of a configuration: secrets, then the environment.

use std::collections::HashMap;
use std::sync::Weak;

use async_trait::async_trait;
use tenon_domain::{McpConfig, McpTransport, OpenapiConfig, SourceConfig, SourceId, UserId};
use tenon_sources::Network;
use tenon_sources::mcp::oauth::Client;
use tenon_sources::variables::{Fill, Texts, Unfilled, Variable, fill, mentioned};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::config::address;
use super::edit::Refusal;
use super::entry::Entry;
use super::login::origin_of;
use super::plan::Trust;
use super::{Doorway, Inner, Place, secrets};

/// Fills in what one server is given.
pub(super) struct Filler {
    pub(super) inner: Weak<Inner>,
    pub(super) user: Option<UserId>,
    pub(super) trust: Trust,
    /// Where it lets somebody in by what they were granted: it is not started anywhere else.
    pub(super) place: Option<Place>,
    /// Done when the server it replaces has ended: two of a kind may want the same file or port.
    pub(super) before: Option<CancellationToken>,
}

#[async_trait]
impl Fill<McpConfig> for Filler {
    async fn fill(&self, config: &McpConfig) -> Result<McpConfig, Unfilled> {
        // This is the first thing a start does.
        if let Some(before) = &self.before {
            before.cancelled().await;
        }
        let Some(inner) = self.inner.upgrade() else {
            return Err(Unfilled::Unread("Tenon is shutting down.".into()));
        };
        let filled = filled(&inner, config, self.user.as_ref(), self.trust).await?;
        match &self.place {
            Some(place) if place.origin != origin(&filled) => Err(Unfilled::Unread(
                "Its address leads elsewhere since a moment ago; it is started anew.".into(),
            )),
            Some(_) | None => Ok(filled),
        }
    }
}

#[async_trait]
impl Fill<OpenapiConfig> for Filler {
    async fn fill(&self, config: &OpenapiConfig) -> Result<OpenapiConfig, Unfilled> {
        // Two of these do not get in each other's way: nothing is waited for.
        let Some(inner) = self.inner.upgrade() else {
            return Err(Unfilled::Unread("Tenon is shutting down.".into()));
        };
        filled(&inner, config, self.user.as_ref(), self.trust).await
    }
}

/// How somebody gets into a remote server, with everything filled in.
pub(super) async fn doorway(
    inner: &Inner,
    entry: &Entry,
    user: &UserId,
    challenge: Option<String>,
) -> Result<Doorway, Refusal> {
    let config = entry
        .config
        .as_ref()
        .map_err(|why| Refusal::Wrong(why.clone()))?;
    let nobody =
        |what: &str| Refusal::Wrong(format!("This server is {what}: nobody logs in there."));
    let SourceConfig::Mcp(config) = config else {
        return Err(nobody("an OpenAPI server"));
    };
    let trust = inner.seen().facts.trust(entry);
    let filled = filled(inner, config, Some(user), trust).await;
    let filled = filled.map_err(|why| Refusal::Wrong(why.to_string()))?;
    let client = filled.client;
    match filled.transport {
        McpTransport::Http { url, .. } | McpTransport::Sse { url, .. } => Ok(Doorway {
            url,
            challenge,
            client: client.map(|client| Client::new(client.id, client.secret)),
        }),
        McpTransport::Stdio { .. } => Err(nobody("a program on Tenon's machine")),
    }
}

/// A server as somebody logs in there. None: it is a program.
pub(super) async fn place(
    inner: &Inner,
    source: &SourceId,
    config: &SourceConfig,
    (user, trust, network): (&UserId, Trust, Network),
) -> Option<Place> {
    let SourceConfig::Mcp(config) = config else {
        return None;
    };
    let address = address(config)?.to_owned();
    let filled = filled(inner, config, Some(user), trust).await;
    Some(Place {
        source: source.clone(),
        address,
        origin: filled.ok().as_ref().and_then(origin),
        network,
    })
}

fn origin(filled: &McpConfig) -> Option<String> {
    let url = Url::parse(address(filled)?).ok()?;
    Some(origin_of(&url))
}

pub(super) async fn filled<C: Texts>(
    inner: &Inner,
    config: &C,
    user: Option<&UserId>,
    trust: Trust,
) -> Result<C, Unfilled> {
    let mut values = HashMap::new();
    for variable in mentioned(config) {
        let value = match &variable {
            Variable::Personal(name) => match user {
                Some(user) => secrets::open(inner, Some(user), name).await?,
                None => None,
            },
            Variable::Shared(name) if trust == Trust::Full => {
                let secret = secrets::open(inner, None, name).await?;
                secret.or_else(|| std::env::var(name).ok())
            }
            Variable::Shared(_) => None,
        };
        if let Some(value) = value {
            values.insert(variable, value);
        }
    }
    fill(config, &|variable| values.get(variable).cloned())
        .map_err(|gap| Unfilled::Unset(gap.to_string()))
}
