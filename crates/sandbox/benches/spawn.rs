//! `make bench`: what the walls add to the start and end of a program, beside a plain start in
//! the same run. `TENON_BIN` names the executable that the helper is; without it, the small one.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

use std::process::Stdio;
use std::time::{Duration, Instant};

use tenon_sandbox::{Sandbox, SandboxCommand};
use tokio::process::Command;

const ROUNDS: usize = 300;
const PAUSE: Duration = Duration::from_millis(30);
const TARGET: Duration = Duration::from_millis(5);
const PROGRAM: &str = "/usr/bin/true";

#[tokio::main]
async fn main() {
    let small = env!("CARGO_BIN_EXE_sandbox-helper").to_owned();
    let helper = std::env::var("TENON_BIN").unwrap_or(small);
    let sandbox = Sandbox::with_helper(&helper);
    let folder = tempfile::tempdir().expect("a folder");
    let command = SandboxCommand::new(PROGRAM, folder.path());
    println!("helper: {helper}");
    println!("{:?}", sandbox.support().await.expect("walls"));
    for (name, pause) in [("now and then", PAUSE), ("without a pause", Duration::ZERO)] {
        let (mut plain, mut walled) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            // For the helper of the next start to be ready.
            tokio::time::sleep(pause).await;
            let begin = Instant::now();
            plain_spawn().await;
            plain.push(begin.elapsed());
            let begin = Instant::now();
            sandboxed_spawn(&sandbox, &command).await;
            walled.push(begin.elapsed());
        }
        let (plain, walled) = (median(plain), median(walled));
        let added = walled.saturating_sub(plain);
        println!("{name}:");
        println!("  a plain start and end      {plain:>10.2?}");
        println!("  the same in a sandbox      {walled:>10.2?}");
        println!("  what the walls add         {added:>10.2?}   at most {TARGET:?}");
    }
}

async fn plain_spawn() {
    let mut command = Command::new(PROGRAM);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.wait().await.expect("it ends");
}

async fn sandboxed_spawn(sandbox: &Sandbox, command: &SandboxCommand) {
    let mut child = sandbox.spawn(command).await.expect("it starts");
    child.wait().await.expect("it ends");
}

fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations[durations.len() / 2]
}
