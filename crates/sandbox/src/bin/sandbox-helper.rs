//! The smallest program that can be the helper of a sandbox.

use std::process::ExitCode;

fn main() -> ExitCode {
    tenon_sandbox::helper_main();
    eprintln!("This program is started by the tests of tenon-sandbox.");
    ExitCode::from(2)
}
