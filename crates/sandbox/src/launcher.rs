//! Starts helpers.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixStream, unix::pipe};
use tokio::process::{Child, Command};
use tokio::sync::OnceCell;

use crate::child::SandboxChild;
use crate::command::SandboxCommand;
use crate::error::{Error, SetupStep};
use crate::protocol::{HELPER_ARGUMENT, HelperReply, HelperRequest, MAX_FRAME_BYTES, STREAMS};
use crate::walls::SandboxSupport;

/// For a helper to build the walls, on a machine that is busy.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A program that is over by then does not share its processors with the helper of the next one.
const START_DELAY: Duration = Duration::from_millis(5);

/// How long a helper waits for the next command after the last one was started.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// The executable that helpers are started from. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    helper: PathBuf,
    support: Arc<OnceCell<SandboxSupport>>,
    /// Started ahead for the next command: loading a large executable takes as long as building
    /// the walls.
    next: Arc<Mutex<Option<WaitingHelper>>>,
}

/// A helper that was sent nothing so far.
#[derive(Debug)]
struct WaitingHelper {
    process: Child,
    /// Dropped, the helper exits.
    control: StdUnixStream,
}

impl Sandbox {
    /// With the current executable, whose `main` calls [`crate::helper_main`]. It is the one that
    /// runs, also after its file was replaced.
    pub fn current_exe() -> Self {
        Self::with_helper("/proc/self/exe")
    }

    /// With another executable that does, for tests that are no such program themselves.
    pub fn with_helper(helper: impl Into<PathBuf>) -> Self {
        Self {
            helper: helper.into(),
            support: Arc::default(),
            next: Arc::default(),
        }
    }

    /// Which walls this machine has: a helper builds them once, and executes nothing.
    pub async fn support(&self) -> Result<SandboxSupport, Error> {
        let probe = || async {
            let command = SandboxCommand::new("", std::env::temp_dir());
            self.start(&command, true).await.map(|child| child.support)
        };
        self.support.get_or_try_init(probe).await.cloned()
    }

    /// Returns when the program has been executed.
    pub async fn spawn(&self, command: &SandboxCommand) -> Result<SandboxChild, Error> {
        self.start(command, false).await
    }

    async fn start(&self, command: &SandboxCommand, is_probe: bool) -> Result<SandboxChild, Error> {
        let helper = self.take_next().map_or_else(|| self.spawn_helper(), Ok);
        let WaitingHelper { process, control } = helper.map_err(Error::Helper)?;
        let (streams, ours) = Streams::new().map_err(Error::Helper)?;
        streams.send(&control).map_err(Error::Helper)?;
        let request = HelperRequest {
            command: command.complete(),
            is_probe,
        };
        let exchange = exchange(control, &request);
        let answer = tokio::time::timeout(START_TIMEOUT, exchange).await;
        let (control, reply) = answer
            .map_err(|_| Error::NoAnswer)?
            .map_err(|_| Error::NoAnswer)?;
        self.prepare_next();
        match reply {
            HelperReply::Started(support) => Ok(SandboxChild {
                stdin: Some(ours.stdin),
                stdout: Some(ours.stdout),
                stderr: Some(ours.stderr),
                support,
                helper: process,
                control: Some(control),
            }),
            HelperReply::Failed { step, errno } => Err(failure(command, step, errno)),
        }
    }

    fn spawn_helper(&self) -> io::Result<WaitingHelper> {
        let (control, theirs) = StdUnixStream::pair()?;
        let process = Command::new(&self.helper)
            .arg(HELPER_ARGUMENT)
            .env_clear()
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Not ended by Ctrl+C in the terminal before what it guards.
            .process_group(0)
            .spawn()?;
        Ok(WaitingHelper { process, control })
    }

    /// The one that waits, unless something ended it meanwhile.
    fn take_next(&self) -> Option<WaitingHelper> {
        let mut waiting = self.waiting().take()?;
        matches!(waiting.process.try_wait(), Ok(None)).then_some(waiting)
    }

    /// Has a helper wait for the next command, for a while.
    fn prepare_next(&self) {
        let sandbox = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(START_DELAY).await;
            if sandbox.waiting().is_some() {
                return;
            }
            let Ok(helper) = sandbox.spawn_helper() else {
                // Whoever needs one will be told why there is none.
                return;
            };
            let id = helper.process.id();
            *sandbox.waiting() = Some(helper);
            tokio::time::sleep(IDLE_TIME).await;
            sandbox.waiting().take_if(|it| it.process.id() == id);
        });
    }

    fn waiting(&self) -> MutexGuard<'_, Option<WaitingHelper>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn exchange(
    control: StdUnixStream,
    request: &HelperRequest,
) -> io::Result<(UnixStream, HelperReply)> {
    control.set_nonblocking(true)?;
    let mut control = UnixStream::from_std(control)?;
    let request = serde_json::to_vec(request)?;
    let length = u32::try_from(request.len()).unwrap_or(u32::MAX);
    if length > MAX_FRAME_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    control.write_u32(length).await?;
    control.write_all(&request).await?;
    let length = control.read_u32().await?;
    if length > MAX_FRAME_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut reply = vec![0; length as usize];
    control.read_exact(&mut reply).await?;
    Ok((control, serde_json::from_slice(&reply)?))
}

fn failure(command: &SandboxCommand, step: SetupStep, errno: i32) -> Error {
    let source = io::Error::from_raw_os_error(errno);
    let program = || command.program.clone();
    match (step, source.kind()) {
        (SetupStep::Execute, io::ErrorKind::NotFound) => Error::ProgramNotFound(program()),
        (SetupStep::Execute, io::ErrorKind::PermissionDenied) => Error::NotExecutable(program()),
        _ => Error::Setup { step, source },
    }
}

/// The program's ends of its three pipes.
struct Streams([OwnedFd; STREAMS]);

/// The other ends.
struct StreamEnds {
    stdin: pipe::Sender,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
}

impl Streams {
    fn new() -> io::Result<(Self, StreamEnds)> {
        let (stdin, reads) = pipe::pipe()?;
        let (writes, stdout) = pipe::pipe()?;
        let (reports, stderr) = pipe::pipe()?;
        let theirs = [
            reads.into_blocking_fd()?,
            writes.into_blocking_fd()?,
            reports.into_blocking_fd()?,
        ];
        let ours = StreamEnds {
            stdin,
            stdout,
            stderr,
        };
        Ok((Self(theirs), ours))
    }

    /// With a single byte, for which a new socket has room: this does not block.
    #[cfg(target_os = "linux")]
    fn send(self, control: &StdUnixStream) -> io::Result<()> {
        use std::io::IoSlice;
        use std::mem::MaybeUninit;
        use std::os::fd::AsFd;

        use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

        let fds = self.0.each_ref().map(|fd| fd.as_fd());
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        sendmsg(
            control,
            &[IoSlice::new(&[0])],
            &mut ancillary,
            SendFlags::empty(),
        )?;
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn send(self, _: &StdUnixStream) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
