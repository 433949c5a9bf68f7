//! Whether writes succeed, for the health check and the page.

use tokio::sync::watch;

use crate::{Error, Result, Store, now, preferences};

/// The name of what is written only to see whether it can be.
pub(crate) const CHECK_NAME: &str = "write_check";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteHealth {
    #[default]
    Works,
    DiskFull,
    /// The log says why.
    Fails,
}

impl Store {
    /// How writing went last; changes when it begins or ceases to work.
    pub fn writing(&self) -> watch::Receiver<WriteHealth> {
        self.writing.subscribe()
    }

    /// Writes what means nothing, to know whether writing works.
    pub async fn try_write(&self) -> Result<()> {
        // Nothing reads this preference, so writing it announces no change.
        let written = preferences::put(&self.write, None, CHECK_NAME, &now()).await;
        self.note_write(&written);
        written
    }

    pub(crate) fn note_write<T>(&self, written: &Result<T>) {
        note(&self.writing, written);
    }
}

/// Records whether a write worked.
pub(crate) fn note<T>(writing: &watch::Sender<WriteHealth>, written: &Result<T>) {
    let seen = match written {
        Ok(_) => WriteHealth::Works,
        Err(Error::DiskFull(_)) => WriteHealth::DiskFull,
        Err(Error::Database(_) | Error::NoAnswer(_)) => WriteHealth::Fails,
        // The write was refused before it reached the disk, which says nothing about its health.
        Err(_) => return,
    };
    writing.send_if_modified(|writing| {
        let changed = *writing != seen;
        *writing = seen;
        changed
    });
}
