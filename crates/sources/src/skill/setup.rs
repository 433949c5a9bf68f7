//! Installs the packages that a version of a skill needs, once, beside its files.
//!
//! In a sandbox as its programs are, with the network, and with nothing to write to but the folder
//! of this version. Scripts of npm packages are not run.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenon_domain::ErrorDetail;
use tenon_sandbox::{Error as SandboxError, NetworkAccess, RunEnd, Sandbox, SandboxCommand};
use tenon_skills::requirements::Requirements;
use tenon_text::line;
use tokio::sync::watch;

use super::call_error::SkillSetupError;
use super::host::SkillHost;
use super::program::tail;
use super::revision::SetupStatus;

/// Large packages over a slow network.
const TIMEOUT: Duration = Duration::from_secs(900);

/// How long packages of code that is not installed are kept after it was tried last.
const MAX_UNUSED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Says that a folder has all it needs.
const READY: &str = ".ready";

/// Lock file: the process that holds it installs the packages.
const LOCK: &str = ".lock";

/// Messages of package managers that mean a network failure. They are checked first, because the
/// managers go on to claim that the package does not exist.
const UNREACHED: [&str; 9] = [
    "NewConnectionError",
    "ConnectTimeoutError",
    "Connection refused",
    "Temporary failure in name resolution",
    "dns error",
    "tcp connect error",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
];

/// Settings of package managers that operators make in the environment: mirrors, proxies, certificates.
const PASSED_ON: [&str; 10] = [
    "PIP_",
    "UV_",
    "npm_config_",
    "NPM_CONFIG_",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
];

impl SkillHost {
    /// Whether there is nothing to install, or everything is.
    pub fn is_set_up(folder: &Path, requirements: &Requirements) -> bool {
        requirements.is_empty() || folder.join(READY).exists()
    }

    /// Installs what a version needs, and says how it goes. Of two processes that do so, one does.
    pub async fn set_up(
        &self,
        folder: &Path,
        requirements: &Requirements,
        status: &watch::Sender<SetupStatus>,
    ) {
        let installation = Installation {
            sandbox: &self.sandbox,
            folder,
            status,
        };
        let installed = installation.run(requirements).await;
        status.send_replace(match installed {
            Ok(()) => SetupStatus::Ready,
            Err(error) => {
                tracing::warn!(folder = %folder.display(), %error, "the packages of a skill cannot be installed");
                SetupStatus::Failed(ErrorDetail::from(error))
            }
        });
    }

    /// Deletes the folders in `all` that nobody has set up for long; their packages are installed
    /// anew where they are needed. For code that was tried: each list of packages has its folder.
    pub async fn delete_unused_packages(all: PathBuf) {
        let deleting = tokio::task::spawn_blocking(move || {
            // Where nothing was tried yet there is none.
            let entries = fs::read_dir(&all).into_iter().flatten().flatten();
            for folder in entries.map(|entry| entry.path()) {
                if let Err(error) = delete_if_unused(&folder) {
                    let folder = folder.display();
                    tracing::warn!(%folder, %error, "packages that nobody uses are still kept");
                }
            }
        });
        // What a shutdown cuts off is done the next time.
        let _ = deleting.await;
    }
}

/// Deletes a package folder that nobody has used for a while, unless somebody is installing into
/// it.
fn delete_if_unused(folder: &Path) -> io::Result<()> {
    let path = folder.join(LOCK);
    // An installation creates the lock file anew, so its age is the time of last use.
    let used = fs::metadata(&path).or_else(|_| fs::metadata(folder))?;
    let age = used.modified()?.elapsed().unwrap_or_default();
    if age < MAX_UNUSED {
        return Ok(());
    }
    let mut lock = OpenOptions::new();
    let lock = lock.write(true).create(true).truncate(false).open(path)?;
    if lock.try_lock().is_err() {
        return Ok(());
    }
    // Remove the marker first: a half-deleted folder must not look complete.
    match fs::remove_file(folder.join(READY)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::remove_dir_all(folder),
    }
}

