//! The process that gives up its rights and becomes the program.

use std::collections::btree_map::Entry;
use std::collections::hash_map::RandomState;
use std::fs::DirBuilder;
use std::hash::{BuildHasher, Hasher};
use std::io::{PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal, setsid};
use rustix::thread::UnshareFlags;

use super::namespaces::{OuterNamespaces, enter};
use super::path_rules::{PathAccess, PathRule, path_rules};
use super::setup_failure::SetupFailure;
use super::{files, limits, mounts, system_calls, user};
use crate::command::{NetworkAccess, SandboxCommand};
use crate::error::SetupStep;
use crate::protocol::{HelperReply, HelperRequest, STREAMS};
use crate::walls::{SandboxSupport, Wall, WallStrength};

/// The guard and init, which are in the same user namespace.
const HELPER_PROCESSES: u64 = 2;

/// In the folder for temporary files.
const HOME_DIR: &str = "sandbox-home";

pub(super) struct SandboxedProgram {
    pub(super) request: HelperRequest,
    pub(super) streams: [OwnedFd; STREAMS],
    pub(super) namespaces: OuterNamespaces,
    pub(super) temp_dir: PathBuf,
    /// Closed by `exec`.
    pub(super) report: PipeWriter,
}

/// A name that nobody else can have taken; the folder is made where it is needed.
pub(super) fn temp_dir() -> PathBuf {
    let random = RandomState::new().build_hasher().finish();
    std::env::temp_dir().join(format!("sandbox-{random:016x}"))
}

impl SandboxedProgram {
    pub(super) fn execute(mut self) -> ! {
        let support = match self.build_walls() {
            Ok(support) => support,
            Err(failure) => self.fail(failure),
        };
        self.send(&HelperReply::Started(support));
        if self.request.is_probe {
            std::process::exit(0);
        }
        let error = self.command().exec();
        self.fail(SetupFailure::new(SetupStep::Execute, &error))
    }

    fn fail(&mut self, failure: SetupFailure) -> ! {
        self.send(&failure.into());
        std::process::exit(1)
    }

    /// If the guard cannot be told, it finds the pipe empty.
    fn send(&mut self, reply: &HelperReply) {
        let mut line = reply.encode();
        line.push(b'\n');
        let _ = self.report.write_all(&line);
    }

    fn build_walls(&mut self) -> Result<SandboxSupport, SetupFailure> {
        setsid().map_err(SetupFailure::at(SetupStep::Process))?;
        limits::prefer_for_oom_kill();
        let command = &self.request.command;
        let mut rules = path_rules(command).map_err(SetupFailure::at(SetupStep::Folders))?;
        let drops_root = user::is_root();
        let mut support = SandboxSupport {
            pid_namespace: self.namespaces.pid,
            network_namespace: command.network == NetworkAccess::None
                && enter(UnshareFlags::NEWNET),
            ipc_namespace: enter(UnshareFlags::NEWIPC),
            own_process_count: drops_root || self.namespaces.counts_own_processes(),
            total_memory: limits::has_process_tree(),
            ..SandboxSupport::default()
        };
        let other_tasks = self.other_tasks(support.own_process_count);
        let own_dir = mounts::own_dir(&rules);
        if enter(UnshareFlags::NEWNS) {
            let private = mounts::enter_private_root(&rules, command.limits.temp);
            support.mount_namespace = private.is_ok();
            rules.extend(private.unwrap_or_default());
        }
        let temp = if support.mount_namespace {
            own_dir
        } else {
            rules.push(self.make_temp_dir()?);
            Some(self.temp_dir.clone())
        };
        let command = &self.request.command;
        support.landlock = files::restrict(&rules, command.network)?;
        limits::apply(&command.limits, other_tasks).map_err(SetupFailure::at(SetupStep::Limits))?;
        if drops_root {
            let is_walled = support.strength(Wall::Files) == WallStrength::Full;
            user::drop_root(&command.work_dir, is_walled)
                .map_err(SetupFailure::at(SetupStep::User))?;
        }
        support.is_unprivileged = !user::is_root();
        let command = self.with_home(temp)?;
        // Not before: the kernel forgets it when the user changes.
        set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(SetupFailure::at(SetupStep::Process))?;
        std::env::set_current_dir(&command.work_dir)
            .map_err(SetupFailure::at(SetupStep::Folders))?;
        support.seccomp = system_calls::restrict(command.network, &support)?;
        Ok(support)
    }

    /// By the program's own user, in a folder that is its alone.
    fn with_home(&mut self, temp: Option<PathBuf>) -> Result<&SandboxCommand, SetupFailure> {
        let command = &mut self.request.command;
        if let Some(temp) = temp
            && let Entry::Vacant(home) = command.env.entry("HOME".to_owned())
        {
            let folder = temp.join(HOME_DIR);
            let mut builder = DirBuilder::new();
            builder
                .mode(0o700)
                .create(&folder)
                .map_err(SetupFailure::at(SetupStep::Folders))?;
            home.insert(folder.display().to_string());
        }
        Ok(command)
    }

    /// What else the kernel counts against the limit of processes.
    fn other_tasks(&self, counts_own: bool) -> u64 {
        if !counts_own {
            limits::tasks_of_user()
        } else if self.namespaces.user {
            HELPER_PROCESSES
        } else {
            0
        }
    }

    fn make_temp_dir(&mut self) -> Result<PathRule, SetupFailure> {
        let folder = self.temp_dir.clone();
        let mut builder = DirBuilder::new();
        builder
            .mode(0o700)
            .create(&folder)
            .map_err(SetupFailure::at(SetupStep::Folders))?;
        user::chown_to_user_of(&folder, &self.request.command.work_dir);
        let name = folder.display().to_string();
        self.request.command.env.insert("TMPDIR".into(), name);
        Ok(PathRule::new(folder, PathAccess::Write))
    }

    fn command(&mut self) -> Command {
        let spec = &self.request.command;
        let mut command = Command::new(&spec.program);
        command.args(&spec.args).env_clear().envs(&spec.env);
        let [stdin, stdout, stderr] = self.streams.each_ref().map(OwnedFd::try_clone);
        if let (Ok(stdin), Ok(stdout), Ok(stderr)) = (stdin, stdout, stderr) {
            command.stdin(stdin).stdout(stdout).stderr(stderr);
        }
        command
    }
}
