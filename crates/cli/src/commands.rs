//! The command line.

mod backup;
mod bridge;
mod doctor;
mod expert;
mod import;
mod link;
mod mcp;
mod models;
mod open;
mod run;
mod secrets;
mod serve;
mod server_client;
mod skill;
mod sources;
mod tools;
mod user;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tenon_app::config::{LogFormat, TelemetryConfig};

use crate::flags::CommonFlags;
use crate::log;
use crate::telemetry::{Telemetry, TelemetrySettings};

/// The shell's number for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Of a run that reached a limit, or whose model never said that it is done. 2 is clap's, for wrong
/// usage.
const GAVE_UP: u8 = 3;

/// One place for every tool you have: a chat, an agent and a tool hub in one binary.
#[derive(Debug, Parser)]
#[command(name = "tenon", version)]
pub struct Cli {
    #[command(flatten)]
    common: CommonFlags,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the web app and the API
    Serve(serve::Serve),
    /// Offer MCP servers as OpenAPI, as mcpo does, and as MCP over HTTP
    #[command(disable_help_flag = true)]
    Bridge(Box<bridge::BridgeCommand>),
    /// Print the link that opens the Tenon that runs, until there are accounts to log in to
    Link(link::LinkCommand),
    /// Ask something and print the answer, or run tasks without a person
    Run(run::RunCommand),
    /// Look at the models, and try them
    #[command(subcommand)]
    Models(models::ModelsCommand),
    /// Look at the experts, write them to files and read them from files
    #[command(subcommand)]
    Expert(expert::ExpertCommand),
    /// Install skills, make new ones and look after them
    #[command(subcommand)]
    Skill(skill::SkillCommand),
    /// Look at the tools, and call them
    #[command(subcommand)]
    Tools(tools::Tools),
    /// Offer the tools to an MCP client on standard input and output
    Mcp(mcp::McpCommand),
    /// Look at the servers that offer tools, and remove them
    #[command(subcommand)]
    Sources(sources::SourcesCommand),
    /// Add servers out of the configuration of Claude Desktop, Cursor, VS Code, mcpo, Toolathlon or
    /// Open WebUI, out of OpenAPI documents, or by an address
    Import(import::ImportCommand),
    /// Find out why a page cannot use a tool server on somebody's machine, and what mends it
    Doctor(doctor::Doctor),
    /// Look after accounts
    #[command(subcommand)]
    User(user::User),
    /// Look after the secrets that servers are given, and the keys that seal what is stored
    #[command(subcommand)]
    Secrets(secrets::Secrets),
    /// Write everything into one file, while a server runs too
    Backup(backup::Backup),
    /// Put a backup in the place of everything that is here
    Restore(backup::Restore),
}

impl Cli {
    pub async fn run(self) -> ExitCode {
        // A server's log is its voice; a command's output is its answer.
        let level = match &self.command {
            Command::Serve(_) => "info",
            Command::Bridge(bridge) => bridge.log_level(),
            // It says itself what a certificate lacks.
            Command::Doctor(_) => "warn,rustls_platform_verifier=off",
            // What is wrong with an endpoint is part of the answer, where it matters.
            Command::Link(_)
            | Command::Run(_)
            | Command::Models(_)
            | Command::Expert(_)
            | Command::Skill(_)
            | Command::Tools(_)
            | Command::Mcp(_)
            | Command::Import(_)
            | Command::Sources(_)
            | Command::Secrets(_)
            | Command::Backup(_)
            | Command::Restore(_)
            | Command::User(_) => {
                "warn,tenon_app::models::endpoints=error,tenon_app::models::endpoints::environment=warn"
            }
        };
        let (telemetry, format) = match self.start_log(level) {
            Ok(started) => started,
            // There is no log to say it in.
            Err(error) => return fail(&error, LogFormat::Text),
        };
        let ended = match self.command {
            Command::Serve(serve) => serve.run(&self.common, &telemetry).await,
            Command::Bridge(bridge) => bridge.run().await,
            Command::Link(link) => link.run(&self.common).await,
            Command::Run(run) => run.run(&self.common).await,
            Command::Models(models) => models.run(&self.common).await,
            Command::Expert(expert) => expert.run(&self.common).await,
            Command::Skill(skill) => skill.run(&self.common).await,
            Command::Tools(tools) => tools.run(&self.common).await,
            Command::Mcp(mcp) => mcp.run(&self.common).await,
            Command::Sources(sources) => sources.run(&self.common).await,
            Command::Import(import) => import.run(&self.common).await,
            Command::Doctor(doctor) => doctor.run().await,
            Command::User(user) => user.run(&self.common).await,
            Command::Secrets(secrets) => secrets.run(&self.common).await,
            Command::Backup(backup) => backup.run(&self.common).await,
            Command::Restore(restore) => restore.run(&self.common).await,
        };
        telemetry.shutdown().await;
        ended.unwrap_or_else(|error| fail(&error, format))
    }

    /// The log, and telemetry where models or tools are used.
    fn start_log(&self, level: &str) -> anyhow::Result<(Telemetry, LogFormat)> {
        // What is wrong with the settings file, the command itself says.
        let config = match &self.command {
            // It has none, and takes the settings of mcpo in its place.
            Command::Bridge(_) => None,
            _ => self.common.load_config().ok(),
        };
        let config = config.unwrap_or_default();
        let format = self.common.log_format.or(config.log_format);
        let format = format.unwrap_or_default();
        let settings = match &self.command {
            Command::Serve(_) | Command::Run(_) | Command::Mcp(_) => {
                TelemetrySettings::new(&config.telemetry)
            }
            Command::Bridge(_) => TelemetrySettings::new(&TelemetryConfig::default()),
            _ => TelemetrySettings::off(),
        };
        let (telemetry, layers) = Telemetry::start(&settings)?;
        log::start(level, format, layers);
        if let Some(protocol) = settings.unsupported_protocol.filter(|_| telemetry.is_on()) {
            tracing::warn!(
                protocol,
                "OTEL_EXPORTER_OTLP_PROTOCOL is not followed: telemetry is sent as http/protobuf"
            );
        }
        Ok((telemetry, format))
    }
}

fn fail(error: &anyhow::Error, format: LogFormat) -> ExitCode {
    let message = explain(error);
    match format {
        LogFormat::Text => eprintln!("tenon: {message}"),
        // Whoever reads JSON reads nothing else.
        LogFormat::Json => tracing::error!("{message}"),
    }
    ExitCode::FAILURE
}

/// An error and its causes. Many a library says the words of a cause in its own.
fn explain(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

/// Asks whoever sits at the terminal. Where nobody does, `otherwise` says what to do.
fn confirm(question: &str, otherwise: &str) -> anyhow::Result<bool> {
    use std::io::Write;
    if !std::io::stdin().is_terminal() {
        anyhow::bail!("{otherwise}");
    }
    eprint!("{question} [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Writes a line to standard output. A reader that has gone away (`| head`) is no error.
fn say(line: impl std::fmt::Display) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cause_is_told_twice() {
        let error = anyhow::anyhow!("timed out")
            .context("the database said: timed out")
            .context("the database cannot be opened");
        assert_eq!(
            explain(&error),
            "the database cannot be opened: the database said: timed out"
        );
    }
}