struct Installation<'a> {
    sandbox: &'a Sandbox,
    folder: &'a Path,
    status: &'a watch::Sender<SetupStatus>,
}

impl Installation<'_> {
    async fn run(&self, requirements: &Requirements) -> Result<(), SkillSetupError> {
        let _lock = folder_lock(self.folder.join(LOCK)).await.map_err(files)?;
        if SkillHost::is_set_up(self.folder, requirements) {
            return Ok(());
        }
        if !requirements.python.is_empty() {
            self.python(&requirements.python).await?;
        }
        if !requirements.node.is_empty() {
            self.node(&requirements.node).await?;
        }
        let marker = self.folder.join(READY);
        tokio::fs::write(marker, b"").await.map_err(files)
    }

    fn tell(&self, progress: &str) {
        let progress = line(progress, 200);
        if !progress.is_empty() {
            self.status.send_replace(SetupStatus::Running { progress });
        }
    }

    async fn python(&self, packages: &[String]) -> Result<(), SkillSetupError> {
        self.tell(&format!("pip install {}", packages.join(" ")));
        let list = self.folder.join("requirements.txt");
        tokio::fs::write(&list, packages.join("\n"))
            .await
            .map_err(files)?;
        let list = list.display().to_string();
        let venv = self.folder.join("venv");
        let _ = tokio::fs::remove_dir_all(&venv).await;
        let venv = venv.display().to_string();
        let python = format!("{venv}/bin/python");
        if let Some(uv) = self.uv().await {
            self.install(&uv, &["venv", "--no-config", &venv]).await?;
            let install = ["pip", "install", "--python", &python, "-r", &list];
            return self.install(&uv, &install).await;
        }
        if find_program("python3").is_none() {
            return Err(SkillSetupError::NoPython);
        }
        let made = self.install("python3", &["-m", "venv", &venv]).await;
        // Debian's Python comes without what `venv` needs.
        made.map_err(|error| match error {
            SkillSetupError::Failed { said, .. } if said.to_string().contains("ensurepip") => {
                SkillSetupError::NoPython
            }
            other => other,
        })?;
        let install = [
            "-m",
            "pip",
            "install",
            "--no-input",
            "--progress-bar",
            "off",
            "-r",
            &list,
        ];
        self.install(&python, &install).await
    }

    /// Its path, where it can be run in the sandbox, too: it is often in somebody's home.
    async fn uv(&self) -> Option<String> {
        let uv = find_program("uv")?.display().to_string();
        let command = self.command(&uv).args(["--version"]);
        match self.sandbox.run(&command, b"", |_| {}).await {
            Ok(output) if output.end == RunEnd::Exited(0) => Some(uv),
            Ok(_) | Err(_) => {
                tracing::info!(%uv, "uv does not run in the sandbox, so pip installs packages");
                None
            }
        }
    }

    async fn node(&self, packages: &[String]) -> Result<(), SkillSetupError> {
        if find_program("npm").is_none() {
            return Err(SkillSetupError::NoNode);
        }
        self.tell(&format!("npm install {}", packages.join(" ")));
        // Without it npm looks for one in the folders above.
        let path = self.folder.join("package.json");
        tokio::fs::write(path, b"{}").await.map_err(files)?;
        let mut install = vec![
            "install",
            "--ignore-scripts",
            "--omit=dev",
            "--no-audit",
            "--no-fund",
            "--",
        ];
        install.extend(packages.iter().map(String::as_str));
        self.install("npm", &install).await
    }

    /// One that installs, without its arguments.
    fn command(&self, program: &str) -> SandboxCommand {
        let mut command = SandboxCommand::new(program, self.folder);
        let path = Path::new(program);
        if path.is_absolute() && !path.starts_with(self.folder) {
            command.read_dirs.push(path.to_owned());
        }
        command.network = NetworkAccess::Full;
        command.limits.wall_clock = TIMEOUT;
        command.limits.cpu = TIMEOUT;
        command.limits.open_files = 4096;
        // What is kept there would be kept for each version of each skill.
        for name in ["PIP_NO_CACHE_DIR", "UV_NO_CACHE"] {
            command.env.insert(name.to_owned(), "1".to_owned());
        }
        let cache = "npm_config_cache".to_owned();
        command.env.insert(cache, "/tmp/npm".to_owned());
        // Where uv downloads one: its home goes with the sandbox.
        let pythons = self.folder.join("pythons").display().to_string();
        let place = "UV_PYTHON_INSTALL_DIR".to_owned();
        command.env.insert(place, pythons);
        for (name, value) in std::env::vars() {
            if PASSED_ON.iter().any(|prefix| name.starts_with(prefix)) {
                command.read_dirs.extend(named_folder(&value));
                command.env.insert(name, value);
            }
        }
        command
    }

    async fn install(&self, program: &str, arguments: &[&str]) -> Result<(), SkillSetupError> {
        let command = self.command(program).args(arguments.iter().copied());
        let output = self.sandbox.run(&command, b"", |text| self.tell(text));
        let output = output.await;
        let output = output.map_err(|error| match error {
            SandboxError::ProgramNotFound(_) if program == "npm" => SkillSetupError::NoNode,
            SandboxError::ProgramNotFound(_) => SkillSetupError::NoPython,
            other => SkillSetupError::Sandbox {
                why: other.to_string().into(),
            },
        })?;
        match output.end {
            RunEnd::Exited(0) => Ok(()),
            RunEnd::TimedOut => Err(SkillSetupError::TimedOut {
                seconds: TIMEOUT.as_secs(),
            }),
            RunEnd::Exited(_) | RunEnd::Signaled(_) | RunEnd::CpuLimit | RunEnd::OutputLimit => {
                let said = tail(&output.stderr, &output.stdout);
                let is_unreached = UNREACHED.iter().any(|sign| said.contains(sign));
                let (program, said) = (file_name(program).into(), said.into());
                Err(if is_unreached {
                    SkillSetupError::NoNetwork { program, said }
                } else {
                    SkillSetupError::Failed { program, said }
                })
            }
        }
    }
}

