//! seccomp: system calls that programs do not need, and attacks on the kernel or on other
//! processes do.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

use super::setup_failure::SetupFailure;
use crate::command::NetworkAccess;
use crate::error::SetupStep;
use crate::walls::{LANDLOCK_SCOPES, SandboxSupport};

/// An empty list refuses the call whatever its arguments are.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    // Memory that is nobody's while it is mapped nowhere, so that it is not counted.
    libc::SYS_memfd_create,
    libc::SYS_shmget,
    // Programs, requests and keys in the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_memfd_secret,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_X86: &[i64] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
];

#[cfg(not(target_arch = "x86_64"))]
const REFUSED_X86: &[i64] = &[];

const NEW_NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Whether it is in force: there are kernels without it.
pub(super) fn restrict(
    network: NetworkAccess,
    support: &SandboxSupport,
) -> Result<bool, SetupFailure> {
    let Ok(arch) = TargetArch::try_from(ARCH) else {
        return Ok(false);
    };
    let filters = filters(arch, network, support);
    let filters = filters.map_err(|error| SetupFailure::new(SetupStep::SystemCalls, &error))?;
    for filter in filters {
        match apply_filter(&filter) {
            Ok(()) => {}
            Err(Error::Seccomp(error)) if error.raw_os_error() == Some(libc::EINVAL) => {
                return Ok(false);
            }
            Err(error) => return Err(SetupFailure::new(SetupStep::SystemCalls, &error)),
        }
    }
    Ok(true)
}

fn filters(
    arch: TargetArch,
    network: NetworkAccess,
    support: &SandboxSupport,
) -> Result<Vec<BpfProgram>, BackendError> {
    let mut refused: Rules = REFUSED
        .iter()
        .chain(REFUSED_X86)
        .map(|call| (*call, Vec::new()))
        .collect();
    refused.insert(libc::SYS_clone, new_namespaces()?);
    refused.insert(libc::SYS_socket, other_sockets(network, support)?);
    // Its flags are in memory, where no filter sees them. libc then uses `clone`.
    let missing = Rules::from([(libc::SYS_clone3, Vec::new())]);
    let mut filters = vec![
        filter(refused, libc::EPERM, arch)?,
        filter(missing, libc::ENOSYS, arch)?,
    ];
    #[cfg(target_arch = "x86_64")]
    filters.push(x32::refuse());
    Ok(filters)
}

fn filter(rules: Rules, errno: i32, arch: TargetArch) -> Result<BpfProgram, BackendError> {
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()
}

fn new_namespaces() -> Result<Vec<SeccompRule>, BackendError> {
    let flags = NEW_NAMESPACES.map(|flag| u64::from(flag.unsigned_abs()));
    let has = |flag| {
        let masked = SeccompCmpOp::MaskedEq(flag);
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Qword, masked, flag)?;
        SeccompRule::new(vec![condition])
    };
    flags.into_iter().map(has).collect()
}

/// Pairs of connected sockets (`socketpair`) are always allowed: they lead nowhere.
fn other_sockets(
    network: NetworkAccess,
    support: &SandboxSupport,
) -> Result<Vec<SeccompRule>, BackendError> {
    let mut allowed = Vec::new();
    if network == NetworkAccess::Full {
        allowed.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    // Services of the machine listen on named and on abstract sockets.
    let names_are_own = support.mount_namespace;
    let abstracts_are_own = support.network_namespace || support.landlock >= LANDLOCK_SCOPES;
    if names_are_own && abstracts_are_own {
        allowed.push(libc::AF_UNIX);
    }
    let is_not = |domain: i32| {
        let domain = u64::from(domain.unsigned_abs());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, domain)
    };
    let conditions: Vec<_> = allowed.into_iter().map(is_not).collect::<Result<_, _>>()?;
    if conditions.is_empty() {
        Ok(Vec::new())
    } else {
        Ok(vec![SeccompRule::new(conditions)?])
    }
}

/// A second table of system calls, which the filters by number do not see.
#[cfg(target_arch = "x86_64")]
mod x32 {
    use seccompiler::{BpfProgram, sock_filter};

    const BIT: u32 = 0x4000_0000;
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;
    const RETURN: u16 = 0x06;

    pub(super) fn refuse() -> BpfProgram {
        let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
        let refuse = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
        vec![
            instruction(LOAD_NUMBER, 0, 0, 0),
            instruction(JUMP_IF_GREATER_OR_EQUAL, 0, 1, BIT),
            instruction(RETURN, 0, 0, refuse),
            instruction(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
        ]
    }
}
