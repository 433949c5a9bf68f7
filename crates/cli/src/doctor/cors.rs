//! What a browser decides about an answer, by the rules of the Fetch standard for a
//! request without cookies. Nothing is asked here.

use std::fmt;

use reqwest::Method;
use reqwest::header::{
    ACCEPT, ACCEPT_LANGUAGE, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, AUTHORIZATION, CONTENT_LANGUAGE,
    CONTENT_TYPE, HeaderMap, HeaderName,
};

/// Why a browser keeps an answer from a page, or does not even ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CorsRefusal {
    NoOrigin,
    /// It allows this one.
    OtherOrigin(String),
    /// Two programs wrote the header, or one wrote a list.
    ManyOrigins(String),
    Status(u16),
    Redirect(u16),
    Method(String),
    /// By their names.
    Headers(Vec<String>),
}

/// The headers that a page may not add without asking first, as browsers list them.
pub(super) fn unsafe_headers(headers: &HeaderMap) -> Vec<String> {
    let mut names: Vec<String> = headers
        .iter()
        .filter(|(name, value)| !is_safe(name, value.as_bytes()))
        .map(|(name, _)| name.as_str().to_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

pub(super) fn needs_preflight(method: &Method, unsafe_headers: &[String]) -> bool {
    !unsafe_headers.is_empty() || !is_simple(method)
}

/// Whether the answer to `OPTIONS` lets the request follow.
pub(super) fn preflight(
    status: u16,
    answer: &HeaderMap,
    origin: &str,
    method: &Method,
    unsafe_headers: &[String],
) -> Result<(), CorsRefusal> {
    if (300..400).contains(&status) {
        return Err(CorsRefusal::Redirect(status));
    }
    let is_well = (200..300).contains(&status);
    match readable(answer, origin) {
        // Browsers look at the origin first, but a status tells a person more.
        Err(_) if !is_well => return Err(CorsRefusal::Status(status)),
        origin => origin?,
    }
    let methods = list(answer, &ACCESS_CONTROL_ALLOW_METHODS);
    let is_allowed = |one: &String| one == "*" || one == method.as_str();
    if !is_simple(method) && !methods.iter().any(is_allowed) {
        return Err(CorsRefusal::Method(method.to_string()));
    }
    let allowed = list(answer, &ACCESS_CONTROL_ALLOW_HEADERS);
    let is_missing = |name: &&String| {
        // The only one that everything does not include.
        let any = **name != AUTHORIZATION.as_str() && allowed.iter().any(|one| one == "*");
        !any && !allowed.iter().any(|one| one.eq_ignore_ascii_case(name))
    };
    let missing: Vec<String> = unsafe_headers.iter().filter(is_missing).cloned().collect();
    match (missing.is_empty(), is_well) {
        (true, true) => Ok(()),
        // Some servers say no with a status, and which headers they would take.
        (false, false) if allowed.is_empty() => Err(CorsRefusal::Status(status)),
        (false, _) => Err(CorsRefusal::Headers(missing)),
        (true, false) => Err(CorsRefusal::Status(status)),
    }
}

/// Whether a page at `origin` gets to see this answer.
pub(super) fn readable(answer: &HeaderMap, origin: &str) -> Result<(), CorsRefusal> {
    let all = answer.get_all(ACCESS_CONTROL_ALLOW_ORIGIN).iter();
    let all: Vec<String> = all
        .map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
        .collect();
    match all.as_slice() {
        [] => Err(CorsRefusal::NoOrigin),
        [one] if one == "*" || one == origin => Ok(()),
        [one] if !one.contains(',') => Err(CorsRefusal::OtherOrigin(one.clone())),
        many => Err(CorsRefusal::ManyOrigins(many.join(", "))),
    }
}

/// Whether a page gets to see this header of an answer it may read.
pub(super) fn exposes(answer: &HeaderMap, name: &str) -> bool {
    let exposed = list(answer, &ACCESS_CONTROL_EXPOSE_HEADERS);
    let is_it = |one: &String| one == "*" || one.eq_ignore_ascii_case(name);
    exposed.iter().any(is_it)
}

fn is_simple(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::POST].contains(method)
}

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

fn list(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let lines = headers.get_all(name).iter();
    let lines = lines.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let items = lines.flat_map(|line| {
        let items = line.split(',').map(|item| item.trim().to_owned());
        items.collect::<Vec<_>>()
    });
    items.filter(|item| !item.is_empty()).collect()
}

/// The end of "a browser keeps it from the page: …".
impl fmt::Display for CorsRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOrigin => f.write_str("no Access-Control-Allow-Origin"),
            Self::OtherOrigin(other) => write!(f, "Access-Control-Allow-Origin is {other}"),
            Self::ManyOrigins(all) => write!(
                f,
                "Access-Control-Allow-Origin has more than one value: {all}"
            ),
            Self::Status(status) => write!(f, "status {status}"),
            Self::Redirect(_) => f.write_str("it is a redirect"),
            Self::Method(method) => write!(f, "Access-Control-Allow-Methods lacks {method}"),
            Self::Headers(names) => {
                write!(f, "Access-Control-Allow-Headers lacks {}", names.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests;
