//! `tenon user`: accounts, from the machine they are kept on.

use std::io::Read;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use tenon_domain::pattern::Pattern;
use tenon_domain::{Account, KeyAccess, KeyScope, UserRole};
use tenon_store::RevokedCredentials;

use super::say;
use crate::flags::CommonFlags;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_server::error::ApiError;
use tenon_server::wire::{NewAccount, NewKey, UserChange};

/// Bounds the read of standard input; longer passwords are refused anyway.
const MAX_PASSWORD_BYTES: u64 = 8 * 1024;

#[derive(Debug, Subcommand)]
pub(super) enum User {
    /// Make an account; the first one is an admin's
    Add {
        #[arg(long)]
        email: String,
        #[arg(long)]
        name: String,
        /// May also add models and look after accounts
        #[arg(long)]
        admin: bool,
        #[command(flatten)]
        password: Password,
    },
    /// All accounts, one a line
    List {
        #[arg(long)]
        json: bool,
    },
    /// Set another password, which ends all log-ins and keys
    Passwd {
        email: String,
        /// Keys for programs stay as they are
        #[arg(long)]
        keep_keys: bool,
        #[command(flatten)]
        password: Password,
    },
    /// Lock somebody out at once; nothing of theirs is lost
    Disable { email: String },
    /// Let somebody in again
    Enable { email: String },
    /// Make a key for programs and print it, this once
    Key {
        /// Whose it is; without: yours, who runs Tenon with --single-user
        email: Option<String>,
        /// What it is for
        #[arg(long)]
        name: String,
        #[arg(long, default_value = "full")]
        access: KeyAccessFlag,
        /// Tools that it may call although they need approval; `*` stands for any characters
        #[arg(long, value_name = "PATTERN")]
        allow: Vec<String>,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct Password {
    /// Read the password from standard input, where nobody looks over a shoulder
    #[arg(long, required = true)]
    password_stdin: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum KeyAccessFlag {
    Full,
    Use,
    Read,
}

impl User {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        let app = App::open(&common.data, &common.load_config()?).await?;
        let shell = CurrentUser::of_shell(&app.store).await?;
        match self {
            Self::Add {
                email,
                name,
                admin,
                password,
            } => {
                let new = NewAccount {
                    name,
                    email,
                    password: password.read()?,
                    role: if admin {
                        UserRole::Admin
                    } else {
                        UserRole::User
                    },
                };
                let account = app
                    .accounts
                    .create(&shell, "", new)
                    .await
                    .map_err(sentence_of)?;
                say(line(&account));
            }
            Self::List { json } => list(&app, json).await?,
            Self::Passwd {
                email,
                keep_keys,
                password,
            } => {
                let change = UserChange {
                    password: Some(password.read()?),
                    keep_keys,
                    ..UserChange::default()
                };
                let revoked = edit(&app, &shell, &email, change).await?;
                say(match (keep_keys, revoked.keys.len()) {
                    (true, _) => {
                        "All log-ins have ended; keys for programs stay as they are.".into()
                    }
                    (false, 0) => "All log-ins have ended; there were no keys.".to_owned(),
                    (false, 1) => "All log-ins have ended, and 1 key has ended too.".into(),
                    (false, keys) => format!("All log-ins have ended, and {keys} keys too."),
                });
            }
            Self::Disable { email } => {
                let change = UserChange {
                    disabled: Some(true),
                    ..UserChange::default()
                };
                edit(&app, &shell, &email, change).await?;
            }
            Self::Enable { email } => {
                let change = UserChange {
                    disabled: Some(false),
                    ..UserChange::default()
                };
                edit(&app, &shell, &email, change).await?;
            }
            Self::Key {
                email,
                name,
                access,
                allow,
                json,
            } => {
                let scope = KeyScope {
                    access: access.into(),
                    allow: allow.into_iter().map(Pattern).collect(),
                };
                let owner = match email {
                    Some(email) => find(&app, &email).await?.id,
                    None => shell.id.clone(),
                };
                let new = NewKey {
                    name,
                    scope,
                    allow: Vec::new(),
                    // Whoever can read the data folder has shown enough.
                    password: None,
                };
                let created = app.accounts.create_key(&shell, &owner, "", new);
                let created = created.await.map_err(sentence_of)?;
                if json {
                    say(serde_json::to_string_pretty(&created)?)
                } else {
                    say(&created.key)
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Password {
    fn read(&self) -> Result<String> {
        let mut text = String::new();
        std::io::stdin()
            .take(MAX_PASSWORD_BYTES)
            .read_to_string(&mut text)
            .context("standard input cannot be read")?;
        // What a terminal or `echo` puts at the end is not part of it.
        let password = text.strip_suffix('\n').unwrap_or(&text);
        let password = password.strip_suffix('\r').unwrap_or(password);
        Ok(password.to_owned())
    }
}

async fn list(app: &App, json: bool) -> Result<()> {
    let accounts = app.store.users().await?;
    if json {
        say(serde_json::to_string_pretty(&accounts)?);
        return Ok(());
    }
    accounts.iter().map(line).for_each(say);
    Ok(())
}

async fn edit(
    app: &App,
    shell: &CurrentUser,
    email: &str,
    change: UserChange,
) -> Result<RevokedCredentials> {
    let account = find(app, email).await?;
    let edited = app.accounts.change(shell, "", &account.id, change).await;
    let (account, revoked) = edited.map_err(sentence_of)?;
    say(line(&account));
    Ok(revoked)
}

async fn find(app: &App, email: &str) -> Result<Account> {
    match app.store.user_by_email(email).await? {
        Some((account, _)) => Ok(account),
        None => bail!("nobody has the address {email}; `tenon user list` shows all accounts"),
    }
}

fn line(account: &Account) -> String {
    let role = match account.role {
        UserRole::Admin => "admin",
        UserRole::User => "user",
    };
    let disabled = if account.disabled { ", disabled" } else { "" };
    format!("{}  {} ({role}{disabled})", account.email, account.name)
}

/// The sentence that a page would show.
fn sentence_of(error: tenon_app::Error) -> anyhow::Error {
    anyhow!(ApiError::from(error).detail().message)
}

impl From<KeyAccessFlag> for KeyAccess {
    fn from(access: KeyAccessFlag) -> Self {
        match access {
            KeyAccessFlag::Full => Self::Full,
            KeyAccessFlag::Use => Self::Use,
            KeyAccessFlag::Read => Self::Read,
        }
    }
}
