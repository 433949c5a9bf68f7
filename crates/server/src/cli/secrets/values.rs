//! Secrets that servers are given by their names, from the machine they are kept on.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::json;

use super::super::say;
use crate::api::wire::NewSecret;
use crate::app::App;
use crate::auth::CurrentUser;
use crate::config::{Common, Config};

/// A little more than a secret may have, so that too long is noticed.
const MAX_READ: u64 = 64 * 1024;

/// Sets a secret to what stands on standard input; a running server starts what uses it anew.
pub(super) async fn set(common: &Common, name: &str, mine: bool) -> Result<ExitCode> {
    let value = read()?;
    let (app, user) = open(common).await?;
    let set = app
        .sources
        .set_secret(&user, name, NewSecret { value, mine });
    set.await?;
    let detail = json!({"mine": mine});
    user.note(&app, "", "secret.set", name, detail).await;
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn list(common: &Common, json: bool) -> Result<ExitCode> {
    let (app, user) = open(common).await?;
    let secrets = app.sources.secrets(&user).await?;
    if json {
        say(serde_json::to_string_pretty(&secrets)?);
        return Ok(ExitCode::SUCCESS);
    }
    for secret in secrets {
        match secret.mine {
            true => say(format_args!("${{user.{}}}", secret.name)),
            false => say(format_args!("${{{}}}", secret.name)),
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn remove(common: &Common, name: &str, mine: bool) -> Result<ExitCode> {
    let (app, user) = open(common).await?;
    app.sources.remove_secret(&user, name, mine).await?;
    let detail = json!({"mine": mine});
    user.note(&app, "", "secret.removed", name, detail).await;
    Ok(ExitCode::SUCCESS)
}

async fn open(common: &Common) -> Result<(App, CurrentUser)> {
    let app = App::open(&common.data, &Config::load(common)?).await?;
    let user = CurrentUser::of_shell(&app.store).await?;
    Ok((app, user))
}

fn read() -> Result<String> {
    let mut text = String::new();
    let read = match std::io::stdin().is_terminal() {
        true => {
            eprintln!("Type the secret and press Enter:");
            std::io::stdin().read_line(&mut text)
        }
        false => std::io::stdin().take(MAX_READ).read_to_string(&mut text),
    };
    read.context("standard input cannot be read")?;
    // What a terminal or `echo` puts at the end is not part of it.
    let value = text.strip_suffix('\n').unwrap_or(&text);
    Ok(value.strip_suffix('\r').unwrap_or(value).to_owned())
}
