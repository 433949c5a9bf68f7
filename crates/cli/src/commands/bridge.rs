//! `tenon bridge`: in the place of mcpo, with its flags.
//!
//! It opens no store and no folder: it can be run anywhere.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{ArgAction, Args};
use tenon_server::bridge::config::{BridgeServerType, single};
use tenon_server::bridge::{Bridge, BridgeOptions, BridgeServerSet, TlsFiles};

use super::say;

#[derive(Args)]
pub(super) struct BridgeCommand {
    /// Where to listen; mcpo listens on 0.0.0.0
    #[arg(short = 'h', long, default_value = "127.0.0.1")]
    host: String,
    /// Port 0 for any free one
    #[arg(short, long, default_value_t = 8000)]
    port: u16,
    /// An origin whose pages may ask; may be given several times. All by default
    #[arg(long, value_name = "ORIGIN")]
    cors_allow_origins: Vec<String>,
    /// What calls have to show as bearer token
    #[arg(short = 'k', long, value_name = "KEY")]
    api_key: Option<String>,
    /// Ask for the key for documents too
    #[arg(long)]
    strict_auth: bool,
    /// A variable of the programs that are started; may be given several times
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A file with such variables, one a line
    #[arg(long, value_name = "FILE")]
    env_path: Option<PathBuf>,
    /// What the one server is that is given after `--`: stdio, sse or streamable-http
    #[arg(
        long = "type",
        visible_alias = "server-type",
        value_name = "TYPE",
        default_value = "stdio"
    )]
    server_type: String,
    /// A JSON file with `mcpServers`
    // The id is that of the settings file of the other commands, which this takes the place of.
    #[arg(id = "config", short = 'c', long = "config", value_name = "FILE")]
    config: Option<PathBuf>,
    /// The title of the main document
    #[arg(short, long)]
    name: Option<String>,
    /// Its description
    #[arg(short, long)]
    description: Option<String>,
    /// Its version
    #[arg(
        short = 'v',
        long = "version",
        id = "document_version",
        value_name = "VERSION"
    )]
    version: Option<String>,
    /// A certificate chain, to serve HTTPS
    #[arg(short = 't', long, value_name = "FILE", requires = "ssl_keyfile")]
    ssl_certfile: Option<PathBuf>,
    /// The key of the certificate
    #[arg(short = 'K', long, value_name = "FILE", requires = "ssl_certfile")]
    ssl_keyfile: Option<PathBuf>,
    /// Where a reverse proxy has put the bridge
    #[arg(long, value_name = "PATH", default_value = "")]
    root_path: String,
    /// What the paths of servers begin with
    #[arg(long, value_name = "PATH", default_value = "/")]
    path_prefix: String,
    /// Headers for a server at an address, as a JSON object
    #[arg(short = 'H', long = "header", value_name = "JSON")]
    headers: Option<String>,
    /// Read the configuration again when it changes
    #[arg(long)]
    hot_reload: bool,
    /// DEBUG, INFO, WARNING, ERROR or CRITICAL
    #[arg(long, env = "LOG_LEVEL", value_name = "LEVEL")]
    log_level: Option<String>,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    /// One server: a program and its arguments, or an address
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl BridgeCommand {
    pub(super) fn log_level(&self) -> &'static str {
        let level = self.log_level.as_deref().unwrap_or_default();
        match level.to_ascii_uppercase().as_str() {
            "DEBUG" => "debug",
            "WARNING" | "WARN" => "warn",
            "ERROR" | "CRITICAL" => "error",
            _ => "info",
        }
    }

    pub(super) async fn run(self) -> Result<ExitCode> {
        let address = self.address()?;
        let scheme = if self.ssl_certfile.is_some() {
            "https"
        } else {
            "http"
        };
        let bridge = Bridge::start(self.options(address)?).await?;
        let listening = bridge.local_address()?;
        if !bridge.has_key() && !listening.ip().is_loopback() {
            tracing::warn!(
                "the bridge listens on {listening} without a key: whoever reaches this address can call every tool. \
                 Give it one with --api-key, or leave out --host."
            );
        }
        say(format_args!(
            "Tenon bridge is ready at {scheme}://{listening}"
        ));
        bridge.serve().await;
        Ok(ExitCode::SUCCESS)
    }

    fn address(&self) -> Result<SocketAddr> {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(ip) = host.parse::<IpAddr>() {
            return Ok(SocketAddr::new(ip, self.port));
        }
        let mut found = (host, self.port)
            .to_socket_addrs()
            .with_context(|| format!("--host {host} is not known"))?;
        found
            .next()
            .with_context(|| format!("--host {host} has no address"))
    }

    fn options(self, address: SocketAddr) -> Result<BridgeOptions> {
        let env = self.variables()?;
        let is_open = self.cors_allow_origins.iter().any(|origin| origin == "*");
        let origins = Some(self.cors_allow_origins).filter(|all| !all.is_empty() && !is_open);
        let servers = match (self.command.is_empty(), self.config) {
            // As with mcpo, a command goes before a file.
            (false, _) => {
                let kind = BridgeServerType::parse(&self.server_type).with_context(|| {
                    format!(
                        "--type {} is none of stdio, sse and streamable-http",
                        self.server_type
                    )
                })?;
                let headers = match &self.headers {
                    Some(text) => {
                        serde_json::from_str(text).context("--header is no JSON object of texts")?
                    }
                    None => BTreeMap::new(),
                };
                BridgeServerSet::Single(Box::new(single(kind, self.command, env, headers)?))
            }
            (true, Some(path)) => BridgeServerSet::File {
                path,
                hot_reload: self.hot_reload,
                env,
            },
            (true, None) => bail!(
                "there is no server to offer; name a file with --config FILE, or a program after `--`"
            ),
        };
        let tls = self.ssl_certfile.zip(self.ssl_keyfile);
        Ok(BridgeOptions {
            address,
            servers,
            api_key: self.api_key.filter(|key| !key.is_empty()),
            strict_auth: self.strict_auth,
            allowed_origins: origins,
            title: self.name,
            version: self.version,
            description: self.description,
            root_path: self.root_path,
            path_prefix: self.path_prefix,
            tls: tls.map(|(certificates, key)| TlsFiles { certificates, key }),
        })
    }

    /// Of the file first: what is given on the command line counts more.
    fn variables(&self) -> Result<BTreeMap<String, String>> {
        let mut variables = BTreeMap::new();
        if let Some(path) = &self.env_path {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("--env-path {} cannot be read", path.display()))?;
            variables.extend(text.lines().filter_map(variable_line));
        }
        for given in &self.env {
            let Some((name, value)) = given.split_once('=') else {
                bail!("--env needs NAME=VALUE");
            };
            variables.insert(name.trim().to_owned(), value.to_owned());
        }
        Ok(variables)
    }
}

/// A line of a `.env` file. Comments and empty lines say nothing.
fn variable_line(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    if line.starts_with('#') {
        return None;
    }
    let (name, value) = line.split_once('=')?;
    let value = value.trim();
    let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
    Some((name.trim().to_owned(), value.to_owned()))
}

/// There may be keys in it.
impl fmt::Debug for BridgeCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BridgeCommand")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_an_env_file_is_a_variable() {
        let check = |line: &str, expected: Option<(&str, &str)>| {
            let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(variable_line(line), expected, "{line}");
        };
        check("A=b", Some(("A", "b")));
        check("export A = 'b c' ", Some(("A", "b c")));
        check("A=\"x=y\"", Some(("A", "x=y")));
        check("# A=b", None);
        check("", None);
    }
}
