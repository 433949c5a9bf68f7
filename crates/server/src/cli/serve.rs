//! `tenon serve`

use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::say;
use crate::app::App;
use crate::config::{Common, Config};
use crate::serve;

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Where to listen; 127.0.0.1:8366 by default, port 0 for any free one
    #[arg(long, env = "TENON_LISTEN", value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

impl Serve {
    pub(super) async fn run(self, common: &Common) -> Result<ExitCode> {
        let config = Config::load(common)?;
        let listener = serve::listen(self.listen.unwrap_or(config.listen()), &config)?;
        let app = App::open(&common.data, &config).await?;
        tracing::info!(data = %common.data.display(), "listening on {}", listener.local_addr()?);
        say(format_args!(
            "Tenon is ready at http://{}",
            listener.local_addr()?
        ));
        if !config.single_user && !app.store.has_users().await? {
            say(format_args!(
                "There is no account yet: open the page and make the first one. \
                 From another computer it asks for this code: {}",
                app.auth.setup_code()
            ));
        }
        tokio::spawn(serve::close_on_signal(app.clone()));
        // Found before anybody asks, so that the first page has them.
        let models = app.models.clone();
        tokio::spawn(async move { models.look_around().await });
        serve::serve(app, listener).await?;
        Ok(ExitCode::SUCCESS)
    }
}
