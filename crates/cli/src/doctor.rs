//! Why a page cannot use a tool server on somebody's machine, found out from a shell.
//!
//! It sends the requests of the page's own diagnosis (`web/src/lib/local`), in the same order and
//! with the same headers, and decides about the responses as a browser does ([`rules`]). A page
//! learns of every failure only that there was one; a shell is told which.

mod address;
mod browser;
mod fix;
mod http_probe;
mod mcp;
mod openapi;
mod own_headers;
mod problem;
mod report;
mod rules;
mod server;
mod step;

use std::sync::Arc;

use url::Url;

use address::{below, other_scheme};
use browser::Browser;
use fix::{Case, ServerFramework};
use http_probe::HttpProbe;
use mcp::PageTransport;
use own_headers::OwnHeaders;
use problem::{DoctorProblem, ProblemKind};
use rules::{HostScope, origin};
use server::UsableServer;
use step::DoctorStep;

pub(crate) use address::{AddressError, read as read_address, read_origin};
pub(crate) use own_headers::{OwnHeader, OwnHeaderError};
pub(crate) use report::Report;

/// Sentences of ours with words of a server in them.
const MAX_MESSAGE_CHARS: usize = 600;

/// What is looked at, for whom.
pub(crate) struct DoctorRequest {
    pub(crate) url: Url,
    /// Where the page comes from.
    pub(crate) page: Url,
    pub(crate) headers: Vec<OwnHeader>,
}

/// Takes at most three quarters of a minute, whatever the server does.
pub(crate) async fn examine(request: DoctorRequest) -> anyhow::Result<Report> {
    let DoctorRequest { url, page, headers } = request;
    let (url, mut notes) = reachable(url);
    let own = OwnHeaders::new(headers);
    let mut case = Case {
        framework: ServerFramework::Unknown,
        has_key: own.has_key(),
        url: &url,
        page: &page,
    };
    if let Err(problem) = rules::check_address(&url, &page) {
        return Report::new(&case, Vec::new(), Err(problem), notes);
    }
    let browser = Arc::new(Browser::new(page.clone(), own, HttpProbe::new(&url)?));
    let found = discover(&browser, &url).await;
    let mut found = found.and_then(|server| check_policy(&url, &page).map(|()| server));
    case.framework = browser.state().framework;
    let told = match &mut found {
        Ok(server) => server.notes.as_mut_slice(),
        Err(problem) => std::slice::from_mut(problem),
    };
    for problem in told {
        problem.message = browser.own.mask(&problem.message, MAX_MESSAGE_CHARS);
    }
    if rules::asks_permission(&url, &page) {
        let what = match HostScope::of(&url) {
            HostScope::Here => "apps on this device",
            HostScope::Nearby | HostScope::Elsewhere => "devices in this network",
        };
        notes.push(ProblemKind::PermissionAsk.with(format!(
            "The first time, the browser asks whether the page may access {what}: choose Allow."
        )));
    }
    let steps = std::mem::take(&mut browser.state().steps);
    Report::new(&case, steps, found, notes)
}

/// "Every address", as servers print where they listen, is none to connect to.
fn reachable(mut url: Url) -> (Url, Vec<DoctorProblem>) {
    let is_every = matches!(url.host_str(), Some("0.0.0.0" | "[::]"));
    if !is_every || url.set_host(Some("localhost")).is_err() {
        return (url, Vec::new());
    }
    let message =
        "0.0.0.0 means every address of a machine and is none to go to: localhost is asked.";
    (url, vec![ProblemKind::WrongPath.with(message)])
}

/// Whether the content security policy that Tenon gives its page lets it send requests there.
fn check_policy(url: &Url, page: &Url) -> Result<(), DoctorProblem> {
    if url.origin() == page.origin() || tenon_server::guard::csp_allows(url) {
        return Ok(());
    }
    let site = origin(url);
    Err(ProblemKind::Policy.with(format!(
        "The server is well, but Tenon lets its page ask nobody at {site}."
    )))
}

/// In the order of the page: `web/src/lib/local/discover.ts`.
async fn discover(browser: &Arc<Browser>, url: &Url) -> Result<UsableServer, DoctorProblem> {
    use PageTransport::{Sse, Streamable};
    let path = url.path().trim_end_matches('/');
    let found = if path.ends_with("/mcp") {
        mcp::find(browser, url, [Streamable, Sse]).await
    } else if path.ends_with("/sse") {
        mcp::find(browser, url, [Sse, Streamable]).await
    } else {
        match browser.find_document(address::document(url)).await {
            Err(problem) if problem.kind.is_elsewhere() => {
                return discover_below(browser, url, problem).await;
            }
            found => found,
        }
    };
    match found {
        Err(problem) => Err(over_tls(browser, url, problem).await),
        found => found,
    }
}

/// MCP servers below an address that has no document, with the problem of that.
async fn discover_below(
    browser: &Arc<Browser>,
    url: &Url,
    no_document: DoctorProblem,
) -> Result<UsableServer, DoctorProblem> {
    let site = origin(url);
    if let Some(https) = speaks_https(browser, url).await {
        return Err(https);
    }
    let wants_key = no_document.kind == ProblemKind::NeedsKey;
    // A page that was not let read even the 404 has stopped there.
    let is_hidden =
        site != browser.page() && browser.state().steps.iter().any(|step| !step.is_readable());
    for (name, transport) in [
        ("mcp", PageTransport::Streamable),
        ("sse", PageTransport::Sse),
    ] {
        let at = below(url, name);
        match mcp::find_over(transport, browser, &at).await {
            Ok(_) if is_hidden => {
                return Err(ProblemKind::Cors.with(format!(
                    "There is an MCP server that a page can use at {at}, but a page that is given \
                     {site} does not get there: answers elsewhere have no \
                     Access-Control-Allow-Origin."
                )));
            }
            // Without a key nothing more can be found out.
            Err(problem) if problem.kind == ProblemKind::NeedsKey && wants_key => break,
            Err(problem) if problem.kind.is_elsewhere() => {}
            found => return found,
        }
    }
    if wants_key {
        return Err(no_document);
    }
    Err(ProblemKind::NotToolServer.with(format!(
        "A server answers at {site}, but there is no OpenAPI document and no MCP server: \
         not at /openapi.json, /mcp or /sse below the address."
    )))
}

/// Retries an address that does not speak HTTP with https, and the other way round.
async fn over_tls(browser: &Browser, url: &Url, problem: DoctorProblem) -> DoctorProblem {
    match (problem.kind, url.scheme()) {
        (ProblemKind::NotHttp, "http") => speaks_https(browser, url).await.unwrap_or(problem),
        // Some wait for the end of a line that TLS does not have.
        (ProblemKind::NotHttp | ProblemKind::TooSlow, "https")
            if browser.answers(&other_scheme(url)).await =>
        {
            let site = origin(url);
            ProblemKind::UseHttp.with(format!("What listens at {site} speaks plain http."))
        }
        _ => problem,
    }
}

async fn speaks_https(browser: &Browser, url: &Url) -> Option<DoctorProblem> {
    let is_likely = browser
        .state()
        .steps
        .last()
        .is_some_and(DoctorStep::may_want_tls);
    let is_https = url.scheme() == "http" && is_likely && browser.answers(&other_scheme(url)).await;
    let message = format!("What listens at {} speaks https.", origin(url));
    is_https.then(|| ProblemKind::UseHttps.with(message))
}
