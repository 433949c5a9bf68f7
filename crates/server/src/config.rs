//! What an operator can set: a TOML file, flags and `TENON_…` variables over it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::Deserialize;
use tenon_domain::SourceConfig;
use tenon_domain::source::BuiltinConfig;

use crate::models::endpoints::Environment;

/// Where Tenon listens unless told otherwise.
const LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8366);

/// Flags every command takes.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Where chats, files and settings are kept
    #[arg(
        long,
        global = true,
        default_value = "./data",
        env = "TENON_DATA",
        value_name = "DIR"
    )]
    pub data: PathBuf,
    /// A TOML file with settings
    #[arg(long, global = true, env = "TENON_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// sqlite://FILE or postgres://USER@HOST/NAME; a file in the data folder by default
    #[arg(
        long,
        global = true,
        env = "TENON_DATABASE",
        value_name = "URL",
        hide_env_values = true
    )]
    pub database: Option<String>,
    /// Model servers on this machine to look for, separated by commas; empty for none
    #[arg(long, global = true, env = "TENON_LOCAL_MODELS", value_name = "URLS")]
    pub local_models: Option<String>,
}

/// The settings file. An unknown name in it is an error: a typo must not be a silent default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub listen: Option<SocketAddr>,
    pub database: Option<String>,
    /// Names under which a reverse proxy in front of Tenon is known to browsers.
    pub allowed_hosts: Vec<String>,
    /// Lets `fetch_url` reach loopback and private addresses.
    pub allow_private_networks: bool,
    /// Model servers on this machine to look for, in the place of the usual ones.
    pub local_models: Option<Vec<String>>,
    /// How long a model may send nothing before it is given up; a minute by default.
    pub model_silence_seconds: Option<u64>,
    /// From the environment alone: neither belongs into a file.
    #[serde(skip)]
    pub secret_key: Option<String>,
    #[serde(skip)]
    pub environment: Environment,
}

impl Config {
    pub fn load(common: &Common) -> Result<Self> {
        let mut config = match &common.config {
            None => Self::default(),
            Some(file) => Self::read(file)?,
        };
        if let Some(database) = &common.database {
            config.database = Some(database.clone());
        }
        if let Some(urls) = &common.local_models {
            let urls = urls.split(',').map(str::trim).filter(|url| !url.is_empty());
            config.local_models = Some(urls.map(str::to_owned).collect());
        }
        config.secret_key = std::env::var("TENON_SECRET_KEY")
            .ok()
            .filter(|key| !key.is_empty());
        config.environment = Environment::read();
        Ok(config)
    }

    fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("the settings in {} cannot be read", file.display()))?;
        toml::from_str(&text)
            .with_context(|| format!("the settings in {} are not valid", file.display()))
    }

    pub fn listen(&self) -> SocketAddr {
        self.listen.unwrap_or(LISTEN)
    }

    /// The sources that are there without anybody adding them.
    pub fn sources(&self) -> Vec<SourceConfig> {
        let allow_private_networks = self.allow_private_networks;
        vec![SourceConfig::Builtin(BuiltinConfig {
            allow_private_networks,
        })]
    }
}
