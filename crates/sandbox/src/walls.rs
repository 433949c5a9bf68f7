//! Which walls stand around a command.

use serde::{Deserialize, Serialize};

/// Files cannot be truncated past the rules from this version of Landlock on.
const LANDLOCK_TRUNCATE: u32 = 3;

/// Signals and abstract sockets end at the border of the sandbox from this version on.
pub(crate) const LANDLOCK_SCOPES: u32 = 6;

/// The mechanisms of the kernel that are in force, as the helper found when it used them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSupport {
    /// The version of Landlock's interface that is enforced; 0 without it.
    pub landlock: u32,
    pub mount_namespace: bool,
    pub pid_namespace: bool,
    pub network_namespace: bool,
    pub ipc_namespace: bool,
    pub seccomp: bool,
    /// Whether it runs as a user that is not root.
    pub is_unprivileged: bool,
    /// Whether only its own processes count against its limit of processes.
    pub own_process_count: bool,
    /// Whether the memory of all its processes together is watched.
    pub total_memory: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wall {
    /// Reads and writes only what it was given.
    Files,
    /// Reaches no network, where it was given none.
    Network,
    /// Sees, signals and outlives nothing outside.
    Processes,
    /// Makes none of the system calls that programs do not need and attacks do.
    SystemCalls,
    /// Takes no more of the machine than its limits.
    Limits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WallStrength {
    None,
    Partial,
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallStatus {
    pub wall: Wall,
    pub strength: WallStrength,
}

impl Wall {
    pub const ALL: [Self; 5] = [
        Self::Files,
        Self::Network,
        Self::Processes,
        Self::SystemCalls,
        Self::Limits,
    ];
}

impl SandboxSupport {
    /// Wall by wall, for people.
    pub fn walls(&self) -> [WallStatus; 5] {
        Wall::ALL.map(|wall| WallStatus {
            wall,
            strength: self.strength(wall),
        })
    }

    pub fn strength(&self, wall: Wall) -> WallStrength {
        match wall {
            Wall::Files => self.files(),
            // The filter refuses to make a socket, the namespace has no interface: either is
            // enough.
            Wall::Network => full_if(self.network_namespace || self.seccomp),
            Wall::Processes => self.processes(),
            Wall::SystemCalls => full_if(self.seccomp),
            Wall::Limits => self.limits(),
        }
    }

    fn files(&self) -> WallStrength {
        if self.mount_namespace || self.landlock >= LANDLOCK_TRUNCATE {
            WallStrength::Full
        } else if self.landlock > 0 {
            WallStrength::Partial
        } else {
            WallStrength::None
        }
    }

    /// Without a namespace, processes are found through their parents, and one that ends its
    /// guard first can stay.
    fn processes(&self) -> WallStrength {
        if self.pid_namespace {
            WallStrength::Full
        } else if self.landlock >= LANDLOCK_SCOPES || self.is_unprivileged {
            WallStrength::Partial
        } else {
            WallStrength::None
        }
    }

    /// Root's processes are not counted.
    fn limits(&self) -> WallStrength {
        if self.is_unprivileged && self.own_process_count && self.total_memory {
            WallStrength::Full
        } else {
            WallStrength::Partial
        }
    }
}

fn full_if(holds: bool) -> WallStrength {
    if holds {
        WallStrength::Full
    } else {
        WallStrength::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mechanism_that_is_missing_weakens_its_wall() {
        use WallStrength::{Full, None, Partial};
        let all = SandboxSupport {
            landlock: 7,
            mount_namespace: true,
            pid_namespace: true,
            network_namespace: true,
            ipc_namespace: true,
            seccomp: true,
            is_unprivileged: true,
            own_process_count: true,
            total_memory: true,
        };
        let container = SandboxSupport {
            mount_namespace: false,
            pid_namespace: false,
            network_namespace: false,
            ipc_namespace: false,
            ..all.clone()
        };
        let old_kernel = SandboxSupport {
            landlock: 0,
            own_process_count: false,
            ..container.clone()
        };
        let unwatched = SandboxSupport {
            total_memory: false,
            ..all.clone()
        };
        let cases = [
            (unwatched, [Full, Full, Full, Full, Partial]),
            (all, [Full, Full, Full, Full, Full]),
            (container, [Full, Full, Partial, Full, Full]),
            (old_kernel, [None, Full, Partial, Full, Partial]),
            (SandboxSupport::default(), [None, None, None, None, Partial]),
        ];
        for (support, expected) in cases {
            let strengths = support.walls().map(|status| status.strength);
            assert_eq!(strengths, expected, "{support:?}");
        }
    }
}
