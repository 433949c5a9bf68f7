//! What usually helps, by what a program wrote before it ended.
//!
//! A closed list: the failures that most people meet when they first start a
//! server of somebody else. What is quoted of the program's words is a single
//! name, number or path, so that the advice may be shown to everybody.

use std::fmt;

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

/// A quoted name is no longer than this.
const MAX_NAME: usize = 200;

/// Looks for the signs of one failure.
type Rule = fn(&[&str]) -> Option<Advice>;

impl Advice {
    pub(super) fn of(written: &[String]) -> Option<Self> {
        let lines: Vec<&str> = written.iter().map(|line| line.trim()).collect();
        // From the surest sign to the weakest.
        const RULES: &[Rule] = &[
            disk_full,
            docker,
            runtime_too_old,
            package_not_found,
            package_not_runnable,
            port_in_use,
            package_broken,
            registry_unreachable,
            module_not_found,
            command_not_found,
            variable_missing,
            permission_denied,
            arguments_wrong,
        ];
        RULES.iter().find_map(|rule| rule(&lines))
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
                "The package has no program to run: check its name, or name the program with `--package`.",
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

fn disk_full(lines: &[&str]) -> Option<Advice> {
    has(lines, &["ENOSPC", "No space left on device"]).then_some(Advice::DiskFull)
}

fn docker(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "Cannot connect to the Docker daemon",
        "failed to connect to the docker API",
        "error during connect: ",
        "permission denied while trying to connect to the docker",
        "permission denied while trying to connect to the Docker",
        "Is the docker daemon running",
    ];
    has(lines, &signs).then_some(Advice::DockerNotRunning)
}

fn runtime_too_old(lines: &[&str]) -> Option<Advice> {
    let node = [
        "EBADENGINE",
        "Unsupported engine",
        "requires Node",
        "ERR_UNKNOWN_BUILTIN_MODULE",
        "ERR_REQUIRE_ESM",
        "No such built-in module: node:",
        "is not defined in ES module scope",
        "does not provide an export named",
        "SyntaxError: Invalid regular expression flags",
        "SyntaxError: Unexpected token 'with'",
        "ReferenceError: File is not defined",
        "ReferenceError: WebSocket is not defined",
        "Promise.withResolvers is not a function",
        "Array.fromAsync is not a function",
    ];
    // A warning alone stops nobody.
    let errors = || lines.iter().filter(|line| !is_warning(line));
    if errors().any(|line| node.iter().any(|sign| line.contains(sign))) {
        let found = lines.iter().find_map(|line| line.strip_prefix("Node.js "));
        return Some(Advice::RuntimeTooOld {
            runtime: "Node.js",
            found: found.map(quoted),
        });
    }
    let python = [
        "Requires-Python",
        "requires-python",
        "requires a different Python",
        "does not satisfy Python",
    ];
    let line = errors().find(|line| python.iter().any(|sign| line.contains(sign)))?;
    let found = between(line, "the current Python version (", ")")
        .or_else(|| between(line, "different Python: ", " "));
    Some(Advice::RuntimeTooOld {
        runtime: "Python",
        found: found.map(quoted),
    })
}

fn package_not_found(lines: &[&str]) -> Option<Advice> {
    let signs = [
        ("The requested resource '", "@*'"),
        ("The requested resource '", "'"),
        ("404  '", "@*' is not in"),
        ("404  '", "' is not in"),
        ("No matching distribution found for ", ""),
        ("Because ", " was not found in the package registry"),
        ("there are no versions of ", " "),
        ("No matching version found for ", ""),
    ];
    let named = signs.iter().find_map(|(before, after)| {
        let mut names = lines.iter().filter_map(|line| match after.is_empty() {
            true => line.split_once(before).map(|(_, rest)| rest),
            false => between(line, before, after),
        });
        names.next()
    });
    match named {
        Some(package) => {
            let package = package.split_whitespace().next().unwrap_or(package);
            let package = package.trim_end_matches(['.', ',', ':']);
            Some(Advice::PackageNotFound {
                package: Some(quoted(package)),
            })
        }
        None => has(lines, &["npm error code E404", "npm ERR! code E404"])
            .then_some(Advice::PackageNotFound { package: None }),
    }
}

fn package_not_runnable(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "could not determine executable to run",
        "does not provide any executables",
        "is not provided by package",
    ];
    has(lines, &signs).then_some(Advice::PackageNotRunnable)
}

