//! `tenon secrets`: what servers are given by name; the keys that seal what is stored,
//! and a new one when it is time.

mod values;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use serde_json::json;
use tenon_store::{AuditEntry, KeyLocation, KeyRotation, KeyUse, Store, Vault};

use super::say;
use crate::flags::CommonFlags;
use tenon_app::app::{open_store, open_vault};
use tenon_app::auth::CurrentUser;

#[derive(Debug, Subcommand)]
pub(super) enum Secrets {
    /// Set a secret that servers are given for `${NAME}`; its value comes from standard input
    Set {
        name: String,
        /// Your own, for `${user.NAME}`
        #[arg(long)]
        mine: bool,
    },
    /// The names of the secrets that servers are given
    List {
        #[arg(long)]
        json: bool,
    },
    /// Remove such a secret
    Remove {
        name: String,
        #[arg(long)]
        mine: bool,
    },
    /// The keys by their ids, and how many secrets each seals
    Status,
    /// Seal every secret with a new key; a running server goes on with it
    Rotate,
}

impl Secrets {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        match self {
            Self::Set { name, mine } => values::set(common, &name, mine).await,
            Self::List { json } => values::list(common, json).await,
            Self::Remove { name, mine } => values::remove(common, &name, mine).await,
            Self::Status => {
                let (store, vault) = open(common).await?;
                status(&store, &vault).await
            }
            Self::Rotate => {
                let (store, vault) = open(common).await?;
                rotate(&store, &vault).await
            }
        }
    }
}

async fn open(common: &CommonFlags) -> Result<(Store, Vault)> {
    let config = common.load_config()?;
    let store = open_store(&common.data, &config).await?;
    let vault = open_vault(&common.data, &config)?;
    Ok((store, vault))
}

async fn status(store: &Store, vault: &Vault) -> Result<ExitCode> {
    for key in store.key_use(vault).await? {
        say(format_args!("{}  {}", key.id, describe(&key)));
    }
    Ok(ExitCode::SUCCESS)
}

async fn rotate(store: &Store, vault: &Vault) -> Result<ExitCode> {
    let rotated = store.rotate(vault).await?;
    let keys = store.key_use(vault).await?;
    audit(store, &rotated, &keys).await?;
    if let Some(first) = keys.first() {
        say(format_args!(
            "{} now sealed with the key {}.",
            counted(rotated.moved),
            first.id
        ));
    }
    for (about, why) in &rotated.left {
        eprintln!("{about} was left as it is: {why}.");
    }
    let is_idle = |key: &&KeyUse| key.place == KeyLocation::Opens && key.values == 0;
    let idle: Vec<&str> = keys
        .iter()
        .filter(is_idle)
        .map(|key| key.id.as_str())
        .collect();
    match (vault.is_given(), idle.as_slice()) {
        (true, []) => eprintln!(
            "To use another key, put it before the others in TENON_SECRET_KEY, \
             with a comma between them, restart, and rotate again."
        ),
        (true, idle) => eprintln!(
            "No secret needs {} any more: once every server runs with the new TENON_SECRET_KEY, \
             it may be removed from it.",
            idle.join(", ")
        ),
        (false, []) => {}
        (false, _) => eprintln!(
            "The former key stays in the key file until the next rotation, \
             for whoever read it a moment ago. Copy the file to where you keep it."
        ),
    }
    Ok(ExitCode::SUCCESS)
}

async fn audit(store: &Store, rotated: &KeyRotation, keys: &[KeyUse]) -> Result<()> {
    let user = CurrentUser::of_shell(store).await?;
    let first = keys.first().map(|key| key.id.clone());
    let entry = AuditEntry {
        door: user.entry_point(),
        user: Some(user.id),
        action: "secrets.rotated",
        subject: first.unwrap_or_default(),
        detail: json!({"moved": rotated.moved, "left": rotated.left.len()}),
        address: String::new(),
    };
    Ok(store.audit(entry).await?)
}

fn describe(key: &KeyUse) -> String {
    let what = match key.place {
        KeyLocation::Seals => "seals new secrets",
        KeyLocation::Opens => "opens old secrets",
        KeyLocation::Missing => "is missing: put it back, or enter these secrets again",
    };
    format!("{what}; {} sealed with it", counted(key.values))
}

fn counted(values: usize) -> String {
    match values {
        1 => "1 secret is".into(),
        many => format!("{many} secrets are"),
    }
}
