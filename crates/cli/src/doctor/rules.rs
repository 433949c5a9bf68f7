//! The rules of browsers for a page that sends a request without cookies to another server:
//! blocked ports, mixed content, private network access, and CORS with its preflight (Fetch
//! standard). All of it is pure: nothing is sent here.

use std::fmt;

use reqwest::Method;
use reqwest::header::{
    ACCEPT, ACCEPT_LANGUAGE, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, AUTHORIZATION, CONTENT_LANGUAGE,
    CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, ORIGIN,
};
use url::{Host, Url};

use super::problem::{DoctorProblem, ProblemKind};

/// Ports that browsers never connect to, whoever listens there.
const BLOCKED_PORTS: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
    512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
    995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
    6669, 6679, 6697, 10080,
];

/// Headers that browsers set themselves, and no page can.
const FORBIDDEN_HEADERS: &str = "accept-charset accept-encoding connection content-length cookie \
    date expect host keep-alive origin referer te transfer-encoding upgrade";
const FORBIDDEN_PREFIXES: [&str; 3] = ["sec-", "proxy-", "access-control-"];

/// How far away a host is, as far as its name shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostScope {
    /// The machine that the browser runs on.
    Here,
    /// A machine in the same network.
    Nearby,
    Elsewhere,
}

impl HostScope {
    pub(super) fn of(url: &Url) -> Self {
        let is_nearby = match url.host() {
            Some(Host::Domain(name)) => name.ends_with(".local"),
            Some(Host::Ipv4(address)) => address.is_private() || address.is_link_local(),
            Some(Host::Ipv6(address)) => {
                address.is_unique_local() || address.is_unicast_link_local()
            }
            None => false,
        };
        if tenon_net::is_loopback(url) {
            Self::Here
        } else if is_nearby {
            Self::Nearby
        } else {
            Self::Elsewhere
        }
    }
}

/// What CORS does not let a page do: the end of "does not let a page …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CorsRefusal {
    #[error("read it: it sends no Access-Control-Allow-Origin")]
    NoOrigin,
    /// It allows this one.
    #[error("read it: it allows {0}, and an origin must be the same to the letter")]
    OtherOrigin(String),
    #[error(
        "read it: Access-Control-Allow-Origin has more than one value ({0}). Two programs may \
         both add it"
    )]
    ManyOrigins(String),
    #[error("ask it: the question before the request (OPTIONS) gets {0}")]
    Status(u16),
    #[error("ask it: the question before the request (OPTIONS) gets {0}")]
    Redirect(u16),
    #[error("send {0}: Access-Control-Allow-Methods lacks it")]
    Method(String),
    /// By their names.
    #[error("send it {}: Access-Control-Allow-Headers lacks that", .0.join(", "))]
    Headers(Vec<String>),
}

impl CorsRefusal {
    /// The problem if a preflight is refused: the browser does not send the request at all.
    pub(super) fn of_preflight(&self, page: &str) -> DoctorProblem {
        match self {
            Self::NoOrigin => ProblemKind::PreflightRefused.with(not_let(
                page,
                "ask it: its answer to OPTIONS has no Access-Control-Allow-Origin",
            )),
            other => other.of_response(page),
        }
    }

    pub(super) fn of_response(&self, page: &str) -> DoctorProblem {
        let kind = match self {
            Self::NoOrigin | Self::OtherOrigin(_) | Self::ManyOrigins(_) => ProblemKind::Cors,
            Self::Status(_) | Self::Redirect(_) | Self::Method(_) => ProblemKind::PreflightRefused,
            Self::Headers(_) => ProblemKind::PreflightHeader,
        };
        kind.with(not_let(page, self))
    }
}

fn not_let(page: &str, what: impl fmt::Display) -> String {
    format!("The server answers, but a browser does not let a page at {page} {what}.")
}

/// As browsers write it into `Origin`.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Private network access: the browser asks the person before a page of the internet may reach
/// what is near.
pub(super) fn asks_permission(url: &Url, page: &Url) -> bool {
    HostScope::of(page) == HostScope::Elsewhere && HostScope::of(url) != HostScope::Elsewhere
}

