//! Where the bus is: `redis://` or `rediss://`, with a user, a password and a database number.

use std::fmt;

/// An address that can be used. Never shown: there may be a password in it.
#[derive(Clone)]
pub struct BusAddress(pub(crate) redis::Client);

#[derive(Debug, thiserror::Error)]
pub enum BusAddressError {
    #[error("the address of the bus has to begin with redis:// or rediss://")]
    Scheme,
    #[error("the address of the bus cannot be used; write it like redis://:PASSWORD@HOST:6379")]
    Unreadable,
}

impl BusAddress {
    pub fn parse(address: &str) -> Result<Self, BusAddressError> {
        let is_known = ["redis://", "rediss://"]
            .iter()
            .any(|scheme| address.starts_with(scheme));
        if !is_known {
            return Err(BusAddressError::Scheme);
        }
        // Its own words may repeat the address.
        let client = redis::Client::open(address).map_err(|_| BusAddressError::Unreadable)?;
        Ok(Self(client))
    }
}

impl fmt::Debug for BusAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BusAddress").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_never_told() {
        for good in [
            "redis://127.0.0.1",
            "redis://:hidden@cache:6380/2",
            "rediss://tenon:hidden@cache.example:6379",
        ] {
            let address = BusAddress::parse(good).unwrap();
            assert!(!format!("{address:?}").contains("hidden"));
        }
        for bad in ["http://cache", "cache:6379", "redis://", "redis+unix:///x"] {
            let refused = BusAddress::parse(bad).unwrap_err().to_string();
            assert!(
                refused.starts_with("the address of the bus"),
                "{bad}: {refused}"
            );
        }
    }
}
