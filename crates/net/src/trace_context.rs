//! The trace that a request belongs to, in the two values of W3C Trace Context.
//!
//! Crates open spans with `tracing` and know nothing of whoever exports them. Where a request
//! leaves or enters the process, its place in the trace is needed as text: for that the exporter
//! installs a [`TracePropagator`]. Without one there is no trace, and nothing is sent along.

use std::sync::OnceLock;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tracing::Span;

pub const TRACEPARENT: &str = "traceparent";
pub const TRACESTATE: &str = "tracestate";

/// What vendors add is passed on up to here; the specification asks for 512.
const MAX_TRACESTATE_BYTES: usize = 512;

static PROPAGATOR: OnceLock<Box<dyn TracePropagator>> = OnceLock::new();

/// Which span of which trace something belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    pub traceparent: String,
    pub tracestate: Option<String>,
}

/// Knows the ids of spans.
pub trait TracePropagator: Send + Sync + 'static {
    /// The span that is entered now.
    fn current(&self) -> Option<TraceContext>;

    /// Makes a span that was not entered yet a child of another one, which may be elsewhere.
    fn set_parent(&self, span: &Span, parent: &TraceContext);
}

/// Once per process; the first one stays.
pub fn install_propagator(propagator: impl TracePropagator) {
    let _ = PROPAGATOR.set(Box::new(propagator));
}

impl TraceContext {
    /// Where we are, if anybody follows traces.
    pub fn current() -> Option<Self> {
        PROPAGATOR.get()?.current()
    }

    /// What a request brought along. Whether it is valid, the propagator sees.
    pub fn from_headers(headers: &HeaderMap) -> Option<Self> {
        Self::read(|name| headers.get(name)?.to_str().ok())
    }

    /// From wherever its two values stand.
    pub fn read<'a>(value: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let tracestate = value(TRACESTATE).filter(|state| state.len() <= MAX_TRACESTATE_BYTES);
        Some(Self {
            traceparent: value(TRACEPARENT)?.to_owned(),
            tracestate: tracestate.map(str::to_owned),
        })
    }

    /// Its names and values.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let state = self.tracestate.as_deref();
        let state = state.map(|state| (TRACESTATE, state));
        [(TRACEPARENT, &*self.traceparent)].into_iter().chain(state)
    }

    /// Makes a span that was not entered yet its child.
    pub fn set_parent_of(&self, span: &Span) {
        if let Some(propagator) = PROPAGATOR.get().filter(|_| !span.is_disabled()) {
            propagator.set_parent(span, self);
        }
    }
}

/// Sends along where we are. What the request says itself stays.
pub fn add_headers(headers: &mut HeaderMap) {
    let Some(context) = TraceContext::current() else {
        return;
    };
    if headers.contains_key(TRACEPARENT) {
        return;
    }
    for (name, value) in context.pairs() {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}
