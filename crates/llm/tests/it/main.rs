//! Providers, as the agent meets them: a request in, a stream of deltas out.

mod assistant;
