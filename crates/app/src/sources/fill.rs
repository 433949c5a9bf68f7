//! The values of the variables in a configuration: secrets, then the environment.

use std::collections::HashMap;
use std::sync::Weak;

use async_trait::async_trait;
use tenon_domain::{
    CodedError, McpConfig, McpTransport, OpenapiConfig, SourceConfig, SourceId, UserId,
};
use tenon_sources::Network;
use tenon_sources::mcp::oauth::OAuthClient;
use tenon_sources::variables::{
    FillError, TemplateFields, Variable, VariableResolver, fill, mentioned,
};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::config::address;
use super::entry::SourceEntry;
use super::error::SourceError;
use super::input_error::{SourceFault, SourceInputError};
use super::oauth::origin_of;
use super::trust::Trust;
use super::{Inner, LoginEndpoint, LoginTarget, secrets};

/// Fills in what one server is given.
pub(super) struct VariableFiller {
    pub(super) inner: Weak<Inner>,
    pub(super) user: Option<UserId>,
    pub(super) trust: Trust,
    /// The target of the log-in: with tokens the server is started for this address only.
    pub(super) target: Option<LoginTarget>,
    /// Done when the server it replaces has ended: two of a kind may want the same file or port.
    pub(super) before: Option<CancellationToken>,
}

#[async_trait]
impl VariableResolver<McpConfig> for VariableFiller {
    async fn fill(&self, config: &McpConfig) -> Result<McpConfig, FillError> {
        // This is the first thing a start does.
        if let Some(before) = &self.before {
            before.cancelled().await;
        }
        let Some(inner) = self.inner.upgrade() else {
            return Err(FillError::Unread(SourceFault::ShuttingDown.into()));
        };
        let filled = filled(&inner, config, self.user.as_ref(), self.trust).await?;
        match &self.target {
            Some(target) if target.origin != origin(&filled) => {
                Err(FillError::Unread(SourceFault::Moved.into()))
            }
            Some(_) | None => Ok(filled),
        }
    }
}

#[async_trait]
impl VariableResolver<OpenapiConfig> for VariableFiller {
    async fn fill(&self, config: &OpenapiConfig) -> Result<OpenapiConfig, FillError> {
        // Two of these do not get in each other's way: nothing is waited for.
        let Some(inner) = self.inner.upgrade() else {
            return Err(FillError::Unread(SourceFault::ShuttingDown.into()));
        };
        filled(&inner, config, self.user.as_ref(), self.trust).await
    }
}

/// How somebody gets into a remote server, with everything filled in.
pub(super) async fn login_endpoint(
    inner: &Inner,
    entry: &SourceEntry,
    user: &UserId,
    challenge: Option<String>,
) -> Result<LoginEndpoint, SourceError> {
    let config = entry
        .config
        .as_ref()
        .map_err(|why| SourceError::Invalid(why.clone()))?;
    let SourceConfig::Mcp(config) = config else {
        return Err(SourceInputError::NoLogin.into());
    };
    let trust = inner.snapshot().facts.trust(entry);
    let filled = filled(inner, config, Some(user), trust).await;
    let filled = filled?;
    let client = filled.client;
    match filled.transport {
        McpTransport::Http { url, .. } | McpTransport::Sse { url, .. } => Ok(LoginEndpoint {
            url,
            challenge,
            client: client.map(|client| OAuthClient::new(client.id, client.secret)),
        }),
        McpTransport::Stdio { .. } => Err(SourceInputError::NoLogin.into()),
    }
}

/// A server as somebody logs in there. None: it is a program.
pub(super) async fn login_target(
    inner: &Inner,
    source: &SourceId,
    config: &SourceConfig,
    (user, trust, network): (&UserId, Trust, Network),
) -> Option<LoginTarget> {
    let SourceConfig::Mcp(config) = config else {
        return None;
    };
    let address = address(config)?.to_owned();
    let filled = filled(inner, config, Some(user), trust).await;
    Some(LoginTarget {
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

pub(super) async fn filled<C: TemplateFields>(
    inner: &Inner,
    config: &C,
    user: Option<&UserId>,
    trust: Trust,
) -> Result<C, FillError> {
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
        .map_err(|gap| FillError::Unset(gap.detail()))
}
