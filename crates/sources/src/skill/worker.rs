//! Functions of a module, called in a process that stays for a while.
//!
//! A worker is a runner of `tenon-skills` in a sandbox, which answers one call after the other. It
//! belongs to one revision of a skill, one user and one work folder, so the walls around it are those
//! of its first call. A call that ends before it is answered takes its worker with it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tenon_domain::{ErrorKind, SourceId, ToolError, UserId};
use tenon_sandbox::{Sandbox, SandboxChild, SandboxCommand};
use tenon_skills::module::{ModuleFault, SERVE_FLAG};
use tenon_skills::script::ModuleLanguage;
use tenon_text::line;
use tenon_tools::ProgressUpdate;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::Notify;

use super::SkillCall;
use super::call_error::SkillCallError;
use super::environment::{self, WorkFolder};
use super::program::{require_values, sandbox_error};
use super::reply::SkillReply;
use super::revision::SkillRevision;
use super::worker_request::{self, WorkerRequest};
use crate::lock::lock;

/// As much as a program that runs once may print.
const MAX_ANSWER_BYTES: u64 = 4 * 1024 * 1024;

/// To import a module and its packages, on a machine that is busy.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Limit of processor time over all calls of a worker.
const CPU_TIME: Duration = Duration::from_secs(3600);

/// What is kept of what its code printed, for errors.
const LOG_LINES: usize = 200;

/// Of a line that its code printed; the rest counts as the next one.
const MAX_LOG_LINE_BYTES: u64 = 64 * 1024;

/// What a worker can be used for.
#[derive(Debug, Clone)]
pub(super) struct WorkerKey {
    pub(super) skill: SourceId,
    /// The sandbox and values come from this revision; another one may differ for the same files.
    revision: Arc<SkillRevision>,
    file: String,
    user: UserId,
    pub(super) work: PathBuf,
}

impl PartialEq for WorkerKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.revision, &other.revision)
            && self.file == other.file
            && self.user == other.user
            && self.work == other.work
    }
}

/// A process that answers calls.
pub(super) struct Worker {
    child: SandboxChild,
    stdin: pipe::Sender,
    stdout: BufReader<pipe::Receiver>,
    log: WorkerLog,
    calls: u64,
    /// How many there were before its first call.
    processes: Option<usize>,
}

/// The last lines that the code of a worker printed. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkerLog(Arc<WorkerLogState>);

#[derive(Debug, Default)]
struct WorkerLogState {
    lines: Mutex<VecDeque<String>>,
    /// How much was printed in this call.
    bytes: AtomicU64,
    /// Signalled when a call has printed more than it may.
    is_over: Notify,
}

/// One line of a worker.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WorkerMessage {
    ready: Option<bool>,
    id: Option<u64>,
    event: Option<Value>,
    result: Option<Value>,
    error: Option<WorkerFailure>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum WorkerFailure {
    /// The module cannot be loaded.
    Module(ModuleFault),
    Raised {
        message: String,
        #[serde(default)]
        line: Option<u64>,
    },
}

/// What a function raised, or why there is no answer.
pub(super) enum WorkerError {
    Raised {
        message: String,
        line: Option<u64>,
    },
    /// It ended, with the last that it said.
    Ended(String),
    TooLong,
}

