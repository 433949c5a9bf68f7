//! The machines that tests run on: this one, and others that it can pretend to be.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tenon_sandbox::{Sandbox, SandboxCommand, SandboxOutput};

const HELPER: &str = env!("CARGO_BIN_EXE_sandbox-helper");

const USER: u32 = 12_345;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    /// As whoever runs the tests.
    This,
    /// As a user, where root runs the tests.
    User,
    /// As root of a container, which may make no namespaces.
    Container,
    /// As root of a container that has no other user.
    LonelyContainer,
}

impl Machine {
    pub(crate) fn all() -> Vec<Self> {
        if is_root() {
            vec![
                Self::This,
                Self::User,
                Self::Container,
                Self::LonelyContainer,
            ]
        } else {
            vec![Self::This]
        }
    }

    /// Before the helper, which inherits what it may.
    fn wrapper(self) -> Option<String> {
        let no_namespaces = ["pid", "mnt", "net", "ipc", "user"]
            .map(|kind| format!("echo 0 > /proc/sys/user/max_{kind}_namespaces"))
            .join("; ");
        match self {
            Self::This => None,
            Self::User => Some(format!(
                "exec setpriv --reuid={USER} --regid={USER} --clear-groups \"$0\" \"$@\""
            )),
            Self::Container => Some(
                "exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin \"$0\" \"$@\"".into(),
            ),
            Self::LonelyContainer => Some(format!(
                "exec unshare --user --map-root-user sh -c '{no_namespaces}; exec \"$0\" \"$@\"' \"$0\" \"$@\""
            )),
        }
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A sandbox on a machine, and folders as Tenon has them: those of two chats, a skill, and
/// secrets beside them.
pub(crate) struct World {
    root: TempDir,
    pub(crate) machine: Machine,
    pub(crate) sandbox: Sandbox,
}

impl World {
    pub(crate) fn new(machine: Machine) -> Self {
        // Not in /tmp, of which a sandbox has its own, in which it may do as it likes.
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        let world = Self {
            machine,
            sandbox: sandbox_on(machine, root.path()),
            root,
        };
        for folder in ["chat", "other-chat", "skill"] {
            fs::create_dir(world.path(folder)).unwrap();
        }
        for secret in ["other-chat/notes.txt", "tenon.db", "key"] {
            fs::write(world.path(secret), "the secret").unwrap();
        }
        fs::write(world.path("skill/data.txt"), "of the skill").unwrap();
        if machine == Machine::User {
            world.give_to_user();
        }
        world
    }

    /// On each machine that there is.
    pub(crate) fn each() -> Vec<Self> {
        Machine::all().into_iter().map(Self::new).collect()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn command(&self, program: &str, args: &[&str]) -> SandboxCommand {
        let mut command =
            SandboxCommand::new(program, self.path("chat")).args(args.iter().copied());
        command.read_dirs.push(self.path("skill"));
        command
    }

    pub(crate) async fn run(&self, command: &SandboxCommand) -> SandboxOutput {
        let run = self.sandbox.run(command, b"", |_| {});
        run.await
            .unwrap_or_else(|error| panic!("{:?}: {error:?}", self.machine))
    }

    /// What it printed, where it succeeds.
    pub(crate) async fn stdout(&self, program: &str, args: &[&str]) -> String {
        let output = self.run(&self.command(program, args)).await;
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.end,
            tenon_sandbox::RunEnd::Exited(0),
            "{:?}: {stderr}",
            self.machine
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn give_to_user(&self) {
        let names = [
            "",
            "chat",
            "other-chat",
            "other-chat/notes.txt",
            "skill",
            "skill/data.txt",
            "tenon.db",
            "key",
        ];
        for name in names {
            chown(self.path(name), Some(USER), Some(USER)).unwrap();
        }
    }
}

fn sandbox_on(machine: Machine, folder: &Path) -> Sandbox {
    // The helper may be in a folder that only root can enter.
    let helper = folder.join("helper");
    let Some(wrapper) = machine.wrapper() else {
        return Sandbox::with_helper(HELPER);
    };
    let executable = folder.join("sandbox-helper");
    fs::copy(HELPER, &executable).unwrap();
    let script = format!(
        "#!/bin/sh\nset -- \"{}\" \"$@\"\nhelper=$1; shift\nexec sh -c '{}' \"$helper\" \"$@\"\n",
        executable.display(),
        wrapper.replace('\'', "'\\''"),
    );
    fs::write(&helper, script).unwrap();
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
    Sandbox::with_helper(helper)
}
