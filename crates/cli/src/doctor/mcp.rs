//! Connects to an MCP server with `tenon-mcp`, whose requests go through the [`Browser`] and are
//! those of the page: stateless first, then with the handshake, over Streamable HTTP or SSE.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request};
use tenon_mcp::message::{METHOD, NAME, PROTOCOL_VERSION, STATELESS_VERSION};
use tenon_mcp::{
    ClientCapabilities, ClientInfo, ConnectOptions, McpConnection, ProtocolEra, ToolListProblem,
    TransportConfig,
};
use tenon_net::Network;
use url::Url;

use super::browser::Browser;
use super::http_probe::REQUEST_TIMEOUT;
use super::problem::{DoctorProblem, ProblemKind};
use super::server::UsableServer;
use page_client::PageClient;

mod page_client;

/// For both ways to begin a session.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageTransport {
    Streamable,
    Sse,
}

/// Tries one transport after the other. The problem of the first is told, unless another one
/// works.
pub(super) async fn find(
    browser: &Arc<Browser>,
    url: &Url,
    transports: &[PageTransport],
) -> Result<UsableServer, DoctorProblem> {
    let mut first = None;
    for transport in transports {
        match find_over(*transport, browser, url).await {
            Err(problem) if problem.kind.is_elsewhere() => {
                first.get_or_insert(problem);
            }
            found => return found,
        }
    }
    Err(first.unwrap_or_else(|| ProblemKind::NotToolServer.with("It was not asked.")))
}

async fn find_over(
    transport: PageTransport,
    browser: &Arc<Browser>,
    url: &Url,
) -> Result<UsableServer, DoctorProblem> {
    let client = Arc::new(PageClient::new(browser.clone(), url.clone(), transport));
    let (address, headers) = (url.to_string(), BTreeMap::new());
    let config = match transport {
        PageTransport::Streamable => TransportConfig::Http {
            url: address,
            headers,
        },
        PageTransport::Sse => TransportConfig::Sse {
            url: address,
            headers,
        },
    };
    let connected = McpConnection::connect(ConnectOptions {
        network: Network::Anywhere,
        timeout: CONNECT_TIMEOUT.min(browser.http.time_left()),
        http: Some(client.clone()),
        ..ConnectOptions::new(config, client_info())
    });
    let connection = connected.await.map_err(|error| client.problem(&error))?;
    let listed = connection.list_tools(REQUEST_TIMEOUT).await;
    connection.close().await;
    let list = listed.map_err(|error| client.problem(&error))?;
    if list.problems.contains(&ToolListProblem::NoTools) {
        return Err(ProblemKind::BadHandshake.with("It does not know `tools/list`."));
    }
    let problems = list.problems.iter().map(ToString::to_string);
    let mut server = UsableServer::new(list.tools.len(), problems.collect());
    browser.note(true, &server.verdict());
    if connection.era() == ProtocolEra::Stateless {
        check_call(browser, url).await?;
    }
    if connection.capabilities().get("tools").is_none() {
        let lacks = "It does not list `tools` among its capabilities.";
        server
            .notes
            .insert(0, ProblemKind::BadHandshake.with(lacks));
    }
    Ok(server)
}

/// Whether a page may send what a call has in addition, in the stateless era.
async fn check_call(browser: &Browser, url: &Url) -> Result<(), DoctorProblem> {
    let mut request = Request::new(Method::POST, browser.redirected(url));
    request.headers_mut().extend([
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (
            PROTOCOL_VERSION,
            HeaderValue::from_static(STATELESS_VERSION),
        ),
        (METHOD, HeaderValue::from_static("tools/call")),
        (NAME, HeaderValue::from_static("tool")),
    ]);
    match browser.preflight(&request).await? {
        Some(refusal) => Err(refusal.of_preflight(&browser.page())),
        None => Ok(()),
    }
}

/// As the page's client introduces itself.
fn client_info() -> ClientInfo {
    ClientInfo {
        name: "tenon".to_owned(),
        title: "Tenon".to_owned(),
        version: "1".to_owned(),
        capabilities: ClientCapabilities::default(),
    }
}
