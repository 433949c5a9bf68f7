//! Those who left to log in somewhere and are not back yet.
//!
//! They are remembered in memory: who comes back to a Tenon that was started
//! anew begins again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tenon_domain::{SourceId, UserId};
use tenon_sources::mcp::oauth::Away;

use super::Place;

/// Long enough to find a second factor, short enough that a forgotten tab is no way in.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often one person may have left at the same time; the first is forgotten then.
const MAX_EACH: usize = 16;

#[derive(Default)]
pub(super) struct Travellers(HashMap<String, (Instant, Left)>);

/// Who left, for where.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) user: UserId,
    pub(super) place: Place,
    pub(super) away: Away,
}

impl Travellers {
    pub(super) fn leave(&mut self, state: String, left: Left) {
        self.leave_at(Instant::now(), state, left);
    }

    /// What was noted when they left, once. To others there is nothing.
    pub(super) fn come_back(&mut self, state: &str, user: &UserId) -> Option<Left> {
        self.come_back_at(Instant::now(), state, user)
    }

    /// They do not want to any more.
    pub(super) fn forget(&mut self, source: &SourceId, user: &UserId) {
        self.0
            .retain(|_, (_, left)| left.user != *user || left.place.source != *source);
    }

    fn leave_at(&mut self, now: Instant, state: String, left: Left) {
        self.0
            .retain(|_, (at, _)| now.duration_since(*at) < PATIENCE);
        let theirs = self
            .0
            .iter()
            .filter(|(_, (_, other))| other.user == left.user);
        let oldest = theirs.clone().min_by_key(|(_, (at, _))| *at);
        if theirs.count() >= MAX_EACH
            && let Some(oldest) = oldest.map(|(state, _)| state.clone())
        {
            self.0.remove(&oldest);
        }
        self.0.insert(state, (now, left));
    }

    fn come_back_at(&mut self, now: Instant, state: &str, user: &UserId) -> Option<Left> {
        let is_theirs = self
            .0
            .get(state)
            .is_some_and(|(_, left)| left.user == *user);
        if !is_theirs {
            return None;
        }
        let (at, left) = self.0.remove(state)?;
        (now.duration_since(at) < PATIENCE).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenon_sources::Network;

    use super::*;

    fn left(user: &str) -> Left {
        let away = json!({
            "verifier": "v", "redirect": "r", "resource": "r", "issuer": null,
            "must_name_issuer": false, "client": {"id": "c"},
            "token_endpoint": "https://example.com/token",
            "revocation_endpoint": null, "scopes": [],
        });
        Left {
            user: UserId::new(user),
            place: Place {
                source: SourceId::new("source"),
                address: "https://example.com/mcp".into(),
                origin: Some("https://example.com".into()),
                network: Network::Anywhere,
            },
            away: serde_json::from_value(away).unwrap(),
        }
    }

    #[test]
    fn a_state_is_good_once_for_one_person_and_a_while() {
        let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
        let mut travellers = Travellers::default();
        let then = Instant::now();
        travellers.leave_at(then, "state".into(), left("ada"));
        assert!(travellers.come_back_at(then, "other", &ada).is_none());
        assert!(travellers.come_back_at(then, "state", &bob).is_none());
        assert!(travellers.come_back_at(then, "state", &ada).is_some());
        assert!(travellers.come_back_at(then, "state", &ada).is_none());

        travellers.leave_at(then, "late".into(), left("ada"));
        assert!(
            travellers
                .come_back_at(then + PATIENCE, "late", &ada)
                .is_none()
        );
    }

    #[test]
    fn who_leaves_again_and_again_is_not_remembered_for_ever() {
        let ada = UserId::new("ada");
        let mut travellers = Travellers::default();
        let then = Instant::now();
        travellers.leave_at(then, "bobs".into(), left("bob"));
        for turn in 0..100 {
            let at = then + Duration::from_millis(turn);
            travellers.leave_at(at, format!("state-{turn}"), left("ada"));
        }
        assert_eq!(travellers.0.len(), MAX_EACH + 1);
        assert!(travellers.come_back_at(then, "state-0", &ada).is_none());
        let late = then + Duration::from_millis(100);
        assert!(travellers.come_back_at(late, "state-99", &ada).is_some());
        assert!(travellers.0.contains_key("bobs"));
    }

    #[test]
    fn who_logs_out_is_not_expected_back() {
        let mut travellers = Travellers::default();
        travellers.leave("state".into(), left("ada"));
        travellers.forget(&SourceId::new("another"), &UserId::new("ada"));
        assert_eq!(travellers.0.len(), 1);
        travellers.forget(&SourceId::new("source"), &UserId::new("ada"));
        assert_eq!(travellers.0.len(), 0);
    }
}
