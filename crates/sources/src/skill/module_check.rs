//! Modules that somebody is writing: which tools they have, and what a call of one gives.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tenon_domain::{ErrorKind, ToolError, UserId};
use tenon_sandbox::{NetworkAccess, SandboxCommand};
use tenon_skills::module::{DESCRIBE_FLAG, ModuleDescription, ModuleError};
use tenon_skills::script::ModuleLanguage;
use tenon_tools::CallOrigin;

use super::call_error::SkillCallError;
use super::environment;
use super::host::SkillHost;
use super::program::{sandbox_error, tail};
use super::worker::{Worker, WorkerError, serving};
use super::worker_request::{self, WorkerRequest};

/// To load a module.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(30);

/// A call that somebody watches.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(120);

/// How often what the code printed is passed on.
const LOG_INTERVAL: Duration = Duration::from_millis(100);

/// Where npm installs packages.
const NODE_MODULES: &str = "node_modules";

/// A call of a tool that is not installed.
#[derive(Debug)]
pub struct ModuleTrial {
    pub user: UserId,
    pub language: ModuleLanguage,
    pub code: String,
    pub tool: String,
    pub arguments: Value,
    pub settings: Map<String, Value>,
    /// A folder that was set up for it.
    pub packages: Option<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
}

/// What happens in a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum TrialEvent {
    /// The code printed a line.
    Line(String),
    /// The code emitted an event.
    Event(Value),
    Result {
        value: Value,
        took: Duration,
    },
    Error {
        message: String,
        line: Option<u64>,
        took: Duration,
    },
}

impl SkillHost {
    /// Loads a module and lists its tools. `packages` is a folder that was set up for it.
    pub async fn describe(
        &self,
        user: &UserId,
        (language, code): (ModuleLanguage, &str),
        packages: Option<&Path>,
    ) -> Result<ModuleDescription, ToolError> {
        let folder = ModuleFolder::new(language, code, packages)?;
        let runner = self
            .runner(language)
            .await
            .map_err(|error| failed(&error))?;
        let mut command = folder.command(language, self.runners());
        if let Some(folder) = packages {
            environment::add_packages(&mut command, folder);
        }
        command.limits.wall_clock = DESCRIBE_TIMEOUT;
        let words = [
            runner.display().to_string(),
            DESCRIBE_FLAG.to_owned(),
            folder.module(language),
        ];
        let _slot = self.programs.take(user).await;
        let output = self.sandbox.run(&command.args(words), b"", |_| {}).await;
        let output = output.map_err(sandbox_error)?;
        ModuleDescription::parse(&output.stdout).map_err(|error| match error {
            ModuleError::NoDescription(_) => {
                let said = tail(&output.stderr, &output.stdout).into();
                ToolError::coded(ErrorKind::Failed, SkillCallError::WorkerEnded { said })
            }
            other => ToolError::failed(other.to_string()),
        })
    }

    /// Calls a tool of a module, in a folder that goes with it. The last event is a result or an error.
    pub async fn try_module(
        &self,
        trial: ModuleTrial,
        on_event: impl Fn(TrialEvent) + Send + Sync,
    ) {
        let begin = Instant::now();
        let ended = tokio::time::timeout(TRIAL_TIMEOUT, self.run_trial(trial, &on_event)).await;
        let took = begin.elapsed();
        on_event(match ended {
            Ok(Ok(value)) => TrialEvent::Result { value, took },
            Ok(Err((message, line))) => TrialEvent::Error {
                message,
                line,
                took,
            },
            Err(_) => {
                let seconds = TRIAL_TIMEOUT.as_secs();
                TrialEvent::Error {
                    message: SkillCallError::TimedOut { seconds }.to_string(),
                    line: None,
                    took,
                }
            }
        });
    }

    async fn run_trial(
        &self,
        trial: ModuleTrial,
        on_event: &(impl Fn(TrialEvent) + Send + Sync),
    ) -> Result<Value, (String, Option<u64>)> {
        let plain = |error: ToolError| (error.message, None);
        let language = trial.language;
        let packages = trial.packages.as_deref();
        let folder = ModuleFolder::new(language, &trial.code, packages).map_err(plain)?;
        let runner = self.runner(language).await;
        let runner = runner.map_err(|error| plain(failed(&error)))?;
        let mut command = folder.command(language, self.runners());
        if let Some(folder) = packages {
            environment::add_packages(&mut command, folder);
        }
        if trial.network {
            command.network = NetworkAccess::Full;
        }
        let module = folder.module(language);
        let command = serving(command, &runner, Path::new(&module));
        let _slot = self.programs.take(&trial.user).await;
        let mut worker = Worker::start(&self.sandbox, &command)
            .await
            .map_err(plain)?;
        let log = worker.log();
        let pass_on = || {
            for line in log.take() {
                on_event(TrialEvent::Line(line));
            }
        };
        let account = self.users.account(&trial.user).await;
        let request = WorkerRequest {
            function: &trial.tool,
            arguments: trial.arguments,
            settings: &trial.settings,
            user: worker_request::person(account, &trial.user, Map::new()),
            context: worker_request::context(&CallOrigin::default(), &trial.user, &trial.tool),
        };
        let answer = worker.call(request, |event| on_event(TrialEvent::Event(event)));
        let mut answer = std::pin::pin!(answer);
        let answer = loop {
            tokio::select! {
                answer = &mut answer => break answer,
                () = tokio::time::sleep(LOG_INTERVAL) => pass_on(),
            }
        };
        // Give the last printed lines a moment to arrive.
        tokio::time::sleep(Duration::from_millis(20)).await;
        pass_on();
        answer.map_err(|error| match error {
            WorkerError::Raised { message, line } => (message, line),
            WorkerError::Ended(said) => {
                let said = said.into();
                (SkillCallError::WorkerEnded { said }.to_string(), None)
            }
            WorkerError::TooLong => (SkillCallError::OutputLimit.to_string(), None),
        })
    }
}

/// A module in a folder of its own.
struct ModuleFolder(tempfile::TempDir);

impl ModuleFolder {
    /// `packages` is a folder that was set up for it.
    fn new(
        language: ModuleLanguage,
        code: &str,
        packages: Option<&Path>,
    ) -> Result<Self, ToolError> {
        let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
        let path = folder.path().join(language.module_file());
        std::fs::write(path, code).map_err(|error| failed(&error))?;
        // `import` looks beside the module and above it, and nowhere else.
        let modules = packages.map(|packages| packages.join(NODE_MODULES));
        if let Some(modules) = modules.filter(|modules| modules.is_dir()) {
            let link = folder.path().join(NODE_MODULES);
            std::os::unix::fs::symlink(modules, link).map_err(|error| failed(&error))?;
        }
        Ok(Self(folder))
    }

    fn module(&self, language: ModuleLanguage) -> String {
        let path = self.0.path().join(language.module_file());
        path.display().to_string()
    }

    fn command(&self, language: ModuleLanguage, runners: &Path) -> SandboxCommand {
        let mut command = environment::program(language.program(), self.0.path());
        command.read_dirs.push(runners.to_owned());
        command
    }
}

fn failed(error: &std::io::Error) -> ToolError {
    let why = error.to_string().into();
    ToolError::coded(ErrorKind::Failed, SkillCallError::Sandbox { why })
}
