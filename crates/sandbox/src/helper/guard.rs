//! Receives the command, starts the program, and ends all of it.

use std::fs;
use std::io::{self, IoSliceMut, PipeReader, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, kill_process,
    pidfd_open, set_child_subreaper, set_parent_process_death_signal, setrlimit, wait, waitpid,
};

use super::memory::MemoryWatch;
use super::namespaces::OuterNamespaces;
use super::process::{Fork, die_of, fork, reap_children};
use super::program::{self, SandboxedProgram};
use super::setup_failure::SetupFailure;
use crate::error::SetupStep;
use crate::protocol::{HelperReply, HelperRequest, MAX_FRAME_BYTES, STREAMS};

/// For orphans to be found and killed where no namespace is killed at once.
const ORPHANS_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn run(control: &UnixStream) -> ! {
    match start(control) {
        Ok(running) => exit_like(running.supervise(control)),
        Err(failure) => {
            // Nobody is there to be told if this fails.
            let _ = reply(control, &HelperReply::from(failure).encode());
            std::process::exit(1)
        }
    }
}

struct RunningProgram {
    program: Pid,
    init: Option<Pid>,
    total_memory: u64,
    /// The folder for temporary files that the program made where it has no mounts of its own.
    temp_dir: PathBuf,
}

fn start(control: &UnixStream) -> Result<RunningProgram, SetupFailure> {
    let in_process = SetupFailure::at::<io::Error>(SetupStep::Process);
    let namespaces = OuterNamespaces::enter();
    // Before the program's streams are here, so that init does not keep them open.
    let init = if namespaces.pid {
        Some(fork_init().map_err(&in_process)?)
    } else {
        set_child_subreaper(Some(getpid())).map_err(SetupFailure::at(SetupStep::Process))?;
        None
    };
    let streams = receive_streams(control).map_err(SetupFailure::at(SetupStep::Request))?;
    let request = receive_request(control).map_err(SetupFailure::at(SetupStep::Request))?;
    let temp_dir = program::temp_dir();
    let total_memory = request.command.limits.total_memory;
    let (reports, report) = io::pipe().map_err(&in_process)?;
    let program = match fork().map_err(&in_process)? {
        Fork::Parent(program) => program,
        Fork::Child => SandboxedProgram {
            request,
            streams,
            namespaces,
            temp_dir,
            report,
        }
        .execute(),
    };
    drop((streams, report));
    let running = RunningProgram {
        program,
        init,
        total_memory,
        temp_dir,
    };
    match forward_report(control, reports) {
        Ok(()) => Ok(running),
        Err(error) => {
            running.end();
            Err(SetupFailure::new(SetupStep::Process, &error))
        }
    }
}

fn fork_init() -> io::Result<Pid> {
    let (mut guard_alive, guard_end) = io::pipe()?;
    match fork()? {
        Fork::Parent(init) => {
            // Open as long as the guard is there; a program that it executes does not have it.
            std::mem::forget(guard_end);
            Ok(init)
        }
        Fork::Child => {
            drop(guard_end);
            let _ = set_parent_process_death_signal(Some(Signal::KILL));
            reap_children();
            // A guard that was gone before this process asked for the signal sends none.
            let _ = guard_alive.read_exact(&mut [0]);
            std::process::exit(0)
        }
    }
}

fn receive_streams(control: &UnixStream) -> io::Result<[OwnedFd; STREAMS]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        control,
        &mut [IoSliceMut::new(&mut byte)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut streams = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            streams.extend(fds);
        }
    }
    let incomplete = |_| io::ErrorKind::UnexpectedEof.into();
    streams.try_into().map_err(incomplete)
}

fn receive_request(mut control: &UnixStream) -> io::Result<HelperRequest> {
    let mut length = [0; 4];
    control.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > MAX_FRAME_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut request = vec![0; length as usize];
    control.read_exact(&mut request)?;
    Ok(serde_json::from_slice(&request)?)
}

