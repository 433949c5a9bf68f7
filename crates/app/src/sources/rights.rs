//! What people may do with which source.

use tenon_domain::{SourceConfig, UserId};

use super::check;
use super::entry::SourceEntry;
use super::error::SourceError;
use super::input_error::SourceDenied;
use super::trust::Trust;
use crate::auth::CurrentUser;

/// Whether they may change, restart and remove it, and see how it is reached.
pub(super) fn may_edit(user: &CurrentUser, entry: &SourceEntry) -> bool {
    match &entry.owner {
        Some(owner) => *owner == user.id && user.has_full_access(),
        None => user.administers(),
    }
}

/// Whether somebody may let a server be reached like this, which is theirs or everybody's.
pub(super) fn check_config(
    user: &CurrentUser,
    owner: Option<&UserId>,
    config: &SourceConfig,
) -> Result<(), SourceError> {
    check::allowed(config, trust(user))?;
    match owner {
        Some(_) => Ok(()),
        None => check::keeps_shared_secrets(config).map_err(SourceError::Invalid),
    }
}

/// Whether somebody may say whether what a server says of its own tools is believed.
pub(super) fn check_may_trust(user: &CurrentUser) -> Result<(), SourceError> {
    if user.administers() {
        return Ok(());
    }
    Err(SourceDenied::TrustHints.into())
}

pub(super) fn trust(user: &CurrentUser) -> Trust {
    if user.administers() {
        Trust::Full
    } else {
        Trust::Own
    }
}
