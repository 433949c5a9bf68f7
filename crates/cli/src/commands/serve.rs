//! `tenon serve`

use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use super::{open, say};
use crate::flags::CommonFlags;
use crate::telemetry::Telemetry;
use tenon_app::app::App;
use tenon_app::auth::setup::remove_stale_link;
use tenon_app::permissions;
use tenon_server::metrics::ServerMetrics;
use tenon_server::serve;

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Where to listen; 127.0.0.1:8366 by default, port 0 for any free one
    #[arg(long, env = "TENON_LISTEN", value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Open the page, where there is a desktop
    #[arg(long)]
    open: bool,
}

impl Serve {
    pub(super) async fn run(self, common: &CommonFlags, telemetry: &Telemetry) -> Result<ExitCode> {
        let config = common.load_config()?;
        let listener = serve::listen(self.listen.unwrap_or(config.listen()), &config)?;
        permissions::warn_about(&common.data, common.config.as_deref());
        let app = App::open(&common.data, &config).await?;
        let listening = listener.local_addr()?;
        let link = Self::link(&app, common, listening).await?;
        let shell = &app.auth.shell;
        let published = shell.publish(&common.data, listening, &config);
        let server_file = published.inspect_err(|error| {
            tracing::warn!(%error, "commands cannot find this server, and start servers of their own");
        });
        tracing::info!(data = %common.data.display(), "listening on {listening}");
        say(format_args!("Tenon is ready at http://{listening}"));
        match &link {
            Some(link) if config.single_user => say(format_args!(
                "It is yours by this link, which works once; `tenon link` prints another: {link}"
            )),
            Some(link) => say(format_args!(
                "There is no account yet. Make the first one here: {link}"
            )),
            None => {}
        }
        if self.open {
            open::open(&app, listening);
        }
        tokio::spawn(serve::close_on_signal(app.clone()));
        // Found before anybody asks, so that the first page has them.
        let models = app.models.clone();
        tokio::spawn(async move { models.refresh_endpoints().await });
        let metrics = ServerMetrics::new(app.clone());
        telemetry.observe(&metrics);
        let served = serve::serve_measured(app.clone(), listener, metrics).await;
        app.auth.setup.withdraw();
        drop(server_file);
        served?;
        Ok(ExitCode::SUCCESS)
    }

    /// The link that lets in whoever started Tenon; none where people log in to accounts.
    async fn link(
        app: &App,
        common: &CommonFlags,
        listening: SocketAddr,
    ) -> Result<Option<String>> {
        let in_folder = || format!("in the data folder {}", common.data.display());
        if !app.auth.single_user && app.store.has_users().await? {
            remove_stale_link(&common.data)
                .with_context(|| format!("an old set-up link {} cannot be removed", in_folder()))?;
            return Ok(None);
        }
        let link = app.auth.setup.publish(&common.data, listening);
        let link =
            link.with_context(|| format!("the set-up link cannot be written {}", in_folder()))?;
        Ok(Some(link))
    }
}
