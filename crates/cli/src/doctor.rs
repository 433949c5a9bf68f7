//! Why a page cannot use a tool server on somebody's machine, found out from a shell.
//!
//! It asks what the page's own diagnosis asks (`web/src/lib/local`), in the same order and with
//! the same headers, and decides about the answers as a browser does ([`cors`]). A page
//! learns of every failure only that there was one; a shell is told which.

mod address;
mod browser;
mod cors;
mod fix;
mod http_client;
mod mcp;
mod openapi;
mod own_headers;
mod problem;
mod report;
mod server;
mod step;
mod step_log;
mod table;

use url::Url;

use address::{HostScope, below, is_blocked, origin, place};
use browser::Browser;
use fix::{Case, fixes};
use http_client::{HttpProbe, ProbeError};
use mcp::PageTransport;
use own_headers::OwnHeaders;
use problem::{DoctorProblem, ProblemKind};
use server::{ServerFramework, UsableServer};

pub(crate) use address::{read as read_address, read_origin};
pub(crate) use own_headers::OwnHeader;
pub(crate) use report::Report;

/// What is looked at, for whom.
pub(crate) struct DoctorRequest {
    pub(crate) url: Url,
    /// Where the page comes from.
    pub(crate) page: Url,
    pub(crate) headers: Vec<OwnHeader>,
}

/// Takes at most three quarters of a minute, whatever the server does.
pub(crate) async fn examine(question: DoctorRequest) -> anyhow::Result<Report> {
    let DoctorRequest { url, page, headers } = question;
    let (url, mut notes) = reachable(url);
    let own = OwnHeaders::new(headers);
    let mut case = Case {
        maker: ServerFramework::Unknown,
        has_key: own.has_key(),
        url: &url,
        page: &page,
    };
    if let Err(trouble) = before_asking(&url, &page) {
        let fix = fixes(&trouble, case);
        return Ok(Report::new(case, Vec::new(), Err((trouble, fix)), notes));
    }
    let mut browser = Browser::new(page.clone(), own, HttpProbe::new(&url)?);
    let found = discover(&mut browser, &url, &mut case.maker).await;
    let found = found.and_then(|finding| {
        if is_let_out(&url, &page) {
            Ok(finding)
        } else {
            Err(kept_in(&url))
        }
    });
    let own = &browser.ledger.own;
    let found = match found {
        Ok(mut finding) => {
            finding.notes = finding.notes.iter().map(|note| note.shown(own)).collect();
            Ok(finding)
        }
        Err(trouble) => Err((trouble.shown(own), fixes(&trouble, case))),
    };
    if place(&page) == HostScope::Elsewhere && place(&url) != HostScope::Elsewhere {
        let what = match place(&url) {
            HostScope::Here => "apps on this device",
            HostScope::Nearby | HostScope::Elsewhere => "devices in this network",
        };
        let message = format!(
            "The first time, the browser asks whether the page may access {what}: choose Allow."
        );
        notes.push(DoctorProblem::new(ProblemKind::PermissionAsk, message));
    }
    Ok(Report::new(case, browser.ledger.steps, found, notes))
}

/// "Every address", as servers print where they listen, is none to go to.
fn reachable(mut url: Url) -> (Url, Vec<DoctorProblem>) {
    let is_every = matches!(url.host_str(), Some("0.0.0.0" | "[::]"));
    if !is_every || url.set_host(Some("localhost")).is_err() {
        return (url, Vec::new());
    }
    let message =
        "0.0.0.0 means every address of a machine and is none to go to: localhost is asked.";
    (
        url,
        vec![DoctorProblem::new(ProblemKind::WrongPath, message)],
    )
}

/// What a browser refuses without asking anybody.
fn before_asking(url: &Url, page: &Url) -> Result<(), DoctorProblem> {
    let (site, page_site) = (origin(url), origin(page));
    if is_blocked(url) {
        let port = url.port().unwrap_or_default();
        return Err(DoctorProblem::new(
            ProblemKind::BlockedPort,
            format!("Browsers never connect to port {port}, whoever listens there."),
        ));
    }
    if page.scheme() == "https" && url.scheme() == "http" && place(url) == HostScope::Elsewhere {
        return Err(DoctorProblem::new(
            ProblemKind::MixedContent,
            format!(
                "A page over https may not ask {site}: that is plain http, and not this machine."
            ),
        ));
    }
    let is_gated = place(page) == HostScope::Elsewhere && place(url) != HostScope::Elsewhere;
    if is_gated && page.scheme() == "http" {
        return Err(DoctorProblem::new(
            ProblemKind::PermissionNeedsHttps,
            format!(
                "Browsers let a page reach {site} only if the page itself comes over https, and \
                 {page_site} does not."
            ),
        ));
    }
    Ok(())
}

