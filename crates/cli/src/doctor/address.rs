//! Addresses, as a person writes them. The page reads them the same way:
//! `web/src/lib/local/address.ts`.

use url::Url;

/// Why an address cannot be asked. It does not repeat the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    #[error("there is no address")]
    Empty,
    #[error("{0}")]
    NotAUrl(#[from] url::ParseError),
    #[error("only http:// and https:// are asked")]
    Scheme,
    #[error("a page cannot ask an address with a password in it; use --header")]
    Password,
}

/// As a person writes it: `8000`, `localhost:8000`, or whole.
pub(crate) fn read(text: &str) -> Result<Url, AddressError> {
    let written = text.trim();
    let host = written.split('/').next().unwrap_or_default();
    let is_port = (1..=5).contains(&host.len()) && host.bytes().all(|b| b.is_ascii_digit());
    let whole = match written {
        "" => return Err(AddressError::Empty),
        _ if is_port => format!("http://localhost:{written}"),
        _ if written.contains("://") => written.to_owned(),
        _ => format!("http://{written}"),
    };
    let mut url = Url::parse(&whole)?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(AddressError::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(AddressError::Password);
    }
    url.set_fragment(None);
    Ok(url)
}

/// The site of a page: scheme, host and port.
pub(crate) fn read_origin(text: &str) -> Result<Url, AddressError> {
    let mut url = read(text)?;
    url.set_path("/");
    url.set_query(None);
    Ok(url)
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
pub(super) fn other_scheme(url: &Url) -> Url {
    let port = url.port_or_known_default();
    let mut other = with_scheme(
        url,
        if url.scheme() == "https" {
            "http"
        } else {
            "https"
        },
    );
    // Every http(s) address has a host, and so may have a port.
    let _ = other.set_port(port);
    other
}

/// The same address with another scheme, http or https.
pub(super) fn with_scheme(url: &Url, scheme: &str) -> Url {
    let mut url = url.clone();
    // One may take the place of the other.
    let _ = url.set_scheme(scheme);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_a_person_writes_it() {
        #[track_caller]
        fn check(text: &str, expected: Result<&str, AddressError>) {
            assert_eq!(
                read(text).as_ref().map(Url::as_str),
                expected.as_ref().map(|url| *url)
            );
        }
        check("8000", Ok("http://localhost:8000/"));
        check("8000/mcp", Ok("http://localhost:8000/mcp"));
        check(" localhost:8000 ", Ok("http://localhost:8000/"));
        check("127.0.0.1:8000/mcp", Ok("http://127.0.0.1:8000/mcp"));
        check("[::1]:8000", Ok("http://[::1]:8000/"));
        check("https://box.local/a?b=c#d", Ok("https://box.local/a?b=c"));
        check("", Err(AddressError::Empty));
        check("ftp://localhost", Err(AddressError::Scheme));
        let port = AddressError::NotAUrl(url::ParseError::InvalidPort);
        check("http://localhost:99999", Err(port));
        check("http://a:b@localhost", Err(AddressError::Password));
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
        let other = other_scheme(&read("https://localhost").unwrap());
        assert_eq!(other.as_str(), "http://localhost:443/");
    }
}