/// A folder or file of this machine that a setting names, such as wheels that are kept there.
fn named_folder(value: &str) -> Option<PathBuf> {
    let path = Path::new(value);
    let is_special = ["/", "/etc", "/home", "/root", "/var"]
        .iter()
        .any(|root| path == Path::new(root));
    (path.is_absolute() && path.exists() && !is_special).then(|| path.to_owned())
}

/// Freed when the file is closed, also by a process that is killed.
async fn folder_lock(path: PathBuf) -> io::Result<File> {
    let locked = tokio::task::spawn_blocking(move || {
        loop {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let file = File::create(&path)?;
            file.lock()?;
            // The previous holder of the lock may have deleted the folder with it.
            if path.exists() {
                return Ok(file);
            }
        }
    });
    locked.await.map_err(io::Error::other)?
}

fn file_name(program: &str) -> String {
    let name = Path::new(program).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// On the server's `PATH`, which is not all that of the sandbox.
fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut paths = std::env::split_paths(&path).map(|folder| folder.join(name));
    paths.find(|path| path.is_absolute() && path.is_file())
}

fn files(error: io::Error) -> SkillSetupError {
    SkillSetupError::Files {
        why: error.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn packages_are_deleted_when_nobody_has_used_them_for_long() {
        let all = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - MAX_UNUSED * 2;
        let check = |name: &str, is_old: bool, is_locked: bool, stays: bool| {
            let folder = all.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(READY), "").unwrap();
            let lock = File::create(folder.join(LOCK)).unwrap();
            if is_old {
                lock.set_modified(long_ago).unwrap();
            }
            if is_locked {
                lock.lock().unwrap();
            }
            delete_if_unused(&folder).unwrap();
            assert_eq!(folder.join(READY).exists(), stays, "{name}");
            assert_eq!(folder.exists(), stays, "{name}");
        };
        check("new", false, false, true);
        check("unused", true, false, false);
        check("being installed", true, true, true);
    }
}
