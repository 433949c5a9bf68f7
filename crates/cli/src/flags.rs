//! Flags that every command takes, over the settings file and the environment.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use tenon_app::config::{Config, LogFormat};

/// Flags every command takes.
#[derive(Clone, Args)]
pub struct CommonFlags {
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
    /// redis://HOST or rediss://HOST: by which several servers on one PostgreSQL reach each other
    #[arg(
        long,
        global = true,
        env = "TENON_BUS",
        value_name = "URL",
        hide_env_values = true
    )]
    pub bus: Option<String>,
    /// How the lines of the log are written: text or json
    #[arg(long, global = true, env = "TENON_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// Model servers on this machine to look for, separated by commas; empty for none
    #[arg(long, global = true, env = "TENON_LOCAL_MODELS", value_name = "URLS")]
    pub local_models: Option<String>,
    /// The model whose embeddings tools are found by, as ENDPOINT:MODEL; without one by words alone
    #[arg(
        long,
        global = true,
        env = "TENON_EMBEDDING_MODEL",
        value_name = "MODEL"
    )]
    pub embedding_model: Option<String>,
    /// Serve one person, on loopback only: no accounts, but a link that `tenon serve` prints
    #[arg(
        long,
        global = true,
        env = "TENON_SINGLE_USER",
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    pub single_user: bool,
}

impl CommonFlags {
    /// The settings of the file and the environment, with these flags over them.
    pub fn load_config(&self) -> Result<Config> {
        let mut config = Config::load(self.config.as_deref())?;
        if let Some(database) = &self.database {
            config.database = Some(database.clone());
        }
        if let Some(bus) = &self.bus {
            config.bus = Some(bus.clone()).filter(|bus| !bus.is_empty());
        }
        if let Some(model) = &self.embedding_model {
            config.embedding_model = Some(model.clone()).filter(|model| !model.is_empty());
        }
        if let Some(urls) = &self.local_models {
            let urls = urls.split(',').map(str::trim).filter(|url| !url.is_empty());
            config.local_models = Some(urls.map(str::to_owned).collect());
        }
        config.single_user |= self.single_user;
        Ok(config)
    }
}

/// The address of a database may hold a password.
impl std::fmt::Debug for CommonFlags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommonFlags")
            .field("data", &self.data)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
