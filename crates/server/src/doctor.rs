//! Why a page cannot use a tool server on somebody's machine, found out from a shell.
//!
//! It asks what the page's own diagnosis asks (`web/src/lib/local`), in the same order and with
//! the same headers, and decides about the answers as a browser does ([`cors`]). A page
//! learns of every failure only that there was one; a shell is told which.

mod address;
mod browser;
mod cors;
mod finding;
mod fix;
mod ledger;
mod mcp;
mod openapi;
mod own;
mod report;
mod step;
mod table;
mod trouble;
mod wire;

use url::Url;

use address::{Place, below, is_blocked, origin, place};
use browser::Browser;
use finding::{Finding, Maker};
use fix::{Case, fixes};
use mcp::Way;
use own::Own;
use trouble::{Kind, Trouble};
use wire::{Failure, Wire};

pub(crate) use address::{read as read_address, read_origin};
pub(crate) use own::OwnHeader;
pub(crate) use report::Report;

/// What is looked at, for whom.
pub(crate) struct Question {
    pub(crate) url: Url,
    /// Where the page comes from.
    pub(crate) page: Url,
    pub(crate) headers: Vec<OwnHeader>,
}

/// Takes at most three quarters of a minute, whatever the server does.
pub(crate) async fn examine(question: Question) -> anyhow::Result<Report> {
    let Question { url, page, headers } = question;
    let (url, mut notes) = reachable(url);
    let own = Own::new(headers);
    let mut case = Case {
        maker: Maker::Unknown,
        has_key: own.has_key(),
        url: &url,
        page: &page,
    };
    if let Err(trouble) = before_asking(&url, &page) {
        let fix = fixes(&trouble, case);
        return Ok(Report::new(case, Vec::new(), Err((trouble, fix)), notes));
    }
    let mut browser = Browser::new(page.clone(), own, Wire::new(&url)?);
    let found = discover(&mut browser, &url, &mut case.maker).await;
    let found = found.and_then(|finding| match is_let_out(&url, &page) {
        true => Ok(finding),
        false => Err(kept_in(&url)),
    });
    let own = &browser.ledger.own;
    let found = match found {
        Ok(mut finding) => {
            finding.notes = finding.notes.iter().map(|note| note.shown(own)).collect();
            Ok(finding)
        }
        Err(trouble) => Err((trouble.shown(own), fixes(&trouble, case))),
    };
    if place(&page) == Place::Elsewhere && place(&url) != Place::Elsewhere {
        let what = match place(&url) {
            Place::Here => "apps on this device",
            Place::Nearby | Place::Elsewhere => "devices in this network",
        };
        let message = format!(
            "The first time, the browser asks whether the page may access {what}: choose Allow."
        );
        notes.push(Trouble::new(Kind::PermissionAsk, message));
    }
    Ok(Report::new(case, browser.ledger.steps, found, notes))
}

/// "Every address", as servers print where they listen, is none to go to.
fn reachable(mut url: Url) -> (Url, Vec<Trouble>) {
    let is_every = matches!(url.host_str(), Some("0.0.0.0" | "[::]"));
    if !is_every || url.set_host(Some("localhost")).is_err() {
        return (url, Vec::new());
    }
    let message =
        "0.0.0.0 means every address of a machine and is none to go to: localhost is asked.";
    (url, vec![Trouble::new(Kind::WrongPath, message)])
}

/// What a browser refuses without asking anybody.
fn before_asking(url: &Url, page: &Url) -> Result<(), Trouble> {
    let (site, page_site) = (origin(url), origin(page));
    if is_blocked(url) {
        let port = url.port().unwrap_or_default();
        return Err(Trouble::new(
            Kind::BlockedPort,
            format!("Browsers never connect to port {port}, whoever listens there."),
        ));
    }
    if page.scheme() == "https" && url.scheme() == "http" && place(url) == Place::Elsewhere {
        return Err(Trouble::new(
            Kind::MixedContent,
            format!(
                "A page over https may not ask {site}: that is plain http, and not this machine."
            ),
        ));
    }
    let is_gated = place(page) == Place::Elsewhere && place(url) != Place::Elsewhere;
    if is_gated && page.scheme() == "http" {
        return Err(Trouble::new(
            Kind::PermissionNeedsHttps,
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
    url.origin() == page.origin() || crate::guard::lets_page_ask(url)
}

fn kept_in(url: &Url) -> Trouble {
    let message = format!(
        "The server is well, but Tenon lets its page ask nobody at {}.",
        origin(url)
    );
    Trouble::new(Kind::Policy, message)
}

/// In the order of the page: `web/src/lib/local/discover.ts`.
async fn discover(browser: &mut Browser, url: &Url, maker: &mut Maker) -> Result<Finding, Trouble> {
    let path = url.path().trim_end_matches('/');
    if path.ends_with("/mcp") || path.ends_with("/sse") {
        let ways = match path.ends_with("/sse") {
            true => [Way::Sse, Way::Streamable],
            false => [Way::Streamable, Way::Sse],
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
    for (name, way) in [("mcp", Way::Streamable), ("sse", Way::Sse)] {
        let at = below(url, name);
        match browser.find_mcp(&at, &[way], maker).await {
            Ok(_) if is_hidden => {
                let message = format!(
                    "There is an MCP server that a page can use at {at}, but a page that is given \
                     {} does not get there: answers elsewhere have no Access-Control-Allow-Origin.",
                    origin(url)
                );
                return Err(Trouble::new(Kind::Cors, message));
            }
            // Nobody without a key learns more.
            Err(trouble) if trouble.kind == Kind::NeedsKey && trouble.kind == none.kind => break,
            Err(trouble) if trouble.is_elsewhere() => {}
            found => return found,
        }
    }
    match none.kind {
        Kind::NeedsKey => Err(none),
        _ => Err(Trouble::new(
            Kind::NotToolServer,
            format!(
                "A server answers at {}, but there is no OpenAPI document and no MCP server: \
                 not at /openapi.json, /mcp or /sse below the address.",
                origin(url)
            ),
        )),
    }
}

/// What speaks no HTTP may speak it inside TLS, and the other way round.
async fn over_tls(browser: &Browser, url: &Url, trouble: Trouble) -> Trouble {
    match (trouble.kind, url.scheme()) {
        (Kind::NotHttp, "http") => is_https(browser, url).await.unwrap_or(trouble),
        // Some wait for the end of a line that TLS does not have.
        (Kind::NotHttp | Kind::TooSlow, "https") => {
            let other = address::other_scheme(url);
            match other {
                Some(other) if browser.answers(&other).await => {
                    Trouble::of_failure(&Failure::PlainHttp, url)
                }
                Some(_) | None => trouble,
            }
        }
        _ => trouble,
    }
}

async fn is_https(browser: &Browser, url: &Url) -> Option<Trouble> {
    let suspected = browser
        .ledger
        .steps
        .last()
        .is_some_and(step::Step::may_want_tls);
    let other = address::other_scheme(url).filter(|_| url.scheme() == "http" && suspected)?;
    if !browser.answers(&other).await {
        return None;
    }
    let message = format!("What listens at {} speaks https.", origin(url));
    Some(Trouble::new(Kind::UseHttps, message))
}