/// Whether the policy that Tenon gives its page lets it ask there.
fn is_let_out(url: &Url, page: &Url) -> bool {
    url.origin() == page.origin() || tenon_server::guard::lets_page_ask(url)
}

fn kept_in(url: &Url) -> DoctorProblem {
    let message = format!(
        "The server is well, but Tenon lets its page ask nobody at {}.",
        origin(url)
    );
    DoctorProblem::new(ProblemKind::Policy, message)
}

/// In the order of the page: `web/src/lib/local/discover.ts`.
async fn discover(
    browser: &mut Browser,
    url: &Url,
    maker: &mut ServerFramework,
) -> Result<UsableServer, DoctorProblem> {
    let path = url.path().trim_end_matches('/');
    if path.ends_with("/mcp") || path.ends_with("/sse") {
        let ways = if path.ends_with("/sse") {
            [PageTransport::Sse, PageTransport::Streamable]
        } else {
            [PageTransport::Streamable, PageTransport::Sse]
        };
        let found = browser.find_mcp(url, &ways, maker).await;
        return match found {
            Err(trouble) => Err(over_tls(browser, url, trouble).await),
            found => found,
        };
    }
    let document = address::document(url);
    let described = browser.find_document(document, maker).await;
    let none = match described {
        Err(trouble) if trouble.is_elsewhere() => trouble,
        Err(trouble) => return Err(over_tls(browser, url, trouble).await),
        found => return found,
    };
    if let Some(https) = is_https(browser, url).await {
        return Err(https);
    }
    // A page that was not let read even the 404 has stopped there.
    let is_foreign = origin(url) != browser.page();
    let is_hidden = is_foreign && browser.ledger.steps.iter().any(|step| !step.is_readable());
    for (name, way) in [
        ("mcp", PageTransport::Streamable),
        ("sse", PageTransport::Sse),
    ] {
        let at = below(url, name);
        match browser.find_mcp(&at, &[way], maker).await {
            Ok(_) if is_hidden => {
                let message = format!(
                    "There is an MCP server that a page can use at {at}, but a page that is given \
                     {} does not get there: answers elsewhere have no Access-Control-Allow-Origin.",
                    origin(url)
                );
                return Err(DoctorProblem::new(ProblemKind::Cors, message));
            }
            // Nobody without a key learns more.
            Err(trouble) if trouble.kind == ProblemKind::NeedsKey && trouble.kind == none.kind => {
                break;
            }
            Err(trouble) if trouble.is_elsewhere() => {}
            found => return found,
        }
    }
    match none.kind {
        ProblemKind::NeedsKey => Err(none),
        _ => Err(DoctorProblem::new(
            ProblemKind::NotToolServer,
            format!(
                "A server answers at {}, but there is no OpenAPI document and no MCP server: \
                 not at /openapi.json, /mcp or /sse below the address.",
                origin(url)
            ),
        )),
    }
}

/// What speaks no HTTP may speak it inside TLS, and the other way round.
async fn over_tls(browser: &Browser, url: &Url, trouble: DoctorProblem) -> DoctorProblem {
    match (trouble.kind, url.scheme()) {
        (ProblemKind::NotHttp, "http") => is_https(browser, url).await.unwrap_or(trouble),
        // Some wait for the end of a line that TLS does not have.
        (ProblemKind::NotHttp | ProblemKind::TooSlow, "https") => {
            let other = address::other_scheme(url);
            match other {
                Some(other) if browser.answers(&other).await => {
                    DoctorProblem::of_failure(&ProbeError::PlainHttp, url)
                }
                Some(_) | None => trouble,
            }
        }
        _ => trouble,
    }
}

async fn is_https(browser: &Browser, url: &Url) -> Option<DoctorProblem> {
    let suspected = browser
        .ledger
        .steps
        .last()
        .is_some_and(step::DoctorStep::may_want_tls);
    let other = address::other_scheme(url).filter(|_| url.scheme() == "http" && suspected)?;
    if !browser.answers(&other).await {
        return None;
    }
    let message = format!("What listens at {} speaks https.", origin(url));
    Some(DoctorProblem::new(ProblemKind::UseHttps, message))
}
