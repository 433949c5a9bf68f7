//! Checks of an address before a request is sent. The page reads it the same way:
//! `web/src/lib/local/address.ts`.

use url::{Host, Url};

/// What browsers never connect to, whoever listens there.
const BLOCKED_PORTS: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
    512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
    995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
    6669, 6679, 6697, 10080,
];

/// How far away a host is, as far as its name shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostScope {
    /// The machine that the browser runs on.
    Here,
    /// A machine in the same network.
    Nearby,
    Elsewhere,
}

/// As a person writes it: `8000`, `localhost:8000`, or whole. The error is a sentence.
pub(crate) fn read(text: &str) -> Result<Url, String> {
    let written = text.trim();
    let host = written.split('/').next().unwrap_or_default();
    let is_port = (1..=5).contains(&host.len()) && host.bytes().all(|b| b.is_ascii_digit());
    let whole = match written {
        "" => return Err("there is no address".into()),
        _ if is_port => format!("http://localhost:{written}"),
        _ if written.contains("://") => written.to_owned(),
        _ => format!("http://{written}"),
    };
    let mut url = Url::parse(&whole).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err("only http:// and https:// are asked".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a page cannot ask an address with a password in it; use --header".into());
    }
    url.set_fragment(None);
    Ok(url)
}

/// The site of a page: scheme, host and port.
pub(crate) fn read_origin(text: &str) -> Result<Url, String> {
    let mut url = read(text)?;
    url.set_path("/");
    url.set_query(None);
    Ok(url)
}

/// As browsers write it into `Origin`.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

pub(crate) fn place(url: &Url) -> HostScope {
    match url.host() {
        Some(Host::Domain(name)) if name == "localhost" || name.ends_with(".localhost") => {
            HostScope::Here
        }
        Some(Host::Domain(name)) if name.ends_with(".local") => HostScope::Nearby,
        Some(Host::Ipv4(address)) if address.is_loopback() => HostScope::Here,
        Some(Host::Ipv4(address)) if address.is_private() || address.is_link_local() => {
            HostScope::Nearby
        }
        Some(Host::Ipv6(address)) if address.is_loopback() => HostScope::Here,
        Some(Host::Ipv6(address))
            if address.is_unique_local() || address.is_unicast_link_local() =>
        {
            HostScope::Nearby
        }
        Some(Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_)) | None => HostScope::Elsewhere,
    }
}

pub(crate) fn is_blocked(url: &Url) -> bool {
    url.port().is_some_and(|port| BLOCKED_PORTS.contains(&port))
}

/// Where the description of what is at an address is.
pub(super) fn document(url: &Url) -> Url {
    let path = url.path();
    let is_document = [".json", ".yaml", ".yml"]
        .iter()
        .any(|end| path.ends_with(end));
    if is_document {
        url.clone()
    } else {
        below(url, "openapi.json")
    }
}

/// An address one step below another.
pub(super) fn below(url: &Url, name: &str) -> Url {
    let mut below = url.clone();
    below.set_query(None);
    below.set_path(&format!("{}/{name}", url.path().trim_end_matches('/')));
    below
}

/// The same server by the other scheme, at the same port.
pub(super) fn other_scheme(url: &Url) -> Option<Url> {
    let (other, port) = match url.scheme() {
        "https" => ("http", url.port().unwrap_or(443)),
        _ => ("https", url.port().unwrap_or(80)),
    };
    let mut turned = url.clone();
    turned.set_scheme(other).ok()?;
    turned.set_port(Some(port)).ok()?;
    Some(turned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_a_person_writes_it() {
        #[track_caller]
        fn check(text: &str, expected: Result<&str, &str>) {
            let read = read(text).map(String::from);
            assert_eq!(read.as_deref().map_err(String::as_str), expected);
        }
        check("8000", Ok("http://localhost:8000/"));
        check("8000/mcp", Ok("http://localhost:8000/mcp"));
        check(" localhost:8000 ", Ok("http://localhost:8000/"));
        check("127.0.0.1:8000/mcp", Ok("http://127.0.0.1:8000/mcp"));
        check("[::1]:8000", Ok("http://[::1]:8000/"));
        check("https://box.local/a?b=c#d", Ok("https://box.local/a?b=c"));
        check("", Err("there is no address"));
        check(
            "ftp://localhost",
            Err("only http:// and https:// are asked"),
        );
        check("http://localhost:99999", Err("invalid port number"));
        check(
            "http://a:b@localhost",
            Err("a page cannot ask an address with a password in it; use --header"),
        );
    }

    #[test]
    fn an_origin_is_what_browsers_send() {
        let check = |text: &str, expected: &str| {
            assert_eq!(origin(&read_origin(text).unwrap()), expected);
        };
        check("https://tenon.example/", "https://tenon.example");
        check("https://Tenon.Example:443/chats", "https://tenon.example");
        check("http://127.0.0.1:8366", "http://127.0.0.1:8366");
    }

    #[test]
    fn hosts_are_here_nearby_or_elsewhere() {
        let check = |text: &str, expected: HostScope| {
            assert_eq!(place(&read(text).unwrap()), expected, "{text}");
        };
        check("localhost:1", HostScope::Here);
        check("tools.localhost", HostScope::Here);
        check("127.3.2.1", HostScope::Here);
        check("[::1]:8000", HostScope::Here);
        check("192.168.1.4", HostScope::Nearby);
        check("172.16.0.1", HostScope::Nearby);
        check("printer.local", HostScope::Nearby);
        check("[fd00::1]", HostScope::Nearby);
        check("172.32.0.1", HostScope::Elsewhere);
        check("https://tenon.example", HostScope::Elsewhere);
    }

    #[test]
    fn what_is_looked_at_lies_below_the_address() {
        let check = |text: &str, expected: &str| {
            assert_eq!(document(&read(text).unwrap()).as_str(), expected);
        };
        check("8000", "http://localhost:8000/openapi.json");
        check(
            "localhost:8000/time/?a=b",
            "http://localhost:8000/time/openapi.json",
        );
        check("localhost/x.yaml?a=b", "http://localhost/x.yaml?a=b");
        assert!(is_blocked(&read("localhost:6000").unwrap()));
        assert!(!is_blocked(&read("localhost:8000").unwrap()));
        let other = other_scheme(&read("https://localhost").unwrap()).unwrap();
        assert_eq!(other.as_str(), "http://localhost:443/");
    }
}
