//! Which addresses may be reached.
//!
//! A page, a redirect or a name server under somebody else's control must not
//! make us send requests to what only we can reach: the machine itself, its
//! network, a cloud's metadata service. So the check is made three times: on
//! the URL, on every redirect, and on every address a name resolves to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tenon_text::shorten;
use url::{Host, Url};

/// An address in a message is cut here.
const MAX_SHOWN_CHARS: usize = 200;

/// Top-level domains that are never delegated: each network has its own. In clouds
/// the metadata service and machines of other customers are under `internal`.
const RESERVED_DOMAINS: [&str; 2] = ["localhost", "internal"];

/// Where clouds tell a machine its own credentials, by name.
const METADATA_HOSTS: [&str; 9] = [
    "metadata",
    "metadata.google.internal",
    "metadata.azure.internal",
    "instance-data.ec2.internal",
    "metadata.goog",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "instance-data",
    "rancher-metadata",
];

/// Azure's WireServer: a public address that every virtual machine there reaches as the
/// host it runs on, which tells it its configuration and certificates.
const WIRE_SERVER: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// The same by address: Alibaba's, Oracle's and Azure's. Most others are link-local.
const METADATA_ADDRESSES: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    WIRE_SERVER,
];

/// Amazon's, Google's and Scaleway's.
const METADATA_ADDRESSES_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// Where requests may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// An admin said so.
    Anywhere,
    /// Not to this machine or into its networks, whatever a name resolves to.
    PublicOnly,
}

impl Network {
    /// As the setting `allow_private_networks` says.
    pub fn of_setting(allow_private_networks: bool) -> Self {
        if allow_private_networks {
            Self::Anywhere
        } else {
            Self::PublicOnly
        }
    }
}

/// Why an address is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Without the address: a secret may have been filled in.
    #[error(
        "The address is not a URL: {0}. Write the whole address, such as https://example.com/."
    )]
    NotAUrl(String),
    #[error("{0}: addresses are refused. Only http:// and https:// are fetched.")]
    Scheme(String),
    #[error("A URL with a user name or password in it is refused. Leave them out.")]
    Credentials,
    #[error("{0} is on a private network or on this machine.")]
    Private(String),
    #[error("There is no host named {0}, or it has no address.")]
    UnknownHost(String),
    #[error("The address redirects more than {0} times.")]
    TooManyRedirects(usize),
}

pub fn parse_url(text: &str, network: Network) -> Result<Url, UrlError> {
    let text = text.trim();
    let url = Url::parse(text).map_err(|error| {
        let why = match error {
            url::ParseError::RelativeUrlWithoutBase => "http:// or https:// is missing".to_owned(),
            other => other.to_string(),
        };
        UrlError::NotAUrl(why)
    })?;
    check_url(&url, network)?;
    Ok(url)
}

/// A URL without its query, fragment and credentials, which may hold secrets.
pub fn without_query(url: &Url) -> String {
    let text = format!("{}{}", url.origin().ascii_serialization(), url.path());
    shorten(&text, MAX_SHOWN_CHARS).into_owned()
}

pub fn check_url(url: &Url, network: Network) -> Result<(), UrlError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlError::Scheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlError::Credentials);
    }
    // The url crate has read decimal, hexadecimal and short forms as addresses by now.
    let public = match url.host() {
        Some(Host::Ipv4(address)) => is_public(address.into()),
        Some(Host::Ipv6(address)) => is_public(address.into()),
        Some(Host::Domain(name)) => is_public_name(name),
        None => false,
    };
    match network {
        Network::PublicOnly if !public => Err(UrlError::Private(
            url.host_str().unwrap_or_default().to_owned(),
        )),
        Network::PublicOnly | Network::Anywhere => Ok(()),
    }
}

/// Whether an address is that of the machine it is used on.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether a cloud tells a machine its own credentials there.
pub fn is_cloud_metadata(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => is_metadata_name(name),
        Some(Host::Ipv4(address)) => {
            address.is_link_local() || METADATA_ADDRESSES.contains(&address)
        }
        Some(Host::Ipv6(address)) => METADATA_ADDRESSES_V6.contains(&address),
        None => false,
    }
}

fn is_metadata_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    METADATA_HOSTS.contains(&name.as_str())
}

/// Whether a name could be one of the internet. What it resolves to is looked at as well:
/// this refuses names that a resolver of a cloud or of a machine answers for by itself.
fn is_public_name(name: &str) -> bool {
    let lower = name.trim_end_matches('.').to_ascii_lowercase();
    let last = lower.rsplit('.').next().unwrap_or_default();
    !RESERVED_DOMAINS.contains(&last) && !is_metadata_name(name)
}

