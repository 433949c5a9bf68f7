//! Finds out which protocol versions a server speaks, and begins the session.
//!
//! There are two eras. A server of the handshake era (2024-11-05 to 2025-11-25) wants
//! `initialize` before anything else. One of the stateless era (2026-07-28) has no
//! handshake and describes itself when asked `server/discover`. Which it is shows only
//! when it is asked, and old servers react to the unknown method in every way there is:
//! with any error, with silence, or by ending. None of that may prevent the handshake.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::error::Error;
use crate::peer::{ClientInfo, McpServerInfo, ProtocolEra, STATELESS_VERSION};
use crate::pending::PendingRequests;
use crate::process::Program;
use crate::session::Session;
use crate::session_log::{SessionLog, SessionNotice};
use crate::subscription::NotificationFilter;
use crate::transport::{HttpEndpoint, SseTransport, StdioTransport, StreamableHttp, Transport};

mod handshake;

use handshake::{
    ServerIntroduction, discover, handshake_session, initialize, initialize_after,
    stateless_session,
};

/// How long a server may take to answer a request it may not know. Python on a busy
/// machine needs six seconds to answer anything at all.
const DISCOVER_TIMEOUT: Duration = Duration::from_secs(10);

/// A session that is ready for use.
#[derive(Debug)]
pub(crate) struct NegotiatedSession {
    pub(crate) session: Session,
    pub(crate) era: ProtocolEra,
    pub(crate) server_info: McpServerInfo,
    pub(crate) capabilities: Value,
}

impl NegotiatedSession {
    /// The notifications that the server supports.
    pub(crate) fn notifications(&self) -> NotificationFilter {
        let can = |pointer: &str| self.capabilities.pointer(pointer) == Some(&Value::Bool(true));
        NotificationFilter {
            tools_list_changed: can("/tools/listChanged"),
            prompts_list_changed: can("/prompts/listChanged"),
            resources_list_changed: can("/resources/listChanged"),
            resource_subscriptions: Vec::new(),
        }
    }
}

/// Which request a program gets first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstRequest {
    Discover,
    Initialize,
}

/// Starts a program and begins a session with it. One that ends at `server/discover` is started
/// again. One that is silent is waited for: it may be installing itself.
pub(crate) async fn over_stdio(
    program: &Program,
    known: ProtocolEra,
    client: &ClientInfo,
    log: &SessionLog,
    cleanup: &TaskTracker,
) -> Result<NegotiatedSession, Error> {
    if known != ProtocolEra::Handshake {
        let first = FirstRequest::Discover;
        match start(program, first, client, log, cleanup).await {
            Err(error) if error.is_connection() => {
                log.notice(SessionNotice::RetryWithHandshake);
            }
            other => return other,
        }
    }
    start(program, FirstRequest::Initialize, client, log, cleanup).await
}

async fn start(
    program: &Program,
    first: FirstRequest,
    client: &ClientInfo,
    log: &SessionLog,
    cleanup: &TaskTracker,
) -> Result<NegotiatedSession, Error> {
    let pending = PendingRequests::new(log.clone(), &client.title);
    let stdio = StdioTransport::start(program, &pending, cleanup).await?;
    let session = Session {
        transport: Transport::Stdio(stdio),
        pending,
        meta: String::new(),
    };
    let introduced = match first {
        FirstRequest::Initialize => {
            let introduction = initialize(&session, client).await?;
            NegotiatedEra::Handshake(introduction)
        }
        FirstRequest::Discover => discover_or_initialize(&session, client).await?,
    };
    Ok(match introduced {
        NegotiatedEra::Stateless(introduction) => stateless_session(session, introduction, client),
        NegotiatedEra::Handshake(introduction) => {
            handshake_session(session, ProtocolEra::Handshake, introduction)
        }
    })
}

enum NegotiatedEra {
    Stateless(ServerIntroduction),
    Handshake(ServerIntroduction),
}

