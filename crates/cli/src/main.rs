//! The binary: `tenon` and its commands.

mod commands;
mod doctor;
mod flags;
mod log;
mod telemetry;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use mimalloc::MiMalloc;
use tokio::runtime::Runtime;

/// Tool calls allocate on one thread and free on another; with glibc's allocator a third of their
/// time goes there.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// At exit, threads that still block (for example in a slow name lookup) are abandoned after this.
const RUNTIME_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    tenon_sandbox::helper_main();
    tenon_documents::helper_main();
    tenon_sources::heap::limit_unused();
    // The first TLS connection would panic without it; there is no other provider in this binary.
    rustls::crypto::ring::default_provider()
        .install_default()
        .expect("nothing installed a provider before main did");
    let cli = commands::Cli::parse();
    let runtime = Runtime::new().expect("the system gives us threads");
    let code = runtime.block_on(cli.run());
    runtime.shutdown_timeout(RUNTIME_SHUTDOWN_TIMEOUT);
    code
}
