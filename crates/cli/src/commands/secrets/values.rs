//! Secrets that servers are given by their names, from the machine they are kept on.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::json;

use super::super::say;
use crate::flags::CommonFlags;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_server::wire::NewSecret;

/// A little more than a secret may have, so that too long is noticed.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// Sets a secret to what stands on standard input; a running server starts what uses it anew.
pub(super) async fn set(common: &CommonFlags, name: &str, mine: bool) -> Result<ExitCode> {
    let value = read()?;
    let (app, user) = open(common).await?;
    let set = app
        .sources
        .set_secret(&user, name, NewSecret { value, mine });
    set.await?;
    let detail = json!({"mine": mine});
    user.note(&app.store, "", "secret.set", name, detail).await;
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn list(common: &CommonFlags, json: bool) -> Result<ExitCode> {
    let (app, user) = open(common).await?;
    let secrets = app.sources.secrets(&user).await?;
    if json {
        say(serde_json::to_string_pretty(&secrets)?);
        return Ok(ExitCode::SUCCESS);
    }
    for secret in secrets {
        if secret.mine {
            say(format_args!("${{user.{}}}", secret.name))
        } else {
            say(format_args!("${{{}}}", secret.name))
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn remove(common: &CommonFlags, name: &str, mine: bool) -> Result<ExitCode> {
    let (app, user) = open(common).await?;
    app.sources.remove_secret(&user, name, mine).await?;
    let detail = json!({"mine": mine});
    user.note(&app.store, "", "secret.removed", name, detail)
        .await;
    Ok(ExitCode::SUCCESS)
}

async fn open(common: &CommonFlags) -> Result<(App, CurrentUser)> {
    let app = App::open(&common.data, &common.load_config()?).await?;
    let user = CurrentUser::of_shell(&app.store).await?;
    Ok((app, user))
}

fn read() -> Result<String> {
    let mut text = String::new();
    let read = if std::io::stdin().is_terminal() {
        eprintln!("Type the secret and press Enter:");
        std::io::stdin().read_line(&mut text)
    } else {
        std::io::stdin()
            .take(MAX_SECRET_BYTES)
            .read_to_string(&mut text)
    };
    read.context("standard input cannot be read")?;
    // What a terminal or `echo` puts at the end is not part of it.
    let value = text.strip_suffix('\n').unwrap_or(&text);
    Ok(value.strip_suffix('\r').unwrap_or(value).to_owned())
}
