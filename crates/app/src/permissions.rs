//! Whether somebody else on this machine may write to what Tenon believes.
//!
//! A file of servers is run, and the settings and the data folder decide what is
//! believed: whoever may write to one of them acts as the user that Tenon runs as.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The group and all others.
const OTHERS_MAY_WRITE: u32 = 0o022;

/// The sticky bit: in such a folder nobody can replace other users' files.
const STICKY: u32 = 0o1000;

/// How somebody else may change a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Risk {
    /// By writing to it.
    Writable,
    /// It belongs to another user, who can change its permissions at any time.
    Foreign,
}

/// Of a file or folder itself, not of what leads to it. None: only its user and root may
/// change it.
pub(crate) fn risk(metadata: &Metadata) -> Option<Risk> {
    let us = rustix::process::geteuid().as_raw();
    if ![0, us].contains(&metadata.uid()) {
        return Some(Risk::Foreign);
    }
    // The mode of a link means nothing.
    let is_writable = !metadata.is_symlink() && metadata.mode() & OTHERS_MAY_WRITE != 0;
    is_writable.then_some(Risk::Writable)
}

/// Of a folder with a file of ours in it: whether somebody may put another in its place.
pub(crate) fn risk_of_replacing(folder: &Metadata) -> Option<Risk> {
    let is_sticky = folder.mode() & STICKY != 0;
    risk(folder).filter(|risk| *risk == Risk::Foreign || !is_sticky)
}

/// Tells the operator what others may write to: the folder of all data, and the settings.
pub fn warn_about(data: &Path, settings: Option<&Path>) {
    for path in [Some(data), settings].into_iter().flatten() {
        // A file that does not exist yet will be created by us.
        let Some(risk) = fs::metadata(path).ok().as_ref().and_then(risk) else {
            continue;
        };
        let path = path.display();
        match risk {
            Risk::Writable => tracing::warn!(
                "other users of this machine may write to {path}, and so act as Tenon: `chmod go-w {path}`"
            ),
            Risk::Foreign => tracing::warn!(
                "{path} belongs to another user of this machine, who may act as Tenon: `chown` it to the user Tenon runs as"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    #[test]
    fn what_others_may_write_to_is_a_risk_and_what_they_may_read_is_none() {
        let place = tempfile::tempdir().unwrap();
        let check = |mode: u32, itself: Option<Risk>, replacing: Option<Risk>| {
            fs::set_permissions(place.path(), fs::Permissions::from_mode(mode)).unwrap();
            let metadata = fs::metadata(place.path()).unwrap();
            assert_eq!(risk(&metadata), itself, "{mode:o}");
            assert_eq!(risk_of_replacing(&metadata), replacing, "{mode:o}");
        };
        let writable = Some(Risk::Writable);
        check(0o700, None, None);
        check(0o755, None, None);
        check(0o770, writable, writable);
        check(0o707, writable, writable);
        check(0o1777, writable, None);
        // Only root can give something away.
        if chown(place.path(), Some(12_345), None).is_ok() {
            check(0o700, Some(Risk::Foreign), Some(Risk::Foreign));
            check(0o1777, Some(Risk::Foreign), Some(Risk::Foreign));
        }
    }
}
