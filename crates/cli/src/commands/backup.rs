//! `tenon backup` and `tenon restore`: everything in one file, and back.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use chrono::{DateTime, Utc};
use clap::Args;
use serde_json::json;
use tenon_store::{
    AuditEntry, BackupInput, BackupSummary, ExistingFile, KeyLocation, Store, Vault, VerifiedBackup,
};

use super::{confirm, say};
use crate::flags::CommonFlags;
use tenon_app::app::{App, open_store, open_vault};
use tenon_app::auth::CurrentUser;

/// How often the progress line is redrawn.
const REFRESH_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
pub(super) struct Backup {
    /// Where to write it; `-` is standard output
    file: PathBuf,
    /// Put the key to the stored secrets into it as well
    #[arg(long)]
    with_key: bool,
    /// Replace a file that is there already
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
pub(super) struct Restore {
    /// What `tenon backup` wrote
    file: PathBuf,
    /// Do it without asking
    #[arg(long, short)]
    yes: bool,
}

impl Backup {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        let config = common.load_config()?;
        let store = open_store(&common.data, &config).await?;
        let keys = if self.with_key {
            Some(open_vault(&common.data, &config)?.export_keys())
        } else {
            None
        };
        let origin = BackupInput {
            work: &common.data.join("work"),
            keys: keys.as_deref(),
        };
        let mut progress = ProgressLine::new("Backed up");
        let made = if self.file.as_os_str() == "-" {
            let out = std::io::stdout();
            store
                .backup(Box::new(out), origin, &mut progress.listener())
                .await?
        } else {
            let existing = if self.force {
                ExistingFile::Replace
            } else {
                ExistingFile::Keep
            };
            store
                .backup_to(&self.file, existing, origin, &mut progress.listener())
                .await?
        };
        progress.end();
        tell(&made);
        self.note(&store, &made).await?;
        if !self.with_key {
            eprintln!(
                "Stored secrets, such as the keys of models, are in it sealed. To open them elsewhere, \
                 keep a copy of {} apart from the backup, or use --with-key.",
                match config.secret_key {
                    Some(_) => "TENON_SECRET_KEY".to_owned(),
                    None => common.data.join("secret.key").display().to_string(),
                }
            );
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Audits the backup, because it contains everything.
    async fn note(&self, store: &Store, made: &BackupSummary) -> Result<()> {
        let user = CurrentUser::of_shell(store).await?;
        let entry = AuditEntry {
            door: user.entry_point(),
            user: Some(user.id),
            action: "backup.made",
            subject: self.file.display().to_string(),
            detail: json!({"rows": made.rows, "files": made.files, "withKey": self.with_key}),
            address: String::new(),
        };
        let noted = store.audit(entry).await;
        noted.context("the backup is made, but the audit log cannot be written")
    }
}

impl Restore {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        let config = common.load_config()?;
        let backup = VerifiedBackup::read(&self.file)?;
        let made_at = DateTime::from_timestamp_millis(backup.header.made_at).unwrap_or_default();
        eprintln!(
            "A backup of {}, made by Tenon {}: {} chats, {} messages, {} people, {} files.",
            made_at.format("%Y-%m-%d %H:%M:%S UTC"),
            backup.header.software,
            count(&backup, "chats"),
            count(&backup, "messages"),
            count(&backup, "users"),
            backup.files
        );
        if !self.yes && !ask(&common.data)? {
            eprintln!("Nothing was changed.");
            return Ok(ExitCode::FAILURE);
        }

        let store = open_store(&common.data, &config).await?;
        let vault = open_vault(&common.data, &config)?;
        let stamp = Utc::now().format("%Y%m%d-%H%M%S-%3f");
        let before = common.data.join(format!("before-restore-{stamp}.tenon"));
        make_safe(&store, &vault, &common.data, &before).await?;

        // Only added to those that are there: harmless, should the rest fail.
        let strange = match &backup.keys {
            Some(keys) => vault.adopt(keys)?,
            None => Vec::new(),
        };
        let mut progress = ProgressLine::new("Restored");
        let work = common.data.join("work");
        let aside = format!("before-restore-{stamp}");
        let restored = store
            .restore(&backup, &work, &aside, &mut progress.listener())
            .await?;
        progress.end();
        say(format_args!(
            "Restored {} rows and {} files. People have to log in again.",
            restored.rows, restored.files
        ));
        say(format_args!(
            "What was here before is in {}.",
            before.display()
        ));
        if let Some(aside) = restored.moved_aside {
            say(format_args!("Its files are in {} too.", aside.display()));
        }
        for id in strange {
            eprintln!("The backup holds the key {id}; add it to TENON_SECRET_KEY, behind a comma.");
        }
        tell_missing_keys(&store, &vault).await?;
        drop(store);
        // Ends the turns that ran when the backup was made, as every start does.
        let app = App::open(&common.data, &config).await?;
        let user = CurrentUser::of_shell(&app.store).await?;
        let detail = json!({"madeAt": backup.header.made_at, "rows": restored.rows});
        user.note(&app.store, "", "backup.restored", "", detail)
            .await;
        Ok(ExitCode::SUCCESS)
    }
}

/// A way back. The keys are in it: those of a restored backup may replace none, but whoever
/// needs this needs it whole.
async fn make_safe(store: &Store, vault: &Vault, data: &Path, file: &Path) -> Result<()> {
    let origin = BackupInput {
        work: &data.join("work"),
        keys: Some(&vault.export_keys()),
    };
    store
        .backup_to(file, ExistingFile::Keep, origin, &mut |_, _| {})
        .await
        .context("what is here now cannot be backed up first; nothing was changed")?;
    Ok(())
}

async fn tell_missing_keys(store: &Store, vault: &Vault) -> Result<()> {
    for key in store.key_use(vault).await? {
        if key.place == KeyLocation::Missing {
            eprintln!(
                "{} stored secrets are sealed with the key {}, which is not here: \
                 add it to the key file as a line of its own, or enter them again.",
                key.values, key.id
            );
        }
    }
    Ok(())
}

fn tell(made: &BackupSummary) {
    eprintln!("Backed up {} rows and {} files.", made.rows, made.files);
    for (path, why) in &made.skipped {
        eprintln!("The file {path:?} is not in it: {why}.");
    }
}

fn count(backup: &VerifiedBackup, table: &str) -> u64 {
    backup.header.rows.get(table).copied().unwrap_or_default()
}

fn ask(data: &Path) -> Result<bool> {
    confirm(
        &format!(
            "Everything in {} will be replaced by it. Go on?",
            data.display()
        ),
        "nobody can be asked here whether to replace everything; say so with --yes",
    )
}

/// Tells a terminal how far it is.
struct ProgressLine {
    done: &'static str,
    printed_at: Option<Instant>,
}

impl ProgressLine {
    fn new(done: &'static str) -> Self {
        Self {
            done,
            printed_at: None,
        }
    }

    fn listener(&mut self) -> impl FnMut(u64, u64) + Send {
        let is_terminal = std::io::stderr().is_terminal();
        move |rows, total| {
            let is_time = self
                .printed_at
                .is_none_or(|printed_at| printed_at.elapsed() >= REFRESH_INTERVAL);
            if is_terminal && is_time {
                self.printed_at = Some(Instant::now());
                eprint!("\r{} {rows} of {total} rows", self.done);
            }
        }
    }

    /// The line is over, if there is one.
    fn end(&self) {
        if self.printed_at.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}