/// Sends `server/discover`, and after a while without a response `initialize` as well:
/// whichever is answered first counts.
async fn discover_or_initialize(
    session: &Session,
    client: &ClientInfo,
) -> Result<NegotiatedEra, Error> {
    let mut discovering = std::pin::pin!(discover(session, client));
    let discovered = tokio::time::timeout(DISCOVER_TIMEOUT, &mut discovering).await;
    match discovered {
        Ok(Ok(introduction)) => Ok(NegotiatedEra::Stateless(introduction)),
        Ok(Err(error @ Error::LoginRequired { .. })) => Err(error),
        Ok(Err(error)) if error.is_connection() => Err(error),
        Ok(Err(error)) => {
            let introduction = initialize_after(session, client, error).await?;
            Ok(NegotiatedEra::Handshake(introduction))
        }
        Err(_) => {
            let mut initializing = std::pin::pin!(initialize(session, client));
            tokio::select! {
                // Once it reads, it may have read and answered both.
                biased;
                Ok(introduction) = &mut discovering => Ok(NegotiatedEra::Stateless(introduction)),
                initialized = &mut initializing => match initialized {
                    // A server that rejects the handshake is stateless, so wait for its answer to
                    // `server/discover`.
                    Err(Error::Rpc(_)) => discovering.await.map(NegotiatedEra::Stateless),
                    other => other.map(NegotiatedEra::Handshake),
                },
            }
        }
    }
}

/// Finds out what is at an address.
pub(crate) async fn over_http(
    endpoint: Arc<HttpEndpoint>,
    known: ProtocolEra,
    client: &ClientInfo,
    log: &SessionLog,
) -> Result<NegotiatedSession, Error> {
    let negotiated = match known {
        ProtocolEra::LegacySse => over_sse(endpoint.clone(), client, log).await,
        ProtocolEra::Unknown | ProtocolEra::Stateless | ProtocolEra::Handshake => {
            over_streamable_http(endpoint.clone(), known, client, log).await
        }
    };
    match negotiated {
        Err(error @ Error::LoginRequired { .. }) => Err(error),
        Err(error) if error.is_connection() => Err(error),
        // The server no longer speaks the version that was known.
        Err(_) if known != ProtocolEra::Unknown => {
            let again = over_http(endpoint, ProtocolEra::Unknown, client, log);
            Box::pin(again).await
        }
        other => other,
    }
}

async fn over_streamable_http(
    endpoint: Arc<HttpEndpoint>,
    known: ProtocolEra,
    client: &ClientInfo,
    log: &SessionLog,
) -> Result<NegotiatedSession, Error> {
    let pending = PendingRequests::new(log.clone(), &client.title);
    let http = StreamableHttp::new(endpoint.clone(), pending.clone());
    let session = Session {
        transport: Transport::Http(http.clone()),
        pending,
        meta: String::new(),
    };
    let mut discover_error = None;
    if known != ProtocolEra::Handshake {
        http.set_version(STATELESS_VERSION);
        let discovered = tokio::time::timeout(DISCOVER_TIMEOUT, discover(&session, client)).await;
        match discovered.unwrap_or(Err(Error::Timeout)) {
            Ok(introduction) => return Ok(stateless_session(session, introduction, client)),
            Err(error @ Error::LoginRequired { .. }) => return Err(error),
            Err(error) if error.is_connection() => return Err(error),
            Err(error) => discover_error = Some(error),
        }
        http.set_version("");
    }
    let initialized = match discover_error {
        Some(error) => initialize_after(&session, client, error).await,
        None => initialize(&session, client).await,
    };
    match initialized {
        Ok(introduction) => {
            let era = ProtocolEra::Handshake;
            Ok(handshake_session(session, era, introduction))
        }
        Err(
            error @ (Error::Rpc(_)
            | Error::Protocol(_)
            | Error::HttpStatus {
                status: 400..=499, ..
            }),
        ) if known == ProtocolEra::Unknown => match over_sse(endpoint, client, log).await {
            Ok(negotiated) => Ok(negotiated),
            Err(login @ Error::LoginRequired { .. }) => Err(login),
            // The error of the newer transport is the one a person can use.
            Err(_) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// Legacy HTTP with SSE, which always begins with a handshake.
pub(crate) async fn over_sse(
    endpoint: Arc<HttpEndpoint>,
    client: &ClientInfo,
    log: &SessionLog,
) -> Result<NegotiatedSession, Error> {
    let pending = PendingRequests::new(log.clone(), &client.title);
    let sse = SseTransport::start(endpoint, pending.clone()).await?;
    let session = Session {
        transport: Transport::Sse(sse),
        pending,
        meta: String::new(),
    };
    let introduction = initialize(&session, client).await?;
    let era = ProtocolEra::LegacySse;
    Ok(handshake_session(session, era, introduction))
}
