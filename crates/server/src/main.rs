use std::process::ExitCode;

use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    // The first TLS connection would panic without it; there is no other provider in this binary.
    rustls::crypto::ring::default_provider()
        .install_default()
        .expect("nothing installed a provider before main did");
    tenon_server::cli::Cli::parse().run().await
}