pub(super) async fn call(
    call: &SkillCall<'_>,
    (language, file, function): (ModuleLanguage, &str, &str),
    arguments: Value,
) -> Result<SkillReply, ToolError> {
    require_values(call)?;
    let host = call.host();
    let work = WorkFolder::of(call).await?;
    let key = WorkerKey {
        skill: call.skill.info.id.clone(),
        revision: call.revision.clone(),
        file: file.to_owned(),
        user: call.context.user.clone(),
        work: work.path().to_owned(),
    };
    let _slot = host.programs.take(&call.context.user).await;
    let mut worker = match host.workers.take(&key) {
        Some(worker) => worker,
        None => {
            let program = (language.program(), [].as_slice());
            let program = environment::command(call.revision, program, work.path());
            let module = call.revision.files().join(file);
            let runner = host.runner(language).await.map_err(|error| {
                let why = error.to_string().into();
                ToolError::coded(ErrorKind::Failed, SkillCallError::Sandbox { why })
            })?;
            let command = serving(program, &runner, &module);
            Worker::start(&host.sandbox, &command).await?
        }
    };
    let user = &call.context.user;
    let valves = host.users.settings(&key.skill, user).await;
    let request = WorkerRequest {
        function,
        arguments,
        settings: &call.revision.values.settings,
        user: worker_request::person(host.users.account(user).await, user, valves),
        context: worker_request::context(&call.context.origin, user, function),
    };
    let answer = worker.call(request, |event| {
        if let Some(update) = progress(&event) {
            call.context.progress(update);
        }
    });
    let answer = work.within_quota(call, answer).await;
    let can_be_kept = matches!(answer, Ok(Ok(_) | Err(WorkerError::Raised { .. })));
    if can_be_kept && worker.is_left_clean() {
        host.workers.give_back(key, worker);
    } else {
        // Nothing that it started outlives the call.
        let _ = worker.child.kill().await;
    }
    match answer? {
        Ok(data) => Ok(SkillReply::of_data(data)),
        Err(WorkerError::Raised { message, .. }) => {
            let said = message.into();
            Err(failed(SkillCallError::Raised { said }))
        }
        Err(WorkerError::Ended(said)) => {
            let said = said.into();
            Err(failed(SkillCallError::WorkerEnded { said }))
        }
        Err(WorkerError::TooLong) => Err(failed(SkillCallError::OutputLimit)),
    }
}

/// The command of a runner that serves a module.
pub(super) fn serving(
    mut command: SandboxCommand,
    runner: &std::path::Path,
    module: &std::path::Path,
) -> SandboxCommand {
    command.read_dirs.extend(runner.parent().map(PathBuf::from));
    // Also for processes that its modules start (`multiprocessing`). The runner imports the module's folder itself.
    environment::keep_current_folder_out(&mut command);
    command.limits.cpu = CPU_TIME;
    let words = [runner, module].map(|path| path.display().to_string());
    let [runner, module] = words;
    command.args([runner, SERVE_FLAG.to_owned(), module])
}

