//! What usually helps, by what a program wrote before it ended.
//!
//! A closed list: the failures that most people meet when they first start a
//! server of somebody else. What is quoted of the program's words is a single
//! name, number or path, so that the advice may be shown to everybody.

use std::fmt;

mod rules;

/// What is wrong, most likely. Words are made of it where a person reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// Node.js or Python, and its version where that is known.
    RuntimeTooOld {
        runtime: &'static str,
        found: Option<String>,
    },
    PackageNotFound {
        package: Option<String>,
    },
    /// The package is there, but it is none that can be run.
    PackageNotRunnable,
    /// A folder where a package was installed halfway.
    PackageBroken {
        folder: Option<String>,
    },
    ModuleNotFound {
        module: String,
    },
    CommandNotFound {
        command: String,
    },
    /// An environment variable.
    VariableMissing {
        name: String,
    },
    /// It tells how it is to be used.
    ArgumentsWrong,
    PortInUse {
        port: Option<String>,
    },
    DockerNotRunning,
    RegistryUnreachable,
    PermissionDenied,
    DiskFull,
}

impl Advice {
    pub(super) fn of(written: &[String]) -> Option<Self> {
        rules::advise(written)
    }

    /// Stable: pages choose their words by it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::RuntimeTooOld { .. } => "runtime_too_old",
            Self::PackageNotFound { .. } => "package_not_found",
            Self::PackageNotRunnable => "package_not_runnable",
            Self::PackageBroken { .. } => "package_broken",
            Self::ModuleNotFound { .. } => "module_not_found",
            Self::CommandNotFound { .. } => "command_not_found",
            Self::VariableMissing { .. } => "variable_missing",
            Self::ArgumentsWrong => "arguments_wrong",
            Self::PortInUse { .. } => "port_in_use",
            Self::DockerNotRunning => "docker_not_running",
            Self::RegistryUnreachable => "registry_unreachable",
            Self::PermissionDenied => "permission_denied",
            Self::DiskFull => "disk_full",
        }
    }

    /// What its words mention: a name of the part, and what it is.
    pub fn params(&self) -> Vec<(&'static str, String)> {
        let given = |name, value: &Option<String>| {
            let value = value.as_ref();
            value.map(|value| (name, value.clone())).into_iter()
        };
        match self {
            Self::RuntimeTooOld { runtime, found } => {
                let runtime = [("runtime", (*runtime).to_owned())].into_iter();
                runtime.chain(given("found", found)).collect()
            }
            Self::PackageNotFound { package } => given("package", package).collect(),
            Self::PackageBroken { folder } => given("folder", folder).collect(),
            Self::ModuleNotFound { module } => vec![("module", module.clone())],
            Self::CommandNotFound { command } => vec![("command", command.clone())],
            Self::VariableMissing { name } => vec![("name", name.clone())],
            Self::PortInUse { port } => given("port", port).collect(),
            Self::PackageNotRunnable
            | Self::ArgumentsWrong
            | Self::DockerNotRunning
            | Self::RegistryUnreachable
            | Self::PermissionDenied
            | Self::DiskFull => Vec::new(),
        }
    }
}

/// For those who read English: the log, the command line, models.
impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RuntimeTooOld {
                runtime,
                found: Some(found),
            } => write!(
                f,
                "It needs a newer {runtime} than {found}, which is on this machine."
            ),
            Self::RuntimeTooOld { runtime, .. } => {
                write!(f, "It needs a newer {runtime} than there is on this machine.")
            }
            Self::PackageNotFound {
                package: Some(package),
            } => write!(
                f,
                "There is no package `{package}`: check how its name is spelled in the arguments."
            ),
            Self::PackageNotFound { package: None } => {
                f.write_str("There is no such package: check how its name is spelled in the arguments.")
            }
            Self::PackageNotRunnable => f.write_str(
                "The package has no program to run: check its name, or name the program (`--package` of npx, `--from` of uvx).",
            ),
            Self::PackageBroken {
                folder: Some(folder),
            } => write!(
                f,
                "The package was installed only halfway. Remove the folder {folder} and try again."
            ),
            Self::PackageBroken { folder: None } => f.write_str(
                "The package was installed only halfway. Remove it from the installer's cache and try again.",
            ),
            Self::ModuleNotFound { module } => write!(
                f,
                "`{module}` is not installed where it looks for it: install it there, or check the path in the arguments."
            ),
            Self::CommandNotFound { command } => write!(
                f,
                "`{command}` was not found. Install it on the machine Tenon runs on."
            ),
            Self::VariableMissing { name } => write!(
                f,
                "It needs the environment variable `{name}`: set it for this server."
            ),
            Self::ArgumentsWrong => {
                f.write_str("It does not understand its arguments: compare them with its manual.")
            }
            Self::PortInUse { port: Some(port) } => write!(
                f,
                "Port {port} is in use: end what uses it, or give the server another one."
            ),
            Self::PortInUse { port: None } => f.write_str(
                "Its port is in use: end what uses it, or give the server another one.",
            ),
            Self::DockerNotRunning => f.write_str(
                "Docker does not run on this machine, or Tenon may not use it: start it, and try again.",
            ),
            Self::RegistryUnreachable => f.write_str(
                "What it has to download cannot be reached: check the network and the proxy of the machine Tenon runs on.",
            ),
            Self::PermissionDenied => {
                f.write_str("It may not read, write or run something that it needs.")
            }
            Self::DiskFull => {
                f.write_str("There is no space left on the disk: make room, and try again.")
            }
        }
    }
}
