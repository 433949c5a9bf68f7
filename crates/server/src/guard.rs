//! What every request passes before any handler sees it.
//!
//! A page from elsewhere can make a browser send requests here: by a name of
//! its own that resolves to this machine (so Host is checked), or straight
//! across origins (so Origin is checked wherever state could change).

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::Router;
use axum::http::header::{HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use tenon_app::app::App;
use url::Url;

use crate::api_fault::ApiFault;
use crate::authorize::RouteRule;
use crate::connections::RequestHandler;
use crate::error::ApiError;
use crate::mcp_endpoint;
use crate::metrics::HttpMetrics;
use crate::state::ServerState;

/// The page talks to this server, and to tool servers on the user's own machine.
const CSP: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self' http://localhost:* http://127.0.0.1:* https://localhost:* \
https://127.0.0.1:*; frame-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

static HEADERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CONTENT_SECURITY_POLICY, CSP),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
];

/// Whether the policy above lets a page of ours ask there.
pub fn csp_allows(url: &Url) -> bool {
    let directives = CSP.split(';').map(str::trim);
    let connect = directives.filter_map(|one| one.strip_prefix("connect-src "));
    let mut sources = connect.flat_map(str::split_whitespace);
    let host = url.host_str().unwrap_or_default();
    sources.any(|source| {
        let any_port = source.strip_suffix(":*");
        any_port.is_some_and(|site| site == format!("{}://{host}", url.scheme()))
            || source == format!("{}:", url.scheme())
    })
}

/// All routes, and the checks before them.
#[derive(Clone)]
pub(crate) struct GuardedRouter {
    state: ServerState,
    router: TowerToHyperService<Router>,
    /// The rule of `POST /mcp`.
    hub_post_rule: RouteRule,
}

impl GuardedRouter {
    pub(crate) fn new(
        router: Router<ServerState>,
        state: ServerState,
        hub_post_rule: RouteRule,
    ) -> Self {
        let router = TowerToHyperService::new(router.with_state(state.clone()));
        Self {
            state,
            router,
            hub_post_rule,
        }
    }
}

impl RequestHandler for GuardedRouter {
    async fn answer(&self, request: Request<Incoming>) -> Response {
        let is_page = is_page(request.uri().path());
        let is_mcp = is_mcp(request.uri().path());
        let area = HttpMetrics::area(request.uri().path());
        let ServerState { app, metrics, .. } = &self.state;
        let mut response = match check(app, &request) {
            // Not boxed: every connection keeps the three kilobytes of this future, and no call
            // allocates them.
            Ok(()) if mcp_endpoint::is_hub_post(&request) => {
                mcp_endpoint::answer_hub_post(&self.state, self.hub_post_rule, request).await
            }
            Ok(()) => match self.router.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            Err(error) => error.into_response(),
        };
        metrics.answered(area, response.status());
        let headers = response.headers_mut();
        // No browser shows what MCP clients get: only that it is what it says it is counts there.
        let needed = if is_mcp { &HEADERS[..1] } else { &HEADERS };
        headers.reserve(needed.len() + 1);
        for (name, value) in needed.iter().cloned() {
            headers
                .entry(name)
                .or_insert(HeaderValue::from_static(value));
        }
        if !is_page {
            // No response with user data may be cached by a shared browser or a proxy, including
            // event streams.
            let no_store = HeaderValue::from_static("no-store");
            headers.insert(header::CACHE_CONTROL, no_store);
        }
        response
    }
}

/// Whether an address is part of the page, which is the same for everybody.
fn is_page(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next();
    let is_api = matches!(
        first,
        Some("api" | "v1" | "mcpo" | "health" | "ready" | "metrics" | ".well-known")
    );
    !is_api && !is_mcp(path)
}

/// Streams of MCP begin with GET, so there too a page from elsewhere is refused.
fn is_mcp(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next();
    matches!(first, Some("mcp" | "sse" | "messages"))
}

/// Supervisors and load balancers ask by whatever name they have for this machine, and are told
/// nothing that a page from elsewhere may not know.
fn is_probe(path: &str) -> bool {
    matches!(path, "/health" | "/ready")
}

fn check<B>(app: &App, request: &Request<B>) -> Result<(), ApiError> {
    let headers = request.headers();
    let changes_nothing = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if changes_nothing && is_probe(request.uri().path()) {
        return Ok(());
    }
    // HTTP/2 names the host in the address instead.
    let host = text(headers, header::HOST).or(request.uri().authority().map(|a| a.as_str()));
    let host = host.unwrap_or_default();
    if !is_ours(app, host) {
        return Err(ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            ApiFault::WrongHost {
                host: host.to_owned(),
            },
        ));
    }
    let is_upgrade = headers.contains_key(header::UPGRADE);
    if changes_nothing && !is_upgrade && !is_mcp(request.uri().path()) {
        return Ok(());
    }
    let foreign = match text(headers, header::ORIGIN) {
        Some(origin) => origin
            .split_once("://")
            .is_none_or(|(_, from)| !from.eq_ignore_ascii_case(host)),
        // A browser that names no origin says at least whether it crossed one.
        None => text(headers, HeaderName::from_static("sec-fetch-site"))
            .is_some_and(|site| site != "same-origin" && site != "none"),
    };
    if foreign {
        return Err(ApiError::new(StatusCode::FORBIDDEN, ApiFault::WrongOrigin));
    }
    Ok(())
}

fn is_ours(app: &App, host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        // The colons of a bare IPv6 address are not a port's.
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    name.eq_ignore_ascii_case("localhost")
        || is_address(name)
        || app
            .allowed_hosts
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(name))
}

/// Only a name can be made to mean this machine by somebody else: whoever asks
/// for an address means it.
fn is_address(name: &str) -> bool {
    let bare = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match bare {
        Some(bare) => bare.parse::<Ipv6Addr>().is_ok(),
        None => name.parse::<Ipv4Addr>().is_ok(),
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}
