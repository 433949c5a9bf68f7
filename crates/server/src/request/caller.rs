//! The client that sends a request: its address, scheme and user agent.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, header};

use tenon_app::accounts::LoginClient;
use tenon_app::app::App;

use crate::state::ServerState;

/// The one who sends a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpCaller {
    pub address: IpAddr,
    /// The browser speaks https, to us or to a proxy before us.
    pub is_https: bool,
    /// What the browser says it is.
    pub agent: String,
}

impl HttpCaller {
    pub fn of(extensions: &Extensions, headers: &HeaderMap, app: &App) -> Self {
        Self::new(peer(extensions), headers, app.auth.trust_proxy)
    }

    /// Where the request came from, and no more of it.
    pub(crate) fn address_of(request: &Parts, app: &App) -> IpAddr {
        address(
            peer(&request.extensions),
            &request.headers,
            app.auth.trust_proxy,
        )
    }

    /// The browser that somebody logs in with.
    pub(crate) fn login_client(&self) -> LoginClient<'_> {
        LoginClient {
            address: self.address,
            agent: &self.agent,
        }
    }

    fn new(peer: IpAddr, headers: &HeaderMap, trust_proxy: bool) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let origin = text(header::ORIGIN.as_str()).unwrap_or_default();
        let proto = text("x-forwarded-proto").filter(|_| trust_proxy);
        Self {
            address: address(peer, headers, trust_proxy),
            is_https: origin.starts_with("https://") || proto == Some("https"),
            agent: text(header::USER_AGENT.as_str()).unwrap_or_default().into(),
        }
    }
}

fn peer(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip())
}

fn address(peer: IpAddr, headers: &HeaderMap, trust_proxy: bool) -> IpAddr {
    if !trust_proxy {
        return peer.to_canonical();
    }
    // Each proxy adds the one it heard from at the end: only the last is not hearsay.
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back();
    let forwarded = forwarded
        .and_then(|value| value.to_str().ok()?.rsplit(',').next())
        .and_then(|last| last.trim().parse::<IpAddr>().ok());
    forwarded.unwrap_or(peer).to_canonical()
}

impl FromRequestParts<ServerState> for HttpCaller {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &ServerState,
    ) -> Result<Self, Self::Rejection> {
        Ok(Self::of(&parts.extensions, &parts.headers, &state.app))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_believed_only_where_it_is_trusted() {
        let check = |peer: &str,
                     headers: &[(&'static str, &'static str)],
                     trust,
                     expected: (&str, bool)| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            let caller = HttpCaller::new(peer.parse().unwrap(), &map, trust);
            let found = (caller.address.to_string(), caller.is_https);
            let expected = (expected.0.to_owned(), expected.1);
            assert_eq!(found, expected, "{peer} {headers:?} {trust}");
        };
        check("127.0.0.1", &[], false, ("127.0.0.1", false));
        check("::1", &[], true, ("::1", false));
        check("::ffff:127.0.0.1", &[], true, ("127.0.0.1", false));
        check("192.0.2.1", &[], true, ("192.0.2.1", false));
        let forwarded = [
            ("x-forwarded-for", "10.0.0.1, 192.0.2.7"),
            ("x-forwarded-proto", "https"),
        ];
        check("127.0.0.1", &forwarded, false, ("127.0.0.1", false));
        check("127.0.0.1", &forwarded, true, ("192.0.2.7", true));
        let twice = [
            ("x-forwarded-for", "10.0.0.1"),
            ("x-forwarded-for", "192.0.2.8"),
        ];
        check("127.0.0.1", &twice, true, ("192.0.2.8", false));
        let nonsense = [("x-forwarded-for", "unknown")];
        check("127.0.0.1", &nonsense, true, ("127.0.0.1", false));
        check(
            "127.0.0.1",
            &[("via", "1.1 proxy")],
            false,
            ("127.0.0.1", false),
        );
        check(
            "127.0.0.1",
            &[("origin", "https://tenon.example")],
            false,
            ("127.0.0.1", true),
        );
    }
}