/// Whether an address is one that anybody on the internet could reach.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        (0, ..) => true,            // this network
        (100, 64..=127, _) => true, // shared by customers of one provider; Alibaba's metadata
        (192, 0, 0) => true,        // protocol assignments; Oracle's metadata
        (192, 88, 99) => true,      // relays to IPv6
        (198, 18..=19, _) => true,  // benchmarks
        (224.., ..) => true,        // multicast, reserved, broadcast
        _ => false,
    };
    let private = address.is_loopback() || address.is_private() || address.is_link_local();
    !(special || private || address.is_documentation() || address == WIRE_SERVER)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // IPv4 in other clothes: mapped and NAT64 lead to the address inside. With the
        // latter a machine that has no IPv4 reaches every site that has nothing else.
        [0, 0, 0, 0, 0, 0xffff, high, low] => embedded(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        // 6to4 is abandoned; no site is to be found there.
        [0x2002, ..] => false,
        // ISATAP leads into the network of a site.
        [.., 0 | 0x200, 0x5efe, _, _] => false,
        // Protocol assignments, Teredo tunnels among them, and documentation.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // Only these are given out to the public; the rest is local, reserved or multicast.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_address(address: &str, public: bool) {
        assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
    }

    #[test]
    fn only_addresses_of_the_internet_are_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.216.34",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "198.17.0.1",
            "198.20.0.1",
        ] {
            check_address(address, true);
        }
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "127.0.0.1",
            "127.255.255.254",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.0.1",
            "169.254.0.23",
            "169.254.42.42",
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "168.63.129.16",
            "192.0.0.8",
            "192.0.0.192",
            "192.0.2.1",
            "198.51.100.7",
            "203.0.113.9",
            "192.88.99.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
        ] {
            check_address(address, false);
        }
    }

    #[test]
    fn an_ipv6_address_is_as_public_as_what_it_leads_to() {
        for address in [
            "2606:4700:4700::1111",
            "2a00:1450:4001::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ] {
            check_address(address, true);
        }
        for address in [
            "::",
            "::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "2001:db8::1",
            "3fff::1",
            "100::1",
            "100:0:0:1::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fd00:42::42",
            "::7f00:1",
            "::8.8.8.8",
            "::168.63.129.16",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:168.63.129.16",
            "::ffff:0:8.8.8.8",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b::168.63.129.16",
            "64:ff9b:1::1",
            "64:ff9b:1:ffff::8.8.8.8",
            "2002:808:808::1",
            "2002:a83f:8110::1",
            "2002:7f00:1::1",
            "2002:c0a8:101::1",
            "2001:0:7f00:1::1",
            "2001:0:808:808::f5ff:fffe",
            "2001:10::1",
            "2001:20::1",
            "2001:2f:ffff::1",
            "2600:1::5efe:a00:1",
            "2600:1::200:5efe:a83f:8110",
            "4000::1",
        ] {
            check_address(address, false);
        }
    }

    #[track_caller]
    fn check_text(url: &str, expected: &str) {
        let said = match parse_url(url, Network::PublicOnly) {
            Ok(url) => url.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(said, expected, "{url}");
    }

    #[test]
    fn a_url_is_read_and_refused_if_it_leads_inside() {
        check_text(" https://example.com/a?b#c ", "https://example.com/a?b#c");
        check_text("http://1.1.1.1:8080/", "http://1.1.1.1:8080/");
        let inside = |host: &str| format!("{host} is on a private network or on this machine.");
        check_text("http://127.0.0.1", &inside("127.0.0.1"));
        check_text("http://localhost:3000/", &inside("localhost"));
        check_text("http://LOCALHOST./", &inside("localhost."));
        check_text("http://a.localhost/", &inside("a.localhost"));
        check_text("http://[::1]/", &inside("[::1]"));
        check_text("http://2130706433/", &inside("127.0.0.1"));
        check_text("http://0x7f.1/", &inside("127.0.0.1"));
        check_text("http://0177.0.0.1/", &inside("127.0.0.1"));
        check_text("http://127.1/", &inside("127.0.0.1"));
        check_text("http://１２７.0.0.1/", &inside("127.0.0.1"));
        check_text(
            "http://169.254.169.254/latest/meta-data",
            &inside("169.254.169.254"),
        );
        check_text("http://[::ffff:127.0.0.1]/", &inside("[::ffff:7f00:1]"));
        check_text("http://0/", &inside("0.0.0.0"));
        check_text("http://168.63.129.16/", &inside("168.63.129.16"));
        check_text("http://2822734096/", &inside("168.63.129.16"));
        for name in [
            "metadata",
            "metadata.google.internal",
            "metadata.goog",
            "instance-data",
            "instance-data.ec2.internal",
            "metadata.tencentyun.com",
            "rancher-metadata",
            "anything.internal",
        ] {
            check_text(&format!("http://{name}/latest"), &inside(name));
        }
        check_text(
            "http://METADATA.Google.internal./",
            &inside("metadata.google.internal."),
        );
        check_text(
            "https://metadata.example.com/",
            "https://metadata.example.com/",
        );
        check_text(
            "https://internal.example.com/",
            "https://internal.example.com/",
        );
    }

    #[test]
    fn what_is_no_web_address_is_told_what_would_be() {
        check_text(
            "ftp://example.com/",
            "ftp: addresses are refused. Only http:// and https:// are fetched.",
        );
        check_text(
            "file:///etc/passwd",
            "file: addresses are refused. Only http:// and https:// are fetched.",
        );
        check_text(
            "data:text/plain,hi",
            "data: addresses are refused. Only http:// and https:// are fetched.",
        );
        check_text(
            "https://user:secret@example.com/",
            "A URL with a user name or password in it is refused. Leave them out.",
        );
        check_text(
            "example.com",
            "The address is not a URL: http:// or https:// is missing. Write the whole address, such as https://example.com/.",
        );
        check_text(
            "http://",
            "The address is not a URL: empty host. Write the whole address, such as https://example.com/.",
        );
    }
}
