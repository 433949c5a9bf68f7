//! What is to be run, and within which limits.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::toolchains::toolchains;

const MIB: u64 = 1024 * 1024;

const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program, what it sees of the machine, and its limits.
///
/// It reads the programs and libraries of the system, `read_dirs`, `write_dirs` and the work
/// folder, and writes into the last two and a `/tmp` of its own, where its home is as well: what
/// others left in the work folder configures no program.
#[derive(Clone, Serialize, Deserialize)]
pub struct SandboxCommand {
    /// A path, or a name that is looked up in the `PATH` of `env`, inside of the sandbox.
    pub program: String,
    pub args: Vec<String>,
    pub work_dir: PathBuf,
    pub read_dirs: Vec<PathBuf>,
    pub write_dirs: Vec<PathBuf>,
    /// All of its environment; nothing is inherited. `HOME` is added where it has none, and without
    /// private mounts `TMPDIR`.
    pub env: BTreeMap<String, String>,
    pub network: NetworkAccess,
    pub limits: SandboxLimits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkAccess {
    /// Not even to itself over the loopback interface.
    #[default]
    None,
    /// All that this machine reaches, its own services included.
    Full,
}

/// `memory`, `cpu`, `file_size` and `open_files` hold for each process, the others for the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxLimits {
    /// How long a run may take. A child that was spawned has no such limit: whoever holds it ends
    /// it.
    pub wall_clock: Duration,
    pub cpu: Duration,
    /// Bytes that can be written to; what is only reserved, as by V8, does not count.
    pub memory: u64,
    /// Bytes that all of its processes have together, with what they share. It is looked at now and
    /// then: more ends it.
    pub total_memory: u64,
    /// Processes and threads.
    pub processes: u64,
    pub file_size: u64,
    pub open_files: u64,
    /// Bytes in its `/tmp`, which is in memory.
    pub temp: u64,
    /// Bytes of standard output of a run. One more ends it.
    pub output: usize,
    /// Bytes that are kept of the end of standard error of a run.
    pub stderr_tail: usize,
}

impl SandboxCommand {
    /// With an environment that has a `PATH` and a locale, no network, and default limits.
    pub fn new(program: impl Into<String>, work_dir: impl Into<PathBuf>) -> Self {
        let env = [("PATH", default_path()), ("LANG", "C.UTF-8".to_owned())];
        Self {
            program: program.into(),
            args: Vec::new(),
            work_dir: work_dir.into(),
            read_dirs: Vec::new(),
            write_dirs: Vec::new(),
            env: env.map(|(name, value)| (name.to_owned(), value)).into(),
            network: NetworkAccess::None,
            limits: SandboxLimits::default(),
        }
    }

    /// All that it reads besides the system: what it was given, and interpreters on its `PATH`.
    pub(crate) fn complete(&self) -> Self {
        let path = self.env.get("PATH").map_or("", String::as_str);
        let bins: Vec<PathBuf> = std::env::split_paths(path).collect();
        let used = toolchains().iter().filter(|it| bins.contains(&it.bin));
        let mut command = self.clone();
        let dirs = used.flat_map(|toolchain| toolchain.read_dirs.clone());
        command.read_dirs.extend(dirs);
        command
    }

    pub fn args<I: IntoIterator<Item: Into<String>>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }
}

fn default_path() -> String {
    let bins = toolchains().iter().map(|toolchain| toolchain.bin.display());
    bins.map(|bin| format!("{bin}:"))
        .chain([SYSTEM_PATH.to_owned()])
        .collect()
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self {
            wall_clock: Duration::from_secs(60),
            cpu: Duration::from_secs(60),
            memory: 2048 * MIB,
            total_memory: 4096 * MIB,
            processes: 128,
            file_size: 1024 * MIB,
            open_files: 1024,
            temp: 256 * MIB,
            output: 4 * 1024 * 1024,
            stderr_tail: 16 * 1024,
        }
    }
}

/// Its arguments and its environment may hold secrets.
impl fmt::Debug for SandboxCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxCommand")
            .field("program", &self.program)
            .field("work_dir", &self.work_dir)
            .finish_non_exhaustive()
    }
}