impl Worker {
    /// Returns when its module is loaded.
    pub(super) async fn start(
        sandbox: &Sandbox,
        command: &SandboxCommand,
    ) -> Result<Self, ToolError> {
        let mut child = sandbox.spawn(command).await.map_err(sandbox_error)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(ToolError::failed("The program has no streams."));
        };
        let log = WorkerLog::default();
        tokio::spawn(collect_log(stderr, log.clone()));
        let mut worker = Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            log,
            calls: 0,
            processes: None,
        };
        let message = tokio::time::timeout(START_TIMEOUT, worker.read()).await;
        match message {
            Ok(Ok(WorkerMessage {
                ready: Some(true), ..
            })) => {
                worker.processes = worker.child.processes();
                Ok(worker)
            }
            Ok(Ok(WorkerMessage {
                error: Some(fault), ..
            })) => {
                let said = fault.message().into();
                Err(failed(SkillCallError::Raised { said }))
            }
            Ok(Ok(_) | Err(_)) => {
                let said = worker.said().into();
                Err(failed(SkillCallError::WorkerEnded { said }))
            }
            Err(_) => {
                let seconds = START_TIMEOUT.as_secs();
                let error = SkillCallError::TimedOut { seconds };
                Err(ToolError::coded(ErrorKind::TimedOut, error))
            }
        }
    }

    /// Whether no call left a process behind, as far as that can be told.
    fn is_left_clean(&self) -> bool {
        let now = self.child.processes();
        now.is_some() && now <= self.processes
    }

    /// One call. Dropped before it is answered, the worker is of no use any more.
    pub(super) async fn call(
        &mut self,
        request: WorkerRequest<'_>,
        on_event: impl FnMut(Value) + Send,
    ) -> Result<Value, WorkerError> {
        let log = self.log.clone();
        log.0.bytes.store(0, Ordering::Relaxed);
        tokio::select! {
            answer = self.answer(request, on_event) => answer,
            () = log.overflowed() => Err(WorkerError::TooLong),
        }
    }

    async fn answer(
        &mut self,
        request: WorkerRequest<'_>,
        mut on_event: impl FnMut(Value) + Send,
    ) -> Result<Value, WorkerError> {
        self.calls += 1;
        let id = self.calls;
        let request = request.message(id);
        let line = format!("{request}\n");
        if self.stdin.write_all(line.as_bytes()).await.is_err() {
            return Err(self.ended().await);
        }
        loop {
            let message = self.read().await?;
            if message.id != Some(id) {
                continue;
            }
            if let Some(event) = message.event {
                on_event(event);
                continue;
            }
            return match message.error {
                None => Ok(message.result.unwrap_or_default()),
                Some(failure) => Err(WorkerError::Raised {
                    line: failure.line(),
                    message: failure.message(),
                }),
            };
        }
    }

    async fn read(&mut self) -> Result<WorkerMessage, WorkerError> {
        loop {
            let mut line = Vec::new();
            let mut bounded = (&mut self.stdout).take(MAX_ANSWER_BYTES + 1);
            match bounded.read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return Err(self.ended().await),
                Ok(_) if line.len() as u64 > MAX_ANSWER_BYTES => return Err(WorkerError::TooLong),
                Ok(_) => {}
            }
            // A line that is not a message was printed by code that bypasses the runner.
            if let Ok(message) = serde_json::from_slice(&line) {
                return Ok(message);
            }
        }
    }

    async fn ended(&mut self) -> WorkerError {
        // So that what it said last has arrived.
        let _ = tokio::time::timeout(Duration::from_secs(1), self.child.wait()).await;
        WorkerError::Ended(self.said())
    }

    fn said(&self) -> String {
        let lines: Vec<String> = self.log.lock().iter().cloned().collect();
        lines.join("\n")
    }

    pub(super) fn log(&self) -> WorkerLog {
        self.log.clone()
    }
}

impl WorkerLog {
    /// The lines since they were last taken.
    pub(super) fn take(&self) -> Vec<String> {
        self.lock().drain(..).collect()
    }

    async fn overflowed(&self) {
        while self.0.bytes.load(Ordering::Relaxed) <= MAX_ANSWER_BYTES {
            self.0.is_over.notified().await;
        }
    }

    fn push(&self, line: String, bytes: usize) {
        let before = self.0.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if before + bytes as u64 > MAX_ANSWER_BYTES {
            self.0.is_over.notify_one();
        }
        let mut lines = self.lock();
        if lines.len() >= LOG_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        lock(&self.0.lines)
    }
}

impl WorkerFailure {
    fn message(self) -> String {
        match self {
            Self::Module(fault) => fault.to_string(),
            Self::Raised { message, .. } => message,
        }
    }

    fn line(&self) -> Option<u64> {
        match self {
            Self::Module(fault) => fault.line,
            Self::Raised { line, .. } => *line,
        }
    }
}

async fn collect_log(stderr: pipe::Receiver, log: WorkerLog) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut bytes = Vec::new();
        let mut bounded = (&mut stderr).take(MAX_LOG_LINE_BYTES);
        match bounded.read_until(b'\n', &mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        log.push(line(&String::from_utf8_lossy(&bytes), 2000), bytes.len());
    }
}

/// What `__event_emitter__` was given: a status, a message, progress of any form.
fn progress(event: &Value) -> Option<ProgressUpdate> {
    let data = event.get("data").unwrap_or(event);
    let text = |name: &str| data.get(name).and_then(Value::as_str);
    let message = text("description")
        .or_else(|| text("content"))
        .or_else(|| text("message"));
    let number = |name: &str| data.get(name).and_then(Value::as_f64);
    let progress = number("progress");
    if message.is_none() && progress.is_none() {
        return None;
    }
    Some(ProgressUpdate {
        progress: progress.unwrap_or_default(),
        total: number("total"),
        message: message.map(|message| line(message, 500)),
    })
}

fn failed(error: SkillCallError) -> ToolError {
    ToolError::coded(ErrorKind::Failed, error)
}