/// The pipe ends when the program is executed, or when it could not be. Its last line counts.
fn forward_report(control: &UnixStream, mut reports: PipeReader) -> io::Result<()> {
    let mut report = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        if wait_for(control, &reports, None)? != GuardEvent::Ready {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        match reports.read(&mut buffer)? {
            0 => break,
            length => report.extend_from_slice(&buffer[..length]),
        }
    }
    let mut lines = report.split(|byte| *byte == b'\n');
    let last = lines.rfind(|line| !line.is_empty());
    reply(control, last.ok_or(io::ErrorKind::UnexpectedEof)?)
}

fn reply(mut control: &UnixStream, reply: &[u8]) -> io::Result<()> {
    let length = u32::try_from(reply.len()).map_err(io::Error::other)?;
    control.write_all(&length.to_be_bytes())?;
    control.write_all(reply)
}

#[derive(PartialEq, Eq)]
enum GuardEvent {
    Ready,
    /// Nothing has happened in the time that was given.
    Timeout,
    /// The launcher closed the socket, or is gone. It sends nothing after the request.
    Hangup,
}

fn wait_for(
    control: &UnixStream,
    fd: &impl AsFd,
    timeout: Option<Duration>,
) -> io::Result<GuardEvent> {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    let mut fds = [
        PollFd::new(fd, PollFlags::IN),
        PollFd::new(control, PollFlags::IN | PollFlags::RDHUP),
    ];
    loop {
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) => return Ok(GuardEvent::Timeout),
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // What has happened counts before what is to happen.
    if fds[0].revents().is_empty() {
        Ok(GuardEvent::Hangup)
    } else {
        Ok(GuardEvent::Ready)
    }
}

impl RunningProgram {
    fn supervise(self, control: &UnixStream) -> Option<WaitStatus> {
        if let Ok(exit) = pidfd_open(self.program, PidfdFlags::empty()) {
            let mut memory = MemoryWatch::new(std::process::id(), self.total_memory);
            loop {
                let event = wait_for(control, &exit, Some(memory.interval()));
                if !matches!(event, Ok(GuardEvent::Timeout)) || memory.is_exceeded() {
                    break;
                }
            }
        }
        // Whatever it was, it is time to end everything.
        self.end()
    }

    /// Kills all that is left. The program is waited for first: the namespace of a killed init
    /// is only gone when nobody has a process of it left to wait for.
    fn end(self) -> Option<WaitStatus> {
        let exited = waitpid(Some(self.program), WaitOptions::NOHANG);
        let exited = exited.ok().flatten();
        let _ = kill_process(self.init.unwrap_or(self.program), Signal::KILL);
        let exited = exited.or_else(|| waitpid(Some(self.program), WaitOptions::empty()).ok()?);
        match self.init {
            Some(init) => {
                let _ = waitpid(Some(init), WaitOptions::empty());
            }
            None => kill_orphans(),
        }
        let _ = fs::remove_dir_all(&self.temp_dir);
        exited.map(|(_, status)| status)
    }
}

/// What the program started has become a child of the guard, which is its subreaper.
fn kill_orphans() {
    let list = format!("/proc/self/task/{}/children", getpid());
    let deadline = Instant::now() + ORPHANS_TIMEOUT;
    while Instant::now() < deadline {
        let children = fs::read_to_string(&list).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|id| id.parse().ok());
        for child in children.filter_map(Pid::from_raw) {
            let _ = kill_process(child, Signal::KILL);
        }
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(_) => return,
        }
    }
}

/// The launcher sees the exit status of the program.
fn exit_like(status: Option<WaitStatus>) -> ! {
    let Some(status) = status else {
        std::process::exit(1);
    };
    let signal = status.terminating_signal();
    if let Some(signal) = signal.and_then(Signal::from_named_raw) {
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let _ = setrlimit(Resource::Core, none);
        die_of(signal);
    }
    let by_signal = signal.map(|signal| 128 + signal);
    std::process::exit(status.exit_status().or(by_signal).unwrap_or(1))
}
