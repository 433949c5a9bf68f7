//! Log-ins (OAuth) that were begun and are not finished.
//!
//! They are in memory only: after a restart of Tenon a log-in has to be begun again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tenon_domain::{SourceId, UserId};
use tenon_sources::mcp::oauth::PendingLogin;

use super::LoginTarget;

/// Long enough to find a second factor, short enough that a forgotten tab is no way in.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(600);

/// How many log-ins one person may have pending; beyond it the oldest is dropped.
const MAX_PENDING_PER_USER: usize = 16;

#[derive(Default)]
pub(super) struct PendingLogins(HashMap<String, (Instant, SourceLogin)>);

/// A pending log-in of somebody at a source.
#[derive(Debug)]
pub(super) struct SourceLogin {
    pub(super) user: UserId,
    pub(super) target: LoginTarget,
    pub(super) pending: PendingLogin,
}

impl PendingLogins {
    pub(super) fn insert(&mut self, state: String, login: SourceLogin) {
        self.insert_at(Instant::now(), state, login);
    }

    /// The pending log-in of this state, once, and only for whoever began it.
    pub(super) fn take(&mut self, state: &str, user: &UserId) -> Option<SourceLogin> {
        self.take_at(Instant::now(), state, user)
    }

    pub(super) fn forget(&mut self, source: &SourceId, user: &UserId) {
        self.0
            .retain(|_, (_, login)| login.user != *user || login.target.source != *source);
    }

    fn insert_at(&mut self, now: Instant, state: String, login: SourceLogin) {
        self.0
            .retain(|_, (at, _)| now.duration_since(*at) < LOGIN_TIMEOUT);
        let theirs = self
            .0
            .iter()
            .filter(|(_, (_, other))| other.user == login.user);
        let oldest = theirs.clone().min_by_key(|(_, (at, _))| *at);
        if theirs.count() >= MAX_PENDING_PER_USER
            && let Some(oldest) = oldest.map(|(state, _)| state.clone())
        {
            self.0.remove(&oldest);
        }
        self.0.insert(state, (now, login));
    }

    fn take_at(&mut self, now: Instant, state: &str, user: &UserId) -> Option<SourceLogin> {
        let is_theirs = self
            .0
            .get(state)
            .is_some_and(|(_, login)| login.user == *user);
        if !is_theirs {
            return None;
        }
        let (at, login) = self.0.remove(state)?;
        (now.duration_since(at) < LOGIN_TIMEOUT).then_some(login)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenon_sources::Network;

    use super::*;

    fn left(user: &str) -> SourceLogin {
        let away = json!({
            "verifier": "v", "redirect": "r", "resource": "r", "issuer": null,
            "must_name_issuer": false, "client": {"id": "c"},
            "token_endpoint": "https://example.com/token",
            "revocation_endpoint": null, "scopes": [],
        });
        SourceLogin {
            user: UserId::new(user),
            target: LoginTarget {
                source: SourceId::new("source"),
                address: "https://example.com/mcp".into(),
                origin: Some("https://example.com".into()),
                network: Network::Anywhere,
            },
            pending: serde_json::from_value(away).unwrap(),
        }
    }

    #[test]
    fn a_state_is_good_once_for_one_person_and_a_while() {
        let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
        let mut pending = PendingLogins::default();
        let then = Instant::now();
        pending.insert_at(then, "state".into(), left("ada"));
        assert!(pending.take_at(then, "other", &ada).is_none());
        assert!(pending.take_at(then, "state", &bob).is_none());
        assert!(pending.take_at(then, "state", &ada).is_some());
        assert!(pending.take_at(then, "state", &ada).is_none());

        pending.insert_at(then, "late".into(), left("ada"));
        assert!(
            pending
                .take_at(then + LOGIN_TIMEOUT, "late", &ada)
                .is_none()
        );
    }

    #[test]
    fn who_leaves_again_and_again_is_not_remembered_for_ever() {
        let ada = UserId::new("ada");
        let mut pending = PendingLogins::default();
        let then = Instant::now();
        pending.insert_at(then, "bobs".into(), left("bob"));
        for turn in 0..100 {
            let at = then + Duration::from_millis(turn);
            pending.insert_at(at, format!("state-{turn}"), left("ada"));
        }
        assert_eq!(pending.0.len(), MAX_PENDING_PER_USER + 1);
        assert!(pending.take_at(then, "state-0", &ada).is_none());
        let late = then + Duration::from_millis(100);
        assert!(pending.take_at(late, "state-99", &ada).is_some());
        assert!(pending.0.contains_key("bobs"));
    }

    #[test]
    fn who_logs_out_is_not_expected_back() {
        let mut pending = PendingLogins::default();
        pending.insert("state".into(), left("ada"));
        pending.forget(&SourceId::new("another"), &UserId::new("ada"));
        assert_eq!(pending.0.len(), 1);
        pending.forget(&SourceId::new("source"), &UserId::new("ada"));
        assert_eq!(pending.0.len(), 0);
    }
}