/// Checks that browsers make before they send anything.
pub(super) fn check_address(url: &Url, page: &Url) -> Result<(), DoctorProblem> {
    let (site, page_site) = (origin(url), origin(page));
    if let Some(port) = url.port().filter(|port| BLOCKED_PORTS.contains(port)) {
        let message = format!("Browsers never connect to port {port}, whoever listens there.");
        return Err(ProblemKind::BlockedPort.with(message));
    }
    let is_plain = page.scheme() == "https" && url.scheme() == "http";
    if is_plain && HostScope::of(url) == HostScope::Elsewhere {
        return Err(ProblemKind::MixedContent.with(format!(
            "A page over https may not ask {site}: that is plain http, and not this machine."
        )));
    }
    if asks_permission(url, page) && page.scheme() == "http" {
        return Err(ProblemKind::PermissionNeedsHttps.with(format!(
            "Browsers let a page reach {site} only if the page itself comes over https, and \
             {page_site} does not."
        )));
    }
    Ok(())
}

/// Whether a page may set a header of this name.
pub(super) fn may_set(name: &HeaderName) -> bool {
    let name = name.as_str();
    let is_forbidden = FORBIDDEN_HEADERS.split(' ').any(|one| one == name);
    !is_forbidden
        && !FORBIDDEN_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// The headers a browser adds. No server may count on more: an old one adds the origin alone.
pub(super) fn added_headers(url: &Url, page: &Url) -> HeaderMap {
    let page_origin = HeaderValue::try_from(origin(page));
    let page_origin = page_origin.unwrap_or(HeaderValue::from_static(""));
    let mut headers = HeaderMap::from_iter([(ORIGIN, page_origin)]);
    if url.scheme() == "https" || HostScope::of(url) == HostScope::Here {
        let site = if url.host() == page.host() {
            "same-site"
        } else {
            "cross-site"
        };
        headers.insert("sec-fetch-mode", HeaderValue::from_static("cors"));
        headers.insert("sec-fetch-dest", HeaderValue::from_static("empty"));
        headers.insert("sec-fetch-site", HeaderValue::from_static(site));
    }
    headers
}

/// The headers that a page may not send without a preflight, as browsers list them.
pub(super) fn unsafe_headers(headers: &HeaderMap) -> Vec<String> {
    let is_unsafe = |(name, value): &(&HeaderName, &HeaderValue)| !is_safe(name, value.as_bytes());
    let unsafe_headers = headers.iter().filter(is_unsafe);
    let mut names: Vec<String> = unsafe_headers.map(|(name, _)| name.to_string()).collect();
    names.sort();
    names.dedup();
    names
}

pub(super) fn needs_preflight(method: &Method, unsafe_headers: &[String]) -> bool {
    !unsafe_headers.is_empty() || !is_simple(method)
}

/// Whether the response to `OPTIONS` lets the request follow.
pub(super) fn preflight(
    status: u16,
    response: &HeaderMap,
    origin: &str,
    method: &Method,
    unsafe_headers: &[String],
) -> Result<(), CorsRefusal> {
    if (300..400).contains(&status) {
        return Err(CorsRefusal::Redirect(status));
    }
    let is_success = (200..300).contains(&status);
    match readable(response, origin) {
        // Browsers look at the origin first, but a status tells a person more.
        Err(_) if !is_success => return Err(CorsRefusal::Status(status)),
        origin => origin?,
    }
    let methods = list(response, &ACCESS_CONTROL_ALLOW_METHODS);
    let is_allowed = |one: &String| one == "*" || one == method.as_str();
    if !is_simple(method) && !methods.iter().any(is_allowed) {
        return Err(CorsRefusal::Method(method.to_string()));
    }
    let allowed = list(response, &ACCESS_CONTROL_ALLOW_HEADERS);
    let is_missing = |name: &&String| {
        // The only one that `*` does not include.
        let any = **name != AUTHORIZATION.as_str() && allowed.iter().any(|one| one == "*");
        !any && !allowed.iter().any(|one| one.eq_ignore_ascii_case(name))
    };
    let missing: Vec<String> = unsafe_headers.iter().filter(is_missing).cloned().collect();
    // Some servers refuse with a status, and name the headers they would take.
    if !missing.is_empty() && (is_success || !allowed.is_empty()) {
        Err(CorsRefusal::Headers(missing))
    } else if is_success {
        Ok(())
    } else {
        Err(CorsRefusal::Status(status))
    }
}

/// Whether a page at `origin` gets to see this response.
pub(super) fn readable(response: &HeaderMap, origin: &str) -> Result<(), CorsRefusal> {
    match values(response, ACCESS_CONTROL_ALLOW_ORIGIN.as_str()).as_slice() {
        [] => Err(CorsRefusal::NoOrigin),
        [one] if one == "*" || one == origin => Ok(()),
        [one] if !one.contains(',') => Err(CorsRefusal::OtherOrigin(one.clone())),
        many => Err(CorsRefusal::ManyOrigins(many.join(", "))),
    }
}

/// Whether a page gets to see this header of a response it may read.
pub(super) fn exposes(response: &HeaderMap, name: &str) -> bool {
    let exposed = list(response, &ACCESS_CONTROL_EXPOSE_HEADERS);
    let is_it = |one: &String| one == "*" || one.eq_ignore_ascii_case(name);
    exposed.iter().any(is_it)
}

/// The problem that keeps a response from a page: a refused preflight, or a response without the
/// right CORS headers.
pub(super) fn blocked(
    unsent: Option<&CorsRefusal>,
    unread: Option<&CorsRefusal>,
    response: &HeaderMap,
    page: &str,
) -> Option<DoctorProblem> {
    use CorsRefusal::{NoOrigin, Redirect, Status};
    let mut problem = match (unsent, unread) {
        // An unreadable response is the more important problem.
        (None | Some(NoOrigin | Status(_) | Redirect(_)), Some(unread)) => unread.of_response(page),
        (Some(unsent), _) => unsent.of_preflight(page),
        (None, None) => return None,
    };
    // A page tries whether anybody is there at all, and this policy hides even that.
    let policy = values(response, "cross-origin-resource-policy").join(",");
    if problem.kind == ProblemKind::Cors && ["same-origin", "same-site"].contains(&&*policy) {
        problem.message += &format!(
            " It also sends Cross-Origin-Resource-Policy: {policy}, and the page may take the \
             server for one that does not run."
        );
    }
    Some(problem)
}

/// Where a response redirects to.
pub(super) fn redirect(status: u16, response: &HeaderMap, from: &Url) -> Option<Url> {
    let is_redirect = matches!(status, 301 | 302 | 303 | 307 | 308);
    let to = response.get(LOCATION).filter(|_| is_redirect)?;
    from.join(to.to_str().ok()?).ok()
}

/// The media type of a response, without its parameters.
pub(super) fn essence(headers: &HeaderMap) -> String {
    let value = values(headers, CONTENT_TYPE.as_str()).join(",");
    let essence = value.split([';', ',']).next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

fn is_simple(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::POST].contains(method)
}

/// A CORS-safelisted request header.
fn is_safe(name: &HeaderName, value: &[u8]) -> bool {
    if value.len() > 128 {
        return false;
    }
    let is_odd =
        |byte: &u8| (*byte < 0x20 && *byte != b'\t') || b"\"():<>?@[\\]{}\x7f".contains(byte);
    if name == ACCEPT {
        return !value.iter().any(is_odd);
    }
    if name == ACCEPT_LANGUAGE || name == CONTENT_LANGUAGE {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" *,-.;=".contains(byte);
        return value.iter().all(is_plain);
    }
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
    let forms: [&[u8]; 3] = [
        b"application/x-www-form-urlencoded",
        b"multipart/form-data",
        b"text/plain",
    ];
    let essence = essence.trim_ascii().to_ascii_lowercase();
    name == CONTENT_TYPE && !value.iter().any(is_odd) && forms.contains(&essence.as_slice())
}

/// The items of a header that is a list.
fn list(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let joined = values(headers, name.as_str()).join(",");
    let items = joined.split(',').map(str::trim);
    let items = items.filter(|item| !item.is_empty());
    items.map(str::to_owned).collect()
}

/// The values of a header, whatever bytes they have.
pub(super) fn values(headers: &HeaderMap, name: &str) -> Vec<String> {
    let values = headers.get_all(name).iter();
    let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()));
    values.map(|value| value.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests;
