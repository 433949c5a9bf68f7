//! Which paths the program may read and write: the rules of Landlock and the mounts of its root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::command::SandboxCommand;

/// Programs, libraries and the data that come with them.
const SYSTEM_DIRS: [&str; 9] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
];

/// What programs read of the configuration of the machine. Never all of it: accounts, keys and
/// passwords are there as well.
const SYSTEM_CONFIG: [&str; 27] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

/// `/etc/python3`, `/etc/python3.11`: read by Debian's interpreters when they start.
const PYTHON_CONFIG_PREFIX: &str = "python3";

const DEVICES: [&str; 5] = [
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathAccess {
    /// And execute.
    Read,
    Write,
    /// Read and write a device that has no state.
    Device,
}

#[derive(Debug, Clone)]
pub(super) struct PathRule {
    /// As it is called by programs.
    pub(super) name: PathBuf,
    /// Where it is, without symbolic links on the way.
    pub(super) path: PathBuf,
    pub(super) access: PathAccess,
}

impl PathRule {
    pub(super) fn new(path: PathBuf, access: PathAccess) -> Self {
        Self {
            name: path.clone(),
            path,
            access,
        }
    }

    fn resolve(name: &Path, access: PathAccess) -> io::Result<Self> {
        Ok(Self {
            name: name.to_owned(),
            path: fs::canonicalize(name)?,
            access,
        })
    }
}

/// Those of the system that are there, and those of the command, which must be; parents before
/// what is in them.
pub(super) fn path_rules(command: &SandboxCommand) -> io::Result<Vec<PathRule>> {
    let system = SYSTEM_DIRS.into_iter().chain(SYSTEM_CONFIG);
    let system = system.map(PathBuf::from).chain(python_config());
    let mut rules: Vec<PathRule> = system
        .filter_map(|path| PathRule::resolve(&path, PathAccess::Read).ok())
        .collect();
    let devices = DEVICES.map(Path::new).into_iter();
    rules.extend(devices.filter_map(|path| PathRule::resolve(path, PathAccess::Device).ok()));
    for path in &command.read_dirs {
        rules.push(PathRule::resolve(path, PathAccess::Read)?);
    }
    for path in command.write_dirs.iter().chain([&command.work_dir]) {
        rules.push(PathRule::resolve(path, PathAccess::Write)?);
    }
    // A path that is to be read and written is written: of two mounts the later one is seen.
    rules.sort_by_cached_key(|rule| (rule.path.clone(), rule.access == PathAccess::Write));
    Ok(rules)
}

fn python_config() -> Vec<PathBuf> {
    let entries = fs::read_dir("/etc").into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            let name = entry.file_name();
            name.to_string_lossy().starts_with(PYTHON_CONFIG_PREFIX)
        })
        .map(|entry| entry.path())
        .collect()
}

/// Without those that say the same as the one around them.
pub(super) fn outermost(rules: &[PathRule]) -> Vec<&PathRule> {
    let mut outer: Vec<&PathRule> = Vec::new();
    for rule in rules {
        let mut around = outer.iter().rev();
        let nearest = around.find(|parent| rule.path.starts_with(&parent.path));
        if nearest.is_none_or(|parent| parent.access != rule.access) {
            outer.push(rule);
        }
    }
    outer
}
