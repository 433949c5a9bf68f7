//! A root folder of its own, in memory, with only those paths mounted that there are rules for.

use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, StatVfsMountFlags, fstat, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
    mount_change, mount_remount, move_mount, open_tree, unmount,
};
use rustix::process::{chdir, pivot_root, umask};

use super::path_rules::{PathAccess, PathRule, outermost};

/// Where the new root is built. What is here is hidden meanwhile, and was opened before.
const BUILD_DIR: &str = "/tmp";

const MAX_TEMP_FILES: u32 = 100_000;

const OWN_DIRS: [&str; 2] = ["/tmp", "/dev/shm"];

const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// Returns rules for what the new root has besides. Where it fails, the root is the old one.
pub(super) fn enter_private_root(rules: &[PathRule], temp: u64) -> io::Result<Vec<PathRule>> {
    // Or the mounts below would be seen outside.
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    let mounts: Vec<(&PathRule, OwnedFd)> = outermost(rules)
        .into_iter()
        .map(|rule| Ok((rule, clone_tree(&rule.path)?)))
        .collect::<io::Result<_>>()?;
    let options = CString::new(format!("mode=0755,size={temp},nr_inodes={MAX_TEMP_FILES}"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", BUILD_DIR, "tmpfs", flags, options.as_c_str())?;
    let mask = umask(Mode::from_raw_mode(0o022));
    let built = build(rules, mounts).and_then(|own| {
        chdir(BUILD_DIR)?;
        pivot_root(".", ".")?;
        Ok(own)
    });
    umask(mask);
    match built {
        Ok(own) => {
            // The old root, which is stacked on the new one.
            unmount(".", UnmountFlags::DETACH)?;
            chdir("/")?;
            Ok(own)
        }
        Err(error) => {
            chdir("/")?;
            unmount(BUILD_DIR, UnmountFlags::DETACH)?;
            Err(error)
        }
    }
}

/// A folder of the new root that is in memory, and no folder of the machine by the same name.
pub(super) fn own_dir(rules: &[PathRule]) -> Option<PathBuf> {
    let is_given = |dir: &PathBuf| rules.iter().any(|rule| dir.starts_with(&rule.path));
    OWN_DIRS
        .map(PathBuf::from)
        .into_iter()
        .find(|dir| !is_given(dir))
}

fn clone_tree(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

fn build(rules: &[PathRule], mounts: Vec<(&PathRule, OwnedFd)>) -> io::Result<Vec<PathRule>> {
    let mut own = Vec::new();
    for path in OWN_DIRS {
        let target = in_build_dir(Path::new(path));
        fs::create_dir_all(&target)?;
        fs::set_permissions(&target, Permissions::from_mode(0o1777))?;
        own.push(PathRule::new(path.into(), PathAccess::Write));
    }
    for (rule, tree) in mounts {
        attach(rule, tree)?;
    }
    for rule in rules.iter().filter(|rule| rule.name != rule.path) {
        link(&rule.path, &rule.name)?;
    }
    for (name, target) in DEVICE_LINKS {
        link(Path::new(target), Path::new(name))?;
    }
    own.extend(mount_proc());
    Ok(own)
}

fn in_build_dir(path: &Path) -> PathBuf {
    Path::new(BUILD_DIR).join(path.strip_prefix("/").unwrap_or(path))
}

fn attach(rule: &PathRule, tree: OwnedFd) -> io::Result<()> {
    let target = in_build_dir(&rule.path);
    if !target.exists() {
        make_mount_point(&tree, &target)?;
    }
    let from_fd = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(tree, "", CWD, &target, from_fd)?;
    if rule.access == PathAccess::Read {
        let mut flags =
            MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        // In a user namespace what was forbidden must stay so.
        if statvfs(&target)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
            flags |= MountFlags::NOEXEC;
        }
        mount_remount(&target, flags, "")?;
    }
    Ok(())
}

fn make_mount_point(tree: &OwnedFd, target: &Path) -> io::Result<()> {
    if FileType::from_raw_mode(fstat(tree)?.st_mode).is_dir() {
        return fs::create_dir_all(target);
    }
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::File::create_new(target).map(drop)
}

fn link(path: &Path, name: &Path) -> io::Result<()> {
    let name = in_build_dir(name);
    if name.symlink_metadata().is_ok() {
        return Ok(());
    }
    if let Some(parent) = name.parent() {
        fs::create_dir_all(parent)?;
    }
    symlink(path, name)
}

/// Of the new process namespace. Without one, and in containers that hide parts of theirs, there
/// is none: programs do without.
fn mount_proc() -> Option<PathRule> {
    let path = Path::new("/proc");
    let target = in_build_dir(path);
    fs::create_dir_all(&target).ok()?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount("proc", &target, "proc", flags, None).ok()?;
    Some(PathRule::new(path.to_owned(), PathAccess::Read))
}
