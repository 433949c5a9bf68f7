//! What usually helps, by what a program wrote before it ended.
//!
//! A closed list: the failures that most people meet when they first start a
//! server of somebody else. What is quoted of the program's words is a single
//! name, number or path, so that the advice may be shown to everybody.

mod rules;

use tenon_domain::coded_errors;

coded_errors! {
    /// What is wrong, most likely.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Advice {
        /// Node.js or Python, and its version where that is known.
        RuntimeTooOld { runtime: &'static str, found: Option<String> } = "runtime_too_old" => "It needs a newer {runtime} than this machine has[: {found}].",
        PackageNotFound { package: Option<String> } = "package_not_found" => "There is no such package[ as `{package}`]: check the spelling of its name in the arguments.",
        /// The package is there, but it is none that can be run.
        PackageNotRunnable = "package_not_runnable" => "The package has no program to run: check its name, or name the program (`--package` of npx, `--from` of uvx).",
        /// A folder where a package was installed halfway.
        PackageBroken { folder: Option<String> } = "package_broken" => "The package was installed only halfway. Remove it from the installer's cache[, the folder {folder},] and try again.",
        ModuleNotFound { module: String } = "module_not_found" => "`{module}` is not installed where the program looks for it: install it there, or check the path in the arguments.",
        CommandNotFound { command: String } = "command_not_found" => "`{command}` was not found. Install it on the machine Tenon runs on.",
        /// An environment variable.
        VariableMissing { name: String } = "variable_missing" => "It needs the environment variable `{name}`: set it for this server.",
        /// It tells how it is to be used.
        ArgumentsWrong = "arguments_wrong" => "It does not understand its arguments: compare them with its manual.",
        PortInUse { port: Option<String> } = "port_in_use" => "Its port[ {port}] is in use: end what uses it, or give the server another one.",
        DockerNotRunning = "docker_not_running" => "Docker is not running on this machine, or Tenon has no access to it: start it, and try again.",
        RegistryUnreachable = "registry_unreachable" => "The packages it needs cannot be downloaded: check the network and the proxy of the machine Tenon runs on.",
        PermissionDenied = "permission_denied" => "It lacks permission to read, write or run something that it needs.",
        DiskFull = "program_disk_full" => "There is no space left on the disk: free some space, and try again.",
    }
}

impl Advice {
    pub(super) fn of(written: &[String]) -> Option<Self> {
        rules::advise(written)
    }
}
