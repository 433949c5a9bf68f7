//! Log-ins that were begun at another server: the browser comes back to whichever the balancer
//! chooses.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenon_domain::{SourceId, UserId};
use tenon_sources::Network;
use tenon_sources::mcp::oauth::PendingLogin;

use super::pending::SourceLogin;
use super::{LoginTarget, OAuthService, lock};

/// A topic on the bus.
const TAKE_LOGIN: &str = "oauth.take";

/// To take a pending log-in from memory waits for nothing: a peer that has not answered by then has
/// none.
const TAKE_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Serialize, Deserialize)]
struct WantedLogin {
    state: String,
    user: UserId,
}

/// A log-in on its way to the server that finishes it.
#[derive(Serialize, Deserialize)]
struct RoutedLogin {
    user: UserId,
    source: SourceId,
    address: String,
    origin: Option<String>,
    is_public_only: bool,
    pending: PendingLogin,
}

impl OAuthService {
    /// Gives log-ins that were begun here to the servers that finish them.
    pub(super) fn hand_out_logins(&self) {
        let service = Arc::downgrade(&self.0);
        self.0.bus.serve(TAKE_LOGIN, move |request| {
            let wanted = serde_json::from_slice::<WantedLogin>(&request.body).ok();
            let login = service.upgrade().zip(wanted).and_then(|(service, wanted)| {
                lock(&service.pending).take(&wanted.state, &wanted.user)
            });
            let login = login.map(RoutedLogin::from);
            async move { serde_json::to_vec(&login).unwrap_or_default() }
        });
    }

    pub(super) async fn login_begun_elsewhere(
        &self,
        state: &str,
        user: &UserId,
    ) -> Option<SourceLogin> {
        let bus = &self.0.bus;
        let peers = bus.peers().borrow().clone();
        let wanted = WantedLogin {
            state: state.to_owned(),
            user: user.clone(),
        };
        let wanted = serde_json::to_vec(&wanted).ok()?;
        for peer in peers {
            let reply = bus.request(&peer, TAKE_LOGIN, wanted.clone(), TAKE_TIMEOUT);
            let Ok(reply) = reply.await else { continue };
            let login: Option<RoutedLogin> = serde_json::from_slice(&reply).unwrap_or_default();
            if let Some(login) = login.filter(|login| login.user == *user) {
                return Some(login.into());
            }
        }
        None
    }
}

impl From<SourceLogin> for RoutedLogin {
    fn from(login: SourceLogin) -> Self {
        Self {
            user: login.user,
            source: login.target.source,
            address: login.target.address,
            origin: login.target.origin,
            is_public_only: login.target.network == Network::PublicOnly,
            pending: login.pending,
        }
    }
}

impl From<RoutedLogin> for SourceLogin {
    fn from(login: RoutedLogin) -> Self {
        Self {
            user: login.user,
            target: LoginTarget {
                source: login.source,
                address: login.address,
                origin: login.origin,
                network: if login.is_public_only {
                    Network::PublicOnly
                } else {
                    Network::Anywhere
                },
            },
            pending: login.pending,
        }
    }
}
