//! DNS resolution that leaves out addresses that may not be reached.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::address::{Network, UrlError, is_public};

/// Resolves names and forgets the addresses that may not be reached. The
/// connection is made to what is returned here, so a name cannot change its
/// mind between the check and the request.
pub(crate) struct Resolver {
    pub(crate) network: Network,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let network = self.network;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let unknown = || UrlError::UnknownHost(host.clone());
            let found: Vec<_> = tokio::net::lookup_host((host.as_str(), 0))
                .await
                .map_err(|_| unknown())?
                .collect();
            if found.is_empty() {
                return Err(unknown().into());
            }
            let allowed = permitted(found, network);
            if allowed.is_empty() {
                return Err(UrlError::Private(host).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

fn permitted(found: Vec<SocketAddr>, network: Network) -> Vec<SocketAddr> {
    match network {
        Network::Anywhere => found,
        Network::PublicOnly => found
            .into_iter()
            .filter(|found| is_public(found.ip()))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_only_its_public_addresses() {
        let found: Vec<SocketAddr> = ["127.0.0.1:0", "8.8.8.8:0", "[::1]:0", "[fd00::1]:0"]
            .map(|address| address.parse().unwrap())
            .into();
        assert_eq!(
            permitted(found.clone(), Network::PublicOnly),
            ["8.8.8.8:0".parse().unwrap()]
        );
        assert_eq!(permitted(found.clone(), Network::Anywhere), found);
    }

    #[tokio::test]
    async fn a_name_that_only_leads_inside_is_refused_when_it_is_resolved() {
        // Past the check of the URL, as a name under somebody else's control would be.
        let resolver = Resolver {
            network: Network::PublicOnly,
        };
        let Err(error) = resolver.resolve("localhost".parse().unwrap()).await else {
            panic!("localhost must not be resolved");
        };
        assert_eq!(
            error.downcast_ref(),
            Some(&UrlError::Private("localhost".into()))
        );
    }
}
