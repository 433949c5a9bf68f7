//! Traces of calls outside chats. What a tool gave may hold a secret that its server was given, so
//! a trace is sealed like one, and its caller alone can read it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tenon_domain::{CallId, UserId};
use tenon_store::{Result, Store, Vault};

use crate::traces::ToolCallTrace;

/// How many traces a second are stored in the long run, and how many at once: enough for everything
/// that people look at, while a program that calls thousands of times a second fills no disk.
const TRACES_PER_SECOND: f64 = 10.0;
const TRACE_BURST: f64 = 200.0;

#[derive(Debug)]
pub(crate) struct CallTraces {
    store: Store,
    vault: Arc<Vault>,
    allowance: TraceAllowance,
}

/// A token bucket. The audit log has the calls that it refuses as well, without a trace.
#[derive(Debug)]
struct TraceAllowance {
    is_on: bool,
    /// The tokens that were left, and when.
    left: Mutex<(f64, Instant)>,
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
    pub(super) fn allows_one(&self) -> bool {
        self.allowance.take()
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
        let left = Mutex::new((TRACE_BURST, Instant::now()));
        Self { is_on, left }
    }

    fn take(&self) -> bool {
        if !self.is_on {
            return false;
        }
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let (tokens, since) = *left;
        let earned = since.elapsed().as_secs_f64() * TRACES_PER_SECOND;
        let tokens = (tokens + earned).min(TRACE_BURST);
        let has_one = tokens >= 1.0;
        *left = (if has_one { tokens - 1.0 } else { tokens }, Instant::now());
        has_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_calls_has_traces_and_a_flood_has_few() {
        let allowance = TraceAllowance::new(true);
        let traced = (0..10_000).filter(|_| allowance.take()).count();
        assert!((200..400).contains(&traced), "{traced}");
        assert!(!TraceAllowance::new(false).take());
    }
}
