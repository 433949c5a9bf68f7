//! Traces of calls outside chats. What a tool gave may hold a secret that its server was given, so
//! a trace is sealed like one, and its caller alone can read it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tenon_domain::{CallId, UserId};
use tenon_store::{Result, Store, Vault};

use crate::lock::lock;
use crate::traces::ToolCallTrace;

/// How many traces of one user are stored a second in the long run, and how many at once: enough for
/// everything that people look at, while a program that calls thousands of times a second fills no
/// disk, and takes nobody else's.
const TRACES_PER_SECOND: f64 = 1.0;
const TRACE_BURST: f64 = 200.0;

/// With this many users, those whose burst is whole again are forgotten.
const MAX_USERS: usize = 1024;

#[derive(Debug)]
pub(crate) struct CallTraces {
    store: Store,
    vault: Arc<Vault>,
    allowance: TraceAllowance,
}

/// A token bucket for each user. The audit log has the calls that it refuses as well, without a
/// trace.
#[derive(Debug)]
struct TraceAllowance {
    is_on: bool,
    buckets: Mutex<HashMap<UserId, TokenBucket>>,
}

/// The tokens that were left, and when.
#[derive(Debug, Clone, Copy)]
struct TokenBucket {
    left: f64,
    at: Instant,
}

impl CallTraces {
    pub(crate) fn new(store: Store, vault: Arc<Vault>, is_on: bool) -> Self {
        let allowance = TraceAllowance::new(is_on);
        Self {
            store,
            vault,
            allowance,
        }
    }

    /// Whether the call that begins may be traced.
    pub(super) fn allows_one(&self, user: &UserId) -> bool {
        self.allowance.take(user)
    }

    /// Stores it soon; nobody waits for it.
    pub(super) fn record(&self, user: &UserId, trace: &ToolCallTrace) {
        let json = match serde_json::to_string(trace) {
            Ok(json) => json,
            Err(error) => {
                tracing::warn!(%error, "the trace of a call could not be written down");
                return;
            }
        };
        let sealed = self.vault.seal(&about(&trace.call_id), &json);
        self.store.call_trace_behind(user, &trace.call_id, sealed);
    }

    /// None: there is none of this user, or it was sealed with a key that is gone.
    pub(super) async fn find(&self, user: &UserId, call: &CallId) -> Result<Option<ToolCallTrace>> {
        let Some(sealed) = self.store.call_trace(user, call).await? else {
            return Ok(None);
        };
        match self.vault.open_sealed(&about(call), &sealed) {
            Ok(json) => Ok(Some(serde_json::from_str(&json)?)),
            Err(error) => {
                tracing::warn!(call = %call.as_str(), %error, "the trace of a call cannot be opened");
                Ok(None)
            }
        }
    }
}

/// What the sealed text of a trace is bound to.
fn about(call: &CallId) -> String {
    format!("call:{}", call.as_str())
}

impl TraceAllowance {
    fn new(is_on: bool) -> Self {
        let buckets = Mutex::default();
        Self { is_on, buckets }
    }

    fn take(&self, user: &UserId) -> bool {
        if !self.is_on {
            return false;
        }
        let now = Instant::now();
        let mut buckets = lock(&self.buckets);
        if let Some(bucket) = buckets.get_mut(user) {
            return bucket.take(now);
        }
        if buckets.len() >= MAX_USERS {
            buckets.retain(|_, bucket| bucket.tokens(now) < TRACE_BURST);
        }
        let left = TRACE_BURST - 1.0;
        buckets.insert(user.clone(), TokenBucket { left, at: now });
        true
    }
}

impl TokenBucket {
    fn tokens(self, now: Instant) -> f64 {
        let earned = now.duration_since(self.at).as_secs_f64() * TRACES_PER_SECOND;
        (self.left + earned).min(TRACE_BURST)
    }

    fn take(&mut self, now: Instant) -> bool {
        let tokens = self.tokens(now);
        let has_one = tokens >= 1.0;
        self.left = if has_one { tokens - 1.0 } else { tokens };
        self.at = now;
        has_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_calls_has_traces_and_a_flood_has_few() {
        let allowance = TraceAllowance::new(true);
        let (program, person) = (UserId::new("program"), UserId::new("person"));
        let traced = (0..10_000).filter(|_| allowance.take(&program)).count();
        assert!((200..220).contains(&traced), "{traced}");
        assert!(allowance.take(&person), "nobody else's are taken");
        assert!(!TraceAllowance::new(false).take(&person));
    }
}
