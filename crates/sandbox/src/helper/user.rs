//! Who the program is. Root becomes a user that owns nothing: its processes can be counted, and
//! it may do nothing that only root may.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

use rustix::fs::{Gid, Uid, chown};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set,
    set_capabilities, set_keep_capabilities, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

/// The range that systemd keeps for users that come and go, which no account has.
const DYNAMIC_USERS: RangeInclusive<u32> = 61_184..=65_519;

pub(super) fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// As the user of this work folder: what runs there at different times has the same one, and
/// processes of other folders count as those of others.
///
/// What root owns is to be used all the same, the work folder above all. So past the permissions
/// of files (`CAP_DAC_OVERRIDE`) the program goes on, where other walls decide which files there
/// are.
pub(super) fn drop_root(work_dir: &Path, is_walled: bool) -> io::Result<()> {
    set_keep_capabilities(true)?;
    let kept = if is_walled {
        CapabilitySet::DAC_OVERRIDE & capabilities(None)?.permitted
    } else {
        CapabilitySet::empty()
    };
    match become_user(user_of(work_dir)) {
        // A container without these capabilities or users: it stays root, of nothing.
        Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: kept,
    };
    set_capabilities(None, sets)?;
    if !kept.is_empty() {
        configure_capability_in_ambient_set(kept, true)?;
    }
    Ok(())
}

/// Makes the user of the work folder the owner of another one. Where there is no such user, the
/// program stays the owner.
pub(super) fn chown_to_user_of(folder: &Path, work_dir: &Path) {
    if is_root() {
        let id = user_of(work_dir);
        let _ = chown(folder, Some(Uid::from_raw(id)), Some(Gid::from_raw(id)));
    }
}

fn user_of(work_dir: &Path) -> u32 {
    let mut hasher = DefaultHasher::new();
    work_dir.hash(&mut hasher);
    let users = DYNAMIC_USERS.end() - DYNAMIC_USERS.start() + 1;
    let offset = hasher.finish() % u64::from(users);
    DYNAMIC_USERS.start() + u32::try_from(offset).unwrap_or_default()
}

fn become_user(id: u32) -> rustix::io::Result<()> {
    let (user, group) = (Uid::from_raw(id), Gid::from_raw(id));
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)
}
