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

/// Tries one transport, then the other. The problem of the first is told, unless the other works.
pub(super) async fn find(
    browser: &Arc<Browser>,
    url: &Url,
    [first, second]: [PageTransport; 2],
) -> Result<UsableServer, DoctorProblem> {
    let found = find_over(first, browser, url).await;
    let Err(problem) = found else { return found };
    if !problem.kind.is_elsewhere() {
        return Err(problem);
    }
    match find_over(second, browser, url).await {
        Err(other) if other.kind.is_elsewhere() => Err(problem),
        found => found,
    }
}

pub(super) async fn find_over(
    transport: PageTransport,
    browser: &Arc<Browser>,
    url: &Url,
) -> Result<UsableServer, DoctorProblem> {
    let client = Arc::new(PageClient::new(browser.clone(), url.clone(), transport));
    let config = {
        let (url, headers) = (url.to_string(), BTreeMap::new());
        match transport {
            PageTransport::Streamable => TransportConfig::Http { url, headers },
            PageTransport::Sse => TransportConfig::Sse { url, headers },
        }
    };
    let options = ConnectOptions {
        network: Network::Anywhere,
        timeout: browser.http.at_most(CONNECT_TIMEOUT),
        http: Some(client.clone()),
        ..ConnectOptions::new(config, client_info())
    };
    let connected = Box::pin(McpConnection::connect(options)).await;
    let connection = connected.map_err(|error| client.problem(&error))?;
    let timeout = browser.http.at_most(REQUEST_TIMEOUT);
    let listed = connection.list_tools(timeout).await;
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
        server.notes.push(ProblemKind::BadHandshake.with(lacks));
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
