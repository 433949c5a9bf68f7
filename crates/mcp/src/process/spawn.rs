//! Starts programs so that they do not outlive this process and see none of its secrets.

use std::io;
use std::sync::{OnceLock, mpsc};

#[cfg(target_os = "linux")]
use rustix::process::Signal;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

/// Environment variables passed on to programs: those needed to run, to find files and to reach the
/// network. Never secrets.
pub(super) fn is_shared_variable(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "ALL_PROXY",
        "APPDATA",
        "COLORTERM",
        "DISPLAY",
        "DOCKER_HOST",
        "HOME",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",
        "LOGNAME",
        "NODE_EXTRA_CA_CERTS",
        "NO_PROXY",
        "NPM_CONFIG_CACHE",
        "NPM_CONFIG_REGISTRY",
        "PATH",
        "PIP_INDEX_URL",
        "REQUESTS_CA_BUNDLE",
        "SHELL",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "UV_CACHE_DIR",
        "UV_DEFAULT_INDEX",
        "UV_INDEX_URL",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
    ];
    let upper = name.to_ascii_uppercase();
    let family = upper.starts_with("LC_") || upper.starts_with("XDG_");
    family || NAMES.contains(&upper.as_str())
}

/// Has the kernel kill the program when the thread that started it ends (PDEATHSIG). The
/// threads of a runtime come and go, so one that stays starts all programs.
#[cfg(target_os = "linux")]
pub(super) fn kill_on_parent_death(command: &mut Command) {
    let parent = rustix::process::getpid();
    #[expect(
        unsafe_code,
        reason = "a process can only ask for this itself, between fork and exec; what runs there is two system calls"
    )]
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before it could ask.
            if rustix::process::getppid() == Some(parent) {
                Ok(())
            } else {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        });
    }
}

struct SpawnJob {
    command: Command,
    runtime: tokio::runtime::Handle,
    done: oneshot::Sender<io::Result<Child>>,
}

pub(super) async fn spawn(command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<mpsc::Sender<SpawnJob>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, jobs) = mpsc::channel::<SpawnJob>();
        let work = move || {
            for mut job in jobs {
                let _runtime = job.runtime.enter();
                let _ = job.done.send(job.command.spawn());
            }
        };
        // Without it every start fails with the error below.
        let _ = std::thread::Builder::new()
            .name("mcp-spawner".into())
            .spawn(work);
        sender
    });
    let (done, started) = oneshot::channel();
    let job = SpawnJob {
        command,
        runtime: tokio::runtime::Handle::current(),
        done,
    };
    let gone = || io::Error::other("the thread that starts programs is gone");
    spawner.send(job).map_err(|_| gone())?;
    started.await.map_err(|_| gone())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_see_what_they_need_and_no_secret() {
        for name in ["PATH", "HOME", "LC_ALL", "https_proxy", "XDG_CACHE_HOME"] {
            assert!(is_shared_variable(name), "{name}");
        }
        for name in [
            "APP_SECRET_KEY",
            "OPENAI_API_KEY",
            "DATABASE_URL",
            "PGPASSWORD",
            "LD_PRELOAD",
        ] {
            assert!(!is_shared_variable(name), "{name}");
        }
    }
}
