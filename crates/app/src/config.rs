//! The operator's configuration: a TOML file, overridden by environment variables.

mod environment;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use tenon_domain::source::BuiltinConfig;
use tenon_tools::{FreeSpace, QuotaLimits};

pub use environment::Environment;

/// Where Tenon listens unless told otherwise.
const LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8366);

/// The variable with tool servers, as Open WebUI calls it.
pub const TOOL_SERVER_CONNECTIONS: &str = "TOOL_SERVER_CONNECTIONS";

const MEGABYTE: u64 = 1024 * 1024;

/// Enough for what runs to be stored, and for an operator to log in and look.
const FREE_SPACE_MB: u64 = 256;

/// Room for documents and pictures; a few users at their limit do not fill an ordinary disk.
const CHAT_QUOTA_MB: u64 = 512;
const USER_QUOTA_MB: u64 = 2048;

/// The settings file. An unknown name in it is an error: a typo must not be a silent default.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub listen: Option<SocketAddr>,
    pub database: Option<String>,
    /// The Redis or Valkey by which several servers on one PostgreSQL reach each other.
    pub bus: Option<String>,
    /// How long a server that is told to stop waits for running answers; 20 by default.
    pub drain_seconds: Option<u64>,
    /// Names under which a reverse proxy in front of Tenon is known to browsers.
    pub allowed_hosts: Vec<String>,
    /// Single-user mode: there are no accounts, only the person who started Tenon.
    pub single_user: bool,
    /// A reverse proxy stands before Tenon and says where requests come from.
    pub trust_proxy: bool,
    /// Lets `fetch_url` reach loopback and private addresses.
    pub allow_private_networks: bool,
    /// How many connections may be open at once; 4096 by default, and never more than three
    /// quarters of the files that the process may open.
    pub max_connections: Option<usize>,
    /// Whether `/metrics` is for everybody who can reach the server, and not for admins alone.
    pub open_metrics: bool,
    /// How the lines of the log are written; for people by default.
    pub log_format: Option<LogFormat>,
    /// Where traces and metrics are sent, if anywhere.
    pub telemetry: TelemetryConfig,
    /// Model servers on this machine to look for, in the place of the usual ones.
    pub local_models: Option<Vec<String>>,
    /// The id of the model whose embeddings tools are found by, as `openai:text-embedding-3-small`.
    pub embedding_model: Option<String>,
    /// How long a model may send nothing before it is given up; a minute by default.
    pub model_silence_seconds: Option<u64>,
    /// How long a program of a skill stays for its next call.
    pub skill_idle_seconds: Option<u64>,
    /// Whether a real model gives chats their names; it does by default.
    pub model_titles: Option<bool>,
    /// Whether what is sent to models is kept for 30 days, for the traces of turns; it is by
    /// default.
    pub keep_model_requests: Option<bool>,
    /// Space that must stay free on the disk of the data folder, in megabytes; 0 disables the
    /// check.
    pub free_space_mb: Option<u64>,
    /// What the files of one chat, and those and the outputs of all chats of one user, may take.
    pub chat_quota_mb: Option<u64>,
    pub user_quota_mb: Option<u64>,
    /// People may log in with an account somewhere else.
    pub oidc: Option<OidcConfig>,
    /// Tool servers in the format of Open WebUI: a list. An error in an entry is shown with it and
    /// does not prevent the start.
    pub tool_servers: Option<Value>,
    /// Name of the settings file, for messages.
    #[serde(skip)]
    pub file: Option<String>,
    /// The same list as the environment has it, in JSON.
    #[serde(skip)]
    pub tool_server_connections: Option<String>,
    /// From the environment alone: neither belongs into a file.
    #[serde(skip)]
    pub secret_key: Option<String>,
    #[serde(skip)]
    pub environment: Environment,
    /// The executable that scripts of skills are started with: this one, unless a test is no such
    /// program itself.
    #[serde(skip)]
    pub sandbox_helper: Option<PathBuf>,
}

/// How the lines of the log are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    /// One object a line.
    Json,
}

/// The name of a format that there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("use text or json")]
pub struct UnknownLogFormat;

impl FromStr for LogFormat {
    type Err = UnknownLogFormat;

    fn from_str(text: &str) -> std::result::Result<Self, UnknownLogFormat> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(UnknownLogFormat),
        }
    }
}

