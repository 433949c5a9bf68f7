//! `tenon link`: the link that opens a server that runs, for whoever can read its data folder.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use url::Url;

use super::say;
use crate::flags::CommonFlags;
use tenon_app::app::open_store;
use tenon_app::auth::setup::published_link;

/// How long a server on this machine may take to say that it is there.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub(super) struct LinkCommand {}

/// What a server says about getting in, as far as it matters here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServerAuthState {
    setup: bool,
    single_user: bool,
}

impl LinkCommand {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        let data = common.data.display();
        let link = published_link(&common.data).with_context(|| {
            format!(
                "the link in the data folder {data} cannot be read; run this as the user who started Tenon"
            )
        })?;
        let Some(link) = link else {
            if common.data.is_dir() && has_accounts(common).await? {
                bail!(HAS_ACCOUNTS);
            }
            bail!("no Tenon runs with the data folder {data}; start it with `tenon serve`");
        };
        // A server that was killed could not remove its link.
        match ask(&link).await {
            None => bail!(
                "the Tenon of the data folder {data} does not run any more; start it with `tenon serve`"
            ),
            Some(entrance) if entrance.setup || entrance.single_user => say(link),
            Some(_) => bail!(HAS_ACCOUNTS),
        }
        Ok(ExitCode::SUCCESS)
    }
}

const HAS_ACCOUNTS: &str = "there are accounts, so no link lets anybody in: log in on Tenon's page; \
     `tenon user passwd EMAIL --password-stdin` sets a password that was forgotten";

async fn has_accounts(common: &CommonFlags) -> Result<bool> {
    let store = open_store(&common.data, &common.load_config()?).await?;
    Ok(store.has_users().await?)
}

/// What the server behind a link says; None where none answers.
async fn ask(link: &str) -> Option<ServerAuthState> {
    let url = Url::parse(link).ok()?.join("/api/auth/state").ok()?;
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(ANSWER_TIMEOUT)
        .build()
        .ok()?;
    client.get(url).send().await.ok()?.json().await.ok()
}