fn port_in_use(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "EADDRINUSE",
        "ddress already in use",
        "only one usage of each socket address",
    ];
    let line = lines
        .iter()
        .find(|line| signs.iter().any(|sign| line.contains(sign)))?;
    let numbers = line.rsplit(|c: char| !c.is_ascii_digit());
    // Error numbers have three digits, dates and times fewer.
    let port = numbers
        .into_iter()
        .find(|part| (4..=5).contains(&part.len()));
    Some(Advice::PortInUse {
        port: port.map(str::to_owned),
    })
}

fn package_broken(lines: &[&str]) -> Option<Advice> {
    let is_sign = |line: &&&str| {
        let is_in_cache = line.contains("/_npx/") || line.contains("/uv/archive-v0/");
        is_in_cache && (line.contains("ENOTEMPTY") || line.contains("Cannot find module"))
    };
    let line = lines.iter().find(is_sign)?;
    let folder = line
        .split(['\'', '"', ' '])
        .find_map(|word| {
            let (root, rest) = word.split_once("/_npx/")?;
            let hash = rest.split('/').next()?;
            Some(format!("{root}/_npx/{hash}"))
        })
        .map(|folder| quoted(&folder));
    Some(Advice::PackageBroken { folder })
}

fn registry_unreachable(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "EAI_AGAIN",
        "ENOTFOUND",
        "ENETUNREACH",
        "network request to",
        "dns error",
        "Temporary failure in name resolution",
        "client error (Connect)",
        "Could not connect, are you offline",
        "Failed to establish a new connection",
    ];
    let installs = [
        "npm error",
        "npm ERR!",
        "Failed to fetch",
        "Failed to download",
        "pip",
    ];
    (has(lines, &signs) && has(lines, &installs)).then_some(Advice::RegistryUnreachable)
}

fn module_not_found(lines: &[&str]) -> Option<Advice> {
    let module = lines.iter().find_map(|line| {
        let node = between(line, "Cannot find module '", "'")
            .or_else(|| between(line, "Cannot find package '", "'"));
        let python = line.split_once("No module named ").map(|(_, name)| name);
        node.or(python)
    })?;
    let module = module.split_whitespace().next()?;
    Some(Advice::ModuleNotFound {
        module: quoted(module.trim_matches(['\'', '"', ';'])),
    })
}

fn command_not_found(lines: &[&str]) -> Option<Advice> {
    let command = lines.iter().find_map(|line| {
        let spawned = between(line, "spawn ", " ENOENT");
        let shell = line
            .strip_suffix(": not found")
            .or_else(|| line.strip_suffix(": command not found"));
        spawned.or(shell.and_then(|said| said.rsplit(": ").next()))
    })?;
    Some(Advice::CommandNotFound {
        command: quoted(command),
    })
}

fn variable_missing(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "environment variable",
        "env var",
        "is required",
        "are required",
        "is missing",
        "is not set",
        "must be set",
        "not set",
        "required",
        "missing",
        "KeyError",
        "undefined",
        "not provided",
        "please set",
        "Please set",
        "Field required",
    ];
    let complains = |line: &&&str| signs.iter().any(|sign| line.contains(sign));
    let mut names = lines.iter().filter(complains).filter_map(|line| {
        let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        words.into_iter().find(|word| is_variable(word))
    });
    names
        .next()
        .map(|name| Advice::VariableMissing { name: quoted(name) })
}

/// `BRAVE_API_KEY`, and no code of an error.
fn is_variable(word: &str) -> bool {
    let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let begins = word.starts_with(|c: char| c.is_ascii_uppercase());
    begins && word.contains('_') && word.chars().all(is_upper) && !word.starts_with("ERR_")
}

fn permission_denied(lines: &[&str]) -> Option<Advice> {
    let signs = ["EACCES", "EPERM", "Permission denied", "PermissionError"];
    has(lines, &signs).then_some(Advice::PermissionDenied)
}

fn arguments_wrong(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "usage:",
        "Usage:",
        "unrecognized arguments",
        "unknown option",
        "missing required argument",
        "unexpected argument",
    ];
    has(lines, &signs).then_some(Advice::ArgumentsWrong)
}

fn has(lines: &[&str], signs: &[&str]) -> bool {
    lines
        .iter()
        .any(|line| signs.iter().any(|sign| line.contains(sign)))
}

fn is_warning(line: &str) -> bool {
    let line = line.to_lowercase();
    line.starts_with("npm warn") || line.starts_with("warn")
}

fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

fn quoted(name: &str) -> String {
    crate::text::line(&name.replace('`', "'"), MAX_NAME)
}