/// OpenTelemetry. Its standard variables, `OTEL_…`, count before these.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryConfig {
    /// The base URL of an OTLP receiver that speaks HTTP.
    pub endpoint: Option<String>,
    /// Whether messages, inputs and results are sent as well.
    pub content: bool,
}

/// An issuer of OpenID Connect.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcConfig {
    pub issuer: String,
    pub client_id: String,
    /// Better in `TENON_OIDC_CLIENT_SECRET`. A public client has none.
    #[serde(default)]
    pub client_secret: Option<String>,
    /// What people know the issuer by.
    #[serde(default)]
    pub name: Option<String>,
    /// Whose e-mail addresses are let in; everybody's if there are none.
    #[serde(default)]
    pub allowed_domains: Vec<String>,
    /// Whether logging in makes an account for those who have none.
    #[serde(default)]
    pub sign_up: bool,
    /// Where people open Tenon, such as `https://tenon.example.com`.
    #[serde(default)]
    pub public_url: Option<String>,
}

/// The address of a database may hold a password, and neither is the key to the secrets told.
impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("listen", &self.listen)
            .field("allowed_hosts", &self.allowed_hosts)
            .field("single_user", &self.single_user)
            .field("trust_proxy", &self.trust_proxy)
            .field("oidc", &self.oidc)
            .finish_non_exhaustive()
    }
}

/// The secret stays inside.
impl std::fmt::Debug for OidcConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OidcConfig")
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// The settings of a file, if one is named, and of the environment.
    pub fn load(file: Option<&Path>) -> Result<Self> {
        let mut config = match file {
            None => Self::default(),
            Some(file) => Self::read(file)?,
        };
        config.secret_key = std::env::var("TENON_SECRET_KEY")
            .ok()
            .filter(|key| !key.is_empty());
        if let Some(oidc) = &mut config.oidc
            && let Ok(secret) = std::env::var("TENON_OIDC_CLIENT_SECRET")
        {
            oidc.client_secret = Some(secret).filter(|secret| !secret.is_empty());
        }
        config.tool_server_connections = std::env::var(TOOL_SERVER_CONNECTIONS).ok();
        config.environment = Environment::read();
        Ok(config)
    }

    fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("the settings in {} cannot be read", file.display()))?;
        let mut config: Self = toml::from_str(&text)
            .with_context(|| format!("the settings in {} are not valid", file.display()))?;
        let name = file.file_name().and_then(|name| name.to_str());
        config.file = name.map(str::to_owned);
        Ok(config)
    }

    pub fn listen(&self) -> SocketAddr {
        self.listen.unwrap_or(LISTEN)
    }

    /// What must stay free on the disk of the data folder.
    pub fn free_space(&self, data: &Path) -> FreeSpace {
        let floor = self.free_space_mb.unwrap_or(FREE_SPACE_MB);
        FreeSpace::new(data, floor.saturating_mul(MEGABYTE))
    }

    /// What chats and users may take of it.
    pub fn quota(&self) -> QuotaLimits {
        let bytes = |megabytes: Option<u64>, usual| {
            let megabytes = megabytes.unwrap_or(usual);
            megabytes.saturating_mul(MEGABYTE)
        };
        QuotaLimits {
            chat_bytes: bytes(self.chat_quota_mb, CHAT_QUOTA_MB),
            user_bytes: bytes(self.user_quota_mb, USER_QUOTA_MB),
        }
    }

    /// How the tools that come with Tenon are set up.
    pub fn builtin(&self) -> BuiltinConfig {
        BuiltinConfig {
            allow_private_networks: self.allow_private_networks,
            web_search: self.environment.web_search.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_told_by_accident() {
        let config = Config {
            database: Some("postgres://ada:hidden@db/tenon".into()),
            bus: Some("redis://:hidden@cache".into()),
            tool_server_connections: Some("hidden".into()),
            tool_servers: Some(Value::from("hidden")),
            secret_key: Some("hidden".into()),
            oidc: Some(OidcConfig {
                issuer: "https://issuer.example".into(),
                client_id: "tenon".into(),
                client_secret: Some("hidden".into()),
                name: None,
                allowed_domains: Vec::new(),
                sign_up: false,
                public_url: None,
            }),
            ..Config::default()
        };
        let told = format!("{config:?}");
        assert!(
            told.contains("issuer.example") && !told.contains("hidden"),
            "{told}"
        );
    }
}
