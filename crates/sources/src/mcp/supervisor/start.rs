//! Connects to a server, once there is a start slot for it.

use std::sync::Arc;
use std::time::Duration;

use tenon_domain::{ErrorDetail, McpConfig, McpTransport};
use tenon_mcp::{
    ClientCapabilities, ClientInfo, ConnectOptions, Error, McpConnection, Program, SessionEvent,
    SessionObserver, TransportConfig,
};
use tokio::time::{sleep, timeout};

use super::super::explain::explain;
use super::super::shared::McpShared;
use super::super::startup;
use super::{McpSupervisor, StartSlot};
use crate::fault::ServerFault;
use crate::logs::Logs;
use crate::variables::FillError;

/// Why a start failed.
pub(super) enum StartFailure {
    /// A required variable is not set. Setting it restarts the server.
    Unset(ErrorDetail),
    LoginRequired {
        challenge: Option<String>,
    },
    Failed(ErrorDetail),
}

impl McpSupervisor {
    /// A connection, once there is a start slot. The slot is given back when there is one, or
    /// when it takes so long that others should have theirs.
    pub(super) async fn connect(&mut self) -> Result<Arc<McpConnection>, StartFailure> {
        let (settings, timeouts) = (&self.shared.settings, self.shared.timeouts);
        let start_timeout = self.shared.start_timeout();
        let starts = settings.starts.clone();
        // What was written before is not about this start.
        self.shared.core.logs.begin_run();
        let slot = match std::mem::take(&mut self.start_slot) {
            // To connect costs next to nothing.
            _ if !self.shared.is_program() => None,
            StartSlot::Skip => starts.try_acquire_owned().ok(),
            StartSlot::Wait => {
                startup::queued(&self.shared);
                // Slots are given back in time; this timeout only guards against a bug there.
                let slot = timeout(timeouts.launch, starts.acquire_owned()).await;
                slot.ok().and_then(Result::ok)
            }
        };
        // The backoff measures how long a start takes: waiting for a slot is no part of it.
        self.backoff.begin();
        let connecting = async {
            let filled = timeout(timeouts.start, settings.fill.fill(&settings.config)).await;
            let config = filled
                .unwrap_or_else(|_| Err(FillError::Unread(ServerFault::VariablesTimeout.into())))?;
            let connection = McpConnection::connect(ConnectOptions {
                transport: transport(config),
                client: client_info(),
                era: self.era,
                timeout: start_timeout,
                network: settings.network,
                http: None,
                tokens: settings.tokens.clone(),
                observer: Some(Arc::new(self.shared.core.logs.clone())),
                cleanup: self.cleanup.clone(),
            });
            Ok(connection.await?)
        };
        let connecting = async {
            tokio::select! {
                connected = connecting => connected,
                never = startup::report(&self.shared) => match never {},
            }
        };
        let mut connecting = Box::pin(connecting);
        tokio::select! {
            connected = &mut connecting => return connected,
            () = sleep(timeouts.start_slot) => drop(slot),
        }
        // The connection keeps to its timeout; this is for the day it does not.
        let limit = start_timeout * 2;
        timeout(limit, &mut connecting).await.unwrap_or_else(|_| {
            let why = ServerFault::ConnectTimeout {
                seconds: limit.as_secs_f32().to_string().into(),
                advice: "".into(),
                wrote: "".into(),
            };
            Err(StartFailure::Failed(why.into()))
        })
    }
}

impl McpShared {
    /// How long it may take to connect.
    fn start_timeout(&self) -> Duration {
        match self.settings.config.start_timeout_ms {
            Some(own) => Duration::from_millis(own),
            None if self.is_program() => self.timeouts.launch,
            None => self.timeouts.start,
        }
    }
}

impl From<FillError> for StartFailure {
    fn from(unfilled: FillError) -> Self {
        match unfilled {
            FillError::Unset(why) => Self::Unset(why),
            FillError::Unread(why) => Self::Failed(why),
        }
    }
}

impl From<Error> for StartFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::LoginRequired { challenge } => Self::LoginRequired { challenge },
            other => Self::Failed(explain(&other)),
        }
    }
}

fn transport(config: McpConfig) -> TransportConfig {
    match config.transport {
        McpTransport::Stdio {
            command,
            args,
            env,
            cwd,
        } => TransportConfig::Stdio(Program {
            command,
            args,
            env,
            cwd,
        }),
        McpTransport::Http { url, headers } => TransportConfig::Http { url, headers },
        McpTransport::Sse { url, headers } => TransportConfig::Sse { url, headers },
    }
}

fn client_info() -> ClientInfo {
    ClientInfo {
        name: "tenon".into(),
        title: "Tenon".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        capabilities: ClientCapabilities::ALL,
    }
}

impl SessionObserver for Logs {
    fn on_event(&self, event: SessionEvent<'_>) {
        match event {
            SessionEvent::ProcessStarted => self.begin_run(),
            SessionEvent::Output(line) => self.output(line),
            SessionEvent::StrayOutput(line) => self.stray_output(line),
            SessionEvent::Notice(notice) => self.note(notice.to_string()),
        }
    }
}
