//! What a program may take of the machine.

use std::time::Duration;

use tenon_sandbox::RunEnd;

use crate::machine::{Machine, World};

#[tokio::test]
async fn a_fork_bomb_is_bounded() {
    // Until it cannot, and all of them wait, so that all count.
    const BOMB: &str = "
import os, signal
count = 0
try:
    while count < 2000:
        if os.fork() == 0:
            signal.pause()
        count += 1
except OSError:
    pass
print(count)";
    for world in World::each() {
        // Its processes are root's, which are not counted: the machine says so.
        if world.machine == Machine::LonelyContainer {
            continue;
        }
        let mut command = world.command("python3", &["-c", BOMB]);
        command.limits.processes = 20;
        let output = world.run(&command).await;
        let count: u32 = String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .unwrap();
        assert!((10..=20).contains(&count), "{:?}: {count}", world.machine);
    }
}

#[tokio::test]
async fn output_ends_at_its_limit() {
    const ENDLESS: &str = "
import os
while True:
    os.write(1, b'x' * 65536)";
    for world in World::each() {
        let mut command = world.command("python3", &["-c", ENDLESS]);
        command.limits.output = 1_000_000;
        let output = world.run(&command).await;
        assert_eq!(output.end, RunEnd::OutputLimit);
        assert_eq!(output.stdout.len(), 1_000_000);
    }
}

#[tokio::test]
async fn endless_errors_are_read_and_only_their_end_is_kept() {
    const ENDLESS: &str = "
import os
for _ in range(1000):
    os.write(2, b'x' * 65536)
os.write(2, b'the end')";
    let world = World::new(Machine::This);
    let output = world.run(&world.command("python3", &["-c", ENDLESS])).await;
    assert_eq!(output.end, RunEnd::Exited(0));
    assert_eq!(output.stderr.len(), 16 * 1024);
    assert!(output.stderr.ends_with(b"the end"));
}

#[tokio::test]
async fn who_ignores_every_signal_is_ended_by_the_clock() {
    const STUBBORN: &str = "
import signal, sys
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
print('begun', flush=True)
while True:
    signal.pause()";
    for world in World::each() {
        // With a process namespace and without.
        if matches!(world.machine, Machine::User | Machine::LonelyContainer) {
            continue;
        }
        let mut command = world.command("python3", &["-c", STUBBORN]);
        command.limits.wall_clock = Duration::from_secs(1);
        let output = world.run(&command).await;
        assert_eq!(output.end, RunEnd::TimedOut);
        assert_eq!(output.stdout, b"begun\n");
    }
}

#[tokio::test]
async fn memory_files_and_descriptors_have_limits() {
    const SCRIPT: &str = "
import os
def attempt(function):
    try:
        function()
        print('ESCAPED')
    except MemoryError:
        print('memory')
    except OSError as error:
        print(error.strerror)
attempt(lambda: bytearray(1 << 30))
attempt(lambda: open('big', 'wb', 0).write(bytes(2 << 20)) < (2 << 20) and open('big', 'ab', 0).write(b'x'))
attempt(lambda: [os.open('/dev/null', 0) for _ in range(100)])";
    for world in World::each() {
        let mut command = world.command("python3", &["-c", SCRIPT]);
        command.limits.memory = 256 << 20;
        command.limits.file_size = 1 << 20;
        command.limits.open_files = 64;
        let output = world.run(&command).await;
        let report = String::from_utf8_lossy(&output.stdout);
        assert_eq!(report, "memory\nFile too large\nToo many open files\n");
    }
}

#[tokio::test]
async fn memory_that_processes_share_or_have_together_has_a_limit() {
    const SHARED: &str = "
import mmap, time
memory = mmap.mmap(-1, 1 << 30)
for page in range(0, 1 << 30, mmap.PAGESIZE):
    memory[page] = 1
time.sleep(1000)";
    const TOGETHER: &str = "
import os, signal
for _ in range(8):
    if os.fork() == 0:
        memory = bytearray(b'x') * (150 << 20)
        signal.pause()
signal.pause()";
    const NODE: &str = "
        const { spawn } = require('node:child_process');
        const fill = 'globalThis.memory = Buffer.alloc(150 << 20, 1); setInterval(() => {}, 1000)';
        for (let count = 0; count < 8; count += 1) spawn(process.execPath, ['-e', fill]);
        setInterval(() => {}, 1000);";
    for world in World::each() {
        for (program, flag, script) in [
            ("python3", "-c", SHARED),
            ("python3", "-c", TOGETHER),
            ("node", "-e", NODE),
        ] {
            let mut command = world.command(program, &[flag, script]);
            command.limits.total_memory = 512 << 20;
            let output = world.run(&command).await;
            let said = String::from_utf8_lossy(&output.stderr);
            let killed = RunEnd::Signaled(9);
            assert_eq!(output.end, killed, "{:?}: {script} {said}", world.machine);
        }
    }
}

#[tokio::test]
async fn what_processes_share_counts_once() {
    const SHARES: &str = "
import os, time
memory = bytearray(b'x') * (200 << 20)
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        time.sleep(2)
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
print('done')";
    for world in World::each() {
        let mut command = world.command("python3", &["-c", SHARES]);
        command.limits.total_memory = 512 << 20;
        let output = world.run(&command).await;
        assert_eq!(output.stdout, b"done\n", "{:?}", world.machine);
    }
}

#[tokio::test]
async fn memory_that_nobody_has_mapped_cannot_be_had() {
    const SCRIPT: &str = "
import ctypes, os
try:
    os.memfd_create('hidden')
    print('ESCAPED')
except OSError as error:
    print(error.strerror)
print('ESCAPED' if ctypes.CDLL(None).shmget(0, 4096, 0o1600) >= 0 else 'refused')";
    for world in World::each() {
        let report = world.stdout("python3", &["-c", SCRIPT]).await;
        assert_eq!(report, "Operation not permitted\nrefused\n");
    }
}

#[tokio::test]
async fn a_program_is_ended_before_its_server_when_memory_runs_out() {
    for world in World::each() {
        let script = "cat /proc/self/oom_score_adj 2> /dev/null || echo 1000";
        assert_eq!(world.stdout("sh", &["-c", script]).await, "1000\n");
    }
}

#[tokio::test]
async fn the_processor_has_a_limit() {
    let world = World::new(Machine::This);
    let mut command = world.command("python3", &["-c", "while True: pass"]);
    command.limits.cpu = Duration::from_secs(1);
    assert_eq!(world.run(&command).await.end, RunEnd::CpuLimit);
}

#[tokio::test]
async fn temporary_files_in_memory_have_a_limit() {
    const SCRIPT: &str = "head -c 10M /dev/zero > /tmp/big 2> /dev/null || echo full";
    let world = World::new(Machine::This);
    if world.sandbox.support().await.unwrap().mount_namespace {
        let mut command = world.command("sh", &["-c", SCRIPT]);
        command.limits.temp = 1 << 20;
        assert_eq!(world.run(&command).await.stdout, b"full\n");
    }
}
