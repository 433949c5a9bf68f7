//! How a program is started so that it does not outlive us and learns no secret of ours.

use std::io;
use std::sync::{OnceLock, mpsc};

#[cfg(target_os = "linux")]
use rustix::process::Signal;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

/// Which of our own variables a program gets to see: what programs need to
/// run, to find their files and to reach the network. Never a secret of ours.
pub(super) fn is_shared(name: &str) -> bool {
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

/// Has the kernel kill the program when the thread that started it ends. The
/// threads of a runtime come and go, so one that stays does all the starting.
#[cfg(target_os = "linux")]
pub(super) fn die_with_us(command: &mut Command) {
    let us = rustix::process::getpid();
    #[expect(
        unsafe_code,
        reason = "a process can only ask for this itself, between fork and exec; what runs there is two system calls"
    )]
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // We may have died before it could ask.
            match rustix::process::getppid() == Some(us) {
                true => Ok(()),
                false => Err(io::ErrorKind::BrokenPipe.into()),
            }
        });
    }
}

struct Start {
    command: Command,
    runtime: tokio::runtime::Handle,
    done: oneshot::Sender<io::Result<Child>>,
}

pub(super) async fn spawn(command: Command) -> io::Result<Child> {
    static STARTER: OnceLock<mpsc::Sender<Start>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (sender, starts) = mpsc::channel::<Start>();
        let work = move || {
            for mut start in starts {
                let _runtime = start.runtime.enter();
                let _ = start.done.send(start.command.spawn());
            }
        };
        // Without it every start fails with the sentence below.
        let _ = std::thread::Builder::new()
            .name("mcp-starter".into())
            .spawn(work);
        sender
    });
    let (done, started) = oneshot::channel();
    let start = Start {
        command,
        runtime: tokio::runtime::Handle::current(),
        done,
    };
    let gone = || io::Error::other("the thread that starts programs is gone");
    starter.send(start).map_err(|_| gone())?;
    started.await.map_err(|_| gone())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_see_what_they_need_and_no_secret() {
        for name in ["PATH", "HOME", "LC_ALL", "https_proxy", "XDG_CACHE_HOME"] {
            assert!(is_shared(name), "{name}");
        }
        for name in [
            "TENON_SECRET_KEY",
            "OPENAI_API_KEY",
            "DATABASE_URL",
            "PGPASSWORD",
            "LD_PRELOAD",
        ] {
            assert!(!is_shared(name), "{name}");
        }
    }
}
