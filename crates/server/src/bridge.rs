//! `tenon bridge`: MCP servers behind mcpo's OpenAPI, without a store or a data folder.
//!
//! `servers` runs what `config` names and keeps the `routes`; `handler` answers requests from them.
//! A call takes the same path as everywhere, [`tenon_tools::Toolset::call`], over a registry in
//! memory.

pub mod config;

mod access;
mod cors;
mod endpoint;
mod handler;
mod header_forwarding;
mod hot_reload;
mod labels;
mod mcp_service;
mod oauth;
mod routes;
mod server_routes;
mod servers;
mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use futures::future::BoxFuture;
use tenon_sources::heap;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::connections::{self, Connections};
use crate::mcpo::document::MainDocument;
use crate::serve::{CLOSE_TIMEOUT, bind, signal};
use access::BridgeKey;
use config::BridgeServerConfig;
use cors::CorsPolicy;
use handler::BridgeHandler;
use labels::BridgeLabels;
use servers::BridgeServers;

pub use header_forwarding::HeaderForwarding;
pub use oauth::BridgeOAuthConfig;

/// What the bridge is started with.
#[derive(Debug)]
pub struct BridgeOptions {
    pub address: SocketAddr,
    pub servers: BridgeServerSet,
    pub api_key: Option<String>,
    /// Whether documents need the key too.
    pub strict_auth: bool,
    /// None: all.
    pub allowed_origins: Option<Vec<String>>,
    pub title: Option<String>,
    pub version: Option<String>,
    pub description: Option<String>,
    pub root_path: String,
    pub path_prefix: String,
    pub tls: Option<TlsFiles>,
}

/// Where the servers are written down.
#[derive(Debug)]
pub enum BridgeServerSet {
    /// One server, whose tools are at the root.
    Single(Box<BridgeServerConfig>),
    File {
        path: PathBuf,
        hot_reload: bool,
        /// For all programs.
        env: std::collections::BTreeMap<String, String>,
    },
}

/// A certificate chain and its key, as PEM.
#[derive(Debug)]
pub struct TlsFiles {
    pub certificates: PathBuf,
    pub key: PathBuf,
}

/// A bridge that listens.
pub struct Bridge {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    handler: BridgeHandler,
    servers: BridgeServers,
    reloading: Option<hot_reload::ConfigWatch>,
}

impl Bridge {
    /// Listens, and starts all servers side by side.
    pub fn start(options: BridgeOptions) -> BoxFuture<'static, Result<Self>> {
        Box::pin(async move {
            let address = options.address;
            let tls = options.tls.as_ref().map(tls::acceptor).transpose()?;
            let (configs, reloading, is_single) = match options.servers {
                BridgeServerSet::Single(server) => (vec![*server], None, true),
                BridgeServerSet::File {
                    path,
                    hot_reload,
                    env,
                } => {
                    let watch = hot_reload::ConfigWatch::new(path, env);
                    let configs = watch.read()?;
                    (configs, hot_reload.then_some(watch), false)
                }
            };
            let listener = bind(address, "--port PORT")
                .with_context(|| format!("the bridge cannot listen on {address}"))?;
            let path_prefix = match options.path_prefix.trim_matches('/') {
                "" => "/".to_owned(),
                prefix => format!("/{prefix}/"),
            };
            let or =
                |text: Option<String>, default: &str| text.unwrap_or_else(|| default.to_owned());
            let labels = BridgeLabels {
                title: or(options.title, MainDocument::TITLE),
                version: or(options.version, MainDocument::VERSION),
                description: or(options.description, MainDocument::DESCRIPTION),
                root_path: options.root_path.trim_end_matches('/').to_owned(),
                path_prefix,
                has_key: options.api_key.is_some(),
                is_single,
            };
            let key = options
                .api_key
                .map(|key| BridgeKey::new(&key, options.strict_auth));
            let mut servers = BridgeServers::new(labels);
            servers.apply(configs).await?;
            let handler = BridgeHandler::new(
                servers.routes(),
                key,
                CorsPolicy::new(options.allowed_origins),
            );
            Ok(Self {
                listener,
                tls,
                handler,
                servers,
                reloading,
            })
        })
    }

    pub fn local_address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    pub fn has_key(&self) -> bool {
        self.handler.has_key()
    }

    /// Serves until the operator's signal, then ends all servers.
    pub fn serve(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let closing = CancellationToken::new();
            let on_signal = closing.clone();
            tokio::spawn(async move {
                signal().await;
                on_signal.cancel();
                signal().await;
                std::process::exit(130);
            });
            let servers = Arc::new(tokio::sync::Mutex::new(self.servers));
            let reloading = self.reloading.map(|watch| {
                let reloading = watch.run(servers.clone());
                AbortOnDropHandle::new(tokio::spawn(reloading))
            });
            heap::release_when_quiet();
            let connections = Connections::new(None);
            let listener = (self.listener, self.tls);
            connections::serve(listener, self.handler, connections, closing, CLOSE_TIMEOUT).await;
            drop(reloading);
            servers.lock().await.stop().await;
        })
    }
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").finish_non_exhaustive()
    }
}
