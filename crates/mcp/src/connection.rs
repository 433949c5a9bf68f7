//! One connection to a server, from the first request to the last.

mod context;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use serde_json::Value;
use tenon_net::Network;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::call::{self, CallMode};
use crate::content::CallToolResult;
use crate::error::{ConnectionError, Error};
use crate::handler::{CallHandler, HttpClient, TokenProvider};
use crate::negotiate::{self, NegotiatedSession};
use crate::peer::{ClientInfo, McpServerInfo, ProtocolEra};
use crate::process::Program;
use crate::session::Session;
use crate::session_log::{SessionLog, SessionObserver};
use crate::subscription::{self, NotificationFilter};
use crate::tools::{self, ToolList, ToolNames, ToolPages};
use crate::transport::{HttpEndpoint, Transport};

/// Where a server is, with every variable filled in.
#[derive(Clone)]
pub enum TransportConfig {
    Stdio(Program),
    /// Streamable HTTP, or legacy SSE where the address turns out to be that.
    Http {
        url: String,
        headers: BTreeMap<String, String>,
    },
    /// Legacy HTTP with SSE.
    Sse {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

/// How to connect.
#[derive(Debug)]
pub struct ConnectOptions {
    pub transport: TransportConfig,
    pub client: ClientInfo,
    /// The protocol era found by an earlier connection: [`McpConnection::era`].
    pub era: ProtocolEra,
    /// For everything until the connection is ready.
    pub timeout: Duration,
    /// Where requests may lead. An `http` client of your own has to see to that itself.
    pub network: Network,
    pub http: Option<Arc<dyn HttpClient>>,
    pub tokens: Option<Arc<dyn TokenProvider>>,
    pub observer: Option<Arc<dyn SessionObserver>>,
    /// Where processes are ended that were started and given up: wait for it before you exit.
    pub cleanup: TaskTracker,
}

/// A connection that is ready for use. Cheap to share: calls run side by side.
#[derive(Debug)]
pub struct McpConnection {
    session: Arc<Session>,
    era: ProtocolEra,
    server_info: McpServerInfo,
    capabilities: Value,
    /// Keeps the subscription to notifications.
    subscription: Option<JoinHandle<()>>,
    /// The resources whose updates somebody wants to hear of.
    watched_resources: watch::Sender<BTreeSet<String>>,
    /// The tools that are run as tasks or not at all.
    task_tools: ArcSwap<ToolNames>,
}

impl ConnectOptions {
    pub fn new(transport: TransportConfig, client: ClientInfo) -> Self {
        Self {
            transport,
            client,
            era: ProtocolEra::Unknown,
            timeout: Duration::from_secs(60),
            network: Network::PublicOnly,
            http: None,
            tokens: None,
            observer: None,
            cleanup: TaskTracker::new(),
        }
    }
}

impl McpConnection {
    /// Connects and negotiates the protocol version, within the timeout.
    pub async fn connect(options: ConnectOptions) -> Result<Arc<Self>, Error> {
        let log = SessionLog::new(options.observer.clone());
        let after = options.timeout;
        match tokio::time::timeout(after, negotiate(options, log.clone())).await {
            Ok(negotiated) => Ok(Arc::new(Self::new(negotiated?).await)),
            Err(_) => Err(Error::ConnectTimeout {
                after,
                output: log.server_output(),
            }),
        }
    }

    async fn new(negotiated: NegotiatedSession) -> Self {
        let filter = negotiated.notifications();
        let session = Arc::new(negotiated.session);
        let watched_resources = watch::Sender::new(BTreeSet::new());
        let is_needed = filter != NotificationFilter::default();
        let mut subscription = (negotiated.era == ProtocolEra::Stateless).then(|| {
            let watched = watched_resources.subscribe();
            tokio::spawn(subscription::subscribe(session.clone(), filter, watched))
        });
        if let Some(subscription) = subscription.as_mut().filter(|_| is_needed) {
            // A tool that is added between the list and the subscription would be missed.
            let acknowledged = async {
                tokio::select! {
                    () = session.pending.subscribed() => {}
                    _ = subscription => {}
                }
            };
            let _ = tokio::time::timeout(subscription::ACKNOWLEDGE_TIMEOUT, acknowledged).await;
        }
        Self {
            session,
            era: negotiated.era,
            server_info: negotiated.server_info,
            capabilities: negotiated.capabilities,
            subscription,
            watched_resources,
            task_tools: ArcSwap::default(),
        }
    }

    pub fn server_info(&self) -> &McpServerInfo {
        &self.server_info
    }

    /// The capabilities that the server declared.
    pub fn capabilities(&self) -> &Value {
        &self.capabilities
    }

    pub fn era(&self) -> ProtocolEra {
        self.era
    }

    pub fn pid(&self) -> Option<u32> {
        match &self.session.transport {
            Transport::Stdio(stdio) => Some(stdio.pid()),
            Transport::Sse(_) | Transport::Http(_) => None,
        }
    }

    /// All tools, page after page.
    pub async fn list_tools(&self, timeout: Duration) -> Result<ToolList, Error> {
        let listing = tools::list_all(&self.session, timeout);
        let ToolPages {
            list,
            task_tools,
            header_params,
        } = tokio::time::timeout(timeout, listing)
            .await
            .unwrap_or(Err(Error::ListTimeout))?;
        self.task_tools.store(Arc::new(task_tools));
        if let Transport::Http(http) = &self.session.transport {
            http.set_header_params(header_params);
        }
        Ok(list)
    }

    /// Dropping it cancels the call on the server. It has no deadline of its own.
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: &Value,
        handler: &Arc<dyn CallHandler>,
    ) -> Result<CallToolResult, Error> {
        let mode = if self.task_tools.load().contains(tool) {
            CallMode::AsTask
        } else {
            CallMode::Plain
        };
        call::call(&self.session, tool, arguments, mode, handler).await
    }

    /// Counts up whenever the list of tools may have changed.
    pub fn tools_changed(&self) -> watch::Receiver<u64> {
        self.session.pending.tools_changed()
    }

    /// Whether a stream is open on which the server notifies of changes and its end would be
    /// noticed. None: always.
    pub fn notification_stream(&self) -> Option<watch::Receiver<bool>> {
        match &self.session.transport {
            Transport::Stdio(_) | Transport::Sse(_) => None,
            Transport::Http(_) => Some(self.session.pending.stream_open()),
        }
    }

    /// Returns when the connection has ended by itself, with why.
    pub async fn closed(&self) -> ConnectionError {
        self.session.pending.closed().await
    }

    /// Ends the session, and the process with all its children, within a few seconds.
    pub async fn close(&self) {
        self.unsubscribe();
        self.session.transport.close().await;
    }

    fn unsubscribe(&self) {
        if let Some(subscription) = &self.subscription {
            subscription.abort();
        }
    }
}

impl Drop for McpConnection {
    fn drop(&mut self) {
        self.unsubscribe();
    }
}

async fn negotiate(options: ConnectOptions, log: SessionLog) -> Result<NegotiatedSession, Error> {
    let ConnectOptions {
        transport,
        client,
        era,
        network,
        http,
        tokens,
        cleanup,
        ..
    } = options;
    let endpoint = |url: &str, headers: &BTreeMap<String, String>| {
        HttpEndpoint::new(url, headers, tokens, network, http).map(Arc::new)
    };
    match transport {
        TransportConfig::Stdio(program) => {
            negotiate::over_stdio(&program, era, &client, &log, &cleanup).await
        }
        TransportConfig::Http { url, headers } => {
            negotiate::over_http(endpoint(&url, &headers)?, era, &client, &log).await
        }
        TransportConfig::Sse { url, headers } => {
            negotiate::over_sse(endpoint(&url, &headers)?, &client, &log).await
        }
    }
}

/// Addresses, headers and environments may hold secrets.
impl fmt::Debug for TransportConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio(_) => "Stdio",
            Self::Http { .. } => "Http",
            Self::Sse { .. } => "Sse",
        })
    }
}

impl fmt::Debug for dyn TokenProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenProvider")
    }
}
