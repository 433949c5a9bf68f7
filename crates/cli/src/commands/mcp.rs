//! `tenon mcp`: the hub as an MCP server on standard input and output, for clients that start their
//! servers themselves. Nothing but messages of the protocol is written to standard output.

mod http_proxy;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use reqwest::{Client, ClientBuilder};
use tokio::io::{AsyncWriteExt, BufReader, stdin, stdout};
use tokio::sync::mpsc;
use url::Url;

use crate::flags::CommonFlags;
use http_proxy::HttpProxy;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::auth::shell::RunningServer;
use tenon_server::mcp::{HubCaller, serve_stdio};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Args)]
pub(super) struct McpCommand {
    /// A Tenon that runs elsewhere, such as https://tenon.example; without it, that of the data
    /// folder
    #[arg(long, value_name = "URL", requires = "key")]
    connect: Option<Url>,
    /// An API key of that Tenon
    #[arg(long, env = "TENON_KEY", value_name = "KEY", hide_env_values = true)]
    key: Option<String>,
}

impl McpCommand {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        if let Some((mut url, key)) = self.connect.zip(self.key) {
            if url.path() == "/" {
                url.set_path("/mcp");
            }
            return proxy(Client::builder(), url, &key).await;
        }
        let config = common.load_config()?;
        if let Some(server) = RunningServer::find(&common.data, &config) {
            let url = format!("{}/api/shell/mcp", server.address);
            let client = Client::builder().no_proxy();
            return proxy(client, url.parse()?, &server.token).await;
        }
        let app = App::open(&common.data, &config).await?;
        let user = CurrentUser::of_shell(&app.store).await?;
        app.open_sources(&user).await;
        let caller = HubCaller::new(user, String::new());
        let served = serve_stdio(app.clone(), caller, stdin(), stdout()).await;
        app.sources.close().await;
        app.store.drain().await;
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn proxy(client: ClientBuilder, url: Url, token: &str) -> Result<ExitCode> {
    // No timeout for whole requests: calls may take as long as the server lets them.
    let client = client
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .build()
        .context("no HTTP client could be made")?;
    let (proxy, lines) = HttpProxy::new(client, url, token)?;
    let writing = tokio::spawn(write_lines(lines));
    proxy.run(BufReader::new(stdin())).await?;
    // All that was answered is out.
    writing.await??;
    Ok(ExitCode::SUCCESS)
}

async fn write_lines(mut lines: mpsc::Receiver<String>) -> std::io::Result<()> {
    let mut output = stdout();
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

impl std::fmt::Debug for McpCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpCommand").finish_non_exhaustive()
    }
}
